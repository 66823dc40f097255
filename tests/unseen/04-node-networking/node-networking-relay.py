# %% right: two times set equal
g = given("node-networking-relay")
links_of = g["n"] - 1
answer = g["alpha"]*g["W"]/(1 - 2/links_of)
# %% right: sympy
import sympy
g = given("node-networking-relay")
S = sympy.Symbol("S", positive=True)
k = g["n"] - 1
answer = sympy.solve(g["alpha"] + S/g["W"] - 2*(g["alpha"] + S/k/g["W"]), S)[0]
# %% right: typed, in KB
answer = "448 KB"
# %% right: in KiB, as a text
g = given("node-networking-relay")
k = g["n"] - 1
answer = f"{g['alpha']*g['W']*k/(k - 2)/1024:.4g} KiB"
# %% right: bisection on simulated times
g = given("node-networking-relay")
def direct(S):
    return g["alpha"] + S/g["W"]
def relayed(S):
    part = S/(g["n"] - 1)
    straight = g["alpha"] + part/g["W"]
    by_way = [2*(g["alpha"] + part/g["W"]) for other in range(g["n"] - 2)]
    return max(straight, *by_way)
low, high = 1.0, 1e9
for _ in range(200):
    mid = (low + high)/2
    low, high = (low, mid) if relayed(mid) <= direct(mid) else (mid, high)
answer = high
# %% right: bytes a hop's latency is worth, over the share saved
from fractions import Fraction
g = given("node-networking-relay")
saved = 1 - Fraction(2, g["n"] - 1)
answer = round(g["alpha"]*g["W"])/saved
# %% right: Decimal in MB
from decimal import Decimal
g = given("node-networking-relay")
k = Decimal(g["n"] - 1)
answer = f"{float(Decimal(str(g['alpha']))*Decimal(g['W'])*k/(k - 2)/Decimal(10)**6)} MB"
# %% right: numpy, a fine grid of sizes
import numpy as np
g = given("node-networking-relay")
S = np.arange(1000, 50_000_000, 500, dtype=float)
a = g["alpha"] + S/g["W"]
b = 2*g["alpha"] + 2*S/(g["n"] - 1)/g["W"]
answer = S[np.flatnonzero(b <= a)[0]]
# %% wrong: the parts pass through without being taken in
g = given("node-networking-relay")
answer = g["alpha"]*g["W"]/(1 - 1/(g["n"] - 1))
# %% wrong: eight parts
g = given("node-networking-relay")
answer = g["alpha"]*g["W"]/(1 - 2/g["n"])
# %% wrong: the size at which latency and bytes are equal
g = given("node-networking-relay")
answer = g["alpha"]*g["W"]
# %% wrong: six parts, the straight one forgotten
g = given("node-networking-relay")
answer = g["alpha"]*g["W"]/(1 - 2/(g["n"] - 2))
# %% wrong: two latencies against none
g = given("node-networking-relay")
answer = 2*g["alpha"]*g["W"]/(1 - 2/(g["n"] - 1))
# %% wrong: latency of every part, one after the other
g = given("node-networking-relay")
k = g["n"] - 1
answer = (2*k - 1)*g["alpha"]*g["W"]/(1 - 2/k)
# %% wrong: a part counted four times, in and out on either hop
g = given("node-networking-relay")
answer = g["alpha"]*g["W"]/(1 - 4/(g["n"] - 1))
# %% wrong: the size of one part
g = given("node-networking-relay")
answer = g["alpha"]*g["W"]/(1 - 2/(g["n"] - 1))/(g["n"] - 1)
# %% wrong: in bits
g = given("node-networking-relay")
answer = 8*g["alpha"]*g["W"]/(1 - 2/(g["n"] - 1))
# %% wrong: in KB without a unit
g = given("node-networking-relay")
answer = g["alpha"]*g["W"]/(1 - 2/(g["n"] - 1))/1e3
# %% wrong: MB for KB
answer = "448 MB"
# %% wrong: the share saved multiplied instead of divided
g = given("node-networking-relay")
answer = g["alpha"]*g["W"]*(1 - 2/(g["n"] - 1))
# %% wrong: parts of half the bandwidth, by the sheet's two ways
g = given("node-networking-relay")
answer = g["alpha"]*g["W"]/2/(1 - 2/(g["n"] - 1))
