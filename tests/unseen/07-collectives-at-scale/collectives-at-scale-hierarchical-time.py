# %% right: two laps inside, two across with an eighth
g = given("collectives-at-scale-hierarchical-time")
S = 4*g["P"]
inside = 2*(g["n_in"] - 1)/g["n_in"]*S/g["W_in"]
across = 2*(g["n_out"] - 1)/g["n_out"]*(S/g["n_in"])/g["W_out"]
answer = inside + across
# %% right: the library's formula
g = given("collectives-at-scale-hierarchical-time")
answer = hierarchical_allreduce_time(g["n_in"], g["n_out"], 4*g["P"], 0, g["W_in"], 0, g["W_out"])
# %% right: typed, three digits
answer = "2.02 s"
# %% right: typed in milliseconds
answer = "2022 ms"
# %% right: three phases as a list, fractions
from fractions import Fraction
g = given("collectives-at-scale-hierarchical-time")
S, a, b = 4*int(g["P"]), g["n_in"], g["n_out"]
lap = Fraction(a - 1, a)*S/int(g["W_in"])
phases = [lap, 2*Fraction(b - 1, b)*Fraction(S, a)/int(g["W_out"]), lap]
answer = sum(phases)
# %% right: round by round
g = given("collectives-at-scale-hierarchical-time")
t, block = 0.0, 4*g["P"]/g["n_in"]
for _ in range(2*(g["n_in"] - 1)):
    t += block/g["W_in"]
for _ in range(2*(g["n_out"] - 1)):
    t += block/g["n_out"]/g["W_out"]
answer = t
# %% right: numpy's bytes of an element, minutes
import numpy as np
g = given("collectives-at-scale-hierarchical-time")
S = np.dtype("float32").itemsize*g["P"]
t = 2*S/g["n_in"]*((g["n_in"] - 1)/g["W_in"] + (1 - 1/g["n_out"])/g["W_out"])
answer = f"{t/60:.6f} min"
# %% right: two ring all-reduces of the library, one of an eighth
g = given("collectives-at-scale-hierarchical-time")
a, b = g["n_in"], g["n_out"]
one = ring_allreduce_time(a, 4*g["P"], 0, g["W_in"])
two = ring_allreduce_time(b, 4*g["P"]/a, 0, g["W_out"])
answer = one + two
# %% wrong: two bytes a gradient
g = given("collectives-at-scale-hierarchical-time")
answer = hierarchical_allreduce_time(g["n_in"], g["n_out"], 2*g["P"], 0, g["W_in"], 0, g["W_out"])
# %% wrong: gradients for bytes
g = given("collectives-at-scale-hierarchical-time")
answer = hierarchical_allreduce_time(g["n_in"], g["n_out"], g["P"], 0, g["W_in"], 0, g["W_out"])
# %% wrong: the whole array across
g = given("collectives-at-scale-hierarchical-time")
S = 4*g["P"]
answer = ring_allreduce_time(g["n_in"], S, 0, g["W_in"]) + ring_allreduce_time(g["n_out"], S, 0, g["W_out"])
# %% wrong: the longer of the two instead of the sum
g = given("collectives-at-scale-hierarchical-time")
S = 4*g["P"]
answer = max(ring_allreduce_time(g["n_in"], S, 0, g["W_in"]),
             ring_allreduce_time(g["n_out"], S/g["n_in"], 0, g["W_out"]))
# %% wrong: a single lap across
g = given("collectives-at-scale-hierarchical-time")
S = 4*g["P"]
answer = 2*(g["n_in"] - 1)/g["n_in"]*S/g["W_in"] + (g["n_out"] - 1)/g["n_out"]*S/g["n_in"]/g["W_out"]
# %% wrong: forgets the all-gather
g = given("collectives-at-scale-hierarchical-time")
S = 4*g["P"]
answer = (g["n_in"] - 1)/g["n_in"]*S/g["W_in"] + ring_allreduce_time(g["n_out"], S/g["n_in"], 0, g["W_out"])
# %% wrong: many ranks, (n - 1)/n taken as one
g = given("collectives-at-scale-hierarchical-time")
S = 4*g["P"]
answer = 2*S/g["W_in"] + 2*S/g["n_in"]/g["W_out"]
# %% wrong: one flat ring over the cards
g = given("collectives-at-scale-hierarchical-time")
answer = ring_allreduce_time(g["n_in"]*g["n_out"], 4*g["P"], 0, g["W_out"])
# %% wrong: all-reduces inside and then across
g = given("collectives-at-scale-hierarchical-time")
S = 4*g["P"]
answer = (2*ring_allreduce_time(g["n_in"], S, 0, g["W_in"])
          + ring_allreduce_time(g["n_out"], S/g["n_in"], 0, g["W_out"]))
# %% wrong: a node's cards together for each GPU's part
g = given("collectives-at-scale-hierarchical-time")
S = 4*g["P"]
answer = (ring_allreduce_time(g["n_in"], S, 0, g["W_in"])
          + ring_allreduce_time(g["n_out"], S/g["n_in"], 0, 8*g["W_out"]))
# %% wrong: only the network
g = given("collectives-at-scale-hierarchical-time")
answer = ring_allreduce_time(g["n_out"], 4*g["P"]/g["n_in"], 0, g["W_out"])
# %% wrong: bits over bytes
g = given("collectives-at-scale-hierarchical-time")
answer = hierarchical_allreduce_time(g["n_in"], g["n_out"], 32*g["P"], 0, g["W_in"], 0, g["W_out"])
