# %% right: one line, multiplied out
n = given("gpu-architecture-lanes")["n"]
answer = n*4*32 - 2*8*128*4
# %% right: numpy scalars
import numpy as np
n = given("gpu-architecture-lanes")["n"]
gpu = np.prod(np.array([n, 4, 32]))
tpu = np.prod([2, 8, 128, 4])
answer = gpu - tpu
# %% right: the library's lanes, less the TPU's
g = given("gpu-architecture-lanes")
answer = vector_lanes(g["n"], 4*32) - vector_lanes(2, 8*128*4)
# %% right: a whole number as a Fraction
from fractions import Fraction
n = given("gpu-architecture-lanes")["n"]
answer = Fraction(n*128) - Fraction(2**13)
# %% right: a whole float, from a count in thousands
n = given("gpu-architecture-lanes")["n"]
answer = float(n*4*32) - 2.0*1024*4
# %% right: counts every ALU one by one
n = given("gpu-architecture-lanes")["n"]
gpu = sum(32 for sm in range(n) for part in range(4))
tpu = sum(4 for core in range(2) for row in range(8) for column in range(128))
answer = gpu - tpu
# %% right: typed from a calculator
answer = 18944 - 8192
# %% right: a sympy integer
import sympy
n = sympy.Integer(given("gpu-architecture-lanes")["n"])
answer = n*4*32 - sympy.Integer(2)*8*128*4
# %% wrong: forgets the four subpartitions
n = given("gpu-architecture-lanes")["n"]
answer = n*32 - 2*8*128*4
# %% wrong: one core of the TPU only
n = given("gpu-architecture-lanes")["n"]
answer = n*4*32 - 8*128*4
# %% wrong: one ALU at every place of the grid
n = given("gpu-architecture-lanes")["n"]
answer = n*4*32 - 2*8*128
# %% wrong: how many times as many, instead of how many more
n = given("gpu-architecture-lanes")["n"]
answer = n*4*32/(2*8*128*4)
# %% wrong: the lanes of the GPU, nothing taken off
n = given("gpu-architecture-lanes")["n"]
answer = n*4*32
# %% wrong: the other way round
n = given("gpu-architecture-lanes")["n"]
answer = 2*8*128*4 - n*4*32
# %% wrong: takes 128 lanes for a subpartition's
n = given("gpu-architecture-lanes")["n"]
answer = n*4*128 - 2*8*128*4
# %% wrong: counts a multiply-add as two on both chips
n = given("gpu-architecture-lanes")["n"]
answer = 2*(n*4*32 - 2*8*128*4)
# %% wrong: the multiprocessors of a full die, 160
answer = 160*4*32 - 2*8*128*4
# %% wrong: schedulers against places, no lanes
n = given("gpu-architecture-lanes")["n"]
answer = 2*8*128*4 - n*4
