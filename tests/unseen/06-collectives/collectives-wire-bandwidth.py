# %% right: S over t first, then the bytes of a port
g = given("collectives-wire-bandwidth")
n = g["n"]
algorithm = g["W_bus"]/(2*(n - 1)/n)
answer = (n + 1)/n*algorithm
# %% right: typed, three digits
answer = "307 GB/s"
# %% right: typed in bits
answer = "2.456 Tbit/s"
# %% right: nine fourteenths as a fraction
from fractions import Fraction
g = given("collectives-wire-bandwidth")
answer = Fraction(g["n"] + 1, 2*(g["n"] - 1))*int(g["W_bus"])
# %% right: the library's formula
g = given("collectives-wire-bandwidth")
answer = nvls_port_bandwidth(g["n"], g["W_bus"])
# %% right: by the time of one gibibyte
g = given("collectives-wire-bandwidth")
n, S = g["n"], 2**30
t = bus_factor("all_reduce", n)*S/g["W_bus"]
answer = f"{(S + S/n)/t/1e9:.4g} GB/s"
# %% right: bus bandwidth over the speedup of the switch
g = given("collectives-wire-bandwidth")
speedup = 2*(g["n"] - 1)/(g["n"] + 1)
answer = g["W_bus"]/speedup
# %% right: TB/s with five places, from a decimal
from decimal import Decimal
g = given("collectives-wire-bandwidth")
t_of_S = Decimal(2*(g["n"] - 1))/g["n"]/Decimal(g["W_bus"])     # for one byte
answer = f"{(1 + Decimal(1)/g['n'])/t_of_S/10**12:.5f} TB/s"
# %% right: numpy, GiB/s
import numpy as np
g = given("collectives-wire-bandwidth")
W = np.float64(g["W_bus"])*(g["n"] + 1)/np.multiply(2, g["n"] - 1)
answer = "%.4g GiB/s" % (W/2**30)
# %% wrong: takes the printed number for the wire
g = given("collectives-wire-bandwidth")
answer = g["W_bus"]
# %% wrong: the algorithm bandwidth, no finished sums
g = given("collectives-wire-bandwidth")
answer = g["W_bus"]*g["n"]/(2*(g["n"] - 1))
# %% wrong: multiplies by the speedup
g = given("collectives-wire-bandwidth")
answer = g["W_bus"]*2*(g["n"] - 1)/(g["n"] + 1)
# %% wrong: the factor of an all-gather
g = given("collectives-wire-bandwidth")
answer = g["W_bus"]*(g["n"] + 1)/(g["n"] - 1)
# %% wrong: both ways added, with data and sums counted twice
g = given("collectives-wire-bandwidth")
answer = 2*g["W_bus"]*(2*g["n"] + 2)/(2*(g["n"] - 1))
# %% wrong: (n - 1)/n of S through the port
g = given("collectives-wire-bandwidth")
answer = g["W_bus"]/2
# %% wrong: multiplies where the benchmark has to be divided by
g = given("collectives-wire-bandwidth")
n = g["n"]
answer = g["W_bus"]*2*(n - 1)/n*(n + 1)/n
# %% wrong: forgets the two of the bus factor
g = given("collectives-wire-bandwidth")
n = g["n"]
answer = g["W_bus"]*(n + 1)/n
# %% wrong: the line rate of NVLink
answer = "450 GB/s"
# %% wrong: all eight ports
g = given("collectives-wire-bandwidth")
answer = g["n"]*g["W_bus"]*(g["n"] + 1)/(2*(g["n"] - 1))
# %% wrong: bytes called bits
g = given("collectives-wire-bandwidth")
answer = f"{g['W_bus']*(g['n'] + 1)/(2*(g['n'] - 1))/1e9:.4g} Gbit/s"
# %% wrong: n plus two, data and sums on the way up and down
g = given("collectives-wire-bandwidth")
answer = g["W_bus"]*(g["n"] + 2)/(2*(g["n"] - 1))
# %% wrong: the bus bandwidth of the ring
answer = "366 GB/s"
