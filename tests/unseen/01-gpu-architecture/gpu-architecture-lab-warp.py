# %% right: a counter for each thread
def issue(traces):
    at = [0]*len(traces)
    schedule = []
    while True:
        live = [i for i, t in enumerate(traces) if at[i] < len(t)]
        if not live:
            return schedule
        line = min(traces[i][at[i]] for i in live)
        threads = [i for i in live if traces[i][at[i]] == line]
        for i in threads:
            at[i] += 1
        schedule.append((line, threads))
# %% right: iterators, and a generator inside
def issue(traces):
    def cycles():
        rest = [iter(t) for t in traces]
        nxt = {i: next(r, None) for i, r in enumerate(rest)}
        nxt = {i: line for i, line in nxt.items() if line is not None}
        while nxt:
            least = min(nxt.values())
            here = sorted(i for i in nxt if nxt[i] == least)
            yield least, here
            for i in here:
                line = next(rest[i], None)
                if line is None:
                    del nxt[i]
                else:
                    nxt[i] = line
    return list(cycles())
# %% right: copies, popped from the front, lists instead of tuples
def issue(traces):
    rest = [list(t) for t in traces]
    out = []
    while any(rest):
        line = min(t[0] for t in rest if t)
        who = [i for i, t in enumerate(rest) if t and t[0] == line]
        for i in who:
            rest[i].pop(0)
        out.append([line, who])
    return out
# %% right: a heap of (line, thread)
import heapq
def issue(traces):
    heap = [(t[0], i, 0) for i, t in enumerate(traces) if t]
    heapq.heapify(heap)
    schedule = []
    while heap:
        line, now = heap[0][0], []
        while heap and heap[0][0] == line:
            _, i, k = heapq.heappop(heap)
            now.append((i, k + 1))
        for i, k in now:
            if k < len(traces[i]):
                heapq.heappush(heap, (traces[i][k], i, k))
        schedule.append((line, [i for i, _ in now]))
    return schedule
# %% right: numpy mask, plain numbers out
import numpy as np
def issue(traces):
    if not traces:
        return []
    done = 10**9
    longest = max(len(t) for t in traces)
    table = np.full((len(traces), longest + 1), done, dtype=np.int64)
    for i, t in enumerate(traces):
        table[i, :len(t)] = t
    at = np.zeros(len(traces), dtype=np.int64)
    rows = np.arange(len(traces))
    schedule = []
    while (lines := table[rows, at]).min() < done:
        mask = lines == lines.min()
        schedule.append((int(lines.min()), [int(i) for i in np.flatnonzero(mask)]))
        at += mask
    return schedule
# %% right: reversed stacks and a default for the minimum
def issue(traces, width=None):
    stacks = [list(reversed(t)) for t in traces]
    schedule = []
    while (line := min((s[-1] for s in stacks if s), default=None)) is not None:
        threads = []
        for i, s in enumerate(stacks):
            if s and s[-1] == line:
                s.pop()
                threads.append(i)
        schedule.append((line, threads))
    return schedule
# %% right: groups threads by their next line in a dictionary
from collections import defaultdict
def issue(traces):
    waiting = defaultdict(list)
    for i, t in enumerate(traces):
        if len(t):
            waiting[t[0]].append((i, 0))
    schedule = []
    while waiting:
        line = min(waiting)
        group = sorted(waiting.pop(line))
        for i, k in group:
            if k + 1 < len(traces[i]):
                waiting[traces[i][k + 1]].append((i, k + 1))
        schedule.append((line, [i for i, _ in group]))
    return schedule
# %% right: threads as tuples, with an inner function
def issue(traces):
    position = {i: 0 for i in range(len(traces))}
    def next_line(i):
        return traces[i][position[i]]
    schedule = []
    while position:
        position = {i: k for i, k in position.items() if k < len(traces[i])}
        if position:
            line = next_line(min(position, key=next_line))
            threads = tuple(i for i in position if next_line(i) == line)
            for i in threads:
                position[i] += 1
            schedule.append((line, threads))
    return schedule
# %% wrong: the thread furthest ahead goes first
def issue(traces):
    at = [0]*len(traces)
    schedule = []
    while True:
        live = [i for i, t in enumerate(traces) if at[i] < len(t)]
        if not live:
            return schedule
        line = max(traces[i][at[i]] for i in live)
        threads = [i for i in live if traces[i][at[i]] == line]
        for i in threads:
            at[i] += 1
        schedule.append((line, threads))
# %% wrong: every line once, loops forgotten
def issue(traces):
    lines = sorted({line for t in traces for line in t})
    return [(line, [i for i, t in enumerate(traces) if line in t]) for line in lines]
