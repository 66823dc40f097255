# %% right: two gathers and a scatter for each microbatch
g = given("pipeline-parallelism-zero3")
S = 2*g["P"]
answer = g["m"]*3*(g["dp"] - 1)/g["dp"]*S/g["W"]
# %% right: typed
answer = 5.376
# %% right: as a text in milliseconds
answer = "5376 ms"
# %% right: a loop over microbatches and passes
g = given("pipeline-parallelism-zero3")
sent = 0
for microbatch in range(g["m"]):
    for what in ("forward weights", "backward weights", "gradients"):
        sent += (g["dp"] - 1)*(2*g["P"]/g["dp"])
answer = sent/g["W"]
# %% right: fractions
from fractions import Fraction
answer = 48*Fraction(7, 8)*Fraction(64, 10)/50
# %% right: numpy, an array of all collectives
import numpy as np
g = given("pipeline-parallelism-zero3")
sizes = np.full((g["m"], 3), 2*g["P"])
answer = (sizes*(1 - 1/g["dp"])/g["W"]).sum()
# %% right: a text made with a unit of the library
from hwlib.units import ms
g = given("pipeline-parallelism-zero3")
t = 2*g["P"]*(g["dp"] - 1)/g["dp"]/g["W"]
answer = f"{(2*g['m'] + g['m'])*t/ms} ms"
# %% right: units of the library
answer = 16*(2 + 1)*7*(0.8*GB)/(50*GB)
# %% wrong: once a step, not once a microbatch
g = given("pipeline-parallelism-zero3")
answer = 3*(g["dp"] - 1)/g["dp"]*2*g["P"]/g["W"]
# %% wrong: gathers only
g = given("pipeline-parallelism-zero3")
answer = g["m"]*2*(g["dp"] - 1)/g["dp"]*2*g["P"]/g["W"]
# %% wrong: one gather only, in the forward pass
g = given("pipeline-parallelism-zero3")
answer = g["m"]*(g["dp"] - 1)/g["dp"]*2*g["P"]/g["W"]
# %% wrong: gradients reduced once a step
g = given("pipeline-parallelism-zero3")
answer = (2*g["m"] + 1)*(g["dp"] - 1)/g["dp"]*2*g["P"]/g["W"]
# %% wrong: one byte a parameter
g = given("pipeline-parallelism-zero3")
answer = g["m"]*3*(g["dp"] - 1)/g["dp"]*g["P"]/g["W"]
# %% wrong: without (n - 1)/n
g = given("pipeline-parallelism-zero3")
answer = g["m"]*3*2*g["P"]/g["W"]
# %% wrong: gradients in four bytes
g = given("pipeline-parallelism-zero3")
answer = g["m"]*(2 + 2 + 4)*(g["dp"] - 1)/g["dp"]*g["P"]/g["W"]
# %% wrong: the gradients by an all-reduce
g = given("pipeline-parallelism-zero3")
answer = g["m"]*4*(g["dp"] - 1)/g["dp"]*2*g["P"]/g["W"]
# %% wrong: a shard only
g = given("pipeline-parallelism-zero3")
answer = g["m"]*3*2*g["P"]/g["dp"]/g["W"]
# %% wrong: replicas and microbatches mixed up
g = given("pipeline-parallelism-zero3")
answer = g["dp"]*3*(g["m"] - 1)/g["m"]*2*g["P"]/g["W"]
# %% wrong: weights gathered once a step, gradients for each microbatch
g = given("pipeline-parallelism-zero3")
answer = (2 + g["m"])*(g["dp"] - 1)/g["dp"]*2*g["P"]/g["W"]
# %% wrong: both directions of the port
g = given("pipeline-parallelism-zero3")
answer = g["m"]*3*(g["dp"] - 1)/g["dp"]*2*g["P"]/(2*g["W"])
# %% wrong: the parameters are of a shard already
g = given("pipeline-parallelism-zero3")
answer = g["m"]*3*(g["dp"] - 1)*2*g["P"]/g["W"]
# %% wrong: gigabits
g = given("pipeline-parallelism-zero3")
answer = g["m"]*3*(g["dp"] - 1)/g["dp"]*2*g["P"]*8/g["W"]
# %% wrong: the weights' time of the first microbatch, without the rest
g = given("pipeline-parallelism-zero3")
answer = 2*(g["dp"] - 1)/g["dp"]*2*g["P"]/g["W"]
# %% wrong: a shard already, and all of it
g = given("pipeline-parallelism-zero3")
answer = g["m"]*3*g["dp"]*2*g["P"]/g["W"]
# %% wrong: the milliseconds as seconds
answer = 5376
# %% wrong: both ends of each transfer
g = given("pipeline-parallelism-zero3")
answer = 2*g["m"]*3*(g["dp"] - 1)/g["dp"]*2*g["P"]/g["W"]
# %% wrong: the bytes that the port sends
answer = "268.8 GB"
