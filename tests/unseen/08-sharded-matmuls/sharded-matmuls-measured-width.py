# %% right: time of the all-reduce, then the width
g = given("sharded-matmuls-measured-width")
t = 2*(g["n"] - 1)/g["n"]*g["S"]/g["W_bus"]
answer = t*g["n"]*g["C"]/(2*g["T"]*g["K"])
# %% right: sizes cancelled
g = given("sharded-matmuls-measured-width")
answer = 2*(g["n"] - 1)*g["C"]/g["W_bus"]
# %% right: typed
answer = 40_000
# %% right: in microseconds and TFLOP
t = 67.11e6/346.5e3*1.75                # us
rate = 8*989.4                          # MFLOP in a us, thousands: 1e6 FLOP
answer = t*rate*1e6/(2*4096*8192)
# %% right: the library's ring
g = given("sharded-matmuls-measured-width")
t = ring_allreduce_time(g["n"], g["S"], 0, g["W_bus"])
answer = t*g["n"]*g["C"]/2/(g["S"]/2)
# %% right: fractions
from fractions import Fraction
answer = Fraction("989.4e12")*14/Fraction("346.5e9")
# %% right: the pair's width, for all-reduces of eight
g = given("sharded-matmuls-measured-width")
answer = split_critical_width(g["C"], g["W_bus"])*(g["n"] - 1)
# %% right: algorithm bandwidth first
g = given("sharded-matmuls-measured-width")
algbw = g["W_bus"]*4/7
answer = (4096*8192*2/algbw)/(2*4096*8192/(8*989.4e12))
# %% wrong: bus bandwidth taken as size over time
g = given("sharded-matmuls-measured-width")
answer = g["n"]*g["C"]/g["W_bus"]
# %% wrong: a reduce-scatter
g = given("sharded-matmuls-measured-width")
answer = (g["n"] - 1)*g["C"]/g["W_bus"]
# %% wrong: twice the size, without seven eighths
g = given("sharded-matmuls-measured-width")
answer = 2*g["n"]*g["C"]/g["W_bus"]
# %% wrong: a rank's part of J
g = given("sharded-matmuls-measured-width")
answer = 2*(g["n"] - 1)/g["n"]*g["C"]/g["W_bus"]
# %% wrong: the data sheet's links
g = given("sharded-matmuls-measured-width")
answer = 2*(g["n"] - 1)*g["C"]/450e9
# %% wrong: the bus factor the other way
g = given("sharded-matmuls-measured-width")
answer = g["n"]*g["C"]/g["W_bus"]/1.75
# %% wrong: the bus factor twice
g = given("sharded-matmuls-measured-width")
answer = 1.75*2*(g["n"] - 1)*g["C"]/g["W_bus"]
# %% wrong: one FLOP for a multiplication and an addition
g = given("sharded-matmuls-measured-width")
answer = 4*(g["n"] - 1)*g["C"]/g["W_bus"]
# %% wrong: one byte an element
g = given("sharded-matmuls-measured-width")
answer = (g["n"] - 1)*g["C"]/g["W_bus"]*1.0
# %% wrong: the pair's formula
g = given("sharded-matmuls-measured-width")
answer = 2*g["C"]/g["W_bus"]
# %% wrong: forgets the elements' bytes in S, so counts them twice
g = given("sharded-matmuls-measured-width")
answer = 4*(g["n"] - 1)*g["C"]/g["W_bus"]/1.0
# %% wrong: the sum of eight partial sums is sent
g = given("sharded-matmuls-measured-width")
answer = 8*2*(g["n"] - 1)*g["C"]/g["W_bus"]
# %% wrong: the arithmetic of one GPU for all of J, as an all-reduce of 2*S
answer = 2*67.11e6/346.5e9*989.4e12/(2*4096*8192)
# %% wrong: half of the rate is one direction
g = given("sharded-matmuls-measured-width")
answer = 4*(g["n"] - 1)*g["C"]/g["W_bus"] - 1
# %% wrong: all-to-all's factor
g = given("sharded-matmuls-measured-width")
answer = 7/64*g["n"]*g["C"]/g["W_bus"]
# %% wrong: TFLOP/s against GB/s, the prefixes left out
answer = 14*989.4/346.5
# %% wrong: the time of the all-reduce
g = given("sharded-matmuls-measured-width")
answer = f"{2*7/8*g['S']/g['W_bus']*1e6:.1f} us"
# %% wrong: the ridge
g = given("sharded-matmuls-measured-width")
answer = f"{g['C']/g['W_bus']:.0f} FLOP/B"
# %% wrong: every GPU does all of the arithmetic, and the ends that meet
g = given("sharded-matmuls-measured-width")
answer = {"J": 14*g["C"]/g["W_bus"]}
# %% wrong: rounded up to a power of two
answer = 65536
