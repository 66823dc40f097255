# %% right: piece by piece between all starts and ends
def exposed(events, streams):
    times = sorted({t for _, start, end in events for t in (start, end)})
    total = dict.fromkeys(streams, 0.0)
    for a, b in zip(times, times[1:]):
        live = {name for name, start, end in events if start <= a and b <= end}
        if "compute" not in live:
            for name in live:
                total[name] += (b - a)/len(live)
    return [total[name] for name in streams]
# %% right: a sweep with counters
from collections import Counter
def exposed(events, streams):
    marks = sorted([(s, 1, name) for name, s, e in events] + [(e, -1, name) for name, s, e in events])
    open_now, found, before = Counter(), {s: 0 for s in streams}, None
    for t, change, name in marks:
        busy = [s for s in streams if open_now[s] > 0]
        if before is not None and busy and open_now["compute"] == 0:
            for s in busy:
                found[s] += (t - before)/len(busy)
        open_now[name] += change
        before = t
    return tuple(found[s] for s in streams)
# %% right: numpy, a matrix of pieces and streams
import numpy as np
def exposed(events, streams):
    if not events:
        return np.zeros(len(streams))
    edges = np.unique(np.array([[s, e] for _, s, e in events], dtype=float))
    length = np.diff(edges)
    on = {name: np.zeros(len(length), bool) for name in ["compute", *streams]}
    for name, s, e in events:
        on[name] |= (edges[:-1] >= s) & (edges[1:] <= e)
    rows = np.array([on[s] for s in streams]).reshape(len(streams), len(length)) & ~on["compute"]
    share = rows/np.maximum(rows.sum(0), 1)
    return share @ length
# %% right: unions of intervals, less the kernels, by subsets of the streams
from itertools import combinations
from hwlib.traces.intervals import length, minus, overlap, union
def exposed(events, streams):
    kernels = union([(s, e) for name, s, e in events if name == "compute"])
    alone = {x: minus(union([(s, e) for name, s, e in events if name == x]), kernels) for x in streams}
    result = []
    for x in streams:
        others = [y for y in streams if y != x]
        total = 0.0
        for k in range(len(others) + 1):
            for chosen in combinations(others, k):
                part = alone[x]
                for y in others:
                    part = overlap(part, alone[y]) if y in chosen else minus(part, alone[y])
                total += length(part)/(k + 1)
        result.append(total)
    return result
# %% right: Fractions
from fractions import Fraction
def exposed(events, streams):
    out = {name: Fraction(0) for name in streams}
    cuts = sorted({Fraction(x) for e in events for x in e[1:]})
    for lo, hi in zip(cuts[:-1], cuts[1:]):
        middle = (lo + hi)/2
        covering = set(name for name, s, e in events if s < middle < e)
        if covering and "compute" not in covering:
            share = (hi - lo)/len(covering)
            for name in covering:
                out[name] = out[name] + share
    return [float(out[name]) for name in streams]
# %% right: merged first, then a heap of ends
import heapq
def exposed(events, streams):
    queue = [(s, i, "in") for i, (_, s, _) in enumerate(events)] + [(e, i, "out") for i, (_, _, e) in enumerate(events)]
    heapq.heapify(queue)
    running, result, last = set(), [0.0]*len(streams), 0.0
    while queue:
        t, i, what = heapq.heappop(queue)
        names = {events[j][0] for j in running}
        if names and "compute" not in names:
            for k, s in enumerate(streams):
                result[k] += (t - last)/len(names)*(s in names)
        last = t
        if what == "in" and events[i][2] > t:
            running.add(i)
        elif what == "out":
            running.discard(i)
    return result
# %% wrong: what two streams share counts for both in full
def exposed(events, streams):
    times = sorted({t for _, s, e in events for t in (s, e)})
    total = dict.fromkeys(streams, 0.0)
    for a, b in zip(times, times[1:]):
        live = {name for name, s, e in events if s <= a and b <= e}
        if "compute" not in live:
            for name in live:
                total[name] += b - a
    return [total[name] for name in streams]
# %% wrong: shared among collectives, not streams
def exposed(events, streams):
    times = sorted({t for _, s, e in events for t in (s, e)})
    total = dict.fromkeys(streams, 0.0)
    for a, b in zip(times, times[1:]):
        live = [name for name, s, e in events if s <= a and b <= e]
        if "compute" not in live:
            for name in live:
                total[name] += (b - a)/len(live)
    return [total[name] for name in streams]