# %% wrong: follows the first thread that is not done
def issue(traces):
    at = [0]*len(traces)
    schedule = []
    while True:
        live = [i for i, t in enumerate(traces) if at[i] < len(t)]
        if not live:
            return schedule
        line = traces[live[0]][at[live[0]]]
        threads = [i for i in live if traces[i][at[i]] == line]
        for i in threads:
            at[i] += 1
        schedule.append((line, threads))
# %% wrong: the line where most threads stand goes first
from collections import Counter
def issue(traces):
    at = [0]*len(traces)
    schedule = []
    while True:
        live = [i for i, t in enumerate(traces) if at[i] < len(t)]
        if not live:
            return schedule
        line = Counter(traces[i][at[i]] for i in live).most_common(1)[0][0]
        threads = [i for i in live if traces[i][at[i]] == line]
        for i in threads:
            at[i] += 1
        schedule.append((line, threads))
# %% wrong: all threads in step by position, whoever is behind
from itertools import zip_longest
def issue(traces):
    schedule = []
    for row in zip_longest(*traces):
        for line in sorted({x for x in row if x is not None}):
            schedule.append((line, [i for i, x in enumerate(row) if x == line]))
    return schedule
# %% wrong: ends when the first thread is done
def issue(traces):
    at = [0]*len(traces)
    schedule = []
    while all(at[i] < len(t) for i, t in enumerate(traces)):
        line = min(t[at[i]] for i, t in enumerate(traces))
        threads = [i for i, t in enumerate(traces) if t[at[i]] == line]
        for i in threads:
            at[i] += 1
        schedule.append((line, threads))
    return schedule
# %% wrong: how many threads, instead of which
def issue(traces):
    at = [0]*len(traces)
    schedule = []
    while any(at[i] < len(t) for i, t in enumerate(traces)):
        live = [i for i, t in enumerate(traces) if at[i] < len(t)]
        line = min(traces[i][at[i]] for i in live)
        threads = [i for i in live if traces[i][at[i]] == line]
        for i in threads:
            at[i] += 1
        schedule.append((line, len(threads)))
    return schedule
# %% wrong: threads counted from one
def issue(traces):
    at = [0]*len(traces)
    schedule = []
    while any(at[i] < len(t) for i, t in enumerate(traces)):
        live = [i for i, t in enumerate(traces) if at[i] < len(t)]
        line = min(traces[i][at[i]] for i in live)
        threads = [i for i in live if traces[i][at[i]] == line]
        for i in threads:
            at[i] += 1
        schedule.append((line, [i + 1 for i in threads]))
    return schedule
# %% wrong: one thread after the other
def issue(traces):
    return [(line, [i]) for i, t in enumerate(traces) for line in t]
# %% wrong: prints the schedule and returns nothing
def issue(traces):
    at = [0]*len(traces)
    while any(at[i] < len(t) for i, t in enumerate(traces)):
        live = [i for i, t in enumerate(traces) if at[i] < len(t)]
        line = min(traces[i][at[i]] for i in live)
        threads = [i for i in live if traces[i][at[i]] == line]
        for i in threads:
            at[i] += 1
        print(line, threads)
# %% wrong: behind means fewest instructions done, not the smallest line
def issue(traces):
    at = [0]*len(traces)
    schedule = []
    while any(at[i] < len(t) for i, t in enumerate(traces)):
        live = [i for i, t in enumerate(traces) if at[i] < len(t)]
        slow = min(live, key=lambda i: at[i])
        line = traces[slow][at[slow]]
        threads = [i for i in live if traces[i][at[i]] == line]
        for i in threads:
            at[i] += 1
        schedule.append((line, threads))
    return schedule
# %% wrong: only the lines, without the threads
def issue(traces):
    at = [0]*len(traces)
    lines = []
    while any(at[i] < len(t) for i, t in enumerate(traces)):
        live = [i for i, t in enumerate(traces) if at[i] < len(t)]
        line = min(traces[i][at[i]] for i in live)
        for i in live:
            if traces[i][at[i]] == line:
                at[i] += 1
        lines.append(line)
    return lines
# %% wrong: a thread that has nothing to run stops the others
def issue(traces):
    at = [0]*len(traces)
    schedule = []
    if not all(traces):
        return schedule
    while any(at[i] < len(t) for i, t in enumerate(traces)):
        live = [i for i, t in enumerate(traces) if at[i] < len(t)]
        line = min(traces[i][at[i]] for i in live)
        threads = [i for i in live if traces[i][at[i]] == line]
        for i in threads:
            at[i] += 1
        schedule.append((line, threads))
    return schedule
