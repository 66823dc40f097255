# %% right: all cuts and all powers of two, by brute force
from itertools import combinations, product
def best_latency(times, gpus, m, send):
    L, best = len(times), float("inf")
    for s in range(1, min(L, gpus) + 1):
        for cuts in combinations(range(1, L), s - 1):
            ends = [0, *cuts, L]
            for width in product([2**k for k in range(gpus.bit_length())], repeat=s):
                if sum(width) != gpus:
                    continue
                stage = [sum(times[a:b])/d + (send*(b - a) if d > 1 else 0)
                         for a, b, d in zip(ends, ends[1:], width)]
                best = min(best, sum(stage) + (m - 1)*max(stage))
    return best
# %% right: recursion with the longest so far
def best_latency(times, gpus, m, send):
    def rest(at, left, total, longest):
        if at == len(times):
            return total + (m - 1)*longest if left == 0 else float("inf")
        best = float("inf")
        for end in range(at + 1, len(times) + 1):
            d = 1
            while d <= left:
                t = sum(times[at:end])/d + (0 if d == 1 else send*(end - at))
                best = min(best, rest(end, left - d, total + t, max(longest, t)))
                d *= 2
        return best
    return rest(0, gpus, 0.0, 0.0)
# %% right: Alpa's way, a bound on the longest stage
def best_latency(times, gpus, m, send):
    L = len(times)
    powers = [d for d in (1, 2, 4, 8, 16) if d <= gpus]
    cost = {(a, b, d): sum(times[a:b])/d + (d > 1)*send*(b - a)
            for a in range(L) for b in range(a + 1, L + 1) for d in powers}
    found = []
    for bound in sorted(set(cost.values())):
        F = {(0, 0): 0.0}
        for b in range(1, L + 1):
            for g in range(1, gpus + 1):
                options = [F[a, g - d] + cost[a, b, d] for a in range(b) for d in powers
                           if (a, g - d) in F and cost[a, b, d] <= bound]
                if options:
                    F[b, g] = min(options)
        if (L, gpus) in F:
            found.append(F[L, gpus] + (m - 1)*bound)
    return min(found)
# %% right: pareto sets of sum and maximum
def best_latency(times, gpus, m, send):
    states = {(0, 0): {(0.0, 0.0)}}
    for at in range(len(times)):
        for used in range(gpus + 1):
            for total, longest in list(states.get((at, used), ())):
                for end in range(at + 1, len(times) + 1):
                    for d in (1, 2, 4, 8):
                        if used + d <= gpus:
                            t = sum(times[at:end])/d + (send*(end - at) if d != 1 else 0.0)
                            states.setdefault((end, used + d), set()).add((total + t, max(longest, t)))
    return min(total + (m - 1)*longest for total, longest in states[len(times), gpus])
# %% wrong: stages of one GPU each only
from itertools import combinations
def best_latency(times, gpus, m, send):
    L, best = len(times), float("inf")
    s = min(gpus, L)
    for cuts in combinations(range(1, L), s - 1):
        ends = [0, *cuts, L]
        stage = [sum(times[a:b]) for a, b in zip(ends, ends[1:])]
        best = min(best, sum(stage) + (m - 1)*max(stage))
    return best
# %% wrong: one stage of all GPUs only
def best_latency(times, gpus, m, send):
    t = sum(times)/gpus + (send*len(times) if gpus > 1 else 0)
    return m*t
# %% wrong: GPUs may be left over
def best_latency(times, gpus, m, send):
    def rest(at, left, total, longest):
        if at == len(times):
            return total + (m - 1)*longest
        best = float("inf")
        for end in range(at + 1, len(times) + 1):
            for d in (1, 2, 4, 8):
                if d <= left:
                    t = sum(times[at:end])/d + (0 if d == 1 else send*(end - at))
                    best = min(best, rest(end, left - d, total + t, max(longest, t)))
        return best
    return rest(0, gpus, 0.0, 0.0)
