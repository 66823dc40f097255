# %% right: whole root
from math import isqrt
g = given("memory-hierarchy-largest-tile")
answer = isqrt(g["kb"]*1024//(3*g["b"]))
# %% right: the library
g = given("memory-hierarchy-largest-tile")
answer = largest_square_tile(g["kb"]*KiB, g["b"])
# %% right: one larger as long as it fits
g = given("memory-hierarchy-largest-tile")
side = 0
while 3*(side + 1)**2*g["b"] <= g["kb"]*1024:
    side += 1
answer = side
# %% right: the largest of those that fit
g = given("memory-hierarchy-largest-tile")
answer = max(s for s in range(1, 2000) if g["b"]*(s*s + s*s + s*s) <= g["kb"]*KiB)
# %% right: numpy floor of a float root
import numpy as np
g = given("memory-hierarchy-largest-tile")
answer = np.floor(np.sqrt(g["kb"]*1024/g["b"]/3))
# %% right: a third of the memory for each, then halves
from bisect import bisect_right
g = given("memory-hierarchy-largest-tile")
third = g["kb"]*1024/3
answer = bisect_right(range(5000), third, key=lambda s: s*s*g["b"]) - 1
# %% right: typed
answer = 197
# %% wrong: rounds up
g = given("memory-hierarchy-largest-tile")
answer = ceil((g["kb"]*1024/3/g["b"])**0.5)
# %% wrong: two tiles
g = given("memory-hierarchy-largest-tile")
answer = int((g["kb"]*1024/2/g["b"])**0.5)
# %% wrong: each tile has all of it
g = given("memory-hierarchy-largest-tile")
answer = int((g["kb"]*1024/g["b"])**0.5)
# %% wrong: forgets the bytes of an element
g = given("memory-hierarchy-largest-tile")
answer = int((g["kb"]*1024/3)**0.5)
# %% wrong: elements of a tile, no root
g = given("memory-hierarchy-largest-tile")
answer = g["kb"]*1024//(3*g["b"])
# %% wrong: sums of twice the width, as in float32
g = given("memory-hierarchy-largest-tile")
answer = int((g["kb"]*1024/(g["b"] + g["b"] + 2*g["b"]))**0.5)
# %% wrong: all of twice the width
g = given("memory-hierarchy-largest-tile")
answer = int((g["kb"]*1024/3/(2*g["b"]))**0.5)
# %% wrong: a multiple of 16, though any number will do
g = given("memory-hierarchy-largest-tile")
answer = int((g["kb"]*1024/3/g["b"])**0.5)//16*16
# %% wrong: not a whole number
g = given("memory-hierarchy-largest-tile")
answer = (g["kb"]*1024/3/g["b"])**0.5
# %% wrong: the 256 KB of L1
g = given("memory-hierarchy-largest-tile")
answer = int((256*1024/3/g["b"])**0.5)
# %% wrong: a KB of 1,000 bytes
g = given("memory-hierarchy-largest-tile")
answer = int((g["kb"]*1000/3/g["b"])**0.5)
# %% wrong: cubes instead of squares
g = given("memory-hierarchy-largest-tile")
answer = int((g["kb"]*1024/3/g["b"])**(1/3))
