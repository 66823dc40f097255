# %% right: all plans tried in plain loops, the mask laid out from both ends
g = given("tensor-parallelism-scenario")
best = None
for tp in (1, 2, 4, 8):
    for cp in range(1, g["gpus"]//tp + 1):
        n = tp*cp
        if g["gpus"] % n or 16*g["P"]*g["L"]/g["gpus"] + 34*g["T"]*g["D"]*g["L"]/n > 72e9:
            continue
        attention = 2*g["T"]**2*g["D"]/(n*g["C"])
        t = 2*g["P"]*g["T"]/(n*g["C"]) + attention
        t += 4*(tp - 1)/tp*2*(g["T"]/cp)*g["D"]/g["W_in"]
        block = 4*g["KV"]/tp*(g["T"]/cp)/g["W_card"]
        t += (cp - 1)*max(0, block - attention/cp)
        if best is None or n*t < best[0]:
            best = n*t, dict(tp=tp, cp=cp, order="zigzag", layer=t)
answer = best[1]
# %% right: only powers of two, the time as a text in milliseconds
g = given("tensor-parallelism-scenario")
def layer(tp, cp):
    n, T = tp*cp, g["T"]
    step = 2*T*T*g["D"]/n/g["C"]/cp
    moves = 8*(tp - 1)/tp*T/cp*g["D"]/g["W_in"]
    return 2*g["P"]*T/n/g["C"] + step + (cp - 1)*max(step, 4*g["KV"]*T/n/g["W_card"]) + moves
fits = [n for n in (1, 2, 4, 8, 16, 32, 64, 128, 256)
        if n <= g["gpus"] and 16*g["P"]*g["L"]/g["gpus"] + 34*g["T"]*g["D"]*g["L"]/n <= 72e9]
plans = [(n*layer(tp, n//tp), tp, n//tp) for n in fits for tp in (1, 2, 4, 8) if n >= tp]
_, tp, cp = min(plans)
answer = {"tp": tp, "cp": cp, "order": "zigzag", "layer": f"{layer(tp, cp)*1e3:.2f} ms"}
# %% right: the smallest group whose blocks still hide, as floats, two digits
g = given("tensor-parallelism-scenario")
import math
n = 2**math.ceil(math.log2(34*g["T"]*g["D"]*g["L"]/(72e9 - 16*g["P"]*g["L"]/g["gpus"])))
tp = 1
while 4*g["KV"]*g["T"]/n/g["W_card"] > 2*g["T"]**2*g["D"]/n/g["C"]/(n//tp):
    tp *= 2
t = 2*g["P"]*g["T"]/n/g["C"] + 2*g["T"]**2*g["D"]/n/g["C"] + 8*(tp - 1)*g["T"]/n*g["D"]/g["W_in"]
answer = dict(layer=float(f"{t:.3g}"), order="zigzag", cp=float(n//tp), tp=float(tp))
# %% right: numpy numbers, the time in microseconds
import numpy as np
g = given("tensor-parallelism-scenario")
found = []
for tp in (1, 2, 4, 8):
    for k in range(9):
        cp = 2**k
        n = tp*cp
        if n > g["gpus"] or 16*g["P"]*g["L"]/g["gpus"] + 34*g["T"]*g["D"]*g["L"]/n > 72e9:
            continue
        rest = np.maximum(0, 4*g["KV"]*g["T"]/n/g["W_card"] - 2*g["T"]**2*g["D"]/n/g["C"]/cp)
        found.append((2*g["P"]*g["T"]/n/g["C"] + 2*g["T"]**2*g["D"]/n/g["C"] + (cp - 1)*rest
                      + 8*(tp - 1)*g["T"]/n*g["D"]/g["W_in"], tp, cp))
t, tp, cp = min(found, key=lambda one: one[0]*one[1]*one[2])
answer = {"tp": np.int64(tp), "cp": np.int32(cp), "order": "zigzag", "layer": f"{t*1e6:.0f} us"}
# %% wrong: the whole node for a layer, since NVLink is there
g = given("tensor-parallelism-scenario")
t = 2*g["P"]*g["T"]/64/g["C"] + 2*g["T"]**2*g["D"]/64/g["C"] + 8*7*g["T"]/64*g["D"]/g["W_in"]
answer = dict(tp=8, cp=8, order="in order", layer=t)
# %% wrong: half the GPUs, two sequences at once
g = given("tensor-parallelism-scenario")
answer = dict(tp=4, cp=8, order="zigzag", layer=0.0325)
# %% wrong: the arithmetic alone in the letter, four to a layer
g = given("tensor-parallelism-scenario")
t = 2*g["P"]*g["T"]/64/g["C"] + 2*g["T"]**2*g["D"]/64/g["C"]
answer = dict(tp=4, cp=16, order="zigzag", layer=t)
# %% wrong: attention without the mask
g = given("tensor-parallelism-scenario")
t = 2*g["P"]*g["T"]/64/g["C"] + 4*g["T"]**2*g["D"]/64/g["C"]
answer = dict(tp=2, cp=32, order="zigzag", layer=t)
# %% wrong: sixteen GPUs to a layer
answer = dict(tp=16, cp=4, order="zigzag", layer=0.02)
# %% wrong: three rings of twenty
answer = dict(tp=1, cp=20, order="zigzag", layer=0.05)
# %% wrong: the layer's GPU time in the place of its time
g = given("tensor-parallelism-scenario")
answer = dict(tp=2, cp=32, order="zigzag", layer=64*0.01626)
# %% wrong: in order, four to a layer, with its own time
g = given("tensor-parallelism-scenario")
step = 2*g["T"]**2*g["D"]/64/g["C"]/16
t = 2*g["P"]*g["T"]/64/g["C"] + 31*step + 8*3*g["T"]/64*g["D"]/g["W_in"]
answer = dict(tp=4, cp=16, order="in order", layer=t)
# %% wrong: six GPUs to a layer
answer = dict(tp=6, cp=8, order="zigzag", layer=0.02)
