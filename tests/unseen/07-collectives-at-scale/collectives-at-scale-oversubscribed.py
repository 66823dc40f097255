# %% right: the rate of the top level over the rate below
g = given("collectives-at-scale-oversubscribed")
answer = g["g"]/(g["g"] - 1)*g["p"]*g["W"]/g["low"]
# %% right: typed, three digits
answer = 341
# %% right: as a ratio in a text
answer = "341.3:1"
# %% right: both as all-reduces, at half the rate each
g = given("collectives-at-scale-oversubscribed")
top = g["p"]*g["W"]/(2*(g["g"] - 1)/g["g"])
answer = top/(g["low"]/2)
# %% right: a fraction
from fractions import Fraction
g = given("collectives-at-scale-oversubscribed")
answer = Fraction(g["g"]*g["p"], g["g"] - 1)*Fraction(g["W"])/Fraction(g["low"])
# %% right: times of one gigabyte, set equal
g = given("collectives-at-scale-oversubscribed")
S = 1e9
below = 2*S/g["low"]
top_at_1 = 2*(g["g"] - 1)/g["g"]*S/(g["p"]*g["W"])
answer = below/top_at_1
# %% right: bisection on the ratio
g = given("collectives-at-scale-oversubscribed")
def slower(r):
    return (g["g"] - 1)/g["g"]/(g["p"]*g["W"]/r) > 1/g["low"]
lo, hi = 0.0, 1e7
for _ in range(100):
    mid = (lo + hi)/2
    lo, hi = (lo, mid) if slower(mid) else (mid, hi)
answer = hi
# %% right: the library's levels
from hwlib.specs import Level
g = given("collectives-at-scale-oversubscribed")
(top,) = level_bandwidths([Level("top", g["g"], g["p"]*g["W"])])
answer = top/g["low"]
# %% right: solved by sympy, left as a rational
import sympy
g = given("collectives-at-scale-oversubscribed")
r = sympy.Symbol("r", positive=True)
lack = sympy.Rational(g["g"] - 1, g["g"])
answer = sympy.solve(sympy.Eq(lack*r/(g["p"]*int(g["W"])), 1/sympy.Float(g["low"])), r)[0]
# %% right: a numpy scalar
import numpy as np
g = given("collectives-at-scale-oversubscribed")
answer = np.divide(g["p"]*g["W"], g["low"])/(1 - np.reciprocal(np.float64(g["g"])))
# %% wrong: to first order, without the (g - 1)/g
g = given("collectives-at-scale-oversubscribed")
answer = g["p"]*g["W"]/g["low"]
# %% wrong: multiplies by (g - 1)/g instead of dividing
g = given("collectives-at-scale-oversubscribed")
answer = (g["g"] - 1)/g["g"]*g["p"]*g["W"]/g["low"]
# %% wrong: halves the rate below only, an all-gather against an all-reduce
g = given("collectives-at-scale-oversubscribed")
answer = g["g"]/(g["g"] - 1)*g["p"]*g["W"]/(g["low"]/2)
# %% wrong: doubles the bytes at the top only
g = given("collectives-at-scale-oversubscribed")
answer = g["g"]/(2*(g["g"] - 1))*g["p"]*g["W"]/g["low"]
# %% wrong: all GPUs of the cluster instead of one pod's
g = given("collectives-at-scale-oversubscribed")
answer = g["g"]/(g["g"] - 1)*g["g"]*g["p"]*g["W"]/g["low"]
# %% wrong: the nodes' cards, eight times too few
g = given("collectives-at-scale-oversubscribed")
answer = g["g"]/(g["g"] - 1)*g["p"]/8*g["W"]/g["low"]
# %% wrong: the inverted ratio
g = given("collectives-at-scale-oversubscribed")
answer = g["low"]/(g["g"]/(g["g"] - 1)*g["p"]*g["W"])
# %% wrong: the ratio of the all-to-all, from one on it counts
g = given("collectives-at-scale-oversubscribed")
answer = g["g"]/(g["g"] - 1)
# %% wrong: bandwidth of a GPU inside the node
g = given("collectives-at-scale-oversubscribed")
answer = g["g"]/(g["g"] - 1)*g["p"]*g["W"]/450e9
# %% wrong: nothing adds up before it crosses
g = given("collectives-at-scale-oversubscribed")
answer = g["low"]/g["W"]*g["g"]/(g["g"] - 1)
# %% wrong: (p - 1)/p of a pod's GPUs in place of the pods
g = given("collectives-at-scale-oversubscribed")
answer = g["p"]/(g["p"] - 1)*g["p"]*g["W"]/g["low"]
