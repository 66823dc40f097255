# %% right: the group's part, twice a gather
g = given("sharded-matmuls-erratum-reduce")
S = 2*g["B"]/g["X"]*g["D"]/g["Y"]
answer = 2*S/g["W"]
# %% right: as a text
answer = "14.56 us"
# %% right: the library's move, without (n - 1)/n
g = given("sharded-matmuls-erratum-reduce")
mesh = Mesh(X=g["X"], Y=g["Y"], Z=g["Z"])
(move,) = moves_between("C[B_X, D_Y]{U_Z}", "C[B_X, D_Y]", mesh, {"B": g["B"], "D": g["D"]})
answer = 2*move.bytes/g["W"]
# %% right: fractions
from fractions import Fraction
answer = Fraction(4*2048*5120, 8*4*90*10**9)
# %% right: a ring each way with half of the array
g = given("sharded-matmuls-erratum-reduce")
half = 2*g["B"]*g["D"]/(g["X"]*g["Y"])/2
one_way = g["W"]/2
answer = 2*half/one_way                    # scatter, then gather
# %% right: sympy's limit of the exact ring
import sympy
g = given("sharded-matmuls-erratum-reduce")
n = sympy.Symbol("n", positive=True)
S = 2*sympy.Integer(g["B"])*g["D"]/(g["X"]*g["Y"])
answer = sympy.limit(2*(n - 1)/n*S/int(g["W"]), n, sympy.oo)
# %% right: numpy scalar
import numpy as np
block = np.zeros((2048//8, 5120//4), np.float16)
answer = np.float64(2*block.nbytes)/90e9
# %% right: the exact ring's time, undone
g = given("sharded-matmuls-erratum-reduce")
S = 2*g["B"]*g["D"]/(g["X"]*g["Y"])
answer = ring_allreduce_time(g["Z"], S, 0, g["W"])*g["Z"]/(g["Z"] - 1)
# %% wrong: the printed formula
g = given("sharded-matmuls-erratum-reduce")
answer = 4*g["B"]*g["D"]/g["W"]
# %% wrong: one letter only, the rows are split
g = given("sharded-matmuls-erratum-reduce")
answer = 4*g["B"]*g["D"]/g["X"]/g["W"]
# %% wrong: one letter only, the columns are split
g = given("sharded-matmuls-erratum-reduce")
answer = 4*g["B"]*g["D"]/g["Y"]/g["W"]
# %% wrong: the overlooked letter is Z
g = given("sharded-matmuls-erratum-reduce")
answer = 4*g["B"]*g["D"]/g["Z"]/g["W"]
# %% wrong: split over the open axis too
g = given("sharded-matmuls-erratum-reduce")
answer = 4*g["B"]*g["D"]/(g["X"]*g["Y"]*g["Z"])/g["W"]
# %% wrong: a reduce-scatter's time
g = given("sharded-matmuls-erratum-reduce")
answer = 2*g["B"]*g["D"]/(g["X"]*g["Y"])/g["W"]
# %% wrong: both directions counted again
g = given("sharded-matmuls-erratum-reduce")
answer = 4*g["B"]*g["D"]/(g["X"]*g["Y"])/(2*g["W"])
# %% wrong: a single direction
g = given("sharded-matmuls-erratum-reduce")
answer = 4*g["B"]*g["D"]/(g["X"]*g["Y"])/(g["W"]/2)
# %% wrong: the links of all three axes
g = given("sharded-matmuls-erratum-reduce")
answer = 4*g["B"]*g["D"]/(g["X"]*g["Y"])/(3*g["W"])
# %% wrong: exact, without the own part
g = given("sharded-matmuls-erratum-reduce")
answer = (g["Z"] - 1)/g["Z"]*4*g["B"]*g["D"]/(g["X"]*g["Y"])/g["W"]
# %% wrong: all twelve terms sent around
g = given("sharded-matmuls-erratum-reduce")
answer = 2*g["Z"]*g["B"]*g["D"]/(g["X"]*g["Y"])/g["W"]
# %% wrong: four bytes an element
g = given("sharded-matmuls-erratum-reduce")
answer = 8*g["B"]*g["D"]/(g["X"]*g["Y"])/g["W"]
# %% wrong: milliseconds for microseconds
answer = "14.56 ms"
# %% wrong: the book's own numbers, corrected
answer = 4*1024*4096/(4*4)/90e9
# %% wrong: the bytes that a device has, no time
g = given("sharded-matmuls-erratum-reduce")
answer = f"{2*g['B']*g['D']/(g['X']*g['Y'])/1e6} MB"
# %% wrong: microseconds without their unit
answer = 14.56
# %% wrong: bits over bytes a second
g = given("sharded-matmuls-erratum-reduce")
answer = 8*4*g["B"]*g["D"]/(g["X"]*g["Y"])/g["W"]
# %% wrong: the rate turned over
g = given("sharded-matmuls-erratum-reduce")
answer = g["W"]/(4*g["B"]*g["D"]/(g["X"]*g["Y"]))
# %% wrong: GB/s taken for a billionth
g = given("sharded-matmuls-erratum-reduce")
answer = 4*g["B"]*g["D"]/(g["X"]*g["Y"])/(g["W"]/1e9)
# %% wrong: both halves apart
g = given("sharded-matmuls-erratum-reduce")
half = 2*g["B"]*g["D"]/(g["X"]*g["Y"])/g["W"]
answer = half, half
