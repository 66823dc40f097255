# %% right: typed
answer = 257
# %% right: half the square of the ports, floor division, and one more
g = given("cluster-networking-third-tier")
answer = g["ports"]**2//2//g["gpus"] + 1
# %% right: count nodes up until the spines have no port for another leaf
g = given("cluster-networking-third-tier")
down = g["ports"]//2
nodes = 1
while -(-nodes*g["gpus"]//down) <= g["ports"]:
    nodes += 1
answer = nodes
# %% right: the library's formula, as a numpy integer
import numpy as np
g = given("cluster-networking-third-tier")
answer = np.int64(two_tier_hosts(g["ports"])/g["gpus"]) + 1
# %% right: the first node count for which the library needs three tiers
from itertools import count
from hwlib.topology import tree_tiers
g = given("cluster-networking-third-tier")
answer = next(m for m in count(1) if tree_tiers(m*g["gpus"], g["ports"], 1) > 2)
# %% right: a sympy integer
import sympy
g = given("cluster-networking-third-tier")
answer = sympy.floor(sympy.Rational(g["ports"]**2, 2*g["gpus"])) + 1
# %% right: a whole number that is a float
import math
g = given("cluster-networking-third-tier")
answer = math.floor(g["ports"]*(g["ports"]/2)/g["gpus"]) + 1.0
# %% right: fractions, ceiling of the first GPU too many
import math
from fractions import Fraction
g = given("cluster-networking-third-tier")
answer = math.ceil(Fraction(g["ports"]**2//2 + 1, g["gpus"]))
# %% wrong: the largest that still fits
g = given("cluster-networking-third-tier")
answer = g["ports"]**2//2//g["gpus"]
# %% wrong: counts GPUs instead of nodes
g = given("cluster-networking-third-tier")
answer = g["ports"]**2//2 + 1
# %% wrong: the largest number of GPUs
g = given("cluster-networking-third-tier")
answer = g["ports"]**2//2
# %% wrong: all ports of a leaf lead down
g = given("cluster-networking-third-tier")
answer = g["ports"]**2//g["gpus"] + 1
# %% wrong: halves the ports of the spines too
g = given("cluster-networking-third-tier")
answer = (g["ports"]//2)**2//g["gpus"] + 1
# %% wrong: where one switch no longer suffices
g = given("cluster-networking-third-tier")
answer = g["ports"]//g["gpus"] + 1
# %% wrong: where three tiers no longer suffice
g = given("cluster-networking-third-tier")
answer = g["ports"]**3//4//g["gpus"] + 1
# %% wrong: takes a node for a host with one card
g = given("cluster-networking-third-tier")
answer = g["ports"]**2//2*g["gpus"] + 1
# %% wrong: one whole leaf more instead of one node more
g = given("cluster-networking-third-tier")
answer = (g["ports"]**2//2 + g["ports"]//2)//g["gpus"]
# %% wrong: adds the ports of leaf and spine
g = given("cluster-networking-third-tier")
answer = (g["ports"]//2 + g["ports"])//g["gpus"] + 1
# %% wrong: counts the switches of the full tree
g = given("cluster-networking-third-tier")
leaves, spines = g["ports"], g["ports"]//2
answer = leaves + spines + 1
# %% wrong: a leaf for each node
g = given("cluster-networking-third-tier")
answer = g["ports"] + 1
# %% wrong: divides by the GPUs of a node and again by its cards
g = given("cluster-networking-third-tier")
answer = g["ports"]**2//2//g["gpus"]//g["gpus"] + 1
# %% wrong: three ports of a leaf down for one up
g = given("cluster-networking-third-tier")
answer = g["ports"]*3//4 * g["ports"]//g["gpus"] + 1
# %% wrong: cables from each leaf to every other, without spines
g = given("cluster-networking-third-tier")
down = g["ports"]//2
leaves = g["ports"] - down + 1
answer = leaves*down//g["gpus"] + 1
