# %% right: half of the GPUs, twice
g = given("node-networking-bisection")
answer = 2*(g["n"]//2)*g["W"]
# %% right: the library's one direction, doubled
g = given("node-networking-bisection")
answer = 2*crossbar_bisection_bandwidth(g["n"], g["W"])
# %% right: typed, in TB/s
answer = "3.6 TB/s"
# %% right: there and back, added
g = given("node-networking-bisection")
left, right = range(g["n"]//2), range(g["n"]//2, g["n"])
answer = sum(g["W"] for gpu in left) + sum(g["W"] for gpu in right)
# %% right: halves of the sheet's two-way figure
g = given("node-networking-bisection")
printed = 2*g["W"]
answer = f"{g['n']/2*printed/1e9:.0f} GB/s"
# %% right: numpy
import numpy as np
g = given("node-networking-bisection")
answer = np.repeat(g["W"], g["n"]//2).sum()*2
# %% right: Fraction
from fractions import Fraction
g = given("node-networking-bisection")
answer = Fraction(g["n"], 2)*Fraction(g["W"])*2
# %% wrong: one direction
g = given("node-networking-bisection")
answer = g["n"]//2*g["W"]
# %% wrong: all GPUs in both directions
g = given("node-networking-bisection")
answer = 2*g["n"]*g["W"]
# %% wrong: one GPU, both directions
g = given("node-networking-bisection")
answer = 2*g["W"]
# %% wrong: every pair across the cut at full rate
g = given("node-networking-bisection")
answer = 2*(g["n"]//2)**2*g["W"]
# %% wrong: a mesh instead of a switch
g = given("node-networking-bisection")
answer = 2*(g["n"]/2)**2*g["W"]/(g["n"] - 1)
# %% wrong: one GPU of the cut
g = given("node-networking-bisection")
answer = g["W"]
# %% wrong: seven of eight
g = given("node-networking-bisection")
answer = (g["n"] - 1)*g["W"]
# %% wrong: halves twice, takes 450 for both ways
g = given("node-networking-bisection")
answer = g["n"]//2*g["W"]/2
# %% wrong: bits for bytes
answer = "3.6 Tbit/s"
# %% wrong: in GB/s without a unit
g = given("node-networking-bisection")
answer = 2*(g["n"]//2)*g["W"]/GB
