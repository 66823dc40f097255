# %% right: first L above the break-even
g = given("gpu-architecture-lab-sort")
answer = ceil(g["c"]/(warp_ways(g["ways"]) - 1))
# %% right: tries one L after another
g = given("gpu-architecture-lab-sort")
L = 1
while not L + g["c"] < warp_ways(g["ways"], 32)*L:
    L += 1
answer = L
# %% right: exact fractions
from fractions import Fraction
g = given("gpu-architecture-lab-sort")
k = g["ways"]
walked = k*(1 - Fraction(k - 1, k)**32)
answer = int(g["c"]/(walked - 1)) + 1
# %% right: numpy search over many lengths
import numpy as np
g = given("gpu-architecture-lab-sort")
L = np.arange(1, 100_000)
ways = g["ways"]*(1 - (1 - 1/g["ways"])**32)
answer = L[ways*L > L + g["c"]][0]
# %% right: the number of ways by inclusion of one more thread at a time
g = given("gpu-architecture-lab-sort")
seen = 0
for thread in range(32):
    seen += 1 - seen/g["ways"]
answer = -int(-g["c"]//(seen - 1))
# %% right: typed
answer = 291
# %% right: sympy inequality turned into a ceiling
import sympy
g = given("gpu-architecture-lab-sort")
k = sympy.Integer(g["ways"])
answer = sympy.ceiling(g["c"]/(k*(1 - (1 - 1/k)**32) - 1))
# %% wrong: rounds down
g = given("gpu-architecture-lab-sort")
answer = int(g["c"]/(warp_ways(g["ways"]) - 1))
# %% wrong: forgets that sorted warps walk a way as well
g = given("gpu-architecture-lab-sort")
answer = ceil(g["c"]/warp_ways(g["ways"]))
# %% wrong: every warp walks all ways
g = given("gpu-architecture-lab-sort")
answer = ceil(g["c"]/(g["ways"] - 1))
# %% wrong: all ways, and nothing for the sorted one
g = given("gpu-architecture-lab-sort")
answer = ceil(g["c"]/g["ways"])
# %% wrong: not a whole number
g = given("gpu-architecture-lab-sort")
answer = g["c"]/(warp_ways(g["ways"]) - 1)
# %% wrong: a warp of eight, the ways taken for the threads
g = given("gpu-architecture-lab-sort")
answer = ceil(g["c"]/(warp_ways(g["ways"], g["ways"]) - 1))
# %% wrong: wavefronts of 64
g = given("gpu-architecture-lab-sort")
answer = ceil(g["c"]/(warp_ways(g["ways"], 64) - 1))
# %% wrong: the cost of sorting is of each thread
g = given("gpu-architecture-lab-sort")
answer = ceil(32*g["c"]/(warp_ways(g["ways"]) - 1))
# %% wrong: one more than needed
g = given("gpu-architecture-lab-sort")
answer = ceil(g["c"]/(warp_ways(g["ways"]) - 1)) + 1
# %% wrong: average work of a thread, no divergence
g = given("gpu-architecture-lab-sort")
answer = g["c"]
# %% wrong: takes the busy share for the gain
g = given("gpu-architecture-lab-sort")
answer = ceil(g["c"]*(1 - 1/warp_ways(g["ways"])))
# %% wrong: all the instructions of the ways, not of one
g = given("gpu-architecture-lab-sort")
answer = ceil(g["c"]/(warp_ways(g["ways"]) - 1))*g["ways"]
