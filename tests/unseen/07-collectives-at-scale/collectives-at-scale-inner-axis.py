# %% right: each rank's part through its own card
g = given("collectives-at-scale-inner-axis")
part = g["S"]/g["Y"]
answer = (g["X"] - 1)/g["X"]*part/g["W_out"]
# %% right: the library's formula
g = given("collectives-at-scale-inner-axis")
answer = outer_axis_allgather_time(g["S"], g["Y"], 8, 32, g["W_in"], g["W_out"])
# %% right: typed
answer = "1.875 ms"
# %% right: typed, three digits, microseconds
answer = "1880 us"
# %% right: seen from the node
g = given("collectives-at-scale-inner-axis")
wanted = 8/g["Y"]*g["S"]                   # parts of F that a node holds
lacking = wanted*(g["X"] - 1)/g["X"]
cards = 8*g["W_out"]
answer = f"{lacking/cards*1e3:.4g} ms"
# %% right: fractions of a second
from fractions import Fraction
g = given("collectives-at-scale-inner-axis")
answer = Fraction(int(g["S"]), g["Y"])*Fraction(g["X"] - 1, g["X"])/int(g["W_out"])
# %% right: levels of the library
g = given("collectives-at-scale-inner-axis")
unit = [Level("node", 8, g["W_in"]), Level("unit", 32, 8*g["W_out"])]
answer = level_time("all_gather", g["S"], axis_levels(unit, g["X"], g["Y"]))
# %% right: counts ranks in a loop
g = given("collectives-at-scale-inner-axis")
n = g["X"]*g["Y"]
group = range(0, n, g["Y"])                # the group of rank 0
mine = [r for r in group if r//8 == 0]     # in the node of rank 0
block = g["S"]/g["Y"]/g["X"]
inside = (len(mine) - 1)*block/g["W_in"]
across = (len(group) - len(mine))*block/(len(mine)*g["W_out"])
answer = max(inside, across)
# %% right: numpy, bits
import numpy as np
g = given("collectives-at-scale-inner-axis")
bits = np.float64(8*g["S"])/g["Y"]*(1 - 1/g["X"])
answer = "%.6f s" % (bits/(8*g["W_out"]))
# %% wrong: as if the inner axis were inside one node
g = given("collectives-at-scale-inner-axis")
answer = (1 - 1/32)*g["S"]/(8*g["W_out"])
# %% wrong: each rank gathers all weights
g = given("collectives-at-scale-inner-axis")
answer = (g["X"] - 1)/g["X"]*g["S"]/g["W_out"]
# %% wrong: to first order, without 15/16
g = given("collectives-at-scale-inner-axis")
answer = g["S"]/g["Y"]/g["W_out"]
# %% wrong: over NVLink
g = given("collectives-at-scale-inner-axis")
answer = (g["X"] - 1)/g["X"]*g["S"]/g["Y"]/g["W_in"]
# %% wrong: eight cards for each rank
g = given("collectives-at-scale-inner-axis")
answer = (g["X"] - 1)/g["X"]*g["S"]/g["Y"]/(8*g["W_out"])
# %% wrong: adds a gather inside the node
g = given("collectives-at-scale-inner-axis")
answer = (g["X"] - 1)/g["X"]*g["S"]/g["Y"]/g["W_out"] + 7/8*g["S"]/g["W_in"]
# %% wrong: divides by all 256 ranks
g = given("collectives-at-scale-inner-axis")
answer = (g["X"] - 1)/g["X"]*g["S"]/(g["X"]*g["Y"])/g["W_out"]
# %% wrong: two bytes an element on top of the bytes
g = given("collectives-at-scale-inner-axis")
answer = 2*(g["X"] - 1)/g["X"]*g["S"]/g["Y"]/g["W_out"]
# %% wrong: only the rate of the node's GPUs, flat gather of all
g = given("collectives-at-scale-inner-axis")
answer = max(7/8*g["S"]/g["W_in"], 31/32*g["S"]/(8*g["W_out"]))
# %% wrong: the bandwidth of both directions
g = given("collectives-at-scale-inner-axis")
answer = (g["X"] - 1)/g["X"]*g["S"]/g["Y"]/(2*g["W_out"])
# %% wrong: seconds for milliseconds
g = given("collectives-at-scale-inner-axis")
answer = f"{(g['X'] - 1)/g['X']*g['S']/g['Y']/g['W_out']*1e3:.4g} s"
# %% wrong: bits in the network
g = given("collectives-at-scale-inner-axis")
answer = (g["X"] - 1)/g["X"]*g["S"]/g["Y"]/(g["W_out"]/8)
