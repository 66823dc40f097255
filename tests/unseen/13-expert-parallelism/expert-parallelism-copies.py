# %% right: solved and rounded up
from math import ceil
g = given("expert-parallelism-copies")
share = g["share"]/100
limit = (1 + g["x"]/100)/g["n"]
answer = ceil(share/(limit - g["others"]*(1 - share)/(g["E"] - 1)))
# %% right: typed
answer = 3
# %% right: a text
answer = "3"
# %% right: tried one by one, loads over the mean
g = given("expert-parallelism-copies")
copies = 1
cold = (100 - g["share"])/(g["E"] - 1)
while (g["share"]/copies + g["others"]*cold)*g["n"]/100 > 1 + g["x"]/100:
    copies += 1
answer = copies
# %% right: fractions in a generator
from fractions import Fraction
g = given("expert-parallelism-copies")
part = Fraction(str(g["share"]))/100
rest = (1 - part)/(g["E"] - 1)*g["others"]
answer = next(c for c in range(1, 1000) if part/c + rest <= Fraction(100 + g["x"], 100*g["n"]))
# %% right: sympy's ceiling
import sympy
hot = sympy.Rational(2, 100)
answer = sympy.ceiling(hot/(sympy.Rational(11, 10)/32 - 7*(1 - hot)/255))
# %% right: numpy, over an array of numbers
import numpy as np
g = given("expert-parallelism-copies")
c = np.arange(1, g["n"] + 1)
load = g["share"]/100/c + g["others"]*(1 - g["share"]/100)/(g["E"] - 1)
answer = c[np.argmax(load*g["n"] <= 1 + g["x"]/100)]
# %% right: as a float
answer = 3.0
# %% wrong: the other experts on the rank are forgotten
from math import ceil
g = given("expert-parallelism-copies")
answer = ceil(g["share"]/100/((1 + g["x"]/100)/g["n"]))
# %% wrong: rounded down
g = given("expert-parallelism-copies")
share = g["share"]/100
answer = int(share/((1 + g["x"]/100)/g["n"] - g["others"]*(1 - share)/(g["E"] - 1)))
# %% wrong: not rounded
g = given("expert-parallelism-copies")
share = g["share"]/100
answer = share/((1 + g["x"]/100)/g["n"] - g["others"]*(1 - share)/(g["E"] - 1))
# %% wrong: the mean itself as the limit
from math import ceil
g = given("expert-parallelism-copies")
share = g["share"]/100
answer = ceil(share/(1/g["n"] - g["others"]*(1 - share)/(g["E"] - 1)))
# %% wrong: eight others on the rank
from math import ceil
g = given("expert-parallelism-copies")
share = g["share"]/100
answer = ceil(share/((1 + g["x"]/100)/g["n"] - (g["others"] + 1)*(1 - share)/(g["E"] - 1)))
# %% wrong: further copies, without the first
g = given("expert-parallelism-copies")
share = g["share"]/100
answer = int(share/((1 + g["x"]/100)/g["n"] - g["others"]*(1 - share)/(g["E"] - 1)) + 1) - 1
# %% wrong: one on every rank
answer = 32
# %% wrong: until a copy has no more than 1.1 of a mean expert
from math import ceil
g = given("expert-parallelism-copies")
answer = ceil(g["share"]/100*g["E"]/(1 + g["x"]/100))
# %% wrong: until a copy is as cold as any other expert
from math import ceil
answer = ceil(0.02/(0.98/255))
# %% wrong: one copy for each per cent
answer = 2
# %% wrong: ten percentage points of all choices above the mean
from math import ceil
g = given("expert-parallelism-copies")
share = g["share"]/100
answer = ceil(share/(1/g["n"] + g["x"]/100 - g["others"]*(1 - share)/(g["E"] - 1)))
# %% wrong: a power of two
answer = 4
# %% wrong: the limit lies ten per cent below the mean
from math import ceil
g = given("expert-parallelism-copies")
share = g["share"]/100
answer = ceil(share/((1 - g["x"]/100)/g["n"] - g["others"]*(1 - share)/(g["E"] - 1)))
# %% wrong: the places that have to be, a copy on eight more ranks
answer = 8
# %% wrong: it fits on one rank, being less than a rank's mean
from math import ceil
g = given("expert-parallelism-copies")
answer = ceil(g["share"]/100*g["n"])
# %% wrong: a copy may bring no more than what is allowed above the mean
from math import ceil
g = given("expert-parallelism-copies")
answer = ceil(g["share"]/100/(g["x"]/100/g["n"]))
# %% wrong: per cent as they stand
from math import ceil
g = given("expert-parallelism-copies")
answer = ceil(g["share"]/((1 + g["x"]/100)/g["n"] - g["others"]*(1 - g["share"]/100)/(g["E"] - 1)))
# %% wrong: a copy may add ten per cent to the load of the others beside it
from math import ceil
g = given("expert-parallelism-copies")
mean = (1 - g["share"]/100)/(g["E"] - 1)
answer = ceil(g["share"]/100/(g["x"]/100*g["others"]*mean))
