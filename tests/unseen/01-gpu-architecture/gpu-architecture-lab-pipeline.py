# %% right: what was done, in a list
def starts(copies, stages, t_mma):
    start, done = [], []
    for k, copy in enumerate(copies):
        full = (done[k - stages] if k >= stages else 0) + copy
        start.append(max(full, done[-1]) if done else full)
        done.append(start[-1] + t_mma)
    return start
# %% right: recursion that remembers
import functools
import sys

def starts(copies, stages, t_mma):
    sys.setrecursionlimit(10_000)

    @functools.cache
    def done(k):
        return start(k) + t_mma if k >= 0 else 0

    @functools.cache
    def start(k):
        return max(done(k - 1), done(k - stages) + copies[k])

    return [start(k) for k in range(len(copies))]
# %% right: the emptying times of the slots in a ring
from collections import deque

def starts(copies, stages, t_mma):
    empty = deque([0]*stages)
    now, times = 0, []
    for copy in copies:
        now = max(now, empty.popleft() + copy)
        times.append(now)
        now += t_mma
        empty.append(now)
    return times
# %% right: a dict of slots, k modulo stages
def starts(copies, stages, t_mma):
    empty = dict.fromkeys(range(stages), 0.0)
    free = 0.0
    result = ()
    for k in range(len(copies)):
        begin = max(free, empty[k % stages] + copies[k])
        empty[k % stages] = free = begin + t_mma
        result += (begin,)
    return result
# %% right: events in a heap
import heapq

def starts(copies, stages, t_mma):
    arrivals = [(copy, k) for k, copy in enumerate(copies[:stages])]
    heapq.heapify(arrivals)
    full, times, free = {}, [], 0
    while arrivals:
        when, k = heapq.heappop(arrivals)
        full[k] = when
        while len(times) in full:
            k = len(times)
            times.append(max(free, full[k]))
            free = times[k] + t_mma
            if k + stages < len(copies):
                heapq.heappush(arrivals, (free + copies[k + stages], k + stages))
    return times
# %% right: longest paths, filled in until nothing moves
def starts(copies, stages, t_mma):
    def edges(k):
        yield copies[k]
        if k > 0:
            yield t[k - 1] + t_mma
        if k >= stages:
            yield t[k - stages] + t_mma + copies[k]

    t = None
    new = [0]*len(copies)
    while new != t:
        t = new
        new = [max(edges(k)) for k in range(len(copies))]
    return t
# %% right: arrivals never overtake, which changes nothing
def starts(copies, stages, t_mma):
    empty, arrived, free, times = [0]*stages, 0, 0, []
    for k, copy in enumerate(copies):
        arrived = max(arrived, empty[k] + copy)
        times.append(max(arrived, free))
        free = times[-1] + t_mma
        empty.append(free)
    return times
# %% right: numpy, zeros in front of the steps
import numpy as np

def starts(copies, stages, t_mma):
    done = np.zeros(stages + len(copies))
    for k, copy in enumerate(copies):
        done[stages + k] = max(done[stages + k - 1], done[k] + copy) + t_mma
    return done[stages:] - t_mma
# %% right: a generator, listed at the end
def starts(copies, stages, t_mma):
    def products():
        history = [0]*stages
        for copy in copies:
            start = max(history[-1], history[0] + copy)
            yield start
            history = history[1:] + [start + t_mma]
    return list(products())
# %% right: accumulate over the state of the ring
from itertools import accumulate

def starts(copies, stages, t_mma):
    def step(ring, copy):
        return ring[1:] + (t_mma + max(ring[-1], ring[0] + copy),)
    rings = accumulate(copies, step, initial=(0,)*stages)
    return [ring[-1] - t_mma for ring in rings][1:]
# %% right: two coroutines that signal full and empty
def starts(copies, stages, t_mma):
    full, empty = {}, {}

    def producer():
        for k, copy in enumerate(copies):
            while k >= stages and k - stages not in empty:
                yield
            full[k] = empty.get(k - stages, 0) + copy

    def consumer():
        clock = 0
        for k in range(len(copies)):
            while k not in full:
                yield
            clock = max(clock, full[k])
            times.append(clock)
            clock += t_mma
            empty[k] = clock

    times, alive = [], [producer(), consumer()]
    while alive:
        for one in alive[:]:
            if next(one, "end") == "end":
                alive.remove(one)
    return times
