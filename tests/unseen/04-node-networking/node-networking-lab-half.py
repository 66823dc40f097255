# %% right: halves by combinations, switches by product
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            best = min(best, sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one))
    return best
# %% right: a bit for every vertex
def narrowest(capacity, gpus):
    n = len(capacity)
    which = sum(1 << g for g in gpus)
    def crosses(mask):
        return sum(capacity[u][v] for u in range(n) if mask >> u & 1 for v in range(n) if not mask >> v & 1)
    return min(crosses(mask) for mask in range(1 << n) if 2*(mask & which).bit_count() == len(gpus))
# %% right: numpy, x C (1 - x)
import numpy as np
def narrowest(capacity, gpus):
    C = np.array(capacity)
    n = len(C)
    x = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    x = x[x[:, list(gpus)].sum(axis=1) == len(gpus)//2]
    return int(np.einsum("su,uv,sv->s", x, C, 1 - x).min())
# %% right: a cut of two sets for every half, by networkx
import networkx as nx
def narrowest(capacity, gpus):
    least = inf
    for half in combinations(gpus, len(gpus)//2):
        G = nx.DiGraph()
        G.add_nodes_from(["from", "to"])
        for u, row in enumerate(capacity):
            for v, c in enumerate(row):
                if c:
                    G.add_edge(u, v, capacity=c)
        for g in gpus:
            if g in half:
                G.add_edge("from", g)
            else:
                G.add_edge(g, "to")
        least = min(least, nx.maximum_flow_value(G, "from", "to") if sum(map(sum, capacity)) else 0)
    return least
# %% right: fills paths itself, max-flow and min-cut
def flow(capacity, sources, sinks):
    room = [list(row) for row in capacity]
    total = 0
    while True:
        came, todo, end = {s: None for s in sources}, list(sources), None
        while todo and end is None:
            u = todo.pop(0)
            for v, c in enumerate(room[u]):
                if c > 0 and v not in came:
                    came[v] = u
                    if v in sinks:
                        end = v
                        break
                    todo.append(v)
        if end is None:
            return total
        path, v = [], end
        while came[v] is not None:
            path.append((came[v], v))
            v = came[v]
        width = min(room[u][v] for u, v in path)
        for u, v in path:
            room[u][v] -= width
            room[v][u] += width
        total += width
def narrowest(capacity, gpus):
    return min(flow(capacity, half, set(gpus) - set(half)) for half in combinations(gpus, len(gpus)//2))
# %% right: recursion, vertex by vertex
def narrowest(capacity, gpus):
    n, room = len(capacity), len(gpus)//2
    def put(v, left, right, cut):
        if v == n:
            return cut
        options = []
        if v not in gpus or sum(g in left for g in gpus) < room:
            options.append(put(v + 1, left | {v}, right, cut + sum(capacity[v][w] for w in right)))
        if v not in gpus or sum(g in right for g in gpus) < room:
            options.append(put(v + 1, left, right | {v}, cut + sum(capacity[w][v] for w in left)))
        return min(options)
    return put(0, frozenset(), frozenset(), 0)
# %% right: the first GPU stays on one side, and both directions are tried
def narrowest(capacity, gpus):
    n, first, others = len(capacity), gpus[0], gpus[1:]
    switches = sorted(set(range(n)) - set(gpus))
    found = []
    for k in range(len(switches) + 1):
        for here in combinations(switches, k):
            for mates in combinations(others, len(gpus)//2 - 1):
                a = {first, *mates, *here}
                b = set(range(n)) - a
                out = sum(capacity[u][v] for u in a for v in b)
                back = sum(capacity[v][u] for u in a for v in b)
                found += [out, back]
    return min(found)
# %% right: a generator of sides in one expression
def narrowest(capacity, gpus):
    everyone = range(len(capacity))
    sides = (set(c) for size in everyone for c in combinations(everyone, size))
    return min(sum(capacity[u][v] for u in side for v in everyone if v not in side)
               for side in sides if len(side.intersection(gpus)) == len(gpus)/2)
# %% wrong: the first GPU stays on one side, one direction only
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    found = []
    for mates in combinations(gpus[1:], len(gpus)//2 - 1):
        for sides in product((False, True), repeat=len(switches)):
            one = {gpus[0], *mates} | {s for s, here in zip(switches, sides) if here}
            found.append(sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one))
    return min(found)
# %% wrong: half the GPUs times what the weakest sends
def narrowest(capacity, gpus):
    return len(gpus)//2*min(sum(capacity[g]) for g in gpus)
# %% wrong: the links of the narrowest half's GPUs, as on a switch that never blocks
def narrowest(capacity, gpus):
    return sum(sorted(sum(capacity[g]) for g in gpus)[:len(gpus)//2])
# %% wrong: exchanges two GPUs as long as that helps, from the first half on
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    def width(half):
        return min(sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
                   for sides in product((0, 1), repeat=len(switches))
                   for one in [set(half) | {s for s, here in zip(switches, sides) if here}])
    half = set(gpus[:len(gpus)//2])
    while True:
        moves = [half - {a} | {b} for a in half for b in set(gpus) - half]
        better = min(moves, key=width)
        if width(better) >= width(half):
            return width(half)
        half = better
# %% wrong: the least flow between two GPUs
import networkx as nx
def narrowest(capacity, gpus):
    G = nx.DiGraph()
    G.add_nodes_from(range(len(capacity)))
    for u, row in enumerate(capacity):
        for v, c in enumerate(row):
            if c:
                G.add_edge(u, v, capacity=c)
    return min(nx.maximum_flow_value(G, a, b) for a in gpus for b in gpus if a != b)
# %% wrong: all switches on the one side
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in [[True]*len(switches)]:
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best
# %% wrong: all switches on the one side, or all on the other
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in ([True]*len(switches), [False]*len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best
# %% wrong: switches as the widest place would have it
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        widest = 0
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            widest = max(widest, cut)
        best = min(best, widest)
    return best
# %% wrong: leaves the switches out, direct links only
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=0):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v in gpus and v not in one)
            best = min(best, cut)
    return best
# %% wrong: switches belong to the other half, unless most of their links come from this
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in [[2*sum(capacity[s][g] for g in half) > sum(capacity[s][g] for g in gpus) for s in switches]]:
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best
# %% wrong: a switch goes with the GPU before it
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in [[bool(half) and max(gpus) in half for s in switches]]:
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best
# %% wrong: the first half against the second only
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in [gpus[:len(gpus)//2]]:
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best
# %% wrong: neighbouring GPUs only
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in [(gpus + gpus)[k:k + len(gpus)//2] for k in range(len(gpus))]:
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best
# %% wrong: even and odd GPUs besides the first half
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in (gpus[:len(gpus)//2], gpus[::2], gpus[1::2]):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best
# %% wrong: GPUs are the first vertices
from itertools import product
def narrowest(capacity, gpus):
    gpus = range(len(gpus))
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best
# %% wrong: half of all vertices, switches among them
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(range(len(capacity)), len(capacity)//2):
        for sides in product((False, True), repeat=0):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best
# %% wrong: any cut, not only halves
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in (part for k in range(1, len(gpus)) for part in combinations(gpus, k)):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best
# %% wrong: a single GPU against the rest
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, 1):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best
# %% wrong: pairs of GPUs
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, 2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best
# %% wrong: the widest half
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = 0
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = max(best, cut)
    return best
# %% wrong: the sum over all halves
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = 0
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = best + cut
    return best
# %% wrong: both directions added
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c + capacity[v][u] for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best
# %% wrong: half of it
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best/2
# %% wrong: links counted, not what they carry
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c > 0 for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best
# %% wrong: the narrowest link across
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = min((c for u in one for v, c in enumerate(capacity[u]) if c and v not in one), default=inf)
            best = min(best, cut)
    return best
# %% wrong: the widest link across
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = max((c for u in one for v, c in enumerate(capacity[u]) if v not in one), default=0)
            best = min(best, cut)
    return best
# %% wrong: what stays inside the half
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v in one)
            best = min(best, cut)
    return best
# %% wrong: what all vertices of the half send, inside as well
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]))
            best = min(best, cut)
    return best
# %% wrong: each link of the half once, inside and across
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v > u)
            best = min(best, cut)
    return best
# %% wrong: only the GPUs send across, a switch does not
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in half for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best
# %% wrong: only to GPUs of the other half
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v in gpus and v not in one)
            best = min(best, cut)
    return best
# %% wrong: the half and not its value
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, (cut, sorted(one))) if best != inf else (cut, sorted(one))
    return best[1]
# %% wrong: value and half
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, (cut, sorted(half))) if best != inf else (cut, sorted(half))
    return best
# %% wrong: cuts that carry nothing do not count
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut or inf)
    return best
# %% wrong: for each GPU of the half
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best/(len(gpus)//2)
# %% wrong: returns after the first half
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=len(switches)):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
        return best
# %% wrong: one switch more than one half has is left out
from itertools import product
def narrowest(capacity, gpus):
    switches = [v for v in range(len(capacity)) if v not in gpus]
    best = inf
    for half in combinations(gpus, len(gpus)//2):
        for sides in product((False, True), repeat=min(1, len(switches))):
            one = set(half) | {s for s, here in zip(switches, sides) if here}
            cut = sum(c for u in one for v, c in enumerate(capacity[u]) if v not in one)
            best = min(best, cut)
    return best
