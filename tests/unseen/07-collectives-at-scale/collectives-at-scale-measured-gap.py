# %% right: the time of one byte on both levels
g = given("collectives-at-scale-measured-gap")
M = g["n"]//g["n_in"]
t = max((g["n_in"] + 1)/g["n_in"]/g["W_in"], 2*(M - 1)/M/g["W_node"])
answer = g["W_bus"]*t/(2*(g["n"] - 1)/g["n"])
# %% right: in per cent
answer = "89.6 %"
# %% right: typed
answer = 0.896
# %% right: the library's time with its bus factor
g = given("collectives-at-scale-measured-gap")
n_in = g["n_in"]
t = nvls_levels_allreduce_time(1e9, n_in, g["n"]/n_in, g["W_in"], g["W_node"]/n_in)
answer = g["W_bus"]/(bus_factor("all_reduce", g["n"])*1e9/t)
# %% right: S/t of both, the smaller of the levels
g = given("collectives-at-scale-measured-gap")
measured = g["W_bus"]*g["n"]/(2*g["n"] - 2)
nodes_ = g["n"]/g["n_in"]
inside = g["W_in"]*g["n_in"]/(g["n_in"] + 1)
between = g["W_node"]*nodes_/(2*nodes_ - 2)
answer = measured/min(inside, between)
# %% right: fractions
from fractions import Fraction
bus = Fraction(2*127, 128)*Fraction(400)*Fraction(16, 30)
answer = float(Fraction("379.2")/bus)
# %% right: times of the largest array
g = given("collectives-at-scale-measured-gap")
S = 8*2**30
measured = 2*(g["n"] - 1)/g["n"]*S/g["W_bus"]
M = g["n"]//g["n_in"]
model = max(9/8*S/g["W_in"] if g["n_in"] == 8 else (1 + 1/g["n_in"])*S/g["W_in"],
            2*(M - 1)*(S/M)/g["W_node"])
answer = model/measured
# %% right: numpy
import numpy as np
limits = np.array([450*8/9, 400*16/30])
answer = np.float64(379.2)/(limits.min()*2*127/128)
# %% right: sympy
import sympy
answer = sympy.Rational(3792, 10)/(sympy.Rational(400*16, 30)*sympy.Rational(254, 128))
# %% right: each level's bus bandwidth
g = given("collectives-at-scale-measured-gap")
n, N = g["n"], g["n_in"]
buses = {"NVLS": 2*(n - 1)/n*g["W_in"]*N/(N + 1),
         "rings": (n - 1)/n*g["W_node"]*(n/N)/(n/N - 1)}
answer = f"{g['W_bus']/min(buses.values()):.4f}"
# %% wrong: bus bandwidth against S/t
g = given("collectives-at-scale-measured-gap")
answer = g["W_bus"]/(g["W_node"]*16/30)
# %% wrong: bus bandwidth against the cards
g = given("collectives-at-scale-measured-gap")
answer = g["W_bus"]/g["W_node"]
# %% wrong: bus bandwidth against NVLink
g = given("collectives-at-scale-measured-gap")
answer = g["W_bus"]/g["W_in"]
# %% wrong: only the level inside the nodes
g = given("collectives-at-scale-measured-gap")
answer = g["W_bus"]/(2*127/128*g["W_in"]*8/9)
# %% wrong: a ring inside the node
g = given("collectives-at-scale-measured-gap")
answer = g["W_bus"]/(2*127/128*g["W_in"]*8/14)
# %% wrong: one level after the other
g = given("collectives-at-scale-measured-gap")
t = 9/8/g["W_in"] + 2*15/16/g["W_node"]
answer = g["W_bus"]/(2*127/128/t)
# %% wrong: the model over what was measured
g = given("collectives-at-scale-measured-gap")
answer = 2*127/128*g["W_node"]*16/30/g["W_bus"]
# %% wrong: what is missing
g = given("collectives-at-scale-measured-gap")
answer = 1 - g["W_bus"]/(2*127/128*g["W_node"]*16/30)
# %% wrong: two trees between the nodes
g = given("collectives-at-scale-measured-gap")
answer = g["W_bus"]/(2*127/128*g["W_node"]/2)
# %% wrong: the node's cards for each GPU
g = given("collectives-at-scale-measured-gap")
answer = g["W_bus"]/(2*127/128*g["W_node"]*8*16/30)
# %% wrong: an eighth of the array with an eighth of the cards, twice
g = given("collectives-at-scale-measured-gap")
answer = g["W_bus"]/(2*127/128*g["W_node"]/8*16/30)
# %% wrong: the rate of the slower level, as if both were bus bandwidths
g = given("collectives-at-scale-measured-gap")
answer = g["W_bus"]/min(2*7/8*g["W_in"]*8/9, 2*15/16*g["W_node"]*16/30)
# %% wrong: the bus factor of eight GPUs
g = given("collectives-at-scale-measured-gap")
answer = g["W_bus"]/(2*7/8*g["W_node"]*16/30)
# %% wrong: an all-gather across
g = given("collectives-at-scale-measured-gap")
answer = g["W_bus"]/(2*127/128*min(g["W_node"]*16/15, g["W_in"]*8/9))
# %% wrong: the mean of both levels
g = given("collectives-at-scale-measured-gap")
answer = g["W_bus"]/(2*127/128*(g["W_in"]*8/9 + g["W_node"]*16/30)/2)
# %% wrong: per cent without the sign
answer = 89.6
# %% wrong: the bus factor is taken off the measured one twice
g = given("collectives-at-scale-measured-gap")
answer = g["W_bus"]/(2*127/128)**2/(g["W_node"]*16/30)
# %% wrong: the levels add their bandwidths
g = given("collectives-at-scale-measured-gap")
answer = g["W_bus"]/(2*127/128*(g["W_in"]*8/9 + g["W_node"]*16/30))
