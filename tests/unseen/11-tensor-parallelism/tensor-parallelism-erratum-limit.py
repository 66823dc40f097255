# %% right: rate of bytes and operations of one token and element
from fractions import Fraction
g = given("tensor-parallelism-erratum-limit")
bytes_out = 2 + 2                         # gather, scatter, for each token and element of the width
operations = Fraction(2*2*g["F"])         # of all ranks
answer = operations/int(g["C"])/(Fraction(bytes_out)/int(g["W"]))
# %% right: the divisor first
g = given("tensor-parallelism-erratum-limit")
divisor = g["C"]/g["W"]
answer = g["F"]/divisor
# %% right: typed
answer = 24.22
# %% right: numpy, a search for the crossing
import numpy as np
g = given("tensor-parallelism-erratum-limit")
tp = np.linspace(1, 100, 990001)
B, D = 4096, 16384
math = 4*B*D*g["F"]/(tp*g["C"])
network = 4*B*D/g["W"] + 0*tp
answer = tp[np.argmin(abs(math - network))]
# %% right: sympy solves it
import sympy
g = given("tensor-parallelism-erratum-limit")
B, D, n = sympy.symbols("B D n", positive=True)
math = 2*(2*B*D*g["F"])/n/int(g["C"])
network = 2*(2*B*D)/int(g["W"])
answer = sympy.solve(sympy.Eq(math, network), n)[0]
# %% right: the library's sheet of an H100
g = given("tensor-parallelism-erratum-limit")
answer = 53248*h100.scaleup_bandwidth/h100.bf16_flops
# %% right: as a quotient in a text
answer = "53248/2198.7"
# %% right: bisection
g = given("tensor-parallelism-erratum-limit")
low, high = 1.0, 1000.0
for _ in range(60):
    middle = (low + high)/2
    longer = 4*g["F"]/(middle*g["C"]) < 4/g["W"]
    low, high = (low, middle) if longer else (middle, high)
answer = high
# %% wrong: the text's divisor
g = given("tensor-parallelism-erratum-limit")
answer = g["F"]/1995
# %% wrong: rounded up
import math
g = given("tensor-parallelism-erratum-limit")
answer = math.ceil(g["F"]*g["W"]/g["C"])
# %% wrong: the gather alone
g = given("tensor-parallelism-erratum-limit")
answer = 2*g["F"]*g["W"]/g["C"]
# %% wrong: three matrices
g = given("tensor-parallelism-erratum-limit")
answer = 1.5*g["F"]*g["W"]/g["C"]
# %% wrong: one operation for a multiply and add
g = given("tensor-parallelism-erratum-limit")
answer = g["F"]*g["W"]/g["C"]/2
# %% wrong: both directions of the link
g = given("tensor-parallelism-erratum-limit")
answer = g["F"]*2*450e9/g["C"]
# %% wrong: sparse peak
g = given("tensor-parallelism-erratum-limit")
answer = g["F"]*g["W"]/(2*g["C"])
# %% wrong: hidden width of the 70 B model
g = given("tensor-parallelism-erratum-limit")
answer = 28672*g["W"]/g["C"]
# %% wrong: one matrix with two bytes each
g = given("tensor-parallelism-erratum-limit")
answer = 2*g["F"]*g["W"]/(4*2*g["C"])
# %% wrong: an all-reduce before and after
g = given("tensor-parallelism-erratum-limit")
answer = 4*g["F"]/g["C"]/(2*2*2/g["W"])
# %% wrong: gather and scatter at once, in both directions
g = given("tensor-parallelism-erratum-limit")
answer = 4*g["F"]/g["C"]/(2/g["W"])
# %% wrong: the backward pass, with a gather once more
g = given("tensor-parallelism-erratum-limit")
answer = 8*g["F"]/g["C"]/(3*2/g["W"])
# %% wrong: bandwidth of a card
g = given("tensor-parallelism-erratum-limit")
answer = g["F"]*50e9/g["C"]
# %% wrong: width in the place of the hidden width
g = given("tensor-parallelism-erratum-limit")
answer = 16384*g["W"]/g["C"]
