# %% right: two equations by numpy
import numpy as np
g = given("tensor-parallelism-decode")
sums = {4: 2*g["L"]*g["a4"], 8: 2*g["L"]*g["a8"]}
shared, fixed = np.linalg.solve([[1, 1], [1/4, 1]], [g["t1"], g["t4"] - sums[4]])
answer = shared/8 + fixed + sums[8]
# %% right: in milliseconds as a text
g = given("tensor-parallelism-decode")
n = 2*g["L"]
net4 = g["t4"] - n*g["a4"]
answer = f"{1e3*(net4 - (g['t1'] - net4)/6 + n*g['a8']):.4g} ms"
# %% right: a straight line in one over the ranks
import numpy as np
g = given("tensor-parallelism-decode")
per_step = 2*g["L"]
slope, level = np.polyfit([1, 1/4], [g["t1"], g["t4"] - per_step*g["a4"]], 1)
answer = level + slope/8 + per_step*g["a8"]
# %% right: fractions of microseconds
from fractions import Fraction
g = given("tensor-parallelism-decode")
t1, t4, a4, a8 = (Fraction(str(round(g[key]*1e6, 3))) for key in ("t1", "t4", "a4", "a8"))
n = 2*g["L"]
shared = Fraction(4, 3)*(t1 - t4 + n*a4)
answer = f"{float(t1 - shared + shared/8 + n*a8)} us"
# %% right: sympy
import sympy
g = given("tensor-parallelism-decode")
s, f = sympy.symbols("s f")
found = sympy.solve([s + f - g["t1"], s/4 + f + 2*g["L"]*g["a4"] - g["t4"]], [s, f])
answer = found[s]/8 + found[f] + 2*g["L"]*g["a8"]
# %% right: what changes from four to eight
g = given("tensor-parallelism-decode")
n = 2*g["L"]
shared = (g["t1"] - (g["t4"] - n*g["a4"]))/0.75
answer = g["t4"] - shared/8 + n*(g["a8"] - g["a4"])
# %% right: layer by layer
g = given("tensor-parallelism-decode")
L = g["L"]
one, four = g["t1"]/L, g["t4"]/L
shared = (one - four + 2*g["a4"])*4/3
answer = sum(one - shared*7/8 + 2*g["a8"] for _ in range(L))
# %% wrong: half of the time of four
g = given("tensor-parallelism-decode")
answer = g["t4"]/2
# %% wrong: no sums at all
g = given("tensor-parallelism-decode")
shared = (g["t1"] - g["t4"])*4/3
answer = g["t1"] - shared*7/8
# %% wrong: sums of eight on top, those of four not taken off
g = given("tensor-parallelism-decode")
shared = (g["t1"] - g["t4"])*4/3
answer = g["t1"] - shared*7/8 + 2*g["L"]*g["a8"]
# %% wrong: one all-reduce a layer
g = given("tensor-parallelism-decode")
n = g["L"]
shared = (g["t1"] - g["t4"] + n*g["a4"])*4/3
answer = g["t1"] - shared*7/8 + n*g["a8"]
# %% wrong: sums as long as among four
g = given("tensor-parallelism-decode")
n = 2*g["L"]
shared = (g["t1"] - g["t4"] + n*g["a4"])*4/3
answer = g["t1"] - shared*7/8 + n*g["a4"]
# %% wrong: sums forgotten at the end
g = given("tensor-parallelism-decode")
n = 2*g["L"]
shared = (g["t1"] - g["t4"] + n*g["a4"])*4/3
answer = g["t1"] - shared*7/8
# %% wrong: adds the sums of four where they come off
g = given("tensor-parallelism-decode")
n = 2*g["L"]
shared = (g["t1"] - g["t4"] - n*g["a4"])*4/3
answer = g["t1"] - shared*7/8 + n*g["a8"]
# %% wrong: nothing is fixed
g = given("tensor-parallelism-decode")
answer = g["t1"]/8 + 2*g["L"]*g["a8"]
# %% wrong: the fixed part forgotten
g = given("tensor-parallelism-decode")
n = 2*g["L"]
shared = (g["t1"] - g["t4"] + n*g["a4"])*4/3
answer = shared/8 + n*g["a8"]
# %% wrong: the rest of four halves
g = given("tensor-parallelism-decode")
n = 2*g["L"]
answer = (g["t4"] - n*g["a4"])/2 + n*g["a8"]
# %% wrong: fixed part shared too, divided from one
g = given("tensor-parallelism-decode")
n = 2*g["L"]
fixed = g["t4"] - g["t1"]/4
answer = g["t1"]/8 + fixed
# %% wrong: four all-reduces a layer
g = given("tensor-parallelism-decode")
n = 4*g["L"]
shared = (g["t1"] - g["t4"] + n*g["a4"])*4/3
answer = g["t1"] - shared*7/8 + n*g["a8"]
# %% wrong: one GPU has sums too, as of four
g = given("tensor-parallelism-decode")
n = 2*g["L"]
shared = (g["t1"] - g["t4"])*4/3
fixed = g["t1"] - shared - n*g["a4"]
answer = shared/8 + fixed + n*g["a8"]
# %% wrong: milliseconds without a unit
g = given("tensor-parallelism-decode")
n = 2*g["L"]
shared = (g["t1"] - g["t4"] + n*g["a4"])*4/3
answer = 1e3*(g["t1"] - shared*7/8 + n*g["a8"])
# %% wrong: sums beside the rest
g = given("tensor-parallelism-decode")
n = 2*g["L"]
shared = (g["t1"] - g["t4"])*4/3
answer = max(g["t1"] - shared*7/8, n*g["a8"])
