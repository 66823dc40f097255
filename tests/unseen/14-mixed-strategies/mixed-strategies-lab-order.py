# %% right: permutations and a running stride
from itertools import permutations
def least_time(axes, levels):
    best = float("inf")
    for order in permutations(axes):
        reach, total = 1, 0
        for ranks, sent in order:
            reach *= ranks
            total += sent/next(W for span, W in levels if reach <= span)
        best = min(best, total)
    return best
# %% right: recursion over subsets
from functools import lru_cache
def least_time(axes, levels):
    @lru_cache(None)
    def rest(used):
        reach = 1
        for i, (ranks, _) in enumerate(axes):
            if used >> i & 1:
                reach *= ranks
        left = [i for i in range(len(axes)) if not used >> i & 1]
        if not left:
            return 0.0
        return min(axes[i][1]/[W for span, W in levels if span >= reach*axes[i][0]][0] + rest(used | 1 << i)
                   for i in left)
    return rest(0)
# %% right: a list of all times, numpy's product
import itertools
import numpy as np
def least_time(axes, levels):
    times = []
    for order in itertools.permutations(range(len(axes))):
        reach = np.cumprod([axes[i][0] for i in order])
        spans = np.array([span for span, _ in levels])
        at = np.searchsorted(spans, reach)
        times.append(sum(axes[i][1]/levels[k][1] for i, k in zip(order, at)))
    return float(min(times))
# %% right: orders built by inserting, levels walked by hand
def least_time(axes, levels):
    orders = [[]]
    for axis in axes:
        orders = [old[:k] + [axis] + old[k:] for old in orders for k in range(len(old) + 1)]
    def seconds(order):
        inside, t = 1, 0.0
        for ranks, sent in order:
            inside = inside*ranks
            k = 0
            while levels[k][0] < inside:
                k += 1
            t = t + sent/levels[k][1]
        return t
    return sorted(map(seconds, orders))[0]
# %% right: dicts for the levels, and max of fitting
from itertools import permutations
from math import prod
def least_time(axes, levels):
    def W(reach):
        return dict(levels)[min(span for span, _ in levels if span >= reach)]
    return min(sum(sent/W(prod(r for r, _ in order[:i + 1])) for i, (_, sent) in enumerate(order))
               for order in permutations(axes))
# %% wrong: the axis with the most bytes inside, and no search
def least_time(axes, levels):
    reach, total = 1, 0
    for ranks, sent in sorted(axes, key=lambda a: -a[1]):
        reach *= ranks
        total += sent/next(W for span, W in levels if reach <= span)
    return total
# %% wrong: only the ranks of the axis itself decide its level
def least_time(axes, levels):
    return sum(sent/next(W for span, W in levels if ranks <= span) for ranks, sent in axes)
# %% wrong: the level of what lies between, without its own ranks
from itertools import permutations
def least_time(axes, levels):
    def seconds(order):
        reach, total = 1, 0
        for ranks, sent in order:
            total += sent/next(W for span, W in levels if reach <= span)
            reach *= ranks
        return total
    return min(map(seconds, permutations(axes)))
# %% wrong: the order as given
def least_time(axes, levels):
    reach, total = 1, 0
    for ranks, sent in axes:
        reach *= ranks
        total += sent/next(W for span, W in levels if reach <= span)
    return total
# %% wrong: the longest axis decides, all at once
from itertools import permutations
def least_time(axes, levels):
    def seconds(order):
        reach, times = 1, []
        for ranks, sent in order:
            reach *= ranks
            times.append(sent/next(W for span, W in levels if reach <= span))
        return max(times)
    return min(map(seconds, permutations(axes)))
# %% wrong: a group must be shorter than the span, not equal
from itertools import permutations
def least_time(axes, levels):
    def seconds(order):
        reach, total = 1, 0
        for ranks, sent in order:
            reach *= ranks
            total += sent/next((W for span, W in levels if reach < span), levels[-1][1])
        return total
    return min(map(seconds, permutations(axes)))
# %% wrong: the worst order
from itertools import permutations
def least_time(axes, levels):
    def seconds(order):
        reach, total = 1, 0
        for ranks, sent in order:
            reach *= ranks
            total += sent/next(W for span, W in levels if reach <= span)
        return total
    return max(map(seconds, permutations(axes)))
# %% wrong: bytes times ranks
from itertools import permutations
def least_time(axes, levels):
    def seconds(order):
        reach, total = 1, 0
        for ranks, sent in order:
            reach *= ranks
            total += ranks*sent/next(W for span, W in levels if reach <= span)
        return total
    return min(map(seconds, permutations(axes)))
# %% wrong: each axis takes the bandwidth of all levels that it crosses, one after the other
from itertools import permutations
def least_time(axes, levels):
    def seconds(order):
        reach, total = 1, 0
        for ranks, sent in order:
            reach *= ranks
            for span, W in levels:
                total += sent/W
                if reach <= span:
                    break
        return total
    return min(map(seconds, permutations(axes)))
# %% wrong: the shortest axis inside, and no search
def least_time(axes, levels):
    reach, total = 1, 0
    for ranks, sent in sorted(axes):
        reach *= ranks
        total += sent/next(W for span, W in levels if reach <= span)
    return total
# %% wrong: the ranks of the axes added, not multiplied
from itertools import permutations
def least_time(axes, levels):
    def seconds(order):
        reach, total = 0, 0
        for ranks, sent in order:
            reach += ranks
            total += sent/next(W for span, W in levels if reach <= span)
        return total
    return min(map(seconds, permutations(axes)))
# %% wrong: the product is not set back between orders
from itertools import permutations
def least_time(axes, levels):
    reach, best = 1, float("inf")
    for order in permutations(axes):
        total = 0
        for ranks, sent in order:
            reach *= ranks
            total += sent/next((W for span, W in levels if reach <= span), levels[-1][1])
        best = min(best, total)
    return best
# %% wrong: an axis sends (ranks - 1)/ranks of its bytes
from itertools import permutations
def least_time(axes, levels):
    def seconds(order):
        reach, total = 1, 0
        for ranks, sent in order:
            reach *= ranks
            total += (ranks - 1)/ranks*sent/next(W for span, W in levels if reach <= span)
        return total
    return min(map(seconds, permutations(axes)))
# %% wrong: only the given order and its reverse are tried
def least_time(axes, levels):
    def seconds(order):
        reach, total = 1, 0
        for ranks, sent in order:
            reach *= ranks
            total += sent/next(W for span, W in levels if reach <= span)
        return total
    return min(seconds(axes), seconds(axes[::-1]))
# %% wrong: the best order itself, instead of its time
from itertools import permutations
def least_time(axes, levels):
    def seconds(order):
        reach, total = 1, 0
        for ranks, sent in order:
            reach *= ranks
            total += sent/next(W for span, W in levels if reach <= span)
        return total
    return min(permutations(axes), key=seconds)
