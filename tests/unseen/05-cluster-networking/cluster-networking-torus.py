# %% right: typed
answer = 16
# %% right: search over even sides
g = given("cluster-networking-torus")
a = 2
while 2*a**2*g["W_link"] >= a**3/2*g["W"]:
    a += 2
answer = a
# %% right: the library's bisection against half of the chips
from itertools import count
g = given("cluster-networking-torus")
answer = next(a for a in count(2, 2)
              if torus_bisection_bandwidth(a, g["W_link"]) < a**3//2*g["W"])
# %% right: smallest even number above four times the ratio
import math
g = given("cluster-networking-torus")
answer = 2*(math.floor(2*g["W_link"]/g["W"]) + 1)
# %% right: numpy, first true of an array
import numpy as np
g = given("cluster-networking-torus")
a = np.arange(2, 1000, 2)
answer = a[np.argmax(2*a**2*g["W_link"] < a**3*g["W"]/2)]
# %% right: each chip's share of the cut, recursion
g = given("cluster-networking-torus")
def smallest(a=2):
    per_chip = 4*g["W_link"]/a
    return a if per_chip < g["W"] else smallest(a + 2)
answer = smallest()
# %% right: sympy integer
import sympy
g = given("cluster-networking-torus")
limit = 4*sympy.Rational(int(g["W_link"]), int(g["W"]))
answer = 2*(sympy.floor(limit/2) + 1)
# %% right: links through a plane counted one by one
g = given("cluster-networking-torus")
def torus_cut(a):
    crossing = 0
    for x in range(a):
        there = (x + 1) % a
        crossing += (x < a//2) != (there < a//2)
    return crossing*a*a*g["W_link"]
answer = min(a for a in range(2, 200, 2) if torus_cut(a) < a**3//2*g["W"])
# %% wrong: the real number at which both are equal
g = given("cluster-networking-torus")
answer = 4*g["W_link"]/g["W"]
# %% wrong: the last even side at which the torus is wider
g = given("cluster-networking-torus")
answer = 2*int(4*g["W_link"]/g["W"]/2)
# %% wrong: forgets that the axes close to rings
from itertools import count
g = given("cluster-networking-torus")
answer = next(a for a in count(2, 2) if a**2*g["W_link"] < a**3/2*g["W"])
# %% wrong: all chips of the tree send
from itertools import count
g = given("cluster-networking-torus")
answer = next(a for a in count(2, 2) if 2*a**2*g["W_link"] < a**3*g["W"])
# %% wrong: rings and half the chips both forgotten
from itertools import count
g = given("cluster-networking-torus")
answer = next(a for a in count(2, 2) if a**2*g["W_link"] < a**3*g["W"])
# %% wrong: both directions in the torus
from itertools import count
g = given("cluster-networking-torus")
answer = next(a for a in count(2, 2) if 4*a**2*g["W_link"] < a**3/2*g["W"])
# %% wrong: the number of chips
g = given("cluster-networking-torus")
answer = 8**3
# %% wrong: six links of a chip against its card
import math
g = given("cluster-networking-torus")
answer = 2*math.ceil(6*g["W_link"]/g["W"]/2)
# %% wrong: two axes only
from itertools import count
g = given("cluster-networking-torus")
answer = next(a for a in count(2, 2) if 2*a*g["W_link"] < a**3/2*g["W"])
# %% wrong: all six links of the chips at the plane are cut
g = given("cluster-networking-torus")
side = 6*g["W_link"] / (g["W"]/2)
answer = 2*(int(side/2) + 1)
# %% wrong: swaps the two rates
g = given("cluster-networking-torus")
side = 2*g["W"] / (g["W_link"]/2)
answer = 2*(int(side/2) + 1)
# %% wrong: six links shared by the hops of one axis, a/4
g = given("cluster-networking-torus")
side = 6*g["W_link"] / g["W"] * 4
answer = 2*(int(side/2) + 1)
# %% wrong: cuts out a cube of half the chips, with six faces
g = given("cluster-networking-torus")
side = 6*0.5**(2/3)*g["W_link"] / (g["W"]/2)
answer = 2*(int(side/2) + 1)
# %% wrong: leaves out the chips that lie at the two cuts
g = given("cluster-networking-torus")
# (a/2 - 2) a^2 W > 2 a^2 W_link
side = 2*(2*g["W_link"]/g["W"] + 2)
answer = 2*(int(side/2) + 1)
# %% wrong: three cables of a chip against its card
g = given("cluster-networking-torus")
side = 3*g["W_link"] / g["W"]
answer = 2*(int(side/2) + 1)