# %% wrong: any number of GPUs in a stage
def best_latency(times, gpus, m, send):
    def rest(at, left, total, longest):
        if at == len(times):
            return total + (m - 1)*longest if left == 0 else float("inf")
        best = float("inf")
        for end in range(at + 1, len(times) + 1):
            for d in range(1, left + 1):
                t = sum(times[at:end])/d + (0 if d == 1 else send*(end - at))
                best = min(best, rest(end, left - d, total + t, max(longest, t)))
        return best
    return rest(0, gpus, 0.0, 0.0)
# %% wrong: messages of single GPUs too
def best_latency(times, gpus, m, send):
    def rest(at, left, total, longest):
        if at == len(times):
            return total + (m - 1)*longest if left == 0 else float("inf")
        best = float("inf")
        for end in range(at + 1, len(times) + 1):
            for d in (1, 2, 4, 8):
                if d <= left:
                    t = sum(times[at:end])/d + send*(end - at)
                    best = min(best, rest(end, left - d, total + t, max(longest, t)))
        return best
    return rest(0, gpus, 0.0, 0.0)
# %% wrong: one message a stage, not one a layer
def best_latency(times, gpus, m, send):
    def rest(at, left, total, longest):
        if at == len(times):
            return total + (m - 1)*longest if left == 0 else float("inf")
        best = float("inf")
        for end in range(at + 1, len(times) + 1):
            for d in (1, 2, 4, 8):
                if d <= left:
                    t = sum(times[at:end])/d + (0 if d == 1 else send)
                    best = min(best, rest(end, left - d, total + t, max(longest, t)))
        return best
    return rest(0, gpus, 0.0, 0.0)
# %% wrong: m times the longest stage
def best_latency(times, gpus, m, send):
    def rest(at, left, longest):
        if at == len(times):
            return m*longest if left == 0 else float("inf")
        return min((rest(end, left - d, max(longest, sum(times[at:end])/d + (0 if d == 1 else send*(end - at))))
                    for end in range(at + 1, len(times) + 1) for d in (1, 2, 4, 8) if d <= left),
                   default=float("inf"))
    return rest(0, gpus, 0.0)
# %% wrong: the plan with the shortest longest stage, then its latency
def best_latency(times, gpus, m, send):
    def rest(at, left, total, longest):
        if at == len(times):
            return (longest, total) if left == 0 else (float("inf"), float("inf"))
        return min((rest(end, left - d, total + t, max(longest, t))
                    for end in range(at + 1, len(times) + 1) for d in (1, 2, 4, 8) if d <= left
                    for t in [sum(times[at:end])/d + (0 if d == 1 else send*(end - at))]),
                   default=(float("inf"), float("inf")))
    longest, total = rest(0, gpus, 0.0, 0.0)
    return total + (m - 1)*longest
# %% wrong: stages of equally many layers and GPUs
def best_latency(times, gpus, m, send):
    best = float("inf")
    for s in (1, 2, 4, 8):
        if len(times) % s == 0 and s <= gpus:
            d, k = gpus//s, len(times)//s
            stage = [sum(times[i*k:(i + 1)*k])/d + (send*k if d > 1 else 0) for i in range(s)]
            best = min(best, sum(stage) + (m - 1)*max(stage))
    return best
# %% wrong: the sum of the stages paid by every microbatch
def best_latency(times, gpus, m, send):
    def rest(at, left):
        if at == len(times):
            return 0.0 if left == 0 else float("inf")
        return min((sum(times[at:end])/d + (0 if d == 1 else send*(end - at)) + rest(end, left - d)
                    for end in range(at + 1, len(times) + 1) for d in (1, 2, 4, 8) if d <= left),
                   default=float("inf"))
    return m*rest(0, gpus)
# %% wrong: layers may be put on stages in any order
def best_latency(times, gpus, m, send):
    times = sorted(times)
    def rest(at, left, total, longest):
        if at == len(times):
            return total + (m - 1)*longest if left == 0 else float("inf")
        best = float("inf")
        for end in range(at + 1, len(times) + 1):
            for d in (1, 2, 4, 8):
                if d <= left:
                    t = sum(times[at:end])/d + (0 if d == 1 else send*(end - at))
                    best = min(best, rest(end, left - d, total + t, max(longest, t)))
        return best
    return rest(0, gpus, 0.0, 0.0)
