# %% right: causes by eye, costs against the healthy job of the section
g = given("measuring-lab-diagnose")
start, end = job_span([read_trace(raw) for raw in draw_traces()])
from hwlib.traces import case_traces
answer = {}
for letter, k in zip("abc", range(g["case"], g["case"] + 3)):
    traces = [read_trace(raw) for raw in case_traces(k)]
    first, last = job_span(traces)
    parts = [trace_times(trace, (first, last)) for trace in traces]
    compute, idle = [p.compute for p in parts], [p.idle for p in parts]
    sums = {}
    for (_, r), t in waits_between(traces).items():
        sums[r] = sums.get(r, 0) + t
    if max(compute) > 1.05*sorted(compute)[3]:
        cause, rank = "clock cap", compute.index(max(compute))
    elif max(idle) > 5*sorted(idle)[3]:
        cause, rank = "data stall", idle.index(max(idle))
    else:
        cause, rank = "slow link", max(sums, key=sums.get)
    answer |= {f"cause_{letter}": cause, f"rank_{letter}": rank,
               f"cost_{letter}": ((last - first) - (end - start))*1e3}
# %% right: typed, as one reads it off
answer = dict(cause_a="slow link", rank_a=2, cost_a=27.3, cause_b="clock cap", rank_b=0, cost_b=7.6,
              cause_c="data stall", rank_c=6, cost_c=23.1)
# %% right: the other end of the rail, texts
answer = {"cause_a": "slow link", "rank_a": "6", "cost_a": "27.3", "cause_b": "clock cap", "rank_b": "0",
          "cost_b": "7.6", "cause_c": "data stall", "rank_c": "6", "cost_c": "23.1"}
# %% right: what the ranks of the same node waited for the guilty, numpy
import numpy as np
from hwlib.traces import case_traces
def waited(k, rank):
    pairs = waits_between([read_trace(raw) for raw in case_traces(k)])
    return np.median([t for (who, whom), t in pairs.items() if whom == rank and who//4 == rank//4])*1e3
answer = dict(cause_a="slow link", rank_a=np.int64(2), cost_a=waited(0, 2),
              cause_b="clock cap", rank_b=np.int64(0), cost_b=waited(1, 0),
              cause_c="data stall", rank_c=np.int64(6), cost_c=waited(2, 6))
# %% right: kernels, gaps and transfers one by one
from statistics import median
from hwlib.traces import case_traces, meetings
def traced(k):
    return [read_trace(raw) for raw in case_traces(k)]
a, b, c = traced(0), traced(1), traced(2)
parts_b, parts_c = ([trace_times(t, job_span(x)) for t in x] for x in (b, c))
rails = {}
for one in meetings(a):
    if len(one.arrivals) == 2:
        rails.setdefault(min(one.arrivals), []).append(one.transfer)
sums = {r: sum(t) for r, t in rails.items()}
slow = max(sums, key=sums.get)
pairs = waits_between(a)
answer = dict(cause_a="slow link", rank_a=slow,
              cost_a=1e3*max(t for (who, whom), t in pairs.items() if whom in (slow, slow + 4)),
              cause_b="clock cap", rank_b=max(range(8), key=lambda r: parts_b[r].compute),
              cost_b=1e3*(max(p.compute for p in parts_b) - median(p.compute for p in parts_b)),
              cause_c="data stall", rank_c=max(range(8), key=lambda r: parts_c[r].idle),
              cost_c=1e3*(max(p.idle for p in parts_c) - median(p.idle for p in parts_c)))
# %% right: Fractions and floats for ranks
from fractions import Fraction
answer = dict(rank_a=2.0, rank_b=0.0, rank_c=6.0, cost_a=Fraction(273, 10), cost_b=Fraction(38, 5),
              cost_c=Fraction(231, 10), cause_a="slow link", cause_b="clock cap", cause_c="data stall")
# %% wrong: costs in seconds
answer = dict(cause_a="slow link", rank_a=2, cost_a=0.0273, cause_b="clock cap", rank_b=0, cost_b=0.01,
              cause_c="data stall", rank_c=6, cost_c=0.0231)
# %% wrong: costs in microseconds
answer = dict(cause_a="slow link", rank_a=2, cost_a=27300, cause_b="clock cap", rank_b=0, cost_b=7600,
              cause_c="data stall", rank_c=6, cost_c=23100)
# %% wrong: the rank with the longest exposed collectives is to blame
answer = dict(cause_a="slow link", rank_a=4, cost_a=27.3, cause_b="clock cap", rank_b=5, cost_b=7.6,
              cause_c="data stall", rank_c=3, cost_c=23.1)
# %% wrong: long collectives everywhere, so three slow links
answer = dict(cause_a="slow link", rank_a=2, cost_a=27.3, cause_b="slow link", rank_b=0, cost_b=7.6,
              cause_c="slow link", rank_c=6, cost_c=23.1)
# %% wrong: the cost is all exposed communication
answer = dict(cause_a="slow link", rank_a=2, cost_a=35.2, cause_b="clock cap", rank_b=0, cost_b=14.8,
              cause_c="data stall", rank_c=6, cost_c=31.0)
# %% wrong: the whole step is the cost
answer = dict(cause_a="slow link", rank_a=2, cost_a=56.6, cause_b="clock cap", rank_b=0, cost_b=36.9,
              cause_c="data stall", rank_c=6, cost_c=52.3)
# %% wrong: what all ranks waited, added up
answer = dict(cause_a="slow link", rank_a=2, cost_a=6*27.3, cause_b="clock cap", rank_b=0, cost_b=26.8,
              cause_c="data stall", rank_c=6, cost_c=86.7)
# %% wrong: jobs in another order
answer = dict(cause_a="clock cap", rank_a=0, cost_a=7.6, cause_b="data stall", rank_b=6, cost_b=23.1,
              cause_c="slow link", rank_c=2, cost_c=27.3)
# %% wrong: the stall is a slow clock, for the rank comes late
answer = dict(cause_a="slow link", rank_a=2, cost_a=27.3, cause_b="data stall", rank_b=0, cost_b=7.6,
              cause_c="clock cap", rank_c=6, cost_c=23.1)
# %% wrong: ranks counted from one
answer = dict(cause_a="slow link", rank_a=3, cost_a=27.3, cause_b="clock cap", rank_b=1, cost_b=7.6,
              cause_c="data stall", rank_c=7, cost_c=23.1)
# %% wrong: the neighbour in the node in place of the rail
answer = dict(cause_a="slow link", rank_a=3, cost_a=27.3, cause_b="clock cap", rank_b=0, cost_b=7.6,
              cause_c="data stall", rank_c=6, cost_c=23.1)
# %% wrong: a shared victim of the other node is named for the cap
answer = dict(cause_a="slow link", rank_a=2, cost_a=27.3, cause_b="clock cap", rank_b=4, cost_b=7.6,
              cause_c="data stall", rank_c=6, cost_c=23.1)
# %% wrong: the cost of the transfers of one collective, not of all
answer = dict(cause_a="slow link", rank_a=2, cost_a=3.4, cause_b="clock cap", rank_b=0, cost_b=7.6,
              cause_c="data stall", rank_c=6, cost_c=23.1)
# %% wrong: the capped clock's cost over all eight ranks in the mean
answer = dict(cause_a="slow link", rank_a=2, cost_a=27.3, cause_b="clock cap", rank_b=0, cost_b=7.6/8,
              cause_c="data stall", rank_c=6, cost_c=23.1/8)
