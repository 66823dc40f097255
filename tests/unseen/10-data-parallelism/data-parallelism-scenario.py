# %% right: every plan tried, in plain loops
g = given("data-parallelism-scenario")
best = None
steps = g["tokens"]/(g["N"]*g["T"])
for k in range(9):
    nodes = 2**k
    for states, held in (("zero1", 5.5), ("hsdp", 2), ("zero3", 16/(8*nodes))):
        for micro in range(1, 17):
            if g["N"] % (8*nodes*micro) or held*g["P"] + micro*g["T"]*g["keep"] > 72e9:
                continue
            m = g["N"]//(8*nodes*micro)
            f = 2*g["P"]*micro*g["T"]/g["C"]
            once = (nodes - 1)/nodes*2*g["P"]/g["W"]
            if states == "zero3":
                t = m*(max(f, once) + max(2*f, 2*once))
            else:
                t = (m - 1)*3*f + f + max(2*f, 2*once)
            if steps*t/86400 <= g["days"] and (best is None or nodes*t < best[0]):
                best = nodes*t, dict(nodes=nodes, states=states, micro=micro, recompute="none", step=t)
answer = best[1]
# %% right: the time as a text in milliseconds
g = given("data-parallelism-scenario")
nodes = 2**min(k for k in range(9) if 6*g["P"]*g["tokens"]/(8*2**k*g["C"]) <= g["days"]*86400)
micro = g["N"]//(8*nodes)
answer = {"nodes": nodes, "states": "zero3", "micro": micro, "recompute": "none",
          "step": f"{6*g['P']*micro*g['T']/g['C']*1e3:.1f} ms"}
# %% right: as whole floats and an option with spaces, all that a GPU has in one microbatch
g = given("data-parallelism-scenario")
nodes = 1.0
while 6*g["P"]*g["tokens"]/(8*nodes*g["C"])/86400 > g["days"]:
    nodes *= 2
micro = g["N"]/(8*nodes)
answer = dict(step=round(6*g["P"]*micro*g["T"]/g["C"], 2), nodes=nodes, micro=float(micro), states="zero3",
              recompute="none")
# %% right: numpy, the time three digits long
import numpy as np
g = given("data-parallelism-scenario")
P, T, N = g["P"], g["T"], g["N"]
nodes = int(2**np.ceil(np.log2(6*P*g["tokens"]/(8*g["C"]*g["days"]*86400))))
micro = np.int64(N//(8*nodes))
step = np.float64(6*P*micro*T/g["C"])
answer = {"nodes": np.int64(nodes), "states": "zero3", "micro": micro, "recompute": "none", "step": float(f"{step:.3g}")}
# %% wrong: as many nodes as may be booked
g = given("data-parallelism-scenario")
answer = dict(nodes=256, states="zero3", micro=1, recompute="none", step=6*g["P"]*g["T"]*g["N"]/(2048*g["C"]))
# %% wrong: only the forward pass in the letter
g = given("data-parallelism-scenario")
answer = dict(nodes=128, states="hsdp", micro=2, recompute="none", step=2*g["P"]*2*g["T"]/g["C"])
# %% wrong: half the nodes, for they need no network
g = given("data-parallelism-scenario")
answer = dict(nodes=64, states="zero3", micro=4, recompute="none", step=6*g["P"]*4*g["T"]/g["C"])
# %% wrong: full recomputation to be safe, at the deadline's nodes
g = given("data-parallelism-scenario")
answer = dict(nodes=128, states="hsdp", micro=2, recompute="full", step=8*g["P"]*2*g["T"]/g["C"])
# %% wrong: ZeRO-1 with four sequences and 256 nodes
g = given("data-parallelism-scenario")
answer = dict(nodes=256, states="zero1", micro=4, recompute="none", step=0.4)
# %% wrong: the sum of the gradients counted on top
g = given("data-parallelism-scenario")
sum_ = 2*127/128*2*g["P"]/g["W"]
answer = dict(nodes=128, states="hsdp", micro=2, recompute="none", step=6*g["P"]*2*g["T"]/g["C"] + sum_)
# %% wrong: the nodes that the deadline asks for, exactly
g = given("data-parallelism-scenario")
nodes = -int(-6*g["P"]*g["tokens"]//(8*g["C"]*g["days"]*86400))
answer = dict(nodes=nodes, states="hsdp", micro=2, recompute="none", step=g["days"]*86400*g["N"]*g["T"]/g["tokens"])
# %% wrong: twice the nodes, by FSDP over all
g = given("data-parallelism-scenario")
once = 255/256*2*g["P"]/g["W"]
answer = dict(nodes=256, states="zero3", micro=1, recompute="none", step=3*once)
# %% wrong: a stage by its number
answer = dict(nodes=128, states=3, micro=2, recompute="none", step=0.886)
# %% wrong: no time in the letter
answer = dict(nodes=128, states="hsdp", micro=2, recompute="none")
