# %% right: average operations of an instruction
g = given("gpu-architecture-vector-flops")
ops = 2*g["share"] + 1*(1 - g["share"])
answer = g["n"]*g["lanes"]*g["f"]*ops
# %% right: a text in TFLOP/s
g = given("gpu-architecture-vector-flops")
answer = f"{g['n']*g['lanes']*g['f']*(1 + g['share'])/1e12:.4g} TFLOP/s"
# %% right: between the two rates of the notebook
g = given("gpu-architecture-vector-flops")
adds, fmas = (vector_flops(g["n"], g["lanes"], g["f"], ops) for ops in (1, 2))
answer = g["share"]*fmas + (1 - g["share"])*adds
# %% right: typed, three digits
answer = "33.6 TFLOP/s"
# %% right: exact, as a Fraction
from fractions import Fraction
g = given("gpu-architecture-vector-flops")
answer = Fraction(g["n"])*g["lanes"]*Fraction(g["f"])*(1 + Fraction(g["share"]))
# %% right: Decimal
from decimal import Decimal
g = given("gpu-architecture-vector-flops")
answer = Decimal(g["n"]*g["lanes"])*Decimal(g["f"])*(Decimal(1) + Decimal(g["share"]))
# %% right: in a unit that vendors use
g = given("gpu-architecture-vector-flops")
rate = g["n"]*g["lanes"]*g["f"]*(1 + g["share"])
answer = "%.2f TFLOPS" % (rate/1e12)
# %% right: numpy, weights and operations
import numpy as np
g = given("gpu-architecture-vector-flops")
ops = np.dot([g["share"], 1 - g["share"]], [2, 1])
answer = np.float64(g["n"]*g["lanes"])*ops*g["f"]
# %% right: show() prints it
g = given("gpu-architecture-vector-flops")
answer = show(g["n"]*g["lanes"]*g["f"]*(1 + g["share"]), "FLOP/s")
# %% wrong: takes every instruction for a multiply-add
g = given("gpu-architecture-vector-flops")
answer = vector_flops(g["n"], g["lanes"], g["f"], 2)
# %% wrong: one operation for every instruction
g = given("gpu-architecture-vector-flops")
answer = vector_flops(g["n"], g["lanes"], g["f"], 1)
# %% wrong: counts the multiply-adds and forgets the other instructions
g = given("gpu-architecture-vector-flops")
answer = g["n"]*g["lanes"]*g["f"]*2*g["share"]
# %% wrong: averages times instead of operations
g = given("gpu-architecture-vector-flops")
answer = g["n"]*g["lanes"]*g["f"]/(g["share"]/2 + (1 - g["share"])/1)
# %% wrong: the data sheet's clock instead of the one given
g = given("gpu-architecture-vector-flops")
answer = g["n"]*g["lanes"]*h100.vector_clock*(1 + g["share"])
# %% wrong: one instruction a scheduler, so no lanes
g = given("gpu-architecture-vector-flops")
answer = g["n"]*4*g["f"]*(1 + g["share"])
# %% wrong: multiplies the 128 lanes by four subpartitions
g = given("gpu-architecture-vector-flops")
answer = g["n"]*4*g["lanes"]*g["f"]*(1 + g["share"])
# %% wrong: right number, in GFLOP/s
g = given("gpu-architecture-vector-flops")
answer = f"{g['n']*g['lanes']*g['f']*(1 + g['share'])/1e12:.1f} GFLOP/s"
# %% wrong: a number in TFLOP/s without its unit
g = given("gpu-architecture-vector-flops")
answer = g["n"]*g["lanes"]*g["f"]*(1 + g["share"])/1e12
# %% wrong: a multiply-add is three, with its rounding
g = given("gpu-architecture-vector-flops")
answer = g["n"]*g["lanes"]*g["f"]*(3*g["share"] + 1 - g["share"])
# %% wrong: instructions as bytes
g = given("gpu-architecture-vector-flops")
answer = 4*g["n"]*g["lanes"]*g["f"]*(1 + g["share"])
