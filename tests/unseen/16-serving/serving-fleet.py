# %% right: all cases of tensor parallelism, with the library's counts
from math import ceil, sqrt
from hwlib.transformer import parameter_count
P, M, S = parameter_count(llama70), matmul_parameters(llama70), kv_bytes_per_token(llama70, 1)
found = []
for a in (1, 2, 4, 8):
    read = 2*M*3000/(a*0.4*1979e12) + 160*2*(a - 1)/a*2*3000*8192/450e9
    for n in range(1, 65):
        load = 40*read/n
        if load < 1 and (P + 4*8*3000*S)/a <= 72e9:
            wait = load**(sqrt(2*(n + 1)) - 1)/(n*(1 - load))*(1 + 3)/2*read
            if 4.6*wait + read + 3000*S/(50e9*a) <= 1:
                break
    else:
        continue
    for b in (1, 2, 4, 8):
        for B in range(1, 513):
            step = (P + B*3200*S)/(b*0.85*3.35e12) + 80*50e-6 + (160*12e-6 if b > 1 else 0)
            if step <= 0.04 and (P + B*3400*S)/b <= 72e9:
                m = ceil(40*400*step/B/0.9)
                found.append((a*n + b*m, a, n, b, m, B))
gpus, a, n, b, m, B = min(found)
answer = dict(tp_in=a, instances_in=n, tp_out=b, instances_out=m, batch=B)
# %% right: typed, a whole node decodes
answer = dict(tp_in=2, instances_in=14, tp_out=8, instances_out=1, batch=400)
# %% right: typed, two halves of a node decode
answer = dict(tp_in=2, instances_in=14, tp_out=4, instances_out=2, batch=300)
# %% right: texts
answer = {"tp_in": "2", "instances_in": "14", "tp_out": "8", "instances_out": "1", "batch": "512"}
# %% right: numpy and sympy, other order
import numpy as np
import sympy
answer = {"batch": np.int64(2**8) + 64, "instances_out": np.int32(1), "tp_out": sympy.Integer(8),
          "instances_in": sympy.Rational(28, 2), "tp_in": np.float64(2)}
# %% right: the library's wait, instances until the promise holds
from collections import OrderedDict
from hwlib.transformer import parameter_count
tp, n, S = 2, 1, kv_bytes_per_token(llama70, 1)
read = matmul_parameters(llama70)*6000/(tp*0.4*h100.fp8_flops) + 160*2*(tp - 1)/tp*3000*8192*2/450e9
while 40*read >= n or 4.6*float(pooled_wait(40*read/n, read, 1, 3, n)) + read + 3000*S/(50e9*tp) > 1:
    n += 1
B = int((72e9*4 - parameter_count(llama70))/(3400*S))    # as many as the memory holds
answer = OrderedDict(tp_in=tp, instances_in=n, tp_out=4, instances_out=2, batch=B)
# %% right: Fractions and floats
from fractions import Fraction
answer = dict(tp_in=2.0, instances_in=Fraction(14), tp_out=8.0, instances_out=Fraction(1), batch=450.0)
# %% wrong: an instance for prompts less, the load is below one still
answer = dict(tp_in=2, instances_in=13, tp_out=8, instances_out=1, batch=400)
# %% wrong: as many for prompts as the work needs, busy all the time
answer = dict(tp_in=2, instances_in=12, tp_out=8, instances_out=1, batch=400)
# %% wrong: as many as the work needs by the data sheet, without the 40 per cent
answer = dict(tp_in=2, instances_in=5, tp_out=8, instances_out=1, batch=400)
# %% wrong: single GPUs read, the weights fit
answer = dict(tp_in=1, instances_in=28, tp_out=8, instances_out=1, batch=400)
# %% wrong: whole nodes of both kinds, as everywhere
answer = dict(tp_in=8, instances_in=5, tp_out=8, instances_out=1, batch=400)
# %% wrong: the largest batch for two GPUs each
answer = dict(tp_in=2, instances_in=14, tp_out=2, instances_out=4, batch=132)
# %% wrong: pairs that decode, one more than the room allows them to be few
answer = dict(tp_in=2, instances_in=14, tp_out=2, instances_out=6, batch=128)
# %% wrong: decoding busy all the time
answer = dict(tp_in=2, instances_in=14, tp_out=8, instances_out=1, batch=256)
# %% wrong: a small batch for a quick step
answer = dict(tp_in=2, instances_in=14, tp_out=8, instances_out=1, batch=64)
# %% wrong: more sequences than the memory holds at their full length
answer = dict(tp_in=2, instances_in=14, tp_out=4, instances_out=2, batch=420)
# %% wrong: Little's number, what a second brings is the batch
answer = dict(tp_in=2, instances_in=14, tp_out=8, instances_out=1, batch=40)
# %% wrong: nodes for both, with a reserve
answer = dict(tp_in=4, instances_in=10, tp_out=4, instances_out=3, batch=256)
# %% wrong: GPUs instead of instances
answer = dict(tp_in=2, instances_in=28, tp_out=8, instances_out=8, batch=400)
# %% wrong: fifty-fifty, as many GPUs for tokens as for prompts
answer = dict(tp_in=2, instances_in=14, tp_out=4, instances_out=7, batch=300)
