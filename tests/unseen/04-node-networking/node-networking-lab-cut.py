# %% right: networkx with one source and one sink
import networkx as nx
def crossing(capacity, here, there):
    graph = nx.DiGraph()
    graph.add_nodes_from(["from", "to"])
    for u, row in enumerate(capacity):
        for v, c in enumerate(row):
            if c > 0:
                graph.add_edge(u, v, capacity=c)
    graph.add_edges_from(("from", u) for u in here)
    graph.add_edges_from((v, "to") for v in there)
    return nx.maximum_flow_value(graph, "from", "to")
# %% right: breadth first, by hand
from collections import deque
def crossing(capacity, here, there):
    room = [list(row) for row in capacity]
    there = set(there)
    total = 0
    while True:
        before = {u: None for u in here}
        queue, end = deque(here), None
        while queue and end is None:
            u = queue.popleft()
            for v, c in enumerate(room[u]):
                if c > 0 and v not in before:
                    before[v] = u
                    if v in there:
                        end = v
                        break
                    queue.append(v)
        if end is None:
            return total
        way, v = [], end
        while before[v] is not None:
            way.append((before[v], v))
            v = before[v]
        least = min(room[u][v] for u, v in way)
        for u, v in way:
            room[u][v] -= least
            room[v][u] += least
        total += least
# %% right: depth first, recursive, on a dictionary
def crossing(capacity, here, there):
    n = len(capacity)
    room = {(u, v): capacity[u][v] for u in range(n) for v in range(n)}
    def push(u, most, seen):
        if u in there:
            return most
        seen.add(u)
        for v in range(n):
            if v not in seen and room[u, v] > 0:
                sent = push(v, min(most, room[u, v]), seen)
                if sent:
                    room[u, v] -= sent
                    room[v, u] += sent
                    return sent
        return 0
    total = 0
    for start in here:
        while sent := push(start, 10**18, set()):
            total += sent
    return total
# %% right: numpy matrix with two vertices more
import numpy as np
def crossing(capacity, here, there):
    c = np.array(capacity, dtype=np.int64)
    n = len(c)
    big = int(c.sum()) + 1
    room = np.zeros((n + 2, n + 2), dtype=np.int64)
    room[:n, :n] = c
    room[n, list(here)] = big
    room[list(there), n + 1] = big
    total = 0
    while True:
        parent = np.full(n + 2, -1)
        parent[n] = n
        front = [n]
        while front and parent[n + 1] < 0:
            nxt = []
            for u in front:
                for v in np.flatnonzero((room[u] > 0) & (parent < 0)):
                    parent[v] = u
                    nxt.append(v)
            front = nxt
        if parent[n + 1] < 0:
            return int(total)
        way, v = [], n + 1
        while v != n:
            way.append((parent[v], v))
            v = parent[v]
        least = min(room[u, v] for u, v in way)
        for u, v in way:
            room[u, v] -= least
            room[v, u] += least
        total += least
# %% right: the narrowest cut by linear programming
import numpy as np
from scipy.optimize import linprog
def crossing(capacity, here, there):
    n = len(capacity)
    edges = [(u, v) for u in range(n) for v in range(n) if capacity[u][v] > 0]
    if not edges:
        return 0
    here, there = set(here), set(there)
    gain = np.zeros(len(edges))
    keep = np.zeros((n, len(edges)))
    for k, (u, v) in enumerate(edges):
        gain[k] = (u in here) - (v in here)
        keep[u, k] -= 1
        keep[v, k] += 1
    inner = [x for x in range(n) if x not in here and x not in there]
    bounds = [(0, capacity[u][v]) for u, v in edges]
    inner_rows = keep[inner] if inner else None
    zeros = np.zeros(len(inner)) if inner else None
    # what a vertex of `there` takes in stays there, and no vertex of `here` swallows any
    A = np.vstack([-keep[sorted(there)], keep[sorted(here)]])
    best = linprog(-gain, A_ub=A, b_ub=np.zeros(len(A)), A_eq=inner_rows, b_eq=zeros, bounds=bounds)
    return round(-best.fun)
# %% right: Edmonds-Karp in a class, edges in lists
from collections import deque
class Net:
    def __init__(self, n):
        self.head, self.room, self.out = [], [], [[] for _ in range(n)]
    def link(self, u, v, c):
        for a, b, c in ((u, v, c), (v, u, 0)):
            self.out[a].append(len(self.head))
            self.head.append(b)
            self.room.append(c)
    def way(self, s, t):
        by, queue = {s: None}, deque([s])
        while queue:
            u = queue.popleft()
            for e in self.out[u]:
                if self.room[e] and self.head[e] not in by:
                    by[self.head[e]] = e
                    queue.append(self.head[e])
        if t not in by:
            return []
        edges = []
        while by[t] is not None:
            edges.append(by[t])
            t = self.head[by[t] ^ 1]
        return edges
def crossing(capacity, here, there):
    n = len(capacity)
    net = Net(n + 2)
    for u in range(n):
        for v in range(n):
            if capacity[u][v]:
                net.link(u, v, capacity[u][v])
    for u in here:
        net.link(n, u, 10**15)
    for v in there:
        net.link(v, n + 1, 10**15)
    total = 0
    while way := net.way(n, n + 1):
        least = min(net.room[e] for e in way)
        total += least
        for e in way:
            net.room[e] -= least
            net.room[e ^ 1] += least
    return total
