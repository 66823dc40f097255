# %% right: a loop that adds GPUs
g = given("data-parallelism-fits")
answer = 1
while answer*g["S"]*(1 - g["r"]) < 16*g["P"]:
    answer += 1
# %% right: numpy's ceiling
import numpy as np
g = given("data-parallelism-fits")
answer = np.ceil(g["P"]*(2 + 2 + 4 + 4 + 4)/(g["S"]*(1 - g["r"])))
# %% right: floor division of negatives, in whole bytes
g = given("data-parallelism-fits")
room = round(g["S"]*(1 - g["r"]))
answer = -(-int(16*g["P"])//room)
# %% right: the recipe of the library
import math
g = given("data-parallelism-fits")
answer = math.ceil(MIXED_ADAM.total*g["P"]/(g["S"]*(1 - g["r"])))
# %% right: a sympy integer
import sympy
g = given("data-parallelism-fits")
share = 1 - sympy.nsimplify(g["r"])
answer = sympy.ceiling(sympy.Integer(int(g["P"]))*16/(share*int(g["S"])))
# %% right: as a text
import math
g = given("data-parallelism-fits")
answer = str(math.ceil(g["P"]*128/8/(g["S"]*(1 - g["r"]))))
# %% right: parameters that fit on one GPU
from fractions import Fraction
from math import ceil
g = given("data-parallelism-fits")
fit = Fraction(int(g["S"]))*(1 - Fraction(str(g["r"])))/16
answer = ceil(Fraction(int(g["P"]))/fit)
# %% wrong: ten bytes, as the textbook
import math
g = given("data-parallelism-fits")
answer = math.ceil(10*g["P"]/(g["S"]*(1 - g["r"])))
# %% wrong: no memory kept free
import math
g = given("data-parallelism-fits")
answer = math.ceil(16*g["P"]/g["S"])
# %% wrong: rounded down
g = given("data-parallelism-fits")
answer = int(16*g["P"]/(g["S"]*(1 - g["r"])))
# %% wrong: not rounded
g = given("data-parallelism-fits")
answer = 16*g["P"]/(g["S"]*(1 - g["r"]))
# %% wrong: 0.3 is used and the rest is free
import math
g = given("data-parallelism-fits")
answer = math.ceil(16*g["P"]/(g["S"]*g["r"]))
# %% wrong: no master copy
import math
g = given("data-parallelism-fits")
answer = math.ceil(12*g["P"]/(g["S"]*(1 - g["r"])))
# %% wrong: gradients in 32 bits
import math
g = given("data-parallelism-fits")
answer = math.ceil(18*g["P"]/(g["S"]*(1 - g["r"])))
# %% wrong: the optimizer's states alone
import math
g = given("data-parallelism-fits")
answer = math.ceil(12*g["P"]/g["S"])
# %% wrong: weights alone
import math
g = given("data-parallelism-fits")
answer = math.ceil(2*g["P"]/(g["S"]*(1 - g["r"])))
# %% wrong: GiB in the place of GB
import math
g = given("data-parallelism-fits")
answer = math.ceil(16*g["P"]/(80*2**30*(1 - g["r"])))
# %% wrong: 30 % on top of the states
import math
g = given("data-parallelism-fits")
answer = math.ceil(16*g["P"]*(1 + g["r"])/g["S"])
# %% wrong: whole nodes of eight
import math
g = given("data-parallelism-fits")
answer = 8*math.ceil(16*g["P"]/(g["S"]*(1 - g["r"]))/8)
# %% wrong: one moment
import math
g = given("data-parallelism-fits")
answer = math.ceil((2 + 2 + 4 + 4)*g["P"]/(g["S"]*(1 - g["r"])))
