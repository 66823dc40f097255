# %% right: the product turned round
g = given("gpu-architecture-vector-clock")
answer = g["C"]/(2*g["n"]*g["lanes"])
# %% right: the library's inverse
g = given("gpu-architecture-vector-clock")
answer = vector_clock(g["C"], g["n"], g["lanes"])
# %% right: a text in GHz, four digits
answer = "2.112 GHz"
# %% right: a text in MHz
g = given("gpu-architecture-vector-clock")
answer = f"{g['C']/g['n']/g['lanes']/2/1e6:.0f} MHz"
# %% right: ratio to the rate at one hertz
g = given("gpu-architecture-vector-clock")
answer = g["C"]/vector_flops(g["n"], g["lanes"], 1, 2)
# %% right: a Fraction
from fractions import Fraction
g = given("gpu-architecture-vector-clock")
answer = Fraction(int(g["C"]), g["n"]*g["lanes"]*2)
# %% right: solved by sympy
import sympy
g = given("gpu-architecture-vector-clock")
f = sympy.symbols("f", positive=True)
answer = sympy.solve(sympy.Eq(2*f*g["n"]*g["lanes"], g["C"]), f)[0]
# %% right: cycles a second, in 1/s
g = given("gpu-architecture-vector-clock")
answer = f"{g['C']/(2*g['n']*g['lanes']):.3e} 1/s"
# %% wrong: forgets that a lane does two operations
g = given("gpu-architecture-vector-clock")
answer = g["C"]/(g["n"]*g["lanes"])
# %% wrong: operations of half multiply-adds, from the exercise before
g = given("gpu-architecture-vector-clock")
answer = g["C"]/(g["n"]*g["lanes"]*1.5)
# %% wrong: the multiprocessors of a full die, 160
g = given("gpu-architecture-vector-clock")
answer = vector_clock(g["C"], 160, g["lanes"])
# %% wrong: four subpartitions of 128 lanes
g = given("gpu-architecture-vector-clock")
answer = g["C"]/(2*g["n"]*4*g["lanes"])
# %% wrong: in GHz without a unit
g = given("gpu-architecture-vector-clock")
answer = g["C"]/(2*g["n"]*g["lanes"])/1e9
# %% wrong: the highest clock that the chip has
answer = 1.965e9
# %% wrong: 32 lanes, those of one subpartition
g = given("gpu-architecture-vector-clock")
answer = g["C"]/(2*g["n"]*32)
# %% wrong: the length of a cycle
g = given("gpu-architecture-vector-clock")
answer = 2*g["n"]*g["lanes"]/g["C"]
# %% wrong: the right digits in MHz
answer = "2.11 MHz"
# %% wrong: multiplies by the two instead of dividing
g = given("gpu-architecture-vector-clock")
answer = 2*g["C"]/(g["n"]*g["lanes"])
