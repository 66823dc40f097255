# %% right: links over ports, rounded up
from math import ceil
g = given("node-networking-switch-count")
answer = ceil(g["n"]*g["paths"]/g["ports"])
# %% right: whole numbers
g = given("node-networking-switch-count")
answer = -(-g["n"]*g["paths"]//g["ports"])
# %% right: buys chips until every link has a port
g = given("node-networking-switch-count")
chips, free = 0, 0
for link in range(g["n"]*g["paths"]):
    if free == 0:
        chips, free = chips + 1, g["ports"]
    free -= 1
answer = chips
# %% right: divmod
g = given("node-networking-switch-count")
full, rest = divmod(g["n"]*g["paths"], g["ports"])
answer = full + bool(rest)
# %% right: numpy
import numpy as np
g = given("node-networking-switch-count")
answer = np.ceil(np.float64(g["n"])*g["paths"]/g["ports"]).astype(np.int32)
# %% right: the first number whose ports are enough, by the library
g = given("node-networking-switch-count")
def bandwidth(chips):
    return node_switch_bandwidth(n=g["n"], paths=g["paths"], switches=chips, ports=g["ports"], W_link=1)
answer = next(k for k in range(1, 1000) if bandwidth(k) == g["n"]*g["paths"])
# %% right: typed
answer = 11
# %% wrong: rounds down
g = given("node-networking-switch-count")
answer = g["n"]*g["paths"]//g["ports"]
# %% wrong: not rounded
g = given("node-networking-switch-count")
answer = g["n"]*g["paths"]/g["ports"]
# %% wrong: rounds to the nearest
g = given("node-networking-switch-count")
answer = round(g["n"]*g["paths"]/g["ports"])
# %% wrong: a link has two ends, both at GPUs
g = given("node-networking-switch-count")
answer = -(-g["n"]*g["paths"]//(2*g["ports"]))
# %% wrong: both ends of every link at switches
g = given("node-networking-switch-count")
answer = -(-2*g["n"]*g["paths"]//g["ports"])
# %% wrong: one switch for every link of a GPU
g = given("node-networking-switch-count")
answer = g["paths"]
# %% wrong: one port a GPU
g = given("node-networking-switch-count")
answer = -(-g["n"]//g["ports"])
# %% wrong: the links
g = given("node-networking-switch-count")
answer = g["n"]*g["paths"]
# %% wrong: scales the four chips of a node of eight
g = given("node-networking-switch-count")
answer = 4*g["n"]//8
# %% wrong: an even number, so that links divide
g = given("node-networking-switch-count")
answer = -(-g["n"]*g["paths"]//g["ports"]//2)*2
# %% wrong: one too many, always adds one after rounding up
g = given("node-networking-switch-count")
answer = -(-g["n"]*g["paths"]//g["ports"]) + 1
# %% wrong: every pair of GPUs needs a port
g = given("node-networking-switch-count")
answer = -(-g["n"]*(g["n"] - 1)//g["ports"])
