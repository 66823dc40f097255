# %% right: the fewer ends, times a link
g = given("node-networking-node-bandwidth")
answer = min(g["n"]*g["paths"], g["switches"]*g["ports"])*g["W_link"]
# %% right: the library
g = given("node-networking-node-bandwidth")
answer = node_switch_bandwidth(n=g["n"], paths=g["paths"], switches=g["switches"], ports=g["ports"], W_link=g["W_link"])
# %% right: a text in TB/s
answer = "3.2 TB/s"
# %% right: in GB/s
g = given("node-networking-node-bandwidth")
ends = sorted([g["n"]*g["paths"], g["switches"]*g["ports"]])[0]
answer = f"{ends*g['W_link']/GB:.0f} GB/s"
# %% right: link by link until one side has no end left
g = given("node-networking-node-bandwidth")
gpu_ends, switch_ends, links_up = g["n"]*g["paths"], g["switches"]*g["ports"], 0
while gpu_ends and switch_ends:
    gpu_ends, switch_ends, links_up = gpu_ends - 1, switch_ends - 1, links_up + 1
answer = links_up*g["W_link"]
# %% right: bandwidth of a GPU, times GPUs, bounded by the switches
import numpy as np
g = given("node-networking-node-bandwidth")
gpus = g["n"]*(g["paths"]*g["W_link"])
switches = g["switches"]*(g["ports"]*g["W_link"])
answer = np.minimum(gpus, switches)
# %% right: sympy Min of exact numbers
import sympy
g = given("node-networking-node-bandwidth")
answer = sympy.Min(g["n"]*g["paths"], g["switches"]*g["ports"])*int(g["W_link"])
# %% wrong: the side with more ends, here the switches
g = given("node-networking-node-bandwidth")
answer = max(g["n"]*g["paths"], g["switches"]*g["ports"])*g["W_link"]
# %% wrong: both directions
g = given("node-networking-node-bandwidth")
answer = 2*g["n"]*g["paths"]*g["W_link"]
# %% wrong: one GPU
g = given("node-networking-node-bandwidth")
answer = g["paths"]*g["W_link"]
# %% wrong: half of the GPUs, as in a bisection
g = given("node-networking-node-bandwidth")
answer = g["n"]/2*g["paths"]*g["W_link"]
# %% wrong: one switch
g = given("node-networking-node-bandwidth")
answer = min(g["n"]*g["paths"], g["ports"])*g["W_link"]
# %% wrong: the links of a GPU to each switch
g = given("node-networking-node-bandwidth")
answer = g["n"]*g["paths"]*g["switches"]*g["W_link"]
# %% wrong: each to seven others
g = given("node-networking-node-bandwidth")
answer = g["n"]*(g["n"] - 1)*g["paths"]*g["W_link"]
# %% wrong: takes off the eighth that stays at home
g = given("node-networking-node-bandwidth")
answer = (g["n"] - 1)*g["paths"]*g["W_link"]
# %% wrong: adds GPUs and switches
g = given("node-networking-node-bandwidth")
answer = (g["n"]*g["paths"] + g["switches"]*g["ports"])*g["W_link"]
# %% wrong: bits for bytes
answer = "3.2 Tbit/s"
# %% wrong: maximum for minimum, in both directions
g = given("node-networking-node-bandwidth")
answer = 2*max(g["n"]*g["paths"], g["switches"]*g["ports"])*g["W_link"]
# %% wrong: a link has two ends, so half of the ports pass on
g = given("node-networking-node-bandwidth")
answer = min(g["n"]*g["paths"], g["switches"]*g["ports"]/2)*g["W_link"]
