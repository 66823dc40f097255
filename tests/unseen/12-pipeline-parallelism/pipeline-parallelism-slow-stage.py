# %% right: the slow stage all the time, each other once
g = given("pipeline-parallelism-slow-stage")
t = g["t_F"] + g["t_B"]
answer = (g["pp"] - 1)*t + g["m"]*g["r"]*t
# %% right: as a text in milliseconds
answer = "978 ms"
# %% right: typed in seconds
answer = 0.978
# %% right: a fraction
from fractions import Fraction
answer = Fraction(23*30 + 16*18, 1000)
# %% right: played, with the slow stage in the middle
g = given("pipeline-parallelism-slow-stage")
slow = [1.0]*g["pp"]
slow[3] = g["r"]
answer = play(gpipe(g["pp"], g["m"]), [g["t_F"]*s for s in slow], [g["t_B"]*s for s in slow]).time
# %% right: a recurrence over microbatches and stages, numpy
import numpy as np
g = given("pipeline-parallelism-slow-stage")
def wave(first, each, m):
    end = np.full(len(each), first)
    for _ in range(m):
        ready = first
        for s, t in enumerate(each):
            ready = end[s] = max(end[s], ready) + t
    return end
scale = np.ones(g["pp"])
scale[0] = g["r"]
down = wave(0.0, g["t_F"]*scale, g["m"])
answer = wave(down[-1], g["t_B"]*scale[::-1], g["m"])[-1]
# %% right: a normal step and what the slow stage adds
g = given("pipeline-parallelism-slow-stage")
t = g["t_F"] + g["t_B"]
answer = (g["m"] + g["pp"] - 1)*t + g["m"]*(g["r"] - 1)*t
# %% wrong: all stages as slow as the slowest
g = given("pipeline-parallelism-slow-stage")
answer = (g["m"] + g["pp"] - 1)*g["r"]*(g["t_F"] + g["t_B"])
# %% wrong: the slow stage is not noticed
g = given("pipeline-parallelism-slow-stage")
answer = (g["m"] + g["pp"] - 1)*(g["t_F"] + g["t_B"])
# %% wrong: the delay counts once, not for each microbatch
g = given("pipeline-parallelism-slow-stage")
t = g["t_F"] + g["t_B"]
answer = (g["m"] + g["pp"] - 1)*t + (g["r"] - 1)*t
# %% wrong: the mean of the stages
g = given("pipeline-parallelism-slow-stage")
t = g["t_F"] + g["t_B"]
answer = (g["m"] + g["pp"] - 1)*t*(g["pp"] - 1 + g["r"])/g["pp"]
# %% wrong: only the slow stage's work
g = given("pipeline-parallelism-slow-stage")
answer = g["m"]*g["r"]*(g["t_F"] + g["t_B"])
# %% wrong: a slow bubble and normal work
g = given("pipeline-parallelism-slow-stage")
t = g["t_F"] + g["t_B"]
answer = g["m"]*t + (g["pp"] - 1)*g["r"]*t
# %% wrong: eight other stages
g = given("pipeline-parallelism-slow-stage")
t = g["t_F"] + g["t_B"]
answer = g["pp"]*t + g["m"]*g["r"]*t
# %% wrong: the delay between microbatches only, m - 1 times
g = given("pipeline-parallelism-slow-stage")
t = g["t_F"] + g["t_B"]
answer = (g["m"] + g["pp"] - 1)*t + (g["m"] - 1)*(g["r"] - 1)*t
# %% wrong: forward pass only
answer = "326 ms"
# %% wrong: slow in the backward pass only
answer = "882 ms"
# %% wrong: slow in the forward pass only
answer = "786 ms"
# %% wrong: the slow stage fills and drains once more
g = given("pipeline-parallelism-slow-stage")
t = g["t_F"] + g["t_B"]
answer = (g["pp"] - 1)*t + (g["m"] + 1)*g["r"]*t
# %% wrong: 1.6 times as fast
g = given("pipeline-parallelism-slow-stage")
t = g["t_F"] + g["t_B"]
answer = (g["pp"] - 1)*t + g["m"]*t/g["r"]
# %% wrong: stages and microbatches mixed up
g = given("pipeline-parallelism-slow-stage")
t = g["t_F"] + g["t_B"]
answer = (g["m"] - 1)*t + g["pp"]*g["r"]*t
# %% wrong: the milliseconds as seconds
answer = 978
# %% wrong: milliseconds divided by a million
answer = "978 us"
# %% wrong: a step and the next one
g = given("pipeline-parallelism-slow-stage")
answer = 2*(g["pp"] - 1 + g["m"]*g["r"])*(g["t_F"] + g["t_B"])