# %% wrong: kernels do not hide anything
def exposed(events, streams):
    times = sorted({t for _, s, e in events for t in (s, e)})
    total = dict.fromkeys(streams, 0.0)
    for a, b in zip(times, times[1:]):
        live = {name for name, s, e in events if s <= a and b <= e} - {"compute"}
        for name in live:
            total[name] += (b - a)/len(live)
    return [total[name] for name in streams]
# %% wrong: collectives less kernels, as sums of durations
def exposed(events, streams):
    kernels = sum(e - s for name, s, e in events if name == "compute")
    busy = [sum(e - s for name, s, e in events if name == x) for x in streams]
    left = max(0, sum(busy) - kernels)
    return [left*b/sum(busy) if sum(busy) else 0.0 for b in busy]
# %% wrong: compute shares the moment too, and what is its share is hidden
def exposed(events, streams):
    times = sorted({t for _, s, e in events for t in (s, e)})
    total = dict.fromkeys(streams, 0.0)
    for a, b in zip(times, times[1:]):
        live = {name for name, s, e in events if s <= a and b <= e}
        for name in live - {"compute"}:
            total[name] += (b - a)/len(live)
    return [total[name] for name in streams]
# %% wrong: every exposed piece goes to the stream that came first
def exposed(events, streams):
    times = sorted({t for _, s, e in events for t in (s, e)})
    total = dict.fromkeys(streams, 0.0)
    for a, b in zip(times, times[1:]):
        live = [(s, name) for name, s, e in events if s <= a and b <= e]
        if live and all(name != "compute" for _, name in live):
            total[min(live)[1]] += b - a
    return [total[name] for name in streams]
# %% wrong: a collective that touches any kernel is hidden in full
def exposed(events, streams):
    kernels = [(s, e) for name, s, e in events if name == "compute"]
    total = dict.fromkeys(streams, 0.0)
    for name, s, e in events:
        if name != "compute" and not any(a < e and s < b for a, b in kernels):
            total[name] += e - s
    return [total[name] for name in streams]
# %% wrong: each kernel is taken off, kernels that overlap twice
def exposed(events, streams):
    total = dict.fromkeys(streams, 0.0)
    for name, s, e in events:
        if name == "compute":
            continue
        hidden = sum(max(0, min(e, b) - max(s, a)) for other, a, b in events if other == "compute")
        total[name] += max(0, e - s - hidden)
    return [total[name] for name in streams]
# %% wrong: an equal share of all streams that are listed, in flight or not
def exposed(events, streams):
    times = sorted({t for _, s, e in events for t in (s, e)})
    total = 0.0
    for a, b in zip(times, times[1:]):
        live = {name for name, s, e in events if s <= a and b <= e}
        if live and "compute" not in live:
            total += b - a
    return [total/len(streams) for _ in streams]
# %% wrong: in the order of the alphabet
def exposed(events, streams):
    times = sorted({t for _, s, e in events for t in (s, e)})
    total = dict.fromkeys(sorted(streams), 0.0)
    for a, b in zip(times, times[1:]):
        live = {name for name, s, e in events if s <= a and b <= e}
        if "compute" not in live:
            for name in live:
                total[name] += (b - a)/len(live)
    return list(total.values())
# %% wrong: events taken to come in order, pieces from one start to the next
def exposed(events, streams):
    total = dict.fromkeys(streams, 0.0)
    end_of_kernels = 0.0
    for name, s, e in events:
        if name == "compute":
            end_of_kernels = max(end_of_kernels, e)
        else:
            total[name] += max(0.0, e - max(s, end_of_kernels))
    return [total[name] for name in streams]
# %% wrong: in seconds
def exposed(events, streams):
    times = sorted({t for _, s, e in events for t in (s, e)})
    total = dict.fromkeys(streams, 0.0)
    for a, b in zip(times, times[1:]):
        live = {name for name, s, e in events if s <= a and b <= e}
        if "compute" not in live:
            for name in live:
                total[name] += (b - a)/len(live)*1e-6
    return [total[name] for name in streams]
