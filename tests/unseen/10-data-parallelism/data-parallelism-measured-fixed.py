# %% right: a line through two points
import numpy as np
g = given("data-parallelism-measured-fixed")
x = np.array([g["B1"], g["B2"]])
y = x/np.array([g["r1"], g["r2"]])
answer = np.polyfit(x, y, 1)[1]
# %% right: as a text in milliseconds
g = given("data-parallelism-measured-fixed")
t1, t2 = g["B1"]/g["r1"], g["B2"]/g["r2"]
answer = f"{1e3*(t2 - (t1 - t2)/(g['B1'] - g['B2'])*g['B2']):.4g} ms"
# %% right: a determinant
g = given("data-parallelism-measured-fixed")
a, b = g["B1"], g["B2"]
answer = (a*b/g["r2"] - b*a/g["r1"])/(a - b)
# %% right: sympy
import sympy
g = given("data-parallelism-measured-fixed")
t0, slope = sympy.symbols("t0 slope")
found = sympy.solve([t0 + slope*g["B1"] - g["B1"]/g["r1"], t0 + slope*g["B2"] - g["B2"]/g["r2"]])
answer = found[t0]
# %% right: from the inverse rates
from fractions import Fraction
g = given("data-parallelism-measured-fixed")
inverse = Fraction(1, int(g["r2"])) - Fraction(1, int(g["r1"]))
answer = inverse/(Fraction(1, g["B2"]) - Fraction(1, g["B1"]))
# %% right: four small steps less one large, over three
g = given("data-parallelism-measured-fixed")
answer = (4*g["B2"]/g["r2"] - g["B1"]/g["r1"])/3
# %% right: numpy's solution of two equations, of all GPUs
import numpy as np
g = given("data-parallelism-measured-fixed")
n = g["n"]
rates = n*np.array([g["r1"], g["r2"]])
tokens = n*np.array([g["B1"], g["B2"]])
answer = np.linalg.solve(np.stack([np.ones(2), tokens], 1), tokens/rates)[0]
# %% wrong: tokens of all over the rate of one
g = given("data-parallelism-measured-fixed")
t1, t2 = 1024*g["B1"]/g["r1"], 1024*g["B2"]/g["r2"]
answer = t2 - (t1 - t2)/3
# %% wrong: the rates are of all GPUs
g = given("data-parallelism-measured-fixed")
answer = (4*g["B2"]/g["r2"] - g["B1"]/g["r1"])/3/g["n"]
# %% wrong: the whole step with few tokens
g = given("data-parallelism-measured-fixed")
answer = g["B2"]/g["r2"]
# %% wrong: the difference of the steps
g = given("data-parallelism-measured-fixed")
answer = g["B1"]/g["r1"] - g["B2"]/g["r2"]
# %% wrong: the proportional part
g = given("data-parallelism-measured-fixed")
answer = (g["B1"]/g["r1"] - g["B2"]/g["r2"])/3
# %% wrong: four small steps less one large
g = given("data-parallelism-measured-fixed")
answer = 4*g["B2"]/g["r2"] - g["B1"]/g["r1"]
# %% wrong: the large batch pays no fixed time
g = given("data-parallelism-measured-fixed")
answer = g["B2"]/g["r2"] - g["B2"]/g["r1"]
# %% wrong: a line through the rates
g = given("data-parallelism-measured-fixed")
slope = (g["r1"] - g["r2"])/(g["B1"] - g["B2"])
answer = (g["r2"] - slope*g["B2"])/g["r1"]
# %% wrong: divided by four, not by three
g = given("data-parallelism-measured-fixed")
answer = (4*g["B2"]/g["r2"] - g["B1"]/g["r1"])/4
# %% wrong: what the small batch loses, of the large one
g = given("data-parallelism-measured-fixed")
answer = g["B1"]/g["r2"] - g["B1"]/g["r1"]
# %% wrong: loss of rate in per cent of a step
g = given("data-parallelism-measured-fixed")
answer = (1 - g["r2"]/g["r1"])*g["B1"]/g["r1"]
# %% wrong: one over the difference of the rates
g = given("data-parallelism-measured-fixed")
answer = (g["B1"] - g["B2"])/(g["r1"] - g["r2"])
# %% wrong: milliseconds as a plain number
g = given("data-parallelism-measured-fixed")
answer = 1000*(4*g["B2"]/g["r2"] - g["B1"]/g["r1"])/3