# %% right: the idle time of the tensor cores, summed up
def starts(copies, stages, t_mma):
    idle, starts_ = 0, []
    for k in range(len(copies)):
        ready = copies[k] + (starts_[k - stages] + t_mma if k - stages >= 0 else 0)
        idle += max(0, ready - (k*t_mma + idle))
        starts_ += [k*t_mma + idle]
    return starts_
# %% wrong: copies come one after the other
def starts(copies, stages, t_mma):
    start, done, arrived = [], [], 0
    for k, copy in enumerate(copies):
        asked = done[k - stages] if k >= stages else 0
        arrived = max(arrived, asked) + copy
        start.append(max(arrived, done[-1] if done else 0))
        done.append(start[-1] + t_mma)
    return start
# %% wrong: the slot is asked for again when its products start
def starts(copies, stages, t_mma):
    start = []
    for k, copy in enumerate(copies):
        full = (start[k - stages] if k >= stages else 0) + copy
        start.append(max(full, start[-1] + t_mma) if start else full)
    return start
# %% wrong: one slot fewer, the one that is being multiplied
def starts(copies, stages, t_mma):
    start, done = [], []
    for k, copy in enumerate(copies):
        last = k - max(1, stages - 1)
        full = (done[last] if last >= 0 else 0) + copy
        start.append(max(full, done[-1]) if done else full)
        done.append(start[-1] + t_mma)
    return start
# %% wrong: one slot more, off by one in the history
def starts(copies, stages, t_mma):
    start, done = [], []
    for k, copy in enumerate(copies):
        full = (done[k - stages - 1] if k > stages else 0) + copy
        start.append(max(full, done[-1]) if done else full)
        done.append(start[-1] + t_mma)
    return start
# %% wrong: the times at which the products end
def starts(copies, stages, t_mma):
    done = []
    for k, copy in enumerate(copies):
        full = (done[k - stages] if k >= stages else 0) + copy
        done.append(max([full] + done[-1:]) + t_mma)
    return done
# %% wrong: the times at which the copies arrive
def starts(copies, stages, t_mma):
    full, done = [], []
    for k, copy in enumerate(copies):
        full.append((done[k - stages] if k >= stages else 0) + copy)
        done.append(max([full[-1]] + done[-1:]) + t_mma)
    return full
# %% wrong: the times at which copies are asked for
def starts(copies, stages, t_mma):
    done = []
    for k, copy in enumerate(copies):
        done.append(max([(done[k - stages] if k >= stages else 0) + copy] + done[-1:]) + t_mma)
    return [0]*min(stages, len(copies)) + done[:max(0, len(copies) - stages)]
# %% wrong: several steps may multiply at once
def starts(copies, stages, t_mma):
    start = []
    for k, copy in enumerate(copies):
        start.append((start[k - stages] + t_mma if k >= stages else 0) + copy)
    return start
# %% wrong: asks for every copy at time 0, as if there were slots for all
def starts(copies, stages, t_mma):
    now, start = 0, []
    for copy in copies:
        now = max(now, copy)
        start.append(now)
        now += t_mma
    return start
# %% wrong: the formula's steady state, from the mean copy
def starts(copies, stages, t_mma):
    mean = sum(copies)/len(copies)
    return [mean + k*max(t_mma, (mean + t_mma)/stages) for k in range(len(copies))]
# %% wrong: whole rounds, the ring is filled again when all of its slots are empty
def starts(copies, stages, t_mma):
    start, now, asked = [], 0, 0
    for k, copy in enumerate(copies):
        if k % stages == 0:
            asked = now
        now = max(now, asked + copy)
        start.append(now)
        now += t_mma
    return start
# %% wrong: takes whichever slot is full first
def starts(copies, stages, t_mma):
    slots = sorted(copies[:stages])
    rest = list(copies[stages:])
    now, start = 0, []
    while slots:
        now = max(now, slots.pop(0))
        start.append(now)
        now += t_mma
        if rest:
            slots = sorted(slots + [now + rest.pop(0)])
    return start
