# %% right: both, and the shorter
g = given("node-networking-offload")
in_turn = g["S"]/g["W_in"] + g["S"]/g["W_out"]
at_once = g["S"]/g["W_both"]
answer = min(in_turn, at_once)
# %% right: a text in ms
g = given("node-networking-offload")
answer = f"{min(g['S']/g['W_in'] + g['S']/g['W_out'], g['S']/g['W_both'])*1e3:.4g} ms"
# %% right: typed
answer = "0.457 s"
# %% right: bytes of both over the harmonic mean
from statistics import harmonic_mean
g = given("node-networking-offload")
turn = 2*g["S"]/harmonic_mean([g["W_in"], g["W_out"]])
both = 2*g["S"]/(2*g["W_both"])
answer = sorted((turn, both))[0]
# %% right: Fraction
from fractions import Fraction
g = given("node-networking-offload")
S, i, o, b = (Fraction(int(g[key])) for key in ("S", "W_in", "W_out", "W_both"))
answer = min(S/i + S/o, S/b)
# %% right: numpy
import numpy as np
g = given("node-networking-offload")
turn = (g["S"]/np.array([g["W_in"], g["W_out"]])).sum()
answer = np.minimum(turn, g["S"]/g["W_both"])
# %% right: in microseconds
g = given("node-networking-offload")
ways = {"turn": g["S"]/g["W_in"] + g["S"]/g["W_out"], "both": g["S"]/g["W_both"]}
best = min(ways, key=ways.get)
answer = f"{ways[best]*1e6:.0f} us"
# %% wrong: the slower plan, here both at the same time
g = given("node-networking-offload")
answer = max(g["S"]/g["W_both"], g["S"]/g["W_in"] + g["S"]/g["W_out"])
# %% wrong: reads only
g = given("node-networking-offload")
answer = g["S"]/g["W_in"]
# %% wrong: the slower direction alone
g = given("node-networking-offload")
answer = max(g["S"]/g["W_in"], g["S"]/g["W_out"])
# %% wrong: adds the bandwidths of the two ways
g = given("node-networking-offload")
answer = 2*g["S"]/(g["W_in"] + g["W_out"])
# %% wrong: both at once, each way counted in full for the sum
g = given("node-networking-offload")
answer = g["S"]/(2*g["W_both"])
# %% wrong: in turn at the speed of both at once
g = given("node-networking-offload")
answer = 2*g["S"]/g["W_both"]
# %% wrong: adds the two plans
g = given("node-networking-offload")
answer = g["S"]/g["W_in"] + g["S"]/g["W_out"] + g["S"]/g["W_both"]
# %% wrong: the sheet's 450 GB/s, in turn
g = given("node-networking-offload")
answer = 2*g["S"]/(g["W_in"]*450/377)
# %% wrong: the sheet's 450 GB/s, both at once
g = given("node-networking-offload")
answer = g["S"]/450e9
# %% wrong: GiB for GB
g = given("node-networking-offload")
answer = g["S"]/1e9*2**30*(1/g["W_in"] + 1/g["W_out"])
# %% wrong: in ms without a unit
g = given("node-networking-offload")
answer = 1e3*(g["S"]/g["W_in"] + g["S"]/g["W_out"])
# %% wrong: what the better plan saves
g = given("node-networking-offload")
answer = g["S"]/g["W_both"] - (g["S"]/g["W_in"] + g["S"]/g["W_out"])
# %% wrong: half of the states each way
g = given("node-networking-offload")
answer = g["S"]/2/g["W_in"] + g["S"]/2/g["W_out"]
