# %% right: all cases, with the library's counts
from hwlib.transformer import parameter_count
g = given("inference-scenario")
P, M, S, best = parameter_count(llama70), matmul_parameters(llama70), kv_bytes_per_token(llama70, 2), (0, None)
for tp in (1, 2, 4, 8):
    for name, size, peak in (("bf16", 2, h100.bf16_flops), ("fp8", 1, h100.fp8_flops),
                             ("int4", 0.53, h100.bf16_flops)):
        for B in range(1, 513):
            if tp > g["gpus"] or P*size + B*g["longest"]*S > 0.9*h100.hbm_bytes*tp:
                continue
            W = 0.85*h100.hbm_bandwidth*tp
            step = max(P*size/W, 2*M*B/(0.6*peak*tp)) + B*g["context"]*S/W + 80*50*us
            step += 160*12*us if tp > 1 else 0
            if 1/step >= g["promised"] and B/step/tp > best[0]:
                best = B/step/tp, dict(tp=tp, weights=name, batch=B, rate=1/step)
answer = best[1]
# %% right: typed, the rate rounded down
answer = dict(tp=8, weights="fp8", batch=121, rate=80)
# %% right: texts
answer = {"tp": "8", "weights": "fp8", "batch": "121", "rate": "80.0"}
# %% right: texts with units, the format in capitals
answer = {"tp": "8", "weights": "fp8 ", "batch": "121", "rate": "80.0 1/s"}
# %% right: numpy numbers, other order of fields
import numpy as np
bytes_read = np.array([70e9, 121*2000*327680])/(8*0.85*3.35e12)
step = bytes_read.sum() + 80*50e-6 + 2*80*12e-6
answer = {"rate": np.float64(1/step), "batch": np.int64(121), "weights": "fp8", "tp": np.int32(8)}
# %% right: a cautious promise, two per cent below
from collections import OrderedDict
rate = 0.98/((70.55e9 + 121*2000*327680)/(8*0.85*3.35e12) + 80*74e-6)
answer = OrderedDict(batch=121, rate=rate, tp=8, weights="fp8")
# %% right: sympy, the largest batch by division
import sympy
S = 2*8*128*80*2
W = 8*sympy.Rational(85, 100)*3350*10**9
reads = (sympy.Rational(1, 80) - 80*sympy.Rational(74, 10**6))*W    # bytes that the promise allows
batch = sympy.floor((reads - 70553706496)/(2000*S))
step = (70553706496 + batch*2000*S)/W
step += 80*sympy.Rational(74, 10**6)
answer = dict(tp=sympy.Integer(8), weights="fp8", batch=batch, rate=1/step)
# %% right: Fractions and floats
from fractions import Fraction
answer = dict(tp=8.0, weights="fp8", batch=121.0, rate=Fraction(801, 10))
# %% right: bounds of memory and of the promise, the smaller counts
from math import floor
from hwlib.transformer import parameter_count
g = given("inference-scenario")
P, M, S = parameter_count(llama70), matmul_parameters(llama70), kv_bytes_per_token(llama70, 2)
found = []
for tp in (t for t in (1, 2, 4, 8) if t <= g["gpus"]):
    for name, b, C in (("bf16", 2, 989.4e12), ("fp8", 1, 1978.9e12), ("int4", 0.53, 989.4e12)):
        W = 0.85*h100.hbm_bandwidth*tp
        fixed = 80*50e-6 + (160*12e-6 if tp > 1 else 0)
        each, math = g["context"]*S/W, 2*M/(0.6*C*tp)
        memory = (0.9*h100.hbm_bytes*tp - P*b)/(g["longest"]*S)
        left = 1/g["promised"] - fixed
        B = floor(min(memory, (left - P*b/W)/each, left/(each + math), 512))
        if B >= 1:
            step = max(P*b/W, math*B) + each*B + fixed
            found.append((B/step/tp, tp, name, B, 1/step))
_, tp, name, B, rate = max(found)
answer = dict(tp=tp, weights=name, batch=B, rate=rate)
# %% wrong: caches fit at the mean context
rate = 1/(2*69.5e9*308/(0.6*8*1.9789e15) + 308*2000*327680/22.78e12 + 80*74e-6)
answer = dict(tp=8, weights="fp8", batch=308, rate=rate)
# %% wrong: as many as fit, whatever the promise
answer = dict(tp=8, weights="fp8", batch=128, rate=1/((70.55e9 + 128*2000*327680)/22.78e12 + 80*74e-6))
# %% wrong: all 80 GB are used
answer = dict(tp=8, weights="fp8", batch=144, rate=1/((70.55e9 + 144*2000*327680)/22.78e12 + 80*74e-6))
# %% wrong: a GB of memory is a GiB
answer = dict(tp=8, weights="fp8", batch=139, rate=1/((70.55e9 + 139*2000*327680)/22.78e12 + 80*74e-6))
# %% wrong: more than is promised, as the rate
answer = dict(tp=8, weights="fp8", batch=121, rate=200)
# %% wrong: the roofline's rate, nothing for layers and sums
answer = dict(tp=8, weights="fp8", batch=121, rate=8*3.35e12/(70.55e9 + 121*2000*327680))
# %% wrong: sums of the layers forgotten
answer = dict(tp=8, weights="fp8", batch=121, rate=1/((70.55e9 + 121*2000*327680)/22.78e12 + 80*50e-6))
# %% wrong: one sum a layer
answer = dict(tp=8, weights="fp8", batch=121, rate=1/((70.55e9 + 121*2000*327680)/22.78e12 + 80*62e-6))
# %% wrong: the bandwidth of the data sheet
answer = dict(tp=8, weights="fp8", batch=121, rate=1/((70.55e9 + 121*2000*327680)/26.8e12 + 80*74e-6))
# %% wrong: steps with all contexts at the longest
answer = dict(tp=8, weights="fp8", batch=121, rate=1/((70.55e9 + 121*12000*327680)/22.78e12 + 80*74e-6))
# %% wrong: weights in full, quality first
answer = dict(tp=8, weights="bf16", batch=110, rate=1/((2*70.55e9 + 110*2000*327680)/22.78e12 + 80*74e-6))
# %% wrong: a replica as small as can be
answer = dict(tp=1, weights="int4", batch=8, rate=1/((0.53*70.55e9 + 8*2000*327680)/2.8475e12 + 80*50e-6))
# %% wrong: two GPUs in four bits, many replicas
answer = dict(tp=2, weights="int4", batch=27, rate=1/((0.53*70.55e9 + 27*2000*327680)/5.695e12 + 80*74e-6))
# %% wrong: each GPU keeps all heads of the cache
answer = dict(tp=8, weights="fp8", batch=16, rate=1/((70.55e9 + 16*2000*327680)/22.78e12 + 80*74e-6))
# %% wrong: 50 us once a step, not for each layer
answer = dict(tp=8, weights="fp8", batch=121, rate=1/((70.55e9 + 121*2000*327680)/22.78e12 + 160*12e-6 + 50e-6))
