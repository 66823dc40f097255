# %% right: a generator expression
def pair_bandwidth(cables, a, b, W, dead):
    return W*sum(min(up, down) for s, (up, down) in enumerate(zip(cables[a], cables[b]))
                 if s not in dead)
# %% right: a loop with continue
def pair_bandwidth(cables, a, b, W, dead):
    total = 0
    for s in range(len(cables[a])):
        if s in dead:
            continue
        up, down = cables[a][s], cables[b][s]
        total += up if up < down else down
    return total*W
# %% right: numpy with a mask
import numpy as np
def pair_bandwidth(cables, a, b, W, dead):
    table = np.asarray(cables)
    alive = np.ones(table.shape[1], bool)
    alive[list(dead)] = False
    return float(np.minimum(table[a], table[b])[alive].sum()*W)
# %% right: set of living spines, bandwidth of each, fsum
from math import fsum
def pair_bandwidth(cables, a, b, W, dead=()):
    alive = set(range(len(cables[a]))) - set(dead)
    return fsum(min(W*cables[a][s], W*cables[b][s]) for s in alive)
# %% right: a maximum flow by single cables
def pair_bandwidth(cables, a, b, W, dead):
    to_spine = [0 if s in dead else c for s, c in enumerate(cables[a])]
    to_leaf = [0 if s in dead else c for s, c in enumerate(cables[b])]
    ways = 0
    for s in range(len(to_spine)):
        while to_spine[s] and to_leaf[s]:
            to_spine[s] -= 1
            to_leaf[s] -= 1
            ways += 1
    return ways*W
# %% right: recursion from the last spine
def pair_bandwidth(cables, a, b, W, dead, s=None):
    s = len(cables[a]) - 1 if s is None else s
    if s < 0:
        return 0
    here = 0 if s in dead else min(cables[a][s], cables[b][s])*W
    return here + pair_bandwidth(cables, a, b, W, dead, s - 1)
# %% right: the minimum written as half of sum less difference
def pair_bandwidth(cables, a, b, W, dead):
    dead = frozenset(dead)
    pairs = [(x, y) for s, (x, y) in enumerate(zip(cables[a], cables[b])) if s not in dead]
    return sum(x + y - abs(x - y) for x, y in pairs)*W/2
# %% right: all spines, less the dead ones
def pair_bandwidth(cables, a, b, W, dead):
    each = list(map(min, cables[a], cables[b]))
    return W*(sum(each) - sum(each[s] for s in set(dead)))
# %% wrong: the larger of the two bundles
def pair_bandwidth(cables, a, b, W, dead):
    return W*sum(max(x, y) for s, (x, y) in enumerate(zip(cables[a], cables[b]))
                 if s not in dead)
# %% wrong: the minimum of the sums instead of the sum of the minima
def pair_bandwidth(cables, a, b, W, dead):
    alive = [s for s in range(len(cables[a])) if s not in dead]
    return W*min(sum(cables[a][s] for s in alive), sum(cables[b][s] for s in alive))
# %% wrong: looks at the sender's cables only
def pair_bandwidth(cables, a, b, W, dead):
    return W*sum(c for s, c in enumerate(cables[a]) if s not in dead)
# %% wrong: adds both bundles
def pair_bandwidth(cables, a, b, W, dead):
    return W*sum(cables[a][s] + cables[b][s] for s in range(len(cables[a])) if s not in dead)
# %% wrong: one cable a spine, however thick the bundle
def pair_bandwidth(cables, a, b, W, dead):
    return W*sum(1 for s in range(len(cables[a]))
                 if s not in dead and cables[a][s] and cables[b][s])
# %% wrong: the dead spines go on working
def pair_bandwidth(cables, a, b, W, dead):
    return W*sum(min(x, y) for x, y in zip(cables[a], cables[b]))
# %% wrong: counts cables, forgets their bandwidth
def pair_bandwidth(cables, a, b, W, dead):
    return sum(min(x, y) for s, (x, y) in enumerate(zip(cables[a], cables[b])) if s not in dead)
# %% wrong: both directions
def pair_bandwidth(cables, a, b, W, dead):
    return 2*W*sum(min(x, y) for s, (x, y) in enumerate(zip(cables[a], cables[b]))
                   if s not in dead)
# %% wrong: takes the number of dead spines off as a share
def pair_bandwidth(cables, a, b, W, dead):
    spines = len(cables[a])
    return W*sum(min(x, y) for x, y in zip(cables[a], cables[b]))*(1 - len(dead)/spines)
# %% wrong: only the best spine
def pair_bandwidth(cables, a, b, W, dead):
    return W*max(min(x, y) for s, (x, y) in enumerate(zip(cables[a], cables[b]))
                 if s not in dead)
# %% wrong: multiplies the ways in by the ways out
def pair_bandwidth(cables, a, b, W, dead):
    return W*sum(x*y for s, (x, y) in enumerate(zip(cables[a], cables[b])) if s not in dead)
# %% wrong: knows the first dead spine only
def pair_bandwidth(cables, a, b, W, dead):
    first = list(dead)[0] if len(dead) else None
    return W*sum(min(x, y) for s, (x, y) in enumerate(zip(cables[a], cables[b])) if s != first)
# %% wrong: takes dead for leaves
def pair_bandwidth(cables, a, b, W, dead):
    if a in dead or b in dead:
        return 0
    return W*sum(min(x, y) for x, y in zip(cables[a], cables[b]))
