# %% right: three teams to a group, two spines
answer = dict(nodes_per_group=60, leaves_per_group=8, leaf_uplinks=4, spines=2)
# %% right: the same with a spine for each cable up
answer = {"spines": 4, "leaf_uplinks": 4, "leaves_per_group": 8, "nodes_per_group": 60}
# %% right: from the teams and the ports
ports, team, nodes = 64, 20, 240
teams = ports//team                          # as many as a rail's leaf has ports for
group = teams*team
groups = nodes//group
up = ports - group
answer = dict(nodes_per_group=group, leaves_per_group=8, leaf_uplinks=up,
              spines=8*groups*up//ports)
# %% right: floats
answer = dict(nodes_per_group=60.0, leaves_per_group=8.0, leaf_uplinks=4.0, spines=2.0)
# %% right: numbers of numpy
import numpy as np
sizes = np.array([60, 8, 4, 4])
answer = dict(zip(["nodes_per_group", "leaves_per_group", "leaf_uplinks", "spines"], sizes))
# %% right: a search over all fields with a model of one's own
from math import ceil
g = given("cluster-networking-lab-fabric")
n, team = g["nodes"], g["team"]

def judged(size, leaves, up, spines):
    down, groups = 8*size//leaves, ceil(n/size)
    if (8*size) % leaves or down + up > g["ports"] or up % spines:
        return None
    if groups*leaves*up//spines > g["ports"]:
        return None
    card = g["copper"] if size <= 8 else 2
    price = g["switch"]*(groups*leaves + spines) + 2*groups*leaves*up + 8*n*card
    if price > g["budget"]:
        return None
    slowest = (g["near"] + g["far"])/50e9
    for first in range(0, n, size):
        inside = range(first, min(first + size, n))
        out = 0
        for node in inside:
            mates = [m for m in range(node//team*team, node//team*team + team) if m != node]
            away = sum(m not in inside for m in mates)/len(mates)
            out += 8*(g["near"]*away + g["far"]*(n - len(inside))/(n - 1))
        slowest = max(slowest, out/(leaves*up*50e9))
    return slowest

found = []
for size in range(1, 65):
    for leaves in (1, 2, 4, 8):
        for up in range(1, 64):
            for spines in range(1, up + 1):
                time = judged(size, leaves, up, spines)
                if time:
                    found.append((time, size, leaves, up, spines))
_, size, leaves, up, spines = min(found)
answer = dict(nodes_per_group=size, leaves_per_group=leaves, leaf_uplinks=up, spines=spines)
# %% right: integers of sympy
import sympy
group = sympy.ilcm(20, 6)
answer = dict(nodes_per_group=group, leaves_per_group=sympy.Integer(8),
              leaf_uplinks=64 - group, spines=sympy.Integer(128)/64)
# %% wrong: a group for each team, its cards on four leaves
answer = dict(nodes_per_group=20, leaves_per_group=4, leaf_uplinks=4, spines=4)
# %% wrong: a group for each team, with rails
answer = dict(nodes_per_group=20, leaves_per_group=8, leaf_uplinks=2, spines=2)
# %% wrong: copper and a quarter of a team under one leaf
answer = dict(nodes_per_group=5, leaves_per_group=1, leaf_uplinks=24, spines=24)
# %% wrong: eight nodes in copper on two leaves, as wide as the money reaches
answer = dict(nodes_per_group=8, leaves_per_group=2, leaf_uplinks=18, spines=18)
# %% wrong: nothing blocks, four nodes to a leaf
answer = dict(nodes_per_group=4, leaves_per_group=1, leaf_uplinks=32, spines=32)
# %% wrong: half of the cables up that the ports allow
answer = dict(nodes_per_group=60, leaves_per_group=8, leaf_uplinks=2, spines=1)
# %% wrong: three cables up from a group of three teams
answer = dict(nodes_per_group=60, leaves_per_group=8, leaf_uplinks=3, spines=3)
# %% wrong: one spine for all the cables up
answer = dict(nodes_per_group=60, leaves_per_group=8, leaf_uplinks=4, spines=1)
# %% wrong: three teams on half as many leaves
answer = dict(nodes_per_group=60, leaves_per_group=4, leaf_uplinks=8, spines=4)
# %% wrong: groups of 64 fill the leaves and leave no port up
answer = dict(nodes_per_group=64, leaves_per_group=8, leaf_uplinks=1, spines=1)
# %% wrong: a unit of 32 nodes in rails, as in the pod
answer = dict(nodes_per_group=32, leaves_per_group=8, leaf_uplinks=32, spines=32)
# %% wrong: groups that cut the teams in two
answer = dict(nodes_per_group=30, leaves_per_group=4, leaf_uplinks=4, spines=2)
# %% wrong: two teams to a group
answer = dict(nodes_per_group=40, leaves_per_group=8, leaf_uplinks=4, spines=4)
# %% wrong: one rail of all nodes for each leaf
answer = dict(nodes_per_group=240, leaves_per_group=8, leaf_uplinks=64, spines=8)
# %% wrong: leaves of all groups together
answer = dict(nodes_per_group=60, leaves_per_group=32, leaf_uplinks=4, spines=2)
# %% wrong: GPUs of a group in place of nodes
answer = dict(nodes_per_group=480, leaves_per_group=8, leaf_uplinks=4, spines=2)
# %% wrong: all cables up of a group in place of those of a leaf
answer = dict(nodes_per_group=60, leaves_per_group=8, leaf_uplinks=32, spines=2)
# %% wrong: more spines than a leaf has cables up
answer = dict(nodes_per_group=60, leaves_per_group=8, leaf_uplinks=4, spines=8)
# %% wrong: no spines are given
answer = dict(nodes_per_group=60, leaves_per_group=8, leaf_uplinks=4)
# %% wrong: the cheapest that is joined at all
answer = dict(nodes_per_group=7, leaves_per_group=1, leaf_uplinks=8, spines=8)
