# %% right: bytes of the file over bytes of a warp
g = given("memory-hierarchy-resident-warps")
answer = g["kb"]*1024//(4*32*g["rho"])
# %% right: the library
g = given("memory-hierarchy-resident-warps")
answer = register_warps(g["kb"]*KiB, g["rho"])
# %% right: registers first, then threads, then warps
g = given("memory-hierarchy-resident-warps")
registers = g["kb"]*1024//4
threads = registers//g["rho"]
answer = threads//32
# %% right: in bits, as numpy
import numpy as np
g = given("memory-hierarchy-resident-warps")
answer = np.int64(g["kb"]*1024*8)//np.int64(32*32*g["rho"])
# %% right: four subpartitions added up
g = given("memory-hierarchy-resident-warps")
part = g["kb"]*1024//4//4              # registers of a subpartition
answer = sum(part//(32*g["rho"]) for _ in range(4))
# %% right: takes warps in as long as they fit
g = given("memory-hierarchy-resident-warps")
free, answer = g["kb"]*KiB, 0
while free >= 4*32*g["rho"]:
    free -= 4*32*g["rho"]
    answer += 1
# %% right: typed
answer = 12
# %% wrong: of a sub-partition
g = given("memory-hierarchy-resident-warps")
answer = g["kb"]*1024//(4*32*g["rho"])//4
# %% wrong: multiplies by four, taking the file for a sub-partition's
g = given("memory-hierarchy-resident-warps")
answer = 4*(g["kb"]*1024//(4*32*g["rho"]))
# %% wrong: threads, not warps
g = given("memory-hierarchy-resident-warps")
answer = g["kb"]*1024//(4*g["rho"])
# %% wrong: registers of two bytes
g = given("memory-hierarchy-resident-warps")
answer = g["kb"]*1024//(2*32*g["rho"])
# %% wrong: a register is one byte
g = given("memory-hierarchy-resident-warps")
answer = g["kb"]*1024//(1*32*g["rho"])
# %% wrong: the slots of an SM
answer = 64
# %% wrong: registers of 64 bits
g = given("memory-hierarchy-resident-warps")
answer = g["kb"]*1024//(8*32*g["rho"])
# %% wrong: a KB of 1,000 bytes
g = given("memory-hierarchy-resident-warps")
answer = g["kb"]*1000//(4*32*g["rho"])
# %% wrong: the bits of a register as its bytes
g = given("memory-hierarchy-resident-warps")
answer = g["kb"]*1024//(32*32*g["rho"])
# %% wrong: the whole chip
g = given("memory-hierarchy-resident-warps")
answer = h100.sms*(g["kb"]*1024//(4*32*g["rho"]))
