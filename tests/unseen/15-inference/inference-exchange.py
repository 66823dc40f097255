# %% right: as a text in milliseconds
g = given("inference-exchange")
users = g["node"]/8/g["user"]
answer = f"{users*g['k']*g['L']*g['D']*3/g['W']*1e3:.5g} ms"
# %% right: two transfers added layer by layer
g = given("inference-exchange")
users, seconds = g["node"]/(8*g["user"]), 0.0
for layer in range(g["L"]):
    out = users*g["k"]*g["D"]*1/g["W"]
    back = users*g["k"]*g["D"]*2/g["W"]
    seconds += out + back
answer = seconds
# %% right: in Fractions
from fractions import Fraction
g = given("inference-exchange")
tokens = Fraction(g["node"], 8)/Fraction(g["user"])
answer = tokens*g["k"]*g["L"]*g["D"]*3/int(g["W"])
# %% right: share of a second that the card is busy, times the step
g = given("inference-exchange")
busy = g["node"]/8*3*g["D"]*g["k"]*g["L"]/g["W"]
step = 1/g["user"]
answer = busy*step
# %% right: the node's eight cards together, in bits and microseconds
g = given("inference-exchange")
bits = g["node"]/g["user"]*g["k"]*g["L"]*g["D"]*(8 + 16)
answer = str(1e6*bits/(8*g["W"]*8)) + " us"
# %% right: numpy, float32
import numpy as np
g = given("inference-exchange")
sizes = np.array([1, 2], dtype=np.float32)*g["D"]*g["k"]*g["L"]
answer = np.float32(sizes.sum()*g["node"]/8/g["user"]/g["W"])
# %% right: typed, with the units of the library
answer = 14800/8/21*58*8*3*7168/(50*GB)
# %% right: sympy
import sympy
users = sympy.Rational(14800, 8*21)
answer = users*58*8*(7168 + 2*7168)/sympy.Integer(50*10**9)
# %% wrong: the way out only
g = given("inference-exchange")
answer = g["node"]/8/g["user"]*g["k"]*g["L"]*g["D"]/g["W"]
# %% wrong: two ways at once, so the longer one counts
g = given("inference-exchange")
answer = g["node"]/8/g["user"]*g["k"]*g["L"]*g["D"]*2/g["W"]
# %% wrong: sending and receiving added
g = given("inference-exchange")
answer = g["node"]/8/g["user"]*g["k"]*g["L"]*g["D"]*6/g["W"]
# %% wrong: the users of a node on one card
g = given("inference-exchange")
answer = g["node"]/g["user"]*g["k"]*g["L"]*g["D"]*3/g["W"]
# %% wrong: two bytes both ways
g = given("inference-exchange")
answer = g["node"]/8/g["user"]*g["k"]*g["L"]*g["D"]*4/g["W"]
# %% wrong: one of eight experts is at home
g = given("inference-exchange")
answer = g["node"]/8/g["user"]*(g["k"] - 1)*g["L"]*g["D"]*3/g["W"]
# %% wrong: a token is sent once, whatever its experts
g = given("inference-exchange")
answer = g["node"]/8/g["user"]*g["L"]*g["D"]*3/g["W"]
# %% wrong: a card's 50 are Gbit/s
g = given("inference-exchange")
answer = g["node"]/8/g["user"]*g["k"]*g["L"]*g["D"]*3*8/g["W"]
# %% wrong: tokens of a second, not of a step
g = given("inference-exchange")
answer = g["node"]/8*g["k"]*g["L"]*g["D"]*3/g["W"]
# %% wrong: what is left of the step
g = given("inference-exchange")
step = 1/g["user"]
answer = step - g["node"]/8/g["user"]*g["k"]*g["L"]*g["D"]*3/g["W"]
# %% wrong: one layer
g = given("inference-exchange")
answer = g["node"]/8/g["user"]*g["k"]*g["D"]*3/g["W"]
# %% wrong: the card's rate in GiB/s
answer = 14800/8/21*58*8*3*7168/(50*2**30)
# %% wrong: the model's 61 layers
answer = 14800/8/21*61*8*3*7168/50e9
# %% wrong: a shared expert is a ninth
g = given("inference-exchange")
answer = g["node"]/8/g["user"]*(g["k"] + 1)*g["L"]*g["D"]*3/g["W"]
# %% wrong: outputs are summed before they come back
g = given("inference-exchange")
answer = g["node"]/8/g["user"]*(g["k"] + 2)*g["L"]*g["D"]/g["W"]
# %% wrong: one copy out, all outputs back
g = given("inference-exchange")
answer = g["node"]/8/g["user"]*(1 + 2*g["k"])*g["L"]*g["D"]/g["W"]
# %% wrong: one user in a step
g = given("inference-exchange")
answer = g["k"]*g["L"]*g["D"]*3/g["W"]
# %% wrong: a GPU uses all cards of its node
g = given("inference-exchange")
answer = g["node"]/8/g["user"]*g["k"]*g["L"]*g["D"]*3/(8*g["W"])
