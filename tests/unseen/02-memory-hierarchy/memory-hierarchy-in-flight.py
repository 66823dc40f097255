# %% right: bytes under way, an SM's, a warp's
g = given("memory-hierarchy-in-flight")
answer = ceil(g["W"]*g["t"]/g["n_SM"]/(32*g["b"]))
# %% right: the library's warps, rounded up
g = given("memory-hierarchy-in-flight")
answer = ceil(flight_bytes(g["W"], g["t"])/(g["n_SM"]*32*g["b"]))
# %% right: one warp more until the memory is busy
g = given("memory-hierarchy-in-flight")
warps = 1
while latency_bandwidth(warps*32*g["b"]*g["n_SM"], g["W"], g["t"]) < g["W"]:
    warps += 1
answer = warps
# %% right: whole numbers only, in nanoseconds
g = given("memory-hierarchy-in-flight")
W_ns = round(g["W"]/1e9)            # bytes a nanosecond
t_ns = round(g["t"]*1e9)
answer = -(-W_ns*t_ns//(g["n_SM"]*32*g["b"]))
# %% right: numpy
import numpy as np
g = given("memory-hierarchy-in-flight")
answer = np.ceil(g["W"]*g["t"]/(32*g["b"]*g["n_SM"])).astype(int)
# %% right: Fraction, exact
from fractions import Fraction
g = given("memory-hierarchy-in-flight")
flight = Fraction(str(g["W"]))*Fraction(str(g["t"]))
answer = ceil(flight/(g["n_SM"]*32*g["b"]))
# %% right: typed
answer = 51
# %% right: share of the time that one warp keeps the memory busy
g = given("memory-hierarchy-in-flight")
one = 32*g["b"]*g["n_SM"]/g["W"]     # seconds of traffic from a warp on each SM
answer = int(g["t"]//one) + (g["t"] % one > 0)
# %% wrong: rounds down
g = given("memory-hierarchy-in-flight")
answer = int(g["W"]*g["t"]/g["n_SM"]/(32*g["b"]))
# %% wrong: threads, not warps
g = given("memory-hierarchy-in-flight")
answer = ceil(g["W"]*g["t"]/g["n_SM"]/g["b"])
# %% wrong: the warps of the whole chip
g = given("memory-hierarchy-in-flight")
answer = ceil(g["W"]*g["t"]/(32*g["b"]))
# %% wrong: not rounded
g = given("memory-hierarchy-in-flight")
answer = g["W"]*g["t"]/g["n_SM"]/(32*g["b"])
# %% wrong: two loads a thread, as in the figure
g = given("memory-hierarchy-in-flight")
answer = ceil(g["W"]*g["t"]/g["n_SM"]/(32*2*g["b"]))
# %% wrong: there and back, twice the latency
g = given("memory-hierarchy-in-flight")
answer = ceil(2*g["W"]*g["t"]/g["n_SM"]/(32*g["b"]))
# %% wrong: a load of four bits
g = given("memory-hierarchy-in-flight")
answer = ceil(8*g["W"]*g["t"]/g["n_SM"]/(32*g["b"]))
# %% wrong: wavefronts of 64
g = given("memory-hierarchy-in-flight")
answer = ceil(g["W"]*g["t"]/g["n_SM"]/(64*g["b"]))
# %% wrong: for one of four subpartitions
g = given("memory-hierarchy-in-flight")
answer = ceil(g["W"]*g["t"]/g["n_SM"]/(32*g["b"])/4)
# %% wrong: fills the slots, since more is better
answer = 64
# %% wrong: a byte a thread
g = given("memory-hierarchy-in-flight")
answer = ceil(g["W"]*g["t"]/g["n_SM"]/32)
