# %% right: the seven blocks that a GPU lacks, through its own port
g = given("collectives-erratum-allgather")
S = 2*g["D"]*g["F"]
answer = (g["n"] - 1)/g["n"]*S/g["W"]
# %% right: typed in microseconds
answer = "65.2 us"
# %% right: typed in SI
answer = 6.52e-5
# %% right: nanoseconds in a text
g = given("collectives-erratum-allgather")
answer = f"{(g['n'] - 1)*2*g['D']*g['F']/g['n']/g['W']*1e9:.0f} ns"
# %% right: the library's ring without latency
g = given("collectives-erratum-allgather")
answer = ring_allgather_time(g["n"], 2*g["D"]*g["F"], 0, g["W"])
# %% right: row by row, fractions
from fractions import Fraction
g = given("collectives-erratum-allgather")
rows = Fraction(g["D"], g["n"])            # of a GPU
lacking = g["D"] - rows
answer = lacking*g["F"]*2/Fraction(g["W"])
# %% right: numpy's bytes of a real array
import numpy as np
g = given("collectives-erratum-allgather")
full = np.empty((g["D"], g["F"]), np.float16)
own = full[:g["D"]//g["n"]]
answer = (full.nbytes - own.nbytes)/np.float64(g["W"])
# %% right: a decimal with the sign for micro
from decimal import Decimal
g = given("collectives-erratum-allgather")
t = Decimal(2*g["D"]*g["F"]*(g["n"] - 1))/g["n"]/Decimal(g["W"])
answer = f"{t*10**6:.4f} \u00b5s"
# %% right: bits over bits
g = given("collectives-erratum-allgather")
bits = 16*g["D"]*g["F"]
answer = sum(bits/g["n"]/(8*g["W"]) for k in range(g["n"] - 1))
# %% wrong: divides by all ports together
g = given("collectives-erratum-allgather")
answer = 2*g["D"]*g["F"]/(g["n"]*g["W"])
# %% wrong: to first order, the whole array through a port
g = given("collectives-erratum-allgather")
answer = 2*g["D"]*g["F"]/g["W"]
# %% wrong: counts the seven eighths but still divides by all ports
g = given("collectives-erratum-allgather")
answer = (g["n"] - 1)/g["n"]*2*g["D"]*g["F"]/(g["n"]*g["W"])
# %% wrong: one block only
g = given("collectives-erratum-allgather")
answer = 2*g["D"]*g["F"]/g["n"]/g["W"]
# %% wrong: an element of one byte
g = given("collectives-erratum-allgather")
answer = (g["n"] - 1)/g["n"]*g["D"]*g["F"]/g["W"]
# %% wrong: an element of four bytes
g = given("collectives-erratum-allgather")
answer = (g["n"] - 1)/g["n"]*4*g["D"]*g["F"]/g["W"]
# %% wrong: twice, as for an all-reduce
g = given("collectives-erratum-allgather")
answer = 2*(g["n"] - 1)/g["n"]*2*g["D"]*g["F"]/g["W"]
# %% wrong: n - 1 whole arrays
g = given("collectives-erratum-allgather")
answer = (g["n"] - 1)*2*g["D"]*g["F"]/g["W"]
# %% wrong: both directions of the port at once
g = given("collectives-erratum-allgather")
answer = (g["n"] - 1)/g["n"]*2*g["D"]*g["F"]/(2*g["W"])
# %% wrong: inverts the n - 1 over n
g = given("collectives-erratum-allgather")
answer = g["n"]/(g["n"] - 1)*2*g["D"]*g["F"]/g["W"]
# %% wrong: bits of the array over bytes of the port
g = given("collectives-erratum-allgather")
answer = (g["n"] - 1)/g["n"]*16*g["D"]*g["F"]/g["W"]
# %% wrong: milliseconds written for microseconds
g = given("collectives-erratum-allgather")
answer = f"{(g['n'] - 1)/g['n']*2*g['D']*g['F']/g['W']*1e6:.1f} ms"
# %% wrong: the draft's figure
answer = "9 us"
