# %% right: eleven layers on the others
answer = "132 ms"
# %% right: typed in seconds
answer = 0.132
# %% right: a fraction
from fractions import Fraction
answer = Fraction(11*12, 1000)
# %% right: tries each number of layers on the last stage
g = given("pipeline-parallelism-uneven")
rest = g["pp"] - 1
answer = min(max(ceil((g["L"] - last)/rest), last + g["head"])
             for last in range(1, g["L"] - rest + 1))*g["t_layer"]
# %% right: layers one by one onto the stage that is fastest with it
g = given("pipeline-parallelism-uneven")
load = [0]*(g["pp"] - 1) + [g["head"]]
for _ in range(g["L"]):
    stage = min(range(g["pp"]), key=lambda s: load[s] + 1)
    load[stage] += 1
answer = max(load)*g["t_layer"]
# %% right: the shortest time in which all layers fit, numpy
import numpy as np
g = given("pipeline-parallelism-uneven")
times = np.sort(np.concatenate([np.arange(1, 81), np.arange(1, 74) + g["head"]]))
room = np.array([(g["pp"] - 1)*np.floor(t) + np.floor(t - g["head"]) for t in times])
answer = times[room >= g["L"]][0]*g["t_layer"]
# %% right: one layout that cannot be bettered
layers = [11]*6 + [8, 6]
work = [count + (4.4 if s == 7 else 0) for s, count in enumerate(layers)]
assert sum(layers) == 80
answer = f"{max(work)*12:.3f} ms"
# %% wrong: ten layers on each
g = given("pipeline-parallelism-uneven")
answer = (g["L"]/g["pp"] + g["head"])*g["t_layer"]
# %% wrong: parts of layers
g = given("pipeline-parallelism-uneven")
answer = (g["L"] + g["head"])/g["pp"]*g["t_layer"]
# %% wrong: the head is forgotten
g = given("pipeline-parallelism-uneven")
answer = g["L"]/g["pp"]*g["t_layer"]
# %% wrong: the last stage, with six layers
g = given("pipeline-parallelism-uneven")
answer = (6 + g["head"])*g["t_layer"]
# %% wrong: four layers taken from the last stage, given to others one each
g = given("pipeline-parallelism-uneven")
answer = (7 + g["head"])*g["t_layer"]
# %% wrong: rounds the head up and spreads 85 layers
g = given("pipeline-parallelism-uneven")
answer = (6 + 1 + 5)*g["t_layer"]
# %% wrong: the others share 74 layers evenly, in parts
g = given("pipeline-parallelism-uneven")
answer = (g["L"] - 6)/7*g["t_layer"]
# %% wrong: forward pass only
g = given("pipeline-parallelism-uneven")
answer = 11*g["t_layer"]/3
# %% wrong: a forward and a backward pass of 12 ms each
g = given("pipeline-parallelism-uneven")
answer = 11*g["t_layer"]*2
# %% wrong: the head alone on the last stage, with one layer
g = given("pipeline-parallelism-uneven")
answer = ceil((g["L"] - 1)/7)*g["t_layer"]
# %% wrong: the sum of a microbatch over all stages
g = given("pipeline-parallelism-uneven")
answer = (g["L"] + g["head"])*g["t_layer"]
# %% wrong: the head as long as 4.4 ms
answer = "124.4 ms"
# %% wrong: layers, not a time
answer = 11
# %% wrong: a layer with its part of the head
answer = "12.6 ms"
# %% wrong: the milliseconds as seconds
answer = 132
# %% wrong: a size of layers
answer = "11 layers"
