# %% right: every piece between two neighbouring times
def exposed(kernels, calls):
    times = sorted({t for span in [*kernels, *calls] for t in span})
    total = 0.0
    for a, b in zip(times, times[1:]):
        busy = any(s <= a and b <= e for s, e in kernels)
        sending = any(s <= a and b <= e for s, e in calls)
        if sending and not busy:
            total += b - a
    return total
# %% right: a sweep over beginnings and ends
def exposed(kernels, calls):
    events = []
    for which, spans in enumerate((kernels, calls)):
        for start, end in spans:
            events.append((start, which, 1))
            events.append((end, which, -1))
    events.sort(key=lambda e: e[0])
    running, last, total = [0, 0], 0.0, 0.0
    for time, which, change in events:
        if running[1] > 0 and running[0] == 0:
            total += time - last
        running[which] += change
        last = time
    return total
# %% right: length of the union of all, less the length of the kernels'
def exposed(kernels, calls):
    def length(spans):
        total, reach = 0.0, float("-inf")
        for start, end in sorted(spans):
            if end > reach:
                total += end - max(start, reach)
                reach = end
        return total
    return length(list(kernels) + list(calls)) - length(kernels)
# %% right: takes kernels out of a list of pieces
def exposed(kernels, calls):
    merged = []
    for a, b in sorted(calls):
        if merged and a <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(b, merged[-1][1]))
        else:
            merged.append((a, b))
    for s, e in kernels:
        rest = []
        for a, b in merged:
            if e <= a or b <= s:
                rest.append((a, b))
            else:
                if a < s:
                    rest.append((a, s))
                if e < b:
                    rest.append((e, b))
        merged = rest
    return sum(b - a for a, b in merged)
# %% right: numpy, counts over the sorted times
import numpy as np
def exposed(kernels, calls):
    K, C = np.array(kernels, float).reshape(-1, 2), np.array(calls, float).reshape(-1, 2)
    t = np.unique(np.concatenate([K.ravel(), C.ravel()]))
    if len(t) < 2:
        return 0.0
    middle = (t[1:] + t[:-1])/2
    def running(spans):
        return np.searchsorted(np.sort(spans[:, 0]), middle) - np.searchsorted(np.sort(spans[:, 1]), middle)
    return float(np.diff(t)[(running(C) > 0) & (running(K) == 0)].sum())
# %% right: the union of the calls less what it shares with the kernels'
def exposed(kernels, calls):
    def union(spans):
        out = []
        for a, b in sorted(spans):
            if out and a <= out[-1][1]:
                out[-1][1] = max(out[-1][1], b)
            else:
                out.append([a, b])
        return out
    ks, cs = union(kernels), union(calls)
    shared = sum(max(0.0, min(b, d) - max(a, c)) for a, b in ks for c, d in cs)
    return sum(b - a for a, b in cs) - shared
# %% right: recursion over one kernel after the other
def exposed(kernels, calls):
    def alone(a, b, ks):
        if a >= b:
            return 0.0
        if not ks:
            return b - a
        (s, e), *rest = ks
        if e <= a or s >= b:
            return alone(a, b, rest)
        return alone(a, s, rest) + alone(e, b, rest)
    total, reach = 0.0, -float("inf")
    for a, b in sorted(calls):
        total += alone(max(a, reach), b, list(kernels))
        reach = max(reach, b)
    return total
# %% wrong: collectives less kernels
def exposed(kernels, calls):
    return max(0.0, sum(b - a for a, b in calls) - sum(b - a for a, b in kernels))
# %% wrong: overlaps of each pair, kernels that overlap count twice
def exposed(kernels, calls):
    both = sum(max(0.0, min(b, d) - max(a, c)) for a, b in kernels for c, d in calls)
    return sum(d - c for c, d in calls) - both
# %% wrong: collectives at the same time count twice
def exposed(kernels, calls):
    merged = []
    for a, b in sorted(kernels):
        if merged and a <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], b)
        else:
            merged.append([a, b])
    return sum(d - c - sum(max(0.0, min(b, d) - max(a, c)) for a, b in merged) for c, d in calls)