# %% right: pushes and relabels
def crossing(capacity, here, there):
    n = len(capacity)
    s, t, size = n, n + 1, n + 2
    big = sum(map(sum, capacity)) + 1
    room = [list(row) + [0, 0] for row in capacity] + [[0]*size, [0]*size]
    for u in here:
        room[s][u] = big
    for v in there:
        room[v][t] = big
    height, excess = [0]*size, [0]*size
    height[s] = size
    for v in range(size):
        excess[v], room[v][s], room[s][v] = room[s][v], room[v][s] + room[s][v], 0
    excess[s] = 0
    while True:
        active = [v for v in range(size) if v not in (s, t) and excess[v] > 0]
        if not active:
            return excess[t]
        u = active[0]
        low = [v for v in range(size) if room[u][v] > 0 and height[u] == height[v] + 1]
        if low:
            v = low[0]
            d = min(excess[u], room[u][v])
            room[u][v] -= d
            room[v][u] += d
            excess[u] -= d
            excess[v] += d
        else:
            height[u] = 1 + min(height[v] for v in range(size) if room[u][v] > 0)
# %% wrong: the links straight across, no switches
def crossing(capacity, here, there):
    return sum(capacity[u][v] for u in here for v in there)
# %% wrong: what leaves, or what arrives, whichever is less
def crossing(capacity, here, there):
    out = sum(sum(capacity[u]) for u in here)
    into = sum(capacity[u][v] for u in range(len(capacity)) for v in there)
    return min(out, into)
# %% wrong: the best single way
import heapq
def crossing(capacity, here, there):
    best = {u: float("inf") for u in here}
    heap = [(-best[u], u) for u in here]
    while heap:
        wide, u = heapq.heappop(heap)
        for v, c in enumerate(capacity[u]):
            w = min(-wide, c)
            if w > best.get(v, 0):
                best[v] = w
                heapq.heappush(heap, (-w, v))
    return max(best.get(v, 0) for v in there)
# %% wrong: fills ways, and takes nothing back
def crossing(capacity, here, there):
    room = [list(row) for row in capacity]
    n = len(room)
    def push(u, most, seen):
        if u in there:
            return most
        seen.add(u)
        for v in range(n):
            if v not in seen and room[u][v] > 0:
                sent = push(v, min(most, room[u][v]), seen)
                if sent:
                    room[u][v] -= sent
                    return sent
        return 0
    total = 0
    for start in here:
        while sent := push(start, 10**18, set()):
            total += sent
    return total
# %% wrong: from the first of one side to the first of the other
import networkx as nx
def crossing(capacity, here, there):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(capacity)))
    for u, row in enumerate(capacity):
        for v, c in enumerate(row):
            if c:
                graph.add_edge(u, v, capacity=c)
    return nx.maximum_flow_value(graph, here[0], there[0])
# %% wrong: adds up the flows of all pairs
import networkx as nx
def crossing(capacity, here, there):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(capacity)))
    for u, row in enumerate(capacity):
        for v, c in enumerate(row):
            if c:
                graph.add_edge(u, v, capacity=c)
    return sum(nx.maximum_flow_value(graph, u, v) for u in here for v in there)
# %% wrong: links taken as going both ways
import networkx as nx
def crossing(capacity, here, there):
    graph = nx.Graph()
    graph.add_nodes_from(["from", "to"])
    for u, row in enumerate(capacity):
        for v, c in enumerate(row):
            if c > 0:
                graph.add_edge(u, v, capacity=c)
    graph.add_edges_from(("from", u) for u in here)
    graph.add_edges_from((v, "to") for v in there)
    return nx.maximum_flow_value(graph, "from", "to")
# %% wrong: both directions of the cut
import networkx as nx
def crossing(capacity, here, there):
    def one_way(a, b):
        graph = nx.DiGraph()
        graph.add_nodes_from(["from", "to"])
        for u, row in enumerate(capacity):
            for v, c in enumerate(row):
                if c > 0:
                    graph.add_edge(u, v, capacity=c)
        graph.add_edges_from(("from", u) for u in a)
        graph.add_edges_from((v, "to") for v in b)
        return nx.maximum_flow_value(graph, "from", "to")
    return one_way(here, there) + one_way(there, here)
# %% wrong: everything that leaves the half
def crossing(capacity, here, there):
    return sum(capacity[u][v] for u in here for v in range(len(capacity)) if v not in here)
# %% wrong: paths of one switch at most
def crossing(capacity, here, there):
    total = sum(capacity[u][v] for u in here for v in there)
    for s in range(len(capacity)):
        if s not in here and s not in there:
            total += min(sum(capacity[u][s] for u in here), sum(capacity[s][v] for v in there))
    return total
# %% wrong: the pair of results that networkx gives
import networkx as nx
def crossing(capacity, here, there):
    graph = nx.DiGraph()
    graph.add_nodes_from(["from", "to"])
    for u, row in enumerate(capacity):
        for v, c in enumerate(row):
            if c > 0:
                graph.add_edge(u, v, capacity=c)
    graph.add_edges_from(("from", u) for u in here)
    graph.add_edges_from((v, "to") for v in there)
    return nx.maximum_flow(graph, "from", "to")
# %% wrong: every way carries one, as if links were unit pipes
def crossing(capacity, here, there):
    n = len(capacity)
    room = [[int(c > 0) for c in row] for row in capacity]
    def push(u, seen):
        if u in there:
            return 1
        seen.add(u)
        for v in range(n):
            if v not in seen and room[u][v] > 0 and push(v, seen):
                room[u][v] -= 1
                room[v][u] += 1
                return 1
        return 0
    return sum(iter(lambda: any(push(u, set()) for u in here), False))
