# %% right: rounds over the ranks until all is done
def simulate(orders, t_F, t_B):
    n = len(orders)
    done, at, clock = {}, [0]*n, [0.0]*n
    while any(at[r] < len(orders[r]) for r in range(n)):
        for r in range(n):
            while at[r] < len(orders[r]):
                kind, i = orders[r][at[r]]
                before = r - 1 if kind == "F" else r + 1
                if 0 <= before < n and (kind, before, i) not in done:
                    break
                start = max(clock[r], done.get((kind, before, i), 0))
                clock[r] = done[kind, r, i] = start + (t_F if kind == "F" else t_B)
                at[r] += 1
    peaks = []
    for order in orders:
        held = most = 0
        for kind, _ in order:
            held += 1 if kind == "F" else -1
            most = max(most, held)
        peaks.append(most)
    return [max(clock)] + peaks
# %% right: recursion with a cache
from functools import lru_cache
def simulate(orders, t_F, t_B):
    n = len(orders)
    where = {(r, k, i): p for r, order in enumerate(orders) for p, (k, i) in enumerate(order)}
    @lru_cache(None)
    def end(r, p):
        if p < 0:
            return 0
        k, i = orders[r][p]
        other = r - 1 if k == "F" else r + 1
        arrives = end(other, where[other, k, i]) if 0 <= other < n else 0
        return max(end(r, p - 1), arrives) + {"F": t_F, "B": t_B}[k]
    time = max(end(r, len(orders[r]) - 1) for r in range(n))
    def peak(order):
        kept, sizes = set(), [0]
        for k, i in order:
            kept.add(i) if k == "F" else None
            sizes.append(len(kept))
            kept.discard(i) if k == "B" else None
        return max(sizes)
    return [time, *map(peak, orders)]
# %% right: relaxes the longest paths with numpy
import numpy as np
def simulate(orders, t_F, t_B):
    n = len(orders)
    took = {"F": t_F, "B": t_B}
    ends = [np.zeros(len(order)) for order in orders]
    index = [{tuple(op): p for p, op in enumerate(order)} for order in orders]
    while True:
        changed = False
        for r, order in enumerate(orders):
            free = 0.0
            for p, op in enumerate(order):
                o = r + (1 if op[0] == "B" else -1)
                got = ends[o][index[o][tuple(op)]] if 0 <= o < n else 0.0
                free = max(free, got) + took[op[0]]
                if free != ends[r][p]:
                    ends[r][p], changed = free, True
        if not changed:
            break
    most = [int(np.max(np.cumsum([1 if k == "F" else -1 for k, _ in order]))) for order in orders]
    return [float(max(e[-1] for e in ends)), *most]
# %% right: events in a heap, and the orders as queues
import heapq
from collections import deque
def simulate(orders, t_F, t_B):
    n = len(orders)
    queues = [deque(map(tuple, order)) for order in orders]
    there, busy, held, most = set(), [False]*n, [0]*n, [0]*n
    events, now, number = [], 0, 0
    def start(r):
        nonlocal number
        if busy[r] or not queues[r]:
            return
        kind, i = queues[r][0]
        if (kind == "F" and r > 0 and (kind, r - 1, i) not in there) or \
           (kind == "B" and r < n - 1 and (kind, r + 1, i) not in there):
            return
        queues[r].popleft()
        busy[r] = True
        if kind == "F":
            held[r] += 1
            most[r] = max(most[r], held[r])
        number += 1
        heapq.heappush(events, (now + (t_F if kind == "F" else t_B), number, r, kind, i))
    for r in range(n):
        start(r)
    while events:
        now, _, r, kind, i = heapq.heappop(events)
        there.add((kind, r, i))
        busy[r] = False
        if kind == "B":
            held[r] -= 1
        for other in range(n):
            start(other)
    return [now] + most
# %% right: a tuple, threads of generators
def simulate(orders, t_F, t_B):
    n, ends, peaks = len(orders), {}, [0]*len(orders)
    def stage(r):
        clock = 0.0
        kept = []
        for kind, i in orders[r]:
            forward = kind == "F"
            source = (r - 1 if forward else r + 1, kind, i)
            if 0 <= source[0] < n:
                while source not in ends:
                    yield
                clock = max(clock, ends[source])
            clock += t_F if forward else t_B
            if forward:
                kept.append(i)
                peaks[r] = max(peaks[r], len(kept))
            else:
                kept.remove(i)
            ends[r, kind, i] = clock
    running = [stage(r) for r in range(n)]
    while running:
        running = [g for g in running if next(g, "end") is None]
    return (max(ends.values()), *peaks)
