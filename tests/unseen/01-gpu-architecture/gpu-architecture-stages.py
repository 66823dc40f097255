# %% right: a slot comes round again after copy and products
g = given("gpu-architecture-stages")
answer = ceil((g["t_copy"] + g["t_mma"])/g["t_mma"])
# %% right: one slot in use, and those that cover a copy
g = given("gpu-architecture-stages")
answer = 1 + ceil(g["t_copy"]/g["t_mma"])
# %% right: one more until the slots between cover the copy
g = given("gpu-architecture-stages")
answer = 1
while (answer - 1)*g["t_mma"] < g["t_copy"]*(1 - 1e-12):
    answer += 1
# %% right: the first number with which the ring is as fast as the products
g = given("gpu-architecture-stages")
copy, mma = g["t_copy"], g["t_mma"]
answer = next(s for s in range(1, 1000) if max(mma, (copy + mma)/s) == mma)
# %% right: exact fractions of whole nanoseconds
from fractions import Fraction
g = given("gpu-architecture-stages")
copy, mma = (round(g[key]*1e9) for key in ("t_copy", "t_mma"))
answer = ceil(Fraction(copy + mma, mma))
# %% right: whole nanoseconds, division that rounds down from below
g = given("gpu-architecture-stages")
copy, mma = round(g["t_copy"]/ns), round(g["t_mma"]/ns)
answer = -(-(copy + mma)//mma)
# %% right: plays the ring, and looks for gaps after the first product
g = given("gpu-architecture-stages")
copy, mma = round(g["t_copy"]*1e9), round(g["t_mma"]*1e9)

def waits(slots, steps=200):
    done = []
    for k in range(steps):
        asked = done[k - slots] if k >= slots else 0
        start = max(asked + copy, done[-1] if done else 0)
        if done and start > done[-1]:
            return True
        done.append(start + mma)
    return False

answer = next(s for s in range(1, 200) if not waits(s))
# %% right: a numpy integer
import numpy as np
g = given("gpu-architecture-stages")
answer = np.int64(np.ceil(np.divide(g["t_copy"], g["t_mma"]) + 1))
# %% right: sympy, from the ratio of whole numbers
import sympy
g = given("gpu-architecture-stages")
ratio = sympy.Rational(round(g["t_copy"]*1e9), round(g["t_mma"]*1e9))
answer = sympy.ceiling(1 + ratio)
# %% right: bisection on the number of slots
from bisect import bisect_left
g = given("gpu-architecture-stages")
need = (g["t_copy"] + g["t_mma"])/g["t_mma"]
answer = bisect_left(range(1000), need)
# %% right: typed
answer = 7
# %% right: typed as a text with a decimal point
answer = "7.0"
# %% wrong: enough slots for the copy alone
g = given("gpu-architecture-stages")
answer = ceil(g["t_copy"]/g["t_mma"])
# %% wrong: rounded down
g = given("gpu-architecture-stages")
answer = int(g["t_copy"]/g["t_mma"])
# %% wrong: the ratio, and one more to be safe
g = given("gpu-architecture-stages")
answer = ceil((g["t_copy"] + g["t_mma"])/g["t_mma"]) + 1
# %% wrong: double buffering hides any copy
answer = 2
# %% wrong: a slot for the copy, one for the products, one for the epilogue
answer = 3
# %% wrong: not a whole number
g = given("gpu-architecture-stages")
answer = (g["t_copy"] + g["t_mma"])/g["t_mma"]
# %% wrong: the copies of the others are in the way too, copy and products of a step on both sides
g = given("gpu-architecture-stages")
answer = ceil(2*(g["t_copy"] + g["t_mma"])/g["t_mma"])
# %% wrong: there and back, twice the latency
g = given("gpu-architecture-stages")
answer = ceil((2*g["t_copy"] + g["t_mma"])/g["t_mma"])
# %% wrong: the ratio turned over
g = given("gpu-architecture-stages")
answer = ceil((g["t_copy"] + g["t_mma"])/g["t_copy"])
# %% wrong: the products subtracted from the copy
g = given("gpu-architecture-stages")
answer = ceil((g["t_copy"] - g["t_mma"])/g["t_mma"])
# %% wrong: the next power of two, as buffers have
g = given("gpu-architecture-stages")
answer = 2**ceil(log2((g["t_copy"] + g["t_mma"])/g["t_mma"]))
# %% wrong: half of the slots full, half empty
g = given("gpu-architecture-stages")
answer = 2*ceil(g["t_copy"]/g["t_mma"])
# %% wrong: the three slots of the figure, as its copies and products are not far from these
answer = "3"
# %% wrong: slots for each of the four tensor cores
g = given("gpu-architecture-stages")
answer = 4*ceil((g["t_copy"] + g["t_mma"])/g["t_mma"])
# %% wrong: how long a slot lasts, in nanoseconds
g = given("gpu-architecture-stages")
answer = round((g["t_copy"] + g["t_mma"])/ns)
# %% wrong: with a unit
answer = "7 slots of 130 ns"
