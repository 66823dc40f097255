# %% right: up to the next power by logarithm
g = given("gpu-architecture-cycle-flops")
answer = 2**ceil(log2(g["C"]/(g["n"]*g["cores"]*g["f"])))
# %% right: doubles until the sheet is reached
g = given("gpu-architecture-cycle-flops")
answer = 1
while g["n"]*g["cores"]*answer*g["f"] < g["C"]:
    answer *= 2
# %% right: next() over a generator of powers
g = given("gpu-architecture-cycle-flops")
answer = next(1 << k for k in range(40) if g["n"]*g["cores"]*(1 << k)*g["f"] >= g["C"])
# %% right: bits of the whole number below
from fractions import Fraction
g = given("gpu-architecture-cycle-flops")
need = Fraction(g["C"])/(g["n"]*g["cores"]*Fraction(g["f"]))
answer = 1 << (ceil(need) - 1).bit_length()
# %% right: numpy, a whole float
import numpy as np
g = given("gpu-architecture-cycle-flops")
answer = np.exp2(np.ceil(np.log2(g["C"]/g["n"]/g["cores"]/g["f"])))
# %% right: from the work of a whole SM, a quarter of it
g = given("gpu-architecture-cycle-flops")
sm = cycle_flops(g["C"], g["n"], g["f"])
answer = 2**ceil(log2(sm))//g["cores"]
# %% right: typed
answer = 2**12
# %% right: smallest of a list
g = given("gpu-architecture-cycle-flops")
answer = min(x for x in [2**i for i in range(1, 20)] if x/(g["C"]/(g["n"]*g["cores"]*g["f"])) >= 1)
# %% wrong: does not round to a power of two
g = given("gpu-architecture-cycle-flops")
answer = ceil(g["C"]/(g["n"]*g["cores"]*g["f"]))
# %% wrong: the power of two below
g = given("gpu-architecture-cycle-flops")
answer = 2**int(log2(g["C"]/(g["n"]*g["cores"]*g["f"])))
# %% wrong: of a whole multiprocessor
g = given("gpu-architecture-cycle-flops")
answer = 2**ceil(log2(g["C"]/(g["n"]*g["f"])))
# %% wrong: the exponent
g = given("gpu-architecture-cycle-flops")
answer = ceil(log2(g["C"]/(g["n"]*g["cores"]*g["f"])))
# %% wrong: multiply-adds instead of FLOP
g = given("gpu-architecture-cycle-flops")
answer = 2**ceil(log2(g["C"]/(2*g["n"]*g["cores"]*g["f"])))
# %% wrong: takes the rate with sparsity
g = given("gpu-architecture-cycle-flops")
answer = 2**ceil(log2(2*g["C"]/(g["n"]*g["cores"]*g["f"])))
# %% wrong: the float that comes out
g = given("gpu-architecture-cycle-flops")
answer = g["C"]/(g["n"]*g["cores"]*g["f"])
# %% wrong: of all matrix units together
g = given("gpu-architecture-cycle-flops")
answer = 2**ceil(log2(g["C"]/g["f"]))
# %% wrong: forgets the four and doubles for multiply-add
g = given("gpu-architecture-cycle-flops")
answer = 2*2**ceil(log2(g["C"]/(g["n"]*g["f"])))
# %% wrong: reads a power of two as a square number
g = given("gpu-architecture-cycle-flops")
each = g["C"] / (g["n"]*g["cores"]*g["f"])
answer = ceil(each**0.5)**2
# %% wrong: the side of the cube that does so many FLOP
g = given("gpu-architecture-cycle-flops")
each = g["C"] / (g["n"]*g["cores"]*g["f"])
answer = 2**ceil(log2(each/2)/3)
# %% wrong: shares the rate out over the 128 lanes of an SM
g = given("gpu-architecture-cycle-flops")
answer = 2**ceil(log2(g["C"] / (g["n"]*b200.lanes*g["f"])))
# %% wrong: the sheet's float32 rate in place of the 8-bit one
g = given("gpu-architecture-cycle-flops")
answer = 2**ceil(log2(b200.fp32_flops / (g["n"]*g["cores"]*g["f"])))
# %% wrong: rounds the whole chip up, then shares it out
g = given("gpu-architecture-cycle-flops")
answer = 2**ceil(log2(g["C"]/g["f"])) // (g["n"]*g["cores"])
# %% wrong: takes four units for those of the whole chip
g = given("gpu-architecture-cycle-flops")
answer = 2**ceil(log2(g["C"] / (g["cores"]*g["f"])))
# %% wrong: reads the figure's 16-bit work of a multiprocessor
answer = 8192
# %% wrong: a quarter of the figure's 16-bit work of a multiprocessor
answer = 8192//4
