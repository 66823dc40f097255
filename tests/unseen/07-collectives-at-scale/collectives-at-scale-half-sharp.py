# %% right: the slower of the two levels
g = given("collectives-at-scale-half-sharp")
inside = g["W_in"]
across = g["W_node"]*g["n_out"]/(2*(g["n_out"] - 1))
answer = min(inside, across)
# %% right: typed
answer = "413 GB/s"
# %% right: typed in bits
answer = "3303 Gbit/s"
# %% right: times of one byte
g = given("collectives-at-scale-half-sharp")
answer = 1/max(1/g["W_in"], 2*(g["n_out"] - 1)/g["n_out"]/g["W_node"])
# %% right: times of the library, level by level
g = given("collectives-at-scale-half-sharp")
S = 1e9
(node,) = level_times("all_reduce", S, [Level("node", g["n_in"], g["W_in"])], in_switch=True)
(unit,) = level_times("all_reduce", S, [Level("unit", g["n_out"], g["W_node"])])
answer = S/max(node, unit)
# %% right: half of an all-gather's rate, fractions
from fractions import Fraction
g = given("collectives-at-scale-half-sharp")
answer = min(Fraction(g["W_in"]), Fraction(g["n_out"], g["n_out"] - 1)*Fraction(g["W_node"])/2)
# %% right: a text in TB/s
g = given("collectives-at-scale-half-sharp")
rate = min(g["W_in"], g["W_node"]/(2 - 2/g["n_out"]))
answer = f"{rate/1e12:.4f} TB/s"
# %% right: numpy's minimum
import numpy as np
g = given("collectives-at-scale-half-sharp")
bytes_out = np.array([1.0, 2*(g["n_out"] - 1)/g["n_out"]])
answer = np.min(np.array([g["W_in"], g["W_node"]])/bytes_out)
# %% right: each card of a node separately
g = given("collectives-at-scale-half-sharp")
card = g["W_node"]/g["n_in"]
part = 1/g["n_in"]
answer = min(g["W_in"], card*g["n_out"]/(2*(g["n_out"] - 1)*part))
# %% wrong: all switches add
g = given("collectives-at-scale-half-sharp")
answer = min(g["W_in"], g["W_node"])
# %% wrong: an all-gather's bytes across
g = given("collectives-at-scale-half-sharp")
answer = min(g["W_in"], g["W_node"]*g["n_out"]/(g["n_out"] - 1))
# %% wrong: to first order with half the node's bandwidth and no 32/31
g = given("collectives-at-scale-half-sharp")
answer = g["W_node"]/2
# %% wrong: the node decides
g = given("collectives-at-scale-half-sharp")
answer = g["W_in"]
# %% wrong: one level after the other
g = given("collectives-at-scale-half-sharp")
answer = 1/(1/g["W_in"] + 2*(g["n_out"] - 1)/g["n_out"]/g["W_node"])
# %% wrong: (n - 1)/n the wrong way up
g = given("collectives-at-scale-half-sharp")
answer = min(g["W_in"], g["W_node"]*(g["n_out"] - 1)/(2*g["n_out"]))
# %% wrong: one card for the whole array
g = given("collectives-at-scale-half-sharp")
answer = g["W_node"]/g["n_in"]*g["n_out"]/(2*(g["n_out"] - 1))
# %% wrong: a ring in the node, the switches between add
g = given("collectives-at-scale-half-sharp")
answer = min(g["W_in"]*g["n_in"]/(2*(g["n_in"] - 1)), g["W_node"])
# %% wrong: a ring over all 256 GPUs on NVLink
g = given("collectives-at-scale-half-sharp")
n = g["n_in"]*g["n_out"]
answer = g["W_in"]*n/(2*(n - 1))
# %% wrong: up and down added in the node, and the node decides
g = given("collectives-at-scale-half-sharp")
answer = g["W_in"]/2
# %% wrong: the faster level
g = given("collectives-at-scale-half-sharp")
answer = max(g["W_in"], g["W_node"]*g["n_out"]/(2*(g["n_out"] - 1)))
# %% wrong: bytes called bits
g = given("collectives-at-scale-half-sharp")
answer = f"{g['W_node']*g['n_out']/(2*(g['n_out'] - 1))/1e9:.4g} Gbit/s"
# %% wrong: eight nodes in place of 32
g = given("collectives-at-scale-half-sharp")
answer = g["W_node"]*g["n_in"]/(2*(g["n_in"] - 1))
# %% wrong: the GPUs of a node share the rate inside
g = given("collectives-at-scale-half-sharp")
across = g["W_node"] / (2*(g["n_out"] - 1)/g["n_out"])
answer = min(g["W_in"]/g["n_in"], across)
# %% wrong: the rates of the two levels add up
g = given("collectives-at-scale-half-sharp")
answer = g["W_in"] + g["W_node"] / (2*(g["n_out"] - 1)/g["n_out"])
# %% wrong: a tree of nodes, the whole array once for each of its levels
g = given("collectives-at-scale-half-sharp")
steps = g["n_out"].bit_length() - 1
answer = min(g["W_in"], g["W_node"]/steps)
# %% wrong: all nodes share the bandwidth of one
g = given("collectives-at-scale-half-sharp")
across = g["W_node"]/g["n_out"] / (2*(g["n_out"] - 1)/g["n_out"])
answer = min(g["W_in"], across)
# %% wrong: the bisection of the network
g = given("collectives-at-scale-half-sharp")
answer = g["n_out"]*g["W_node"]/2
# %% wrong: a GPU's share of its node's way out, and no ring
g = given("collectives-at-scale-half-sharp")
answer = min(g["W_in"], g["W_node"]/g["n_in"])
