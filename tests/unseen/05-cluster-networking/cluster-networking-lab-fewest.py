# %% right: two tiers with blocking leaves, the plain record
answer = dict(nodes_per_group=40, leaf_uplinks=24, spines=24, pods=1, spine_uplinks=0, cores=0)

# %% right: numpy integers out of a calculation
import numpy as np

groups = np.int64(64)//8                    # a spine has a port for each leaf
below = np.int64(320)//groups
up = np.int64(64) - below
answer = {"nodes_per_group": below, "leaf_uplinks": up, "spines": up,
          "pods": np.int32(1), "spine_uplinks": np.uint8(0), "cores": np.int64(0)}

# %% right: a numpy array cut up into fields, in another order
import numpy as np

names = ["cores", "spine_uplinks", "pods", "spines", "leaf_uplinks", "nodes_per_group"]
answer = dict(zip(names, np.array([0, 0, 1, 24, 24, 40])))

# %% right: whole numbers as floats, from a division
groups = 64/8
n = 320/groups
answer = dict(nodes_per_group=n, leaf_uplinks=64 - n, spines=64 - n,
              pods=1.0, spine_uplinks=0.0, cores=0.0)

# %% right: the given numbers, and the least uplinks that 1.5 allows, rounded up
from math import ceil

numbers = given("cluster-networking-lab-fewest")
nodes, ports, slow = numbers["nodes"], numbers["ports"], numbers["slow"]
group = next(n for n in range(1, nodes + 1) if nodes % n == 0 and 8*nodes//n <= ports)
leaves = 8*nodes//group
uplinks = ceil(group*(1 - group/nodes)/(slow*(1 - 1/nodes)))
spines = ceil(leaves*uplinks/ports)
spines = min(k for k in range(spines, uplinks + 1) if uplinks % k == 0)
answer = dict(nodes_per_group=group, leaf_uplinks=uplinks, spines=spines, pods=1, spine_uplinks=0, cores=0)

# %% right: tries all trees of two tiers with the checker and the formula of the chapter
g = given("cluster-networking-lab-fewest")
free = 1 - 1/g["nodes"]
found = []
for n in range(1, g["ports"]):
    for up in range(1, g["ports"] - n + 1):
        if g["nodes"] % n or n*(1 - n/g["nodes"]) > g["slow"]*free*up or n == g["nodes"]:
            continue
        for spines in range(1, up + 1):
            if up % spines == 0 and 8*g["nodes"]//n*up <= spines*g["ports"]:
                found.append((8*g["nodes"]//n + spines, n, up, spines))
switches, n, up, spines = min(found)
answer = dict(nodes_per_group=n, leaf_uplinks=up, spines=spines)
answer |= dict(pods=1, spine_uplinks=0, cores=0)

# %% right: lets plan make the tree and reads its record
tree = plan(nodes=320, nodes_per_group=40, leaf_uplinks=24, ports=64)
answer = {name: getattr(tree, name) for name in (
    "nodes_per_group", "leaf_uplinks", "spines", "pods", "spine_uplinks", "cores")}

# %% right: an ordered dict, filled one by one
from collections import OrderedDict

answer = OrderedDict()
answer["spines"] = 24            # 64 leaves, one cable to each
answer["leaf_uplinks"] = 24
answer["nodes_per_group"] = 40   # 8 groups
answer["cores"] = answer["spine_uplinks"] = 0
answer["pods"] = 1

# %% wrong: three tiers that do not block, a beginner's first design
answer = dict(nodes_per_group=32, leaf_uplinks=32, spines=80, pods=5, spine_uplinks=32, cores=40)

# %% wrong: a non-blocking tree of two tiers, with more leaves than a spine has ports
answer = dict(nodes_per_group=32, leaf_uplinks=32, spines=32, pods=1, spine_uplinks=0, cores=0)

# %% wrong: three tiers without blocking, since two were said to end at 2,048 GPUs
answer = dict(nodes_per_group=32, leaf_uplinks=32, spines=320, pods=10, spine_uplinks=8, cores=64)

# %% wrong: keeps the third tier and thins it, good for two points only
answer = dict(nodes_per_group=32, leaf_uplinks=32, spines=40, pods=5, spine_uplinks=32, cores=40)

# %% wrong: one uplink less, 40 to 23, is too slow
answer = dict(nodes_per_group=40, leaf_uplinks=23, spines=23, pods=1, spine_uplinks=0, cores=0)

# %% wrong: counts a ratio of two to one as good enough
answer = dict(nodes_per_group=40, leaf_uplinks=20, spines=20, pods=1, spine_uplinks=0, cores=0)

# %% wrong: a ratio of 1.5, 40 to 27, and forgets that a leaf has 64 ports for both
answer = dict(nodes_per_group=40, leaf_uplinks=27, spines=27, pods=1, spine_uplinks=0, cores=0)

# %% wrong: two cables to each of 12 spines, which would need 128 ports
answer = dict(nodes_per_group=40, leaf_uplinks=24, spines=12, pods=1, spine_uplinks=0, cores=0)

# %% wrong: all 64 ports of a leaf go down
answer = dict(nodes_per_group=64, leaf_uplinks=43, spines=43, pods=1, spine_uplinks=0, cores=0)

# %% wrong: 64 ports divided 1.5 to 1, but 38 nodes a group do not divide 320
answer = dict(nodes_per_group=38, leaf_uplinks=26, spines=26, pods=1, spine_uplinks=0, cores=0)

# %% wrong: nodes and uplinks of a leaf exchanged
answer = dict(nodes_per_group=24, leaf_uplinks=40, spines=40, pods=1, spine_uplinks=0, cores=0)

# %% wrong: one spine less than cables up
answer = dict(nodes_per_group=40, leaf_uplinks=24, spines=23, pods=1, spine_uplinks=0, cores=0)

# %% wrong: one spine more than cables up, as a spare
answer = dict(nodes_per_group=40, leaf_uplinks=24, spines=25, pods=1, spine_uplinks=0, cores=0)

# %% wrong: spines counted for each of 8 groups
answer = dict(nodes_per_group=40, leaf_uplinks=24, spines=3, pods=1, spine_uplinks=0, cores=0)

# %% wrong: takes groups for pods, and nothing joins these
answer = dict(nodes_per_group=40, leaf_uplinks=24, spines=24, pods=8, spine_uplinks=0, cores=0)

# %% wrong: writes the number of groups for the nodes of one
answer = dict(nodes_per_group=8, leaf_uplinks=24, spines=24, pods=1, spine_uplinks=0, cores=0)

# %% wrong: GPUs of a group instead of nodes
answer = dict(nodes_per_group=320, leaf_uplinks=24, spines=24, pods=1, spine_uplinks=0, cores=0)

# %% wrong: forgets the field for cores
answer = dict(nodes_per_group=40, leaf_uplinks=24, spines=24, pods=1, spine_uplinks=0)

# %% wrong: leaves two fields of the stub as they were
answer = dict(nodes_per_group=40, leaf_uplinks=24, spines=24, pods=1, spine_uplinks=..., cores=...)

# %% wrong: None for what is not there
answer = dict(nodes_per_group=40, leaf_uplinks=24, spines=24, pods=None, spine_uplinks=None, cores=None)

# %% wrong: numbers in words
answer = dict(nodes_per_group="forty", leaf_uplinks="two dozen", spines="two dozen", pods="one",
              spine_uplinks="none", cores="none")

# %% wrong: lists for the tiers
answer = dict(nodes_per_group=[40]*8, leaf_uplinks=[24]*64, spines=[24], pods=[1], spine_uplinks=[0], cores=[0])

# %% wrong: answers with the number of switches, not with the tree
answer = 88

# %% wrong: a ratio of exactly 1.5 with a part of a cable
answer = dict(nodes_per_group=40, leaf_uplinks=40/1.5, spines=40/1.5, pods=1, spine_uplinks=0, cores=0)

# %% wrong: all uplinks of all leaves in one field
answer = dict(nodes_per_group=40, leaf_uplinks=64*24, spines=24, pods=1, spine_uplinks=0, cores=0)

# %% wrong: one huge switch for everything
answer = dict(nodes_per_group=320, leaf_uplinks=1, spines=1, pods=1, spine_uplinks=0, cores=0)

# %% wrong: no spines at all, the leaves stand alone
answer = dict(nodes_per_group=40, leaf_uplinks=24, spines=0, pods=1, spine_uplinks=0, cores=0)

# %% wrong: fewer groups, 5 of 64 nodes, with leaves that have no port left
answer = dict(nodes_per_group=64, leaf_uplinks=1, spines=1, pods=1, spine_uplinks=0, cores=0)

# %% wrong: a core for the two tiers, to be safe
answer = dict(nodes_per_group=40, leaf_uplinks=24, spines=24, pods=1, spine_uplinks=1, cores=1)

# %% wrong: minus signs for cables that go up
answer = dict(nodes_per_group=40, leaf_uplinks=-24, spines=24, pods=1, spine_uplinks=0, cores=0)
