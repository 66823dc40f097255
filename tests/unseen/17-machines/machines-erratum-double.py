# %% right: both of the new numbers, sums in the switch
g = given("machines-erratum-double")
answer = g["C"]/(2*g["W"])
# %% right: typed, with what is counted and a comma
answer = "1,250 tokens"
# %% right: carried on from the draft's 549, as the arithmetic grew by 2,250/989
from fractions import Fraction
answer = Fraction(549*2250, 989)
# %% right: half of the bound without a switch, by the library
g = given("machines-erratum-double")
answer = dp_critical_batch(g["C"], g["W"])/2
# %% right: numpy, with units of the library
import numpy as np
answer = np.float64(2250*TFLOP)/np.float64(2*900*GB)
# %% right: solved from two times
import sympy
g = given("machines-erratum-double")
B, P = sympy.symbols("B P", positive=True)
math, wire = 4*P*B/sympy.Float(g["C"]), 2*P/sympy.Float(g["W"])    # backward; two bytes in and out at once
answer = sympy.solve(sympy.Eq(math, wire), B)[0]
# %% right: a text in powers of ten
answer = "1.25e3"
# %% wrong: the draft's, NVLink has doubled
answer = 549
# %% wrong: no sums in the switch
answer = 2.25e15/900e9
# %% wrong: both doubled, so it stays
answer = 989e12/(2*450e9)
# %% wrong: both directions of NVLink together
answer = 2.25e15/(2*1.8e12)
# %% wrong: growth of the arithmetic divided by, not multiplied with
answer = 1098/(2.25/0.989)/2
# %% wrong: quotient of the two growths upside down
answer = 1098*2/(2250/989)
# %% wrong: tokens of all eight GPUs of a node
answer = "10,000 tokens"
# %% wrong: across nodes, through eight cards of 50 GB/s
answer = 2.25e15/(8*50e9)
# %% wrong: peta over giga, a thousand lost
answer = 2.25e15/(2*900e9)/1000
# %% wrong: 2.25 PFLOP/s taken for 2.25 times the operations
answer = 1098*2.25/2
# %% wrong: the ridge of the GPU's own memory
answer = 2.25e15/8e12
# %% wrong: the peak in four bits
answer = 9e15/(2*900e9)
# %% wrong: only seven eighths of it leave a GPU of eight
answer = 7/8*2.25e15/(2*900e9)