# %% wrong: the copy waits for the slot, but only from when the copy before was asked for, one a product
def starts(copies, stages, t_mma):
    now, start = 0, []
    for k, copy in enumerate(copies):
        asked = max(0, k - stages)*t_mma
        now = max(now, asked + copy)
        start.append(now)
        now += t_mma
    return start
# %% wrong: copy and products take turns, one slot
def starts(copies, stages, t_mma):
    now, start = 0, []
    for copy in copies:
        start.append(now + copy)
        now += copy + t_mma
    return start
# %% wrong: forgets what the products take, a step starts when the one before has started
def starts(copies, stages, t_mma):
    start = []
    for k, copy in enumerate(copies):
        full = (start[k - stages] + t_mma if k >= stages else 0) + copy
        start.append(max(full, start[-1]) if start else full)
    return start
# %% wrong: waits for all copies of the ring to begin
def starts(copies, stages, t_mma):
    start, done = [], [max(copies[:stages], default=0)]
    for k, copy in enumerate(copies):
        full = done[k - stages + 1] + copy if k >= stages else 0
        start.append(max(full, done[-1]))
        done.append(start[-1] + t_mma)
    return start
# %% wrong: a wait is the longer of the slot's time and the copy's, not their sum
def starts(copies, stages, t_mma):
    start, done = [], []
    for k, copy in enumerate(copies):
        empty = done[k - stages] if k >= stages else 0
        start.append(max(empty, copy, done[-1] if done else 0))
        done.append(start[-1] + t_mma)
    return start
# %% wrong: copies are of slots, so the lengths go round
def starts(copies, stages, t_mma):
    start, done = [], []
    for k in range(len(copies)):
        full = (done[k - stages] if k >= stages else 0) + copies[k % stages % len(copies)]
        start.append(max(full, done[-1]) if done else full)
        done.append(start[-1] + t_mma)
    return start
# %% wrong: prints the times
def starts(copies, stages, t_mma):
    done = []
    for k, copy in enumerate(copies):
        full = (done[k - stages] if k >= stages else 0) + copy
        start = max([full] + done[-1:])
        print(k, start)
        done.append(start + t_mma)
# %% wrong: a generator instead of a list
def starts(copies, stages, t_mma):
    done = []
    for k, copy in enumerate(copies):
        full = (done[k - stages] if k >= stages else 0) + copy
        start = max([full] + done[-1:])
        yield start
        done.append(start + t_mma)
# %% wrong: pairs of a step and its time
def starts(copies, stages, t_mma):
    start, done = [], []
    for k, copy in enumerate(copies):
        full = (done[k - stages] if k >= stages else 0) + copy
        start.append((k, max([full] + done[-1:])))
        done.append(start[-1][1] + t_mma)
    return start
# %% wrong: counted from the first product
def starts(copies, stages, t_mma):
    start, done = [], []
    for k, copy in enumerate(copies):
        full = (done[k - stages] if k >= stages else 0) + copy
        start.append(max([full] + done[-1:]))
        done.append(start[-1] + t_mma)
    return [t - start[0] for t in start]
# %% wrong: a slot is asked for again once the step after it has started
def starts(copies, stages, t_mma):
    start = []
    for k, copy in enumerate(copies):
        asked = start[k - stages + 1] if 0 <= k - stages and stages > 1 else start[-1] + t_mma if k >= stages else 0
        full = asked + copy
        start.append(max(full, start[-1] + t_mma) if start else full)
    return start
# %% wrong: the shortest copies first
def starts(copies, stages, t_mma):
    start, done = [], []
    for k, copy in enumerate(sorted(copies)):
        full = (done[k - stages] if k >= stages else 0) + copy
        start.append(max([full] + done[-1:]))
        done.append(start[-1] + t_mma)
    return start
# %% wrong: the history is cut one too short by a slice from the end
def starts(copies, stages, t_mma):
    start, done = [], [0]*stages
    for copy in copies:
        start.append(max(done[-1], done[-stages + 1] + copy))
        done.append(start[-1] + t_mma)
    return start
# %% wrong: an array of whole numbers, which cuts times off
import numpy as np

def starts(copies, stages, t_mma):
    done = np.zeros(stages + len(copies), dtype=int)
    for k, copy in enumerate(copies):
        done[stages + k] = max(done[stages + k - 1], done[k] + copy) + t_mma
    return done[stages:] - t_mma
