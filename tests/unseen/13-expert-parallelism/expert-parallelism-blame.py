# %% right: squares, one after the other
g = given("expert-parallelism-blame")
chance = lambda T: (g["n"] - 1)/(g["k"]*g["n"]*T)
answer = ((g["s"]/100)**2 - chance(g["T1"]) + chance(g["T2"]))**0.5
# %% right: a text in percent
g = given("expert-parallelism-blame")
more = drawn_spread(g["n"]*g["T2"], g["k"], g["n"])**2 - drawn_spread(g["n"]*g["T1"], g["k"], g["n"])**2
answer = f"{100*((g['s']/100)**2 + more)**0.5:.4g} %"
# %% right: typed, in three digits
answer = 0.380
# %% right: fractions of percent squared, numpy at the end
from fractions import Fraction
import numpy as np
g = given("expert-parallelism-blame")
share = Fraction(g["n"] - 1, g["k"]*g["n"])
square = Fraction(str(g["s"]))**2/10000 + share/Fraction(str(g["T2"])) - share/Fraction(str(g["T1"]))
answer = np.sqrt(np.float64(float(square)))
# %% right: sympy, kept exact
import sympy
answer = sympy.sqrt(sympy.Rational(1, 16) + sympy.Rational(3, 32) - sympy.Rational(3, 256))
# %% right: a binomial count's variance, in choices
g = given("expert-parallelism-blame")
def variance(T):
    draws, p = g["k"]*g["n"]*T, 1/g["n"]
    return draws*p*(1 - p)/(draws*p)**2
prefers = (g["s"]/100)**2 - variance(g["T1"])
answer = np.hypot(prefers**0.5, variance(g["T2"])**0.5)
# %% right: a ratio, in a text
answer = "0.3802"
# %% wrong: everything is chance, and grows with the root
g = given("expert-parallelism-blame")
answer = g["s"]/100*(g["T1"]/g["T2"])**0.5
# %% wrong: everything is preference
g = given("expert-parallelism-blame")
answer = g["s"]/100
# %% wrong: standard deviations are added, not squares
g = given("expert-parallelism-blame")
c1, c2 = (((g["n"] - 1)/(g["k"]*g["n"]*g[T]))**0.5 for T in ("T1", "T2"))
answer = g["s"]/100 - c1 + c2
# %% wrong: the old chance is not taken away
g = given("expert-parallelism-blame")
answer = ((g["s"]/100)**2 + (g["n"] - 1)/(g["k"]*g["n"]*g["T2"]))**0.5
# %% wrong: chance alone with few tokens
g = given("expert-parallelism-blame")
answer = ((g["n"] - 1)/(g["k"]*g["n"]*g["T2"]))**0.5
# %% wrong: the tokens of one rank for those of the batch
g = given("expert-parallelism-blame")
chance = lambda T: (g["n"] - 1)/(g["k"]*T)
answer = (abs((g["s"]/100)**2 - chance(g["T1"])) + chance(g["T2"]))**0.5
# %% wrong: k is forgotten
g = given("expert-parallelism-blame")
chance = lambda T: (g["n"] - 1)/(g["n"]*T)
answer = ((g["s"]/100)**2 - chance(g["T1"]) + chance(g["T2"]))**0.5
# %% wrong: n for n - 1, a Poisson count
g = given("expert-parallelism-blame")
chance = lambda T: 1/(g["k"]*T)
answer = ((g["s"]/100)**2 - chance(g["T1"]) + chance(g["T2"]))**0.5
# %% wrong: the variance, without its root
g = given("expert-parallelism-blame")
chance = lambda T: (g["n"] - 1)/(g["k"]*g["n"]*T)
answer = (g["s"]/100)**2 - chance(g["T1"]) + chance(g["T2"])
# %% wrong: chance grows with the tokens, not with their root
g = given("expert-parallelism-blame")
c1 = ((g["n"] - 1)/(g["k"]*g["n"]*g["T1"]))**0.5
answer = ((g["s"]/100)**2 - c1**2 + (c1*g["T1"]/g["T2"])**2)**0.5
# %% wrong: what the router prefers alone
g = given("expert-parallelism-blame")
answer = ((g["s"]/100)**2 - (g["n"] - 1)/(g["k"]*g["n"]*g["T1"]))**0.5
# %% wrong: tokens exchanged
g = given("expert-parallelism-blame")
chance = lambda T: (g["n"] - 1)/(g["k"]*g["n"]*T)
answer = abs((g["s"]/100)**2 + chance(g["T1"]) - chance(g["T2"]))**0.5
# %% wrong: the busiest rank's formula for the spread
g = given("expert-parallelism-blame")
c1, c2 = (drawn_imbalance(g["n"]*g[T], g["k"], g["n"]) - 1 for T in ("T1", "T2"))
answer = (abs((g["s"]/100)**2 - c1**2) + c2**2)**0.5
# %% wrong: chance is taken away as a standard deviation, and added as a square
g = given("expert-parallelism-blame")
c1, c2 = (((g["n"] - 1)/(g["k"]*g["n"]*g[T]))**0.5 for T in ("T1", "T2"))
answer = ((g["s"]/100 - c1)**2 + c2**2)**0.5
# %% wrong: the chance of a share, not over the mean share
g = given("expert-parallelism-blame")
p = 1/g["n"]
chance = lambda T: p*(1 - p)/(g["k"]*g["n"]*T)
answer = ((g["s"]/100)**2 - chance(g["T1"]) + chance(g["T2"]))**0.5
# %% wrong: chance of the tokens that are missing
g = given("expert-parallelism-blame")
answer = ((g["s"]/100)**2 + (g["n"] - 1)/(g["k"]*g["n"]*(g["T1"] - g["T2"])))**0.5
