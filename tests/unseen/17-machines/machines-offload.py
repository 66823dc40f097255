# %% right: one way's bytes against six operations
g = given("machines-offload")
answer = 2/g["W"]*g["eta"]*g["C"]/6
# %% right: typed, whole tokens
answer = "754 tokens"
# %% right: a model of 70 billion, two times of a step
g = given("machines-offload")
P = 70.6e9
there, back = 2*P/g["W"], 2*P/g["W"]
each = 6*P/(g["eta"]*g["C"])
answer = max(there, back)/each
# %% right: a Fraction
from fractions import Fraction
answer = Fraction(4, 10)*Fraction(9894, 10)*10**12/(3*175*10**9)
# %% right: sympy solves for the tokens
import sympy
g = given("machines-offload")
B, P = sympy.symbols("B P", positive=True)
step = 6*P*B/(g["eta"]*g["C"])
answer = sympy.solve(sympy.Eq(step, 2*P/g["W"]), B)[0]
# %% right: units of the library and numpy
import numpy as np
answer = np.float32(0.4*989.4*TFLOP)/np.float32(3*175*GB)
# %% right: what is reached over what the link asks for
g = given("machines-offload")
rate = g["C"]*g["eta"]             # operations a second
parameters = g["W"]/2              # a second, each way
answer = rate/parameters/6
# %% wrong: at the peak
answer = 989.4e12/(3*175e9)
# %% wrong: there and back one after the other
answer = 0.4*989.4e12*4/(6*175e9)
# %% wrong: both directions' bandwidth for one way's bytes
answer = 0.4*989.4e12*2/(6*350e9)
# %% wrong: beside the backward only
answer = 0.4*989.4e12*2/(4*175e9)
# %% wrong: beside the forward only
answer = 0.4*989.4e12*2/(2*175e9)
# %% wrong: divided by what is reached
answer = 989.4e12/(0.4*3*175e9)
# %% wrong: the states travel too, 12 bytes there
answer = 0.4*989.4e12*(2 + 12)/(6*175e9)
# %% wrong: gigabits
answer = 0.4*989.4e12*2*8/(6*175e9)
# %% wrong: the critical batch of a network, C/W
answer = 989.4e12/175e9
# %% wrong: the link of the sheet, 450 GB/s
answer = 0.4*989.4e12*2/(6*450e9)
# %% wrong: a forward again, eight operations
answer = 0.4*989.4e12*2/(8*175e9)
# %% wrong: as if the host's memory were the GPU's own, 3.35 TB/s
answer = 0.4*989.4e12*2/(6*3.35e12)
# %% wrong: tokens in thousands
answer = 0.7538
