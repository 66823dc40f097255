# %% right: elements over threads
g = given("memory-hierarchy-sum-registers")
answer = g["b_m"]*g["b_n"]//g["threads"]
# %% right: by bytes, four for each register
g = given("memory-hierarchy-sum-registers")
bytes = g["b_m"]*g["b_n"]*4
answer = bytes//(4*g["threads"])
# %% right: hands elements out one by one
import numpy as np
g = given("memory-hierarchy-sum-registers")
owner = np.arange(g["b_m"]*g["b_n"]) % g["threads"]
answer = np.bincount(owner).max()
# %% right: by warps
g = given("memory-hierarchy-sum-registers")
warps = g["threads"]//32
answer = g["b_m"]*g["b_n"]//warps//32
# %% right: a Fraction that is whole
from fractions import Fraction
g = given("memory-hierarchy-sum-registers")
answer = Fraction(g["b_m"], g["threads"])*g["b_n"]
# %% right: a whole float
g = given("memory-hierarchy-sum-registers")
answer = g["b_m"]*g["b_n"]/g["threads"]
# %% wrong: bytes, not registers
g = given("memory-hierarchy-sum-registers")
answer = 4*g["b_m"]*g["b_n"]//g["threads"]
# %% wrong: all threads together
g = given("memory-hierarchy-sum-registers")
answer = g["b_m"]*g["b_n"]
# %% wrong: two bf16 in a register
g = given("memory-hierarchy-sum-registers")
answer = g["b_m"]*g["b_n"]//g["threads"]//2
# %% wrong: registers of a warp
g = given("memory-hierarchy-sum-registers")
answer = g["b_m"]*g["b_n"]//(g["threads"]//32)
# %% wrong: the sides added instead of multiplied
g = given("memory-hierarchy-sum-registers")
answer = ceil((g["b_m"] + g["b_n"])/g["threads"])
# %% wrong: a register holds four float32
g = given("memory-hierarchy-sum-registers")
answer = g["b_m"]*g["b_n"]//g["threads"]//4
# %% wrong: operands as well as the sum
g = given("memory-hierarchy-sum-registers")
answer = 3*g["b_m"]*g["b_n"]//g["threads"]
# %% wrong: 32 threads for each of the 256
g = given("memory-hierarchy-sum-registers")
answer = g["b_m"]*g["b_n"]//(32*g["threads"])
# %% wrong: the most that a thread can have
answer = 255
# %% wrong: a double for each sum
g = given("memory-hierarchy-sum-registers")
answer = 2*g["b_m"]*g["b_n"]//g["threads"]
