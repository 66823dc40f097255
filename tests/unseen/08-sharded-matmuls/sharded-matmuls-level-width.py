# %% right: typed
answer = 675_000
# %% right: as a power
answer = "6.75e5"
# %% right: both levels, the slower one, for a matrix of a size of its own
g = given("sharded-matmuls-level-width")
I = K = 8192
S = 2*I*K
inside = (g["Y"] - 1)/g["Y"]*S/g["W_in"]
across = (g["X"] - 1)/g["X"]*S/g["W_node"]
a_column = 2*I*K/(g["X"]*g["Y"]*g["C"])
answer = max(inside, across)/a_column
# %% right: fractions
from fractions import Fraction
answer = Fraction(15, 16)*128*2_250_000_000_000_000/400_000_000_000
# %% right: sympy solves
import sympy
J, S = sympy.symbols("J S", positive=True)
[answer] = sympy.solve(J*S/(128*sympy.Integer(10)**15*sympy.Rational(9, 4)) - sympy.Rational(15, 16)*S/(4*10**11), J)
# %% wrong: the level inside the node decides
g = given("sharded-matmuls-level-width")
answer = 128*g["C"]*7/8/g["W_in"]
# %% wrong: without fifteen sixteenths
g = given("sharded-matmuls-level-width")
answer = 128*g["C"]/g["W_node"]
# %% wrong: one level after the other
g = given("sharded-matmuls-level-width")
answer = 128*g["C"]*(7/8/g["W_in"] + 15/16/g["W_node"])
# %% wrong: every GPU has the node's rate
g = given("sharded-matmuls-level-width")
answer = 128*g["C"]*15/16/8/g["W_node"]
# %% wrong: a card's rate for all of the sum
g = given("sharded-matmuls-level-width")
answer = 128*g["C"]*15/16/(g["W_node"]/8)
# %% wrong: an all-reduce
g = given("sharded-matmuls-level-width")
answer = 2*128*g["C"]*15/16/g["W_node"]
# %% wrong: the nodes share the sum, their GPUs do not
g = given("sharded-matmuls-level-width")
answer = 16*g["C"]*15/16/g["W_node"]
# %% wrong: the flat formula for 128 ranks
g = given("sharded-matmuls-level-width")
answer = 127*g["C"]/(g["W_node"]/8)
# %% wrong: the flat formula inside
g = given("sharded-matmuls-level-width")
answer = 127*g["C"]/g["W_in"]
# %% wrong: two bytes counted, two FLOPs not
g = given("sharded-matmuls-level-width")
answer = 2*128*g["C"]*15/16/g["W_node"]*1.0
# %% wrong: two FLOPs counted, two bytes not
g = given("sharded-matmuls-level-width")
answer = 128*g["C"]*15/16/g["W_node"]/2
# %% wrong: what a GPU has of J
g = given("sharded-matmuls-level-width")
answer = g["C"]*15/16/g["W_node"]
# %% wrong: a term of each GPU leaves the node
g = given("sharded-matmuls-level-width")
answer = 8*128*g["C"]*15/16/g["W_node"]
# %% wrong: the rates of both levels added
g = given("sharded-matmuls-level-width")
answer = 128*g["C"]*127/128/(g["W_in"] + g["W_node"])
# %% wrong: all but one GPU's part leaves
g = given("sharded-matmuls-level-width")
answer = 128*g["C"]*127/128/g["W_node"]
# %% wrong: one direction is half of the rate
g = given("sharded-matmuls-level-width")
answer = 128*g["C"]*15/16/(g["W_node"]/2)
# %% wrong: TFLOP/s against GB/s, the prefixes left out
answer = 128*2250*15/16/400
# %% wrong: the time of the reduce-scatter for a matrix of its own
g = given("sharded-matmuls-level-width")
S = 2*8192*8192
answer = f"{15/16*S/g['W_node']*1e6:.1f} us"
# %% wrong: the ridge of a GPU against its node's network
g = given("sharded-matmuls-level-width")
answer = f"{g['C']/g['W_node']:.0f} FLOP/B"
# %% wrong: the two levels' widths, both
g = given("sharded-matmuls-level-width")
answer = (128*g["C"]*7/8/g["W_in"], 128*g["C"]*15/16/g["W_node"])