# %% wrong: each pass a slot as long as the longer of both
def simulate(orders, t_F, t_B):
    n, ends, at, clock = len(orders), {}, [0]*len(orders), [0.0]*len(orders)
    while any(a < len(o) for a, o in zip(at, orders)):
        for r in range(n):
            while at[r] < len(orders[r]):
                k, i = orders[r][at[r]]
                o = r - 1 if k == "F" else r + 1
                if 0 <= o < n and (k, o, i) not in ends:
                    break
                clock[r] = max(clock[r], ends.get((k, o, i), 0)) + max(t_F, t_B)
                ends[k, r, i] = clock[r]
                at[r] += 1
    peaks = []
    for order in orders:
        held = [0]
        for k, _ in order:
            held.append(held[-1] + (1 if k == "F" else -1))
        peaks.append(max(held))
    return [max(clock)] + peaks
# %% wrong: backward passes wait for nobody
def simulate(orders, t_F, t_B):
    n = len(orders)
    ends, at, clock = {}, [0]*n, [0.0]*n
    while any(at[r] < len(orders[r]) for r in range(n)):
        for r in range(n):
            while at[r] < len(orders[r]):
                k, i = orders[r][at[r]]
                o = r - 1 if k == "F" else r + 1
                if k == "F" and r > 0 and (k, o, i) not in ends:
                    break
                clock[r] = max(clock[r], (ends.get((k, o, i), 0) if k == "F" else 0)) + (t_F if k == "F" else t_B)
                ends[k, r, i] = clock[r]
                at[r] += 1
    peaks = []
    for order in orders:
        held, most = 0, 0
        for k, i in order:
            held += 1 if k == "F" else -1
            most = max(most, held)
        peaks.append(most)
    return [max(clock)] + peaks
# %% wrong: both passes come from the rank before
def simulate(orders, t_F, t_B):
    n = len(orders)
    ends, at, clock = {}, [0]*n, [0.0]*n
    for turn in range(10000):
        if not any(at[r] < len(orders[r]) for r in range(n)):
            break
        for r in range(n):
            while at[r] < len(orders[r]):
                k, i = orders[r][at[r]]
                o = r - 1
                if 0 <= o < n and (k, o, i) not in ends:
                    break
                clock[r] = max(clock[r], ends.get((k, o, i), 0)) + (t_F if k == "F" else t_B)
                ends[k, r, i] = clock[r]
                at[r] += 1
    peaks = []
    for order in orders:
        held, most = 0, 0
        for k, i in order:
            held += 1 if k == "F" else -1
            most = max(most, held)
        peaks.append(most)
    return [max(clock)] + peaks
# %% wrong: the clock of a rank that waits is not moved on
def simulate(orders, t_F, t_B):
    n = len(orders)
    ends, at, clock = {}, [0]*n, [0.0]*n
    while any(at[r] < len(orders[r]) for r in range(n)):
        for r in range(n):
            while at[r] < len(orders[r]):
                k, i = orders[r][at[r]]
                o = r - 1 if k == "F" else r + 1
                if 0 <= o < n and (k, o, i) not in ends:
                    break
                clock[r] = clock[r] + (t_F if k == "F" else t_B)
                ends[k, r, i] = clock[r]
                at[r] += 1
    peaks = []
    for order in orders:
        held, most = 0, 0
        for k, i in order:
            held += 1 if k == "F" else -1
            most = max(most, held)
        peaks.append(most)
    return [max(clock)] + peaks
# %% wrong: a rank begins when its input is there, though it is busy
def simulate(orders, t_F, t_B):
    n = len(orders)
    ends, at, clock = {}, [0]*n, [0.0]*n
    while any(at[r] < len(orders[r]) for r in range(n)):
        for r in range(n):
            while at[r] < len(orders[r]):
                k, i = orders[r][at[r]]
                o = r - 1 if k == "F" else r + 1
                if 0 <= o < n and (k, o, i) not in ends:
                    break
                ready = ends.get((k, o, i), ends.get(("F", r, i), 0) if k == "B" else 0)
                ends[k, r, i] = ready + (t_F if k == "F" else t_B)
                clock[r] = max(clock[r], ends[k, r, i])
                at[r] += 1
    peaks = []
    for order in orders:
        held, most = 0, 0
        for k, i in order:
            held += 1 if k == "F" else -1
            most = max(most, held)
        peaks.append(most)
    return [max(clock)] + peaks
# %% wrong: the end of the last rank only
def simulate(orders, t_F, t_B):
    n = len(orders)
    ends, at, clock = {}, [0]*n, [0.0]*n
    while any(at[r] < len(orders[r]) for r in range(n)):
        for r in range(n):
            while at[r] < len(orders[r]):
                k, i = orders[r][at[r]]
                o = r - 1 if k == "F" else r + 1
                if 0 <= o < n and (k, o, i) not in ends:
                    break
                clock[r] = max(clock[r], ends.get((k, o, i), 0)) + (t_F if k == "F" else t_B)
                ends[k, r, i] = clock[r]
                at[r] += 1
    peaks = []
    for order in orders:
        held, most = 0, 0
        for k, i in order:
            held += 1 if k == "F" else -1
            most = max(most, held)
        peaks.append(most)
    return [clock[-1]] + peaks
