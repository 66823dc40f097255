# %% right: all cuts of the trace, with the library's times
from math import log
g = given("serving-scenario")
lengths = sorted(row.input for row in measured_lengths("mooncake-conversation"))
times = {T: float(prompt_time(llama70, h100, n=8, T_in=T, dtype="fp8", b_w=1)) for T in set(lengths)}
def tail(part, nodes):
    t = [times[T] for T in part]
    mean = sum(t)/len(t)
    load = g["rate"]*len(part)/len(lengths)/nodes*mean
    if load >= 1:
        return float("inf")
    wait = float(mg1_wait(load, mean, squared_variation(t)))
    return max(0, wait/load*log(load/0.01)) + sorted(t)[int(0.99*len(t))]
found = []
for nodes in range(2, 9):
    for own in range(1, nodes):
        for cut in {T for T in lengths if 8000 <= T < lengths[-1]} if not found else ():
            short, long = [T for T in lengths if T <= cut], [T for T in lengths if T > cut]
            a = tail(short, nodes - own)
            if a <= g["short"] and tail(long, own) <= g["long"]:
                found.append((nodes, own, cut, a))
nodes, own, cut, promise = min(found, key=lambda row: (row[0], row[3]))
answer = dict(nodes=nodes, own=own, threshold=cut, promise=promise)
# %% right: typed, in milliseconds
answer = dict(nodes=3, own=2, threshold=15000, promise="1120 ms")
# %% right: texts, with a comma
answer = {"nodes": "3", "own": "2", "threshold": "14,000", "promise": "0.97 s"}
# %% right: numpy, moments of the lane by hand
import numpy as np
lengths = np.array([row.input for row in measured_lengths("mooncake-conversation")])
t = np.array([float(prompt_time(llama70, h100, n=8, T_in=int(T), dtype="fp8", b_w=1)) for T in lengths])
lane = t[lengths <= 15_000]
rate = 5*len(lane)/200
load = rate*lane.mean()
wait = rate*(lane**2).mean()/2/(1 - load)
p99 = wait/load*np.log(100*load) + np.sort(lane)[int(0.99*len(lane))]
answer = {"promise": p99, "threshold": np.int64(15_000), "own": np.int32(2), "nodes": np.int64(3)}
# %% right: four per cent of caution
answer = dict(nodes=3, own=2, threshold=14500, promise=1.048*1.04)
# %% right: Fractions, sympy, another order
from collections import OrderedDict
from fractions import Fraction
import sympy
answer = OrderedDict(threshold=sympy.Integer(13_600), promise=Fraction(93, 100), nodes=3.0, own=sympy.Integer(2))
# %% right: the threshold bisected from the long lane
from math import log
rows = sorted((row.input for row in measured_lengths("mooncake-conversation")), reverse=True)
time = lambda T: float(prompt_time(llama70, h100, n=8, T_in=T, dtype="fp8", b_w=1))
def p99(lane, nodes):
    t, R = sorted(map(time, lane)), 5*len(lane)/200/nodes
    load, square = R*sum(t)/len(t), sum(x*x for x in t)/len(t)
    return R*square/(2*(1 - load))/load*log(load/0.01) + t[int(0.99*len(t))]
low, high = 8000, 30000
while high - low > 1:    # the lowest cut at which two nodes keep the promise for the long ones
    middle = (low + high)//2
    low, high = (low, middle) if p99([T for T in rows if T > middle], 2) <= 16.2 else (middle, high)
answer = dict(nodes=3, own=2, threshold=high, promise=f"{p99([T for T in rows if T <= high], 1):.3f} s")
# %% wrong: one node for the long ones, two for the many
answer = dict(nodes=3, own=1, threshold=14500, promise=0.4)
# %% wrong: one node for the long ones, and a high threshold
answer = dict(nodes=3, own=1, threshold=30000, promise=1.1)
# %% wrong: the lowest threshold, so that the short ones are quick
answer = dict(nodes=3, own=2, threshold=8000, promise=0.398)
# %% wrong: a threshold so high that the short ones wait
answer = dict(nodes=3, own=2, threshold=20000, promise=2.31)
# %% wrong: promises what the letter is asked to keep
answer = dict(nodes=3, own=2, threshold=14500, promise=1.3)
# %% wrong: promises the longest wait for all
answer = dict(nodes=3, own=2, threshold=14500, promise=16.2)
# %% wrong: promises the mean
answer = dict(nodes=3, own=2, threshold=14500, promise=0.30)
# %% wrong: the wait alone, its own reading forgotten
from math import log
lane = [float(prompt_time(llama70, h100, n=8, T_in=row.input, dtype="fp8", b_w=1))
        for row in measured_lengths("mooncake-conversation") if row.input <= 14500]
mean, rate = sum(lane)/len(lane), 5*len(lane)/200
wait = float(mg1_wait(rate*mean, mean, squared_variation(lane)))
answer = dict(nodes=3, own=2, threshold=14500, promise=wait/(rate*mean)*log(rate*mean/0.01))
# %% wrong: the 99th percentile is 4.6 mean waits
lane = [float(prompt_time(llama70, h100, n=8, T_in=row.input, dtype="fp8", b_w=1))
        for row in measured_lengths("mooncake-conversation") if row.input <= 14500]
mean, rate = sum(lane)/len(lane), 5*len(lane)/200
wait = float(mg1_wait(rate*mean, mean, squared_variation(lane)))
answer = dict(nodes=3, own=2, threshold=14500, promise=4.6*wait + sorted(lane)[int(0.99*len(lane))])
# %% wrong: the spread of all prompts for the short lane
from math import log
everything = [float(prompt_time(llama70, h100, n=8, T_in=row.input, dtype="fp8", b_w=1))
              for row in measured_lengths("mooncake-conversation")]
lane = [float(prompt_time(llama70, h100, n=8, T_in=row.input, dtype="fp8", b_w=1))
        for row in measured_lengths("mooncake-conversation") if row.input <= 14500]
mean, rate = sum(lane)/len(lane), 5*len(lane)/200
wait = float(mg1_wait(rate*mean, mean, squared_variation(everything)))
answer = dict(nodes=3, own=2, threshold=14500,
              promise=wait/(rate*mean)*log(rate*mean/0.01) + sorted(lane)[int(0.99*len(lane))])
# %% wrong: two nodes, one of each kind
answer = dict(nodes=2, own=1, threshold=14500, promise=1.05)
# %% wrong: four nodes to be on the safe side
answer = dict(nodes=4, own=2, threshold=14500, promise=0.755)
# %% wrong: the reserve in nodes that the opening's load asks for
answer = dict(nodes=6, own=3, threshold=20000, promise=1.075)
# %% wrong: nodes are those of the short lane
answer = dict(nodes=1, own=2, threshold=14500, promise=1.05)
