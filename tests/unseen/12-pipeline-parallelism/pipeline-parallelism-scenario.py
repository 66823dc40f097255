# %% right: all letters tried in plain loops
g = given("pipeline-parallelism-scenario")
best = None
for pp in range(1, g["L"] + 1):
    for v in range(1, g["L"]//pp + 1):
        for b in range(1, 17):
            if g["gpus"] % (8*pp) or g["L"] % (pp*v):
                continue
            dp = g["gpus"]//(8*pp)
            if g["N"] % (dp*b):
                continue
            m = g["N"]//(dp*b)
            if v > 1 and m % pp:
                continue
            live = min(pp, m) if v == 1 or m == pp else pp + (pp - 1)/v
            if g["P"]/(8*pp)*(4 + 12/dp) + live*b*g["L"]/pp*g["S_layer"] > 72e9:
                continue
            t = (m*v + pp - 1)*(g["L"]/(pp*v)*(g["t_0"] + b*g["t_1"]) + g["t_c"])
            if best is None or t < best[0]:
                best = t, dict(pp=pp, v=v, b=b, step=t)
answer = best[1]
# %% right: the library's formulas, the time as a text in milliseconds
from hwlib.pipeline import interleaved_in_flight, one_f_one_b_in_flight
g = given("pipeline-parallelism-scenario")
found = []
for pp in (1, 2, 4, 7, 8, 16, 35):
    dp = g["gpus"]/8/pp
    for v in (1, 2, 3, 4, 5, 6, 8, 12):
        for b in (1, 2, 4, 8):
            m = g["N"]/dp/b
            if g["L"]/pp/v % 1 or dp % 1 or m % 1 or (v > 1 and m % pp) or m <= pp:
                continue
            live = interleaved_in_flight(pp, v) if v > 1 else one_f_one_b_in_flight(pp, m)
            if g["P"]/8/pp*(4 + 12/dp) + live*b*g["L"]/pp*g["S_layer"] <= 72e9:
                slot = g["L"]/pp/v*(g["t_0"] + b*g["t_1"]) + g["t_c"]
                found.append(((v*m + pp - 1)*slot, pp, v, b))
t, pp, v, b = min(found)
answer = {"pp": pp, "v": v, "b": b, "step": f"{t*1e3:.0f} ms"}
# %% right: by hand for the book's numbers and for two others, as floats
g = given("pipeline-parallelism-scenario")
pp, v, b = {1024: (8, 4, 2), 512: (4, 8, 4), 1120: (7, 3, 1)}[g["gpus"]]
m = g["N"]*8*pp/g["gpus"]/b
answer = dict(step=round((v*m + pp - 1)*(g["L"]/pp/v*(g["t_0"] + b*g["t_1"]) + g["t_c"]), 2),
              b=float(b), v=float(v), pp=float(pp))
# %% right: numpy, time as a text in seconds, fewer digits
import numpy as np
g = given("pipeline-parallelism-scenario")
shapes = []
for pp in (4, 7, 8):
    for v in (3, 4, 6, 8):
        for b in (1, 2, 4):
            m = g["N"]*8*pp/(g["gpus"]*b)
            if g["gpus"] % (8*pp) or g["L"] % (pp*v) or m % pp or m <= pp:
                continue
            held = g["P"]/(8*pp)*(4 + 12*8*pp/g["gpus"]) + (pp + (pp - 1)/v)*b*g["L"]/pp*g["S_layer"]
            if held < 72e9:
                shapes.append((np.float64((v*m + pp - 1)*(g["L"]/(pp*v)*(g["t_0"] + b*g["t_1"]) + g["t_c"])), pp, v, b))
t, pp, v, b = min(shapes)
answer = {"pp": np.int64(pp), "v": np.int64(v), "b": np.int64(b), "step": f"{t:.3g} s"}
# %% wrong: two chunks
g = given("pipeline-parallelism-scenario")
answer = dict(pp=8, v=2, b=2, step=(2*16 + 7)*(6*(g["t_0"] + 2*g["t_1"]) + g["t_c"]))
# %% wrong: no chunks of less than a layer, all of them single
g = given("pipeline-parallelism-scenario")
answer = dict(pp=8, v=12, b=2, step=(12*16 + 7)*(g["t_0"] + 2*g["t_1"] + g["t_c"]))
# %% wrong: larger microbatches
g = given("pipeline-parallelism-scenario")
answer = dict(pp=8, v=4, b=4, step=(4*8 + 7)*(3*(g["t_0"] + 4*g["t_1"]) + g["t_c"]))
# %% wrong: messages forgotten
g = given("pipeline-parallelism-scenario")
answer = dict(pp=8, v=4, b=2, step=(4*16 + 7)*3*(g["t_0"] + 2*g["t_1"]))
# %% wrong: twice the stages
g = given("pipeline-parallelism-scenario")
answer = dict(pp=16, v=3, b=2, step=(3*32 + 15)*(2*(g["t_0"] + 2*g["t_1"]) + g["t_c"]))
# %% wrong: stages that do not divide the layers
answer = dict(pp=10, v=2, b=2, step=2.0)
# %% wrong: microbatches that are no multiple of the stages
answer = dict(pp=32, v=3, b=32, step=2.0)
# %% wrong: as if each chunk filled the pipeline by itself
g = given("pipeline-parallelism-scenario")
answer = dict(pp=8, v=4, b=2, step=4*(16 + 7)*(3*(g["t_0"] + 2*g["t_1"]) + g["t_c"]))
# %% wrong: the time of one microbatch
g = given("pipeline-parallelism-scenario")
answer = dict(pp=8, v=4, b=2, step=96*(g["t_0"] + 2*g["t_1"]))
# %% wrong: four stages to keep the bubble small
g = given("pipeline-parallelism-scenario")
answer = dict(pp=4, v=4, b=2, step=(4*8 + 3)*(6*(g["t_0"] + 2*g["t_1"]) + g["t_c"]))
