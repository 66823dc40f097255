# %% right: the unit's share of the ports, both times set equal
g = given("collectives-at-scale-erratum-spine-batch")
unit = g["spines"]*g["ports"]*g["W"]/g["g"]
answer = 2*g["C"]/(4*unit)
# %% right: typed, three digits
answer = 88.3
# %% right: as a text with its unit
answer = "88.3 tokens"
# %% right: with a weight of a size of its own
g = given("collectives-at-scale-erratum-spine-batch")
D, F = 8192, 28672
t_comm = 2*D*F/(g["spines"]*g["ports"]*g["W"]/g["g"])
per_token = 4*D*F/(g["C"]*g["p"])            # the unit works at one token
answer = t_comm/per_token/g["p"]
# %% right: scaled from the printed number
answer = 989.4/12.8*6.4/5.6
# %% right: fractions
from fractions import Fraction
answer = float(Fraction("989.4e12")/2/(Fraction(7*64*50*10**9)/4))
# %% right: sympy solves
import sympy
g = given("collectives-at-scale-erratum-spine-batch")
B, D, F = sympy.symbols("B D F", positive=True)
unit = sympy.Integer(int(g["spines"]*g["ports"]*g["W"]))/g["g"]
[answer] = sympy.solve(4*D*F*B*g["p"]/(g["p"]*g["C"]) - 2*D*F/unit, B)
# %% right: GPU by GPU, each with its own share of weight and spine
g = given("collectives-at-scale-erratum-spine-batch")
shard = 2/g["p"]
its = g["spines"]*g["ports"]*g["W"]/(g["g"]*g["p"])
flop = 4
answer = f"{shard/its*g['C']/flop:.2f} token"
# %% right: numpy, where two lines cross
import numpy as np
batch = np.array([1.0, 1000.0])
compute = 4*batch/989.4e12
comm = 2/5.6e12
answer = np.interp(comm, compute, batch)
# %% wrong: the printed number
answer = 77.3
# %% wrong: the whole spine of the book
answer = 989.4e12/2/(16*64*50e9/4)
# %% wrong: half of the spine's ports lead up
g = given("collectives-at-scale-erratum-spine-batch")
answer = g["C"]/2/(g["spines"]*g["ports"]*g["W"]/2/g["g"])
# %% wrong: the spine for each unit
g = given("collectives-at-scale-erratum-spine-batch")
answer = g["C"]/2/(g["spines"]*g["ports"]*g["W"])
# %% wrong: tokens of a whole unit
g = given("collectives-at-scale-erratum-spine-batch")
answer = g["p"]*g["C"]/2/(g["spines"]*g["ports"]*g["W"]/g["g"])
# %% wrong: tokens of all GPUs
g = given("collectives-at-scale-erratum-spine-batch")
answer = g["g"]*g["p"]*g["C"]/2/(g["spines"]*g["ports"]*g["W"]/g["g"])
# %% wrong: the weight is cut, the work is not
g = given("collectives-at-scale-erratum-spine-batch")
answer = g["C"]/2/(g["spines"]*g["ports"]*g["W"]/g["g"])/g["p"]
# %% wrong: up, then down
g = given("collectives-at-scale-erratum-spine-batch")
answer = 2*g["C"]/2/(g["spines"]*g["ports"]*g["W"]/g["g"])
# %% wrong: rings of four over the spine
g = given("collectives-at-scale-erratum-spine-batch")
answer = 2*3/4*g["C"]/2/(g["spines"]*g["ports"]*g["W"]/g["g"])
# %% wrong: a unit lacks only what the others have
g = given("collectives-at-scale-erratum-spine-batch")
answer = 3/4*g["C"]/2/(g["spines"]*g["ports"]*g["W"]/g["g"])
# %% wrong: gradients in fp32
g = given("collectives-at-scale-erratum-spine-batch")
answer = 4*g["C"]/4/(g["spines"]*g["ports"]*g["W"]/g["g"])
# %% wrong: gradients counted without their bytes
g = given("collectives-at-scale-erratum-spine-batch")
answer = g["C"]/4/(g["spines"]*g["ports"]*g["W"]/g["g"])
# %% wrong: forward and backward pass
g = given("collectives-at-scale-erratum-spine-batch")
answer = 2*g["C"]/6/(g["spines"]*g["ports"]*g["W"]/g["g"])
# %% wrong: the units share a fifth, the spine counting as one
g = given("collectives-at-scale-erratum-spine-batch")
answer = g["C"]/2/(g["spines"]*g["ports"]*g["W"]/(g["g"] + 1))
# %% wrong: the cards of a unit decide
g = given("collectives-at-scale-erratum-spine-batch")
answer = g["C"]/2/(g["p"]*g["W"])
# %% wrong: gigabits
g = given("collectives-at-scale-erratum-spine-batch")
answer = g["C"]/2/(g["spines"]*g["ports"]*g["W"]/8/g["g"])
# %% wrong: only one switch joins the units
g = given("collectives-at-scale-erratum-spine-batch")
answer = g["C"]/2/(g["ports"]*g["W"]/g["g"])
# %% wrong: as the switch adds, n plus one over n passes
g = given("collectives-at-scale-erratum-spine-batch")
answer = 5/4*g["C"]/2/(g["spines"]*g["ports"]*g["W"]/g["g"])
# %% wrong: the switches that were not bought
g = given("collectives-at-scale-erratum-spine-batch")
answer = g["C"]/2/((16 - g["spines"])*g["ports"]*g["W"]/g["g"])
# %% wrong: the time of the all-reduce
answer = "84 us"
# %% wrong: gradients, and the weights twice
g = given("collectives-at-scale-erratum-spine-batch")
answer = 3*g["C"]/2/(g["spines"]*g["ports"]*g["W"]/g["g"])
# %% wrong: a number of the weight in fp8, sent by a ring
g = given("collectives-at-scale-erratum-spine-batch")
answer = g["C"]/4*3/2/(g["spines"]*g["ports"]*g["W"]/g["g"])*0.5
