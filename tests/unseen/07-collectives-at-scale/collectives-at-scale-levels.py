# %% right: the slowest of three
g = given("collectives-at-scale-levels")
answer = min(g[f"d{i}"]*g[f"W{i}"]/(g[f"d{i}"] - 1) for i in (1, 2, 3))
# %% right: the library
g = given("collectives-at-scale-levels")
answer = allgather_bandwidth([Level("node", g["d1"], g["W1"]), Level("unit", g["d2"], g["W2"]),
                              Level("spine", g["d3"], g["W3"])])
# %% right: typed
answer = "206.5 GB/s"
# %% right: typed in bits
answer = "1.652 Tbit/s"
# %% right: one array, its longest time
g = given("collectives-at-scale-levels")
S = 1e9
times = [(g["d1"] - 1)/g["d1"]*S/g["W1"], (g["d2"] - 1)/g["d2"]*S/g["W2"],
         (g["d3"] - 1)/g["d3"]*S/g["W3"]]
answer = f"{S/max(times)/1e9:.4g} GB/s"
# %% right: numpy arrays
import numpy as np
g = given("collectives-at-scale-levels")
d = np.array([g["d1"], g["d2"], g["d3"]])
W = np.array([g["W1"], g["W2"], g["W3"]])
answer = (W/(1 - 1/d)).min()
# %% right: fractions
from fractions import Fraction
g = given("collectives-at-scale-levels")
answer = 1/max(Fraction(g[d] - 1, g[d])/int(g[W]) for d, W in [("d1", "W1"), ("d2", "W2"), ("d3", "W3")])
# %% right: a decimal, in TB/s
from decimal import Decimal
g = given("collectives-at-scale-levels")
rates = [Decimal(g["d%d" % i])*Decimal(g["W%d" % i])/(g["d%d" % i] - 1) for i in (1, 2, 3)]
answer = f"{min(rates)/10**12:.5f} TB/s"
# %% right: sympy's Min
import sympy
g = given("collectives-at-scale-levels")
answer = sympy.Min(*(sympy.Rational(g[f"d{i}"], g[f"d{i}"] - 1)*int(g[f"W{i}"]) for i in (1, 2, 3)))
# %% wrong: to first order, a node's bandwidth
g = given("collectives-at-scale-levels")
answer = min(g["W1"], g["W2"], g["W3"])
# %% wrong: inside the node only
g = given("collectives-at-scale-levels")
answer = g["d1"]*g["W1"]/(g["d1"] - 1)
# %% wrong: the fastest level
g = given("collectives-at-scale-levels")
answer = max(g[f"d{i}"]*g[f"W{i}"]/(g[f"d{i}"] - 1) for i in (1, 2, 3))
# %% wrong: the levels one after the other
g = given("collectives-at-scale-levels")
answer = 1/sum((g[f"d{i}"] - 1)/g[f"d{i}"]/g[f"W{i}"] for i in (1, 2, 3))
# %% wrong: the bandwidths added
g = given("collectives-at-scale-levels")
answer = sum(g[f"d{i}"]*g[f"W{i}"]/(g[f"d{i}"] - 1) for i in (1, 2, 3))
# %% wrong: (d - 1)/d the wrong way up
g = given("collectives-at-scale-levels")
answer = min((g[f"d{i}"] - 1)/g[f"d{i}"]*g[f"W{i}"] for i in (1, 2, 3))
# %% wrong: a card of the GPU instead of the cards of the node
g = given("collectives-at-scale-levels")
answer = g["d2"]/(g["d2"] - 1)*g["W2"]/g["d1"]
# %% wrong: twice the bytes, as in an all-reduce
g = given("collectives-at-scale-levels")
answer = min(g[f"d{i}"]*g[f"W{i}"]/(2*(g[f"d{i}"] - 1)) for i in (1, 2, 3))
# %% wrong: each direction counted
g = given("collectives-at-scale-levels")
answer = 2*min(g[f"d{i}"]*g[f"W{i}"]/(g[f"d{i}"] - 1) for i in (1, 2, 3))
# %% wrong: all GPUs over all cards of the spine
g = given("collectives-at-scale-levels")
answer = g["d3"]*g["W3"]/(g["d1"]*g["d2"]*g["d3"])
# %% wrong: bytes called bits
g = given("collectives-at-scale-levels")
answer = f"{g['d2']*g['W2']/(g['d2'] - 1)/1e9:.4g} Gbit/s"
# %% wrong: binary prefix
g = given("collectives-at-scale-levels")
answer = f"{g['d2']*g['W2']/(g['d2'] - 1)/1e9:.4g} GiB/s"
