# %% right: a sum of the counts over all
g = given("measuring-erratum-interruptions")
answer = sum(count for name, count in g.items() if name != "total")/g["total"]
# %% right: as a quotient in a text
answer = "268/419"
# %% right: as a text in per cent
answer = "63.96 %"
# %% right: a Fraction of rows
from fractions import Fraction
g = given("measuring-erratum-interruptions")
rows = ("faulty", "memory", "sram", "processor", "silent", "thermal")
answer = sum(Fraction(int(g[row]), int(g["total"])) for row in rows)
# %% right: one less what is no GPU
g = given("measuring-erratum-interruptions")
others = g["total"] - g["faulty"] - g["memory"] - g["sram"] - g["processor"] - g["silent"] - g["thermal"]
answer = 1 - others/g["total"]
# %% right: the printed shares with one of them mended
answer = (58.7 - 30.1 + 100*148/419)/100
# %% right: numpy's dot product
import numpy as np
counts = np.array([148, 72, 19, 17, 6, 6])
answer = np.float64(counts @ np.full(6, 1/419))
# %% right: sympy, with both kinds of events in a list
import sympy
g = given("measuring-erratum-interruptions")
parts = [sympy.Integer(int(value)) for value in g.values()]
answer = sympy.Rational(sum(parts) - int(g["total"]), int(g["total"]))
# %% wrong: the printed shares added
answer = 0.301 + 0.172 + 0.045 + 0.041 + 0.014 + 0.014
# %% wrong: of all interruptions, planned ones too
answer = 268/466
# %% wrong: planned ones taken from the unexpected
answer = 268/(419 - 47)
# %% wrong: faulty GPUs only
answer = 148/419
# %% wrong: silent errors are no GPU failure
answer = 262/419
# %% wrong: system processor is not of the GPU
answer = (148 + 72 + 19 + 6 + 6)/419
# %% wrong: the two large rows
answer = (148 + 72)/419
# %% wrong: all the others
answer = (419 - 268)/419
# %% wrong: per cent as a bare number
answer = 63.96
# %% wrong: the count and not its share
answer = 268
# %% wrong: the row's count from the share that is printed
answer = (round(0.301*419) + 72 + 19 + 17 + 6 + 6)/419
# %% wrong: the planned ones count as GPU failures
answer = (268 + 47)/466
# %% wrong: the last two rows forgotten
answer = (148 + 72 + 19 + 17)/419
# %% wrong: the paper's share, scaled to all interruptions
answer = 0.587*419/466
# %% wrong: GPUs over the rest
answer = 268/151
# %% wrong: one row's digits turned, 184 for 148
answer = (184 + 72 + 19 + 17 + 6 + 6)/419