# %% wrong: the sum of all ranks' work
def simulate(orders, t_F, t_B):
    n = len(orders)
    ends, at, clock = {}, [0]*n, [0.0]*n
    while any(at[r] < len(orders[r]) for r in range(n)):
        for r in range(n):
            while at[r] < len(orders[r]):
                k, i = orders[r][at[r]]
                o = r - 1 if k == "F" else r + 1
                if 0 <= o < n and (k, o, i) not in ends:
                    break
                clock[r] = max(clock[r], ends.get((k, o, i), 0)) + (t_F if k == "F" else t_B)
                ends[k, r, i] = clock[r]
                at[r] += 1
    peaks = []
    for order in orders:
        held, most = 0, 0
        for k, i in order:
            held += 1 if k == "F" else -1
            most = max(most, held)
        peaks.append(most)
    return [sum(len(o)//2 for o in orders)*(t_F + t_B)] + peaks
# %% wrong: the time without waits
def simulate(orders, t_F, t_B):
    n = len(orders)
    ends, at, clock = {}, [0]*n, [0.0]*n
    while any(at[r] < len(orders[r]) for r in range(n)):
        for r in range(n):
            while at[r] < len(orders[r]):
                k, i = orders[r][at[r]]
                o = r - 1 if k == "F" else r + 1
                if 0 <= o < n and (k, o, i) not in ends:
                    break
                clock[r] = max(clock[r], ends.get((k, o, i), 0)) + (t_F if k == "F" else t_B)
                ends[k, r, i] = clock[r]
                at[r] += 1
    peaks = []
    for order in orders:
        held, most = 0, 0
        for k, i in order:
            held += 1 if k == "F" else -1
            most = max(most, held)
        peaks.append(most)
    return [max(len(o)//2 for o in orders)*(t_F + t_B)] + peaks
# %% wrong: one peak, of all ranks
def simulate(orders, t_F, t_B):
    n = len(orders)
    ends, at, clock = {}, [0]*n, [0.0]*n
    while any(at[r] < len(orders[r]) for r in range(n)):
        for r in range(n):
            while at[r] < len(orders[r]):
                k, i = orders[r][at[r]]
                o = r - 1 if k == "F" else r + 1
                if 0 <= o < n and (k, o, i) not in ends:
                    break
                clock[r] = max(clock[r], ends.get((k, o, i), 0)) + (t_F if k == "F" else t_B)
                ends[k, r, i] = clock[r]
                at[r] += 1
    peaks = []
    for order in orders:
        held, most = 0, 0
        for k, i in order:
            held += 1 if k == "F" else -1
            most = max(most, held)
        peaks.append(most)
    return [max(clock), max(peaks)]
# %% wrong: microbatches in all, kept to the end of the step
def simulate(orders, t_F, t_B):
    n = len(orders)
    ends, at, clock = {}, [0]*n, [0.0]*n
    while any(at[r] < len(orders[r]) for r in range(n)):
        for r in range(n):
            while at[r] < len(orders[r]):
                k, i = orders[r][at[r]]
                o = r - 1 if k == "F" else r + 1
                if 0 <= o < n and (k, o, i) not in ends:
                    break
                clock[r] = max(clock[r], ends.get((k, o, i), 0)) + (t_F if k == "F" else t_B)
                ends[k, r, i] = clock[r]
                at[r] += 1
    peaks = []
    for order in orders:
        held, most = 0, 0
        for k, i in order:
            held += k == "F"
            most = max(most, held)
        peaks.append(most)
    return [max(clock)] + peaks
# %% wrong: counts only after backward passes
def simulate(orders, t_F, t_B):
    n = len(orders)
    ends, at, clock = {}, [0]*n, [0.0]*n
    while any(at[r] < len(orders[r]) for r in range(n)):
        for r in range(n):
            while at[r] < len(orders[r]):
                k, i = orders[r][at[r]]
                o = r - 1 if k == "F" else r + 1
                if 0 <= o < n and (k, o, i) not in ends:
                    break
                clock[r] = max(clock[r], ends.get((k, o, i), 0)) + (t_F if k == "F" else t_B)
                ends[k, r, i] = clock[r]
                at[r] += 1
    peaks = []
    for order in orders:
        held, most = 0, 0
        for k, i in order:
            held += 1 if k == "F" else -1
            most = max(most, held) if k == "B" else most
        peaks.append(most)
    return [max(clock)] + peaks
# %% wrong: forward passes before the first backward pass, less the one in turn
def simulate(orders, t_F, t_B):
    n = len(orders)
    ends, at, clock = {}, [0]*n, [0.0]*n
    while any(at[r] < len(orders[r]) for r in range(n)):
        for r in range(n):
            while at[r] < len(orders[r]):
                k, i = orders[r][at[r]]
                o = r - 1 if k == "F" else r + 1
                if 0 <= o < n and (k, o, i) not in ends:
                    break
                clock[r] = max(clock[r], ends.get((k, o, i), 0)) + (t_F if k == "F" else t_B)
                ends[k, r, i] = clock[r]
                at[r] += 1
    peaks = []
    for order in orders:
        most = [k for k, _ in order].index("B") - 1
        peaks.append(most)
    return [max(clock)] + peaks
# %% wrong: the forward passes before the first backward pass
def simulate(orders, t_F, t_B):
    n = len(orders)
    ends, at, clock = {}, [0]*n, [0.0]*n
    while any(at[r] < len(orders[r]) for r in range(n)):
        for r in range(n):
            while at[r] < len(orders[r]):
                k, i = orders[r][at[r]]
                o = r - 1 if k == "F" else r + 1
                if 0 <= o < n and (k, o, i) not in ends:
                    break
                clock[r] = max(clock[r], ends.get((k, o, i), 0)) + (t_F if k == "F" else t_B)
                ends[k, r, i] = clock[r]
                at[r] += 1
    peaks = []
    for order in orders:
        most = [k for k, _ in order].index("B")
        peaks.append(most)
    return [max(clock)] + peaks
# %% wrong: the two times swapped
def simulate(orders, t_F, t_B):
    n = len(orders)
    ends, at, clock = {}, [0]*n, [0.0]*n
    while any(at[r] < len(orders[r]) for r in range(n)):
        for r in range(n):
            while at[r] < len(orders[r]):
                k, i = orders[r][at[r]]
                o = r - 1 if k == "F" else r + 1
                if 0 <= o < n and (k, o, i) not in ends:
                    break
                clock[r] = max(clock[r], ends.get((k, o, i), 0)) + (t_B if k == "F" else t_F)
                ends[k, r, i] = clock[r]
                at[r] += 1
    peaks = []
    for order in orders:
        held, most = 0, 0
        for k, i in order:
            held += 1 if k == "F" else -1
            most = max(most, held)
        peaks.append(most)
    return [max(clock)] + peaks
# %% wrong: a backward pass as long as a forward pass
def simulate(orders, t_F, t_B):
    n = len(orders)
    ends, at, clock = {}, [0]*n, [0.0]*n
    while any(at[r] < len(orders[r]) for r in range(n)):
        for r in range(n):
            while at[r] < len(orders[r]):
                k, i = orders[r][at[r]]
                o = r - 1 if k == "F" else r + 1
                if 0 <= o < n and (k, o, i) not in ends:
                    break
                clock[r] = max(clock[r], ends.get((k, o, i), 0)) + t_F
                ends[k, r, i] = clock[r]
                at[r] += 1
    peaks = []
    for order in orders:
        held, most = 0, 0
        for k, i in order:
            held += 1 if k == "F" else -1
            most = max(most, held)
        peaks.append(most)
    return [max(clock)] + peaks
# %% wrong: peaks before the time
def simulate(orders, t_F, t_B):
    n = len(orders)
    ends, at, clock = {}, [0]*n, [0.0]*n
    while any(at[r] < len(orders[r]) for r in range(n)):
        for r in range(n):
            while at[r] < len(orders[r]):
                k, i = orders[r][at[r]]
                o = r - 1 if k == "F" else r + 1
                if 0 <= o < n and (k, o, i) not in ends:
                    break
                clock[r] = max(clock[r], ends.get((k, o, i), 0)) + (t_F if k == "F" else t_B)
                ends[k, r, i] = clock[r]
                at[r] += 1
    peaks = []
    for order in orders:
        held, most = 0, 0
        for k, i in order:
            held += 1 if k == "F" else -1
            most = max(most, held)
        peaks.append(most)
    return peaks + [max(clock)]
# %% wrong: peaks from the last rank to the first
def simulate(orders, t_F, t_B):
    n = len(orders)
    ends, at, clock = {}, [0]*n, [0.0]*n
    while any(at[r] < len(orders[r]) for r in range(n)):
        for r in range(n):
            while at[r] < len(orders[r]):
                k, i = orders[r][at[r]]
                o = r - 1 if k == "F" else r + 1
                if 0 <= o < n and (k, o, i) not in ends:
                    break
                clock[r] = max(clock[r], ends.get((k, o, i), 0)) + (t_F if k == "F" else t_B)
                ends[k, r, i] = clock[r]
                at[r] += 1
    peaks = []
    for order in orders:
        held, most = 0, 0
        for k, i in order:
            held += 1 if k == "F" else -1
            most = max(most, held)
        peaks.append(most)
    return [max(clock)] + peaks[::-1]