# %% wrong: what is hidden
def exposed(kernels, calls):
    times = sorted({t for span in [*kernels, *calls] for t in span})
    return sum(b - a for a, b in zip(times, times[1:])
               if any(s <= a and b <= e for s, e in kernels) and any(s <= a and b <= e for s, e in calls))
# %% wrong: a merged interval ends with the one that began last
def exposed(kernels, calls):
    def length(spans):
        out = []
        for a, b in sorted(spans):
            if out and a <= out[-1][1]:
                out[-1][1] = b
            else:
                out.append([a, b])
        return sum(b - a for a, b in out)
    return length([*kernels, *calls]) - length(kernels)
# %% wrong: takes the lists as sorted
def exposed(kernels, calls):
    def length(spans):
        total, reach = 0.0, float("-inf")
        for start, end in spans:
            if end > reach:
                total += end - max(start, reach)
                reach = end
        return total
    return length(list(kernels) + list(calls)) - length(kernels)
# %% wrong: length of the one union less that of the other
def exposed(kernels, calls):
    def length(spans):
        total, reach = 0.0, float("-inf")
        for start, end in sorted(spans):
            if end > reach:
                total += end - max(start, reach)
                reach = end
        return total
    return max(0.0, length(calls) - length(kernels))
# %% wrong: only collectives without any kernel beside them
def exposed(kernels, calls):
    return sum(d - c for c, d in calls if not any(a < d and c < b for a, b in kernels))
# %% wrong: only what runs on behind the last kernel
def exposed(kernels, calls):
    return max(0.0, max((d for _, d in calls), default=0.0) - max((b for _, b in kernels), default=0.0))
# %% wrong: all time without a kernel
def exposed(kernels, calls):
    spans = sorted([*kernels, *calls])
    busy, reach = 0.0, float("-inf")
    for a, b in sorted(kernels):
        if b > reach:
            busy += b - max(a, reach)
            reach = b
    return max(b for _, b in spans) - spans[0][0] - busy
# %% wrong: kernels as one block from the first to the last
def exposed(kernels, calls):
    s, e = min((a for a, _ in kernels), default=0.0), max((b for _, b in kernels), default=0.0)
    total, reach = 0.0, float("-inf")
    for a, b in sorted(calls):
        a = max(a, reach)
        if b > a:
            total += (b - a) - max(0.0, min(b, e) - max(a, s))
            reach = b
    return total
# %% wrong: each collective against the kernel that hides most of it
def exposed(kernels, calls):
    return sum(d - c - max((max(0.0, min(b, d) - max(a, c)) for a, b in kernels), default=0.0) for c, d in calls)
# %% wrong: start and duration in the place of start and end
def exposed(kernels, calls):
    kernels = [(a, a + b) for a, b in kernels]
    calls = [(a, a + b) for a, b in calls]
    times = sorted({t for span in [*kernels, *calls] for t in span})
    return sum(b - a for a, b in zip(times, times[1:])
               if any(s <= a and b <= e for s, e in calls) and not any(s <= a and b <= e for s, e in kernels))
# %% wrong: in microseconds
def exposed(kernels, calls):
    times = sorted({t for span in [*kernels, *calls] for t in span})
    return 1e6*sum(b - a for a, b in zip(times, times[1:])
                   if any(s <= a and b <= e for s, e in calls) and not any(s <= a and b <= e for s, e in kernels))
# %% wrong: kernels without collectives
def exposed(kernels, calls):
    times = sorted({t for span in [*kernels, *calls] for t in span})
    return sum(b - a for a, b in zip(times, times[1:])
               if any(s <= a and b <= e for s, e in kernels) and not any(s <= a and b <= e for s, e in calls))
# %% wrong: the pieces and not their sum
def exposed(kernels, calls):
    times = sorted({t for span in [*kernels, *calls] for t in span})
    return [b - a for a, b in zip(times, times[1:])
            if any(s <= a and b <= e for s, e in calls) and not any(s <= a and b <= e for s, e in kernels)]
