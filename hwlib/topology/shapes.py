"""Networks of one regular shape: crossbar, ring, torus and mesh, hypercube, dragonfly."""

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

from hwlib.specs.cluster import Level
from hwlib.topology.graph import Topology, finish, new_graph, wire
from hwlib.topology.link_rate import TopologyError, as_rate, whole


def crossbar(n: int, bandwidth: Any, latency: float = 0.0) -> Topology:
    """n accelerators on one switch that never blocks: each has `bandwidth` in and as much out.

    A message crosses two cables, each of half the `latency`, so it takes `latency` once.
    """
    n = whole("crossbar: n (ranks)", n)
    width = as_rate("crossbar: bandwidth", bandwidth, latency)
    width = width._replace(latency=width.latency / 2)
    graph = new_graph()
    for i in range(n):
        graph.add_node(f"gpu{i}", kind="gpu", tier=0, place=(i,))
    graph.add_node("switch", kind="switch", tier=0)
    for i in range(n):
        wire(graph, f"gpu{i}", "switch", width)
    levels = [Level("switch", n, width.bandwidth)] if n > 1 else []
    return finish(f"crossbar of {n}", graph, [f"gpu{i}" for i in range(n)], levels, ["switch"])


def ring(n: int, bandwidth: Any, latency: float = 0.0) -> Topology:
    """n accelerators, each joined to the next and the last to the first; two are joined by one cable."""
    n = whole("ring: n (ranks)", n)
    return _torus(f"ring of {n}", (n,), bandwidth, (True,), latency)


def torus(shape: Sequence[int], bandwidth: Any, wrap: bool | Sequence[bool] = True, latency: float = 0.0) -> Topology:
    """Accelerators on a grid, each joined to its neighbours along every axis by one cable a side.

    `wrap` closes the axes, all or each, into rings; without, the grid is a mesh. An axis of two chips is one
    cable with or without, since the wraparound would join the same two. Rank order is row-major, the last axis
    fastest.
    """
    if isinstance(shape, str | int) or not list(shape):
        raise TopologyError(f"torus: shape is the lengths of its axes, such as (4, 4, 4), got {shape!r}")
    sizes = tuple(whole("torus: the length of an axis", size) for size in shape)
    wraps = (wrap,) * len(sizes) if isinstance(wrap, bool) else tuple(wrap)
    if len(wraps) != len(sizes) or not all(isinstance(one, bool) for one in wraps):
        raise TopologyError(f"torus: wrap is True, False or one of them for each of {len(sizes)} axes, got {wrap!r}")
    kind = "torus" if all(wraps) else "torus, partly closed," if any(wraps) else "mesh"
    return _torus(f"{kind} {'x'.join(map(str, sizes))}", sizes, bandwidth, wraps, latency)


def hypercube(d: int, bandwidth: Any, latency: float = 0.0) -> Topology:
    """2^d accelerators; two are joined if their ranks differ in one bit."""
    d = whole("hypercube: d (dimensions)", d)
    if d > 16:
        raise TopologyError(f"hypercube: d (dimensions) is at most 16, got {d}")
    return _torus(f"hypercube of 2^{d}", (2,) * d, bandwidth, (False,) * d, latency)


def _torus(name: str, sizes: tuple[int, ...], bandwidth: Any, wraps: tuple[bool, ...], latency: float) -> Topology:
    width = as_rate(f"{name.split()[0]}: bandwidth", bandwidth, latency)
    graph = new_graph()
    cells = list(product(*map(range, sizes)))
    names = {cell: f"gpu{rank}" for rank, cell in enumerate(cells)}
    for rank, cell in enumerate(cells):
        graph.add_node(names[cell], kind="gpu", tier=0, place=(rank,), cell=cell)
    for axis, (size, wrapped) in enumerate(zip(sizes, wraps, strict=True)):
        for cell in cells:
            if cell[axis] + 1 < size or (wrapped and size > 2):
                after = (*cell[:axis], (cell[axis] + 1) % size, *cell[axis + 1 :])
                wire(graph, names[cell], names[after], width, axis=axis)
    halves = [
        frozenset(names[cell] for cell in cells if 2 * cell[axis] < size)
        for axis, size in enumerate(sizes)
        if size % 2 == 0
    ]
    return finish(name, graph, names.values(), halves=halves)


def leaf_spine(cables: Sequence[Sequence[int]], hosts: int, bandwidth: Any) -> Topology:
    """A network of two tiers by its table of cables: cables[l][s] of them join leaf l and spine s.

    Every leaf has `hosts` accelerators, each by a cable of its own; all cables have the same bandwidth. Neither the
    ports of a switch are checked nor that every two leaves are joined.
    """
    rows = [[whole("leaf_spine: cables between a leaf and a spine", k, 0) for k in row] for row in cables]
    if not rows or not rows[0] or len({len(row) for row in rows}) > 1:
        raise TopologyError(f"leaf_spine: cables is a row of equal length for each leaf, got {cables!r:.80}")
    hosts, width = whole("leaf_spine: hosts of a leaf", hosts), as_rate("leaf_spine: bandwidth", bandwidth)
    graph = new_graph()
    ranks = [f"gpu{i}" for i in range(hosts * len(rows))]
    for rank, vertex in enumerate(ranks):
        graph.add_node(vertex, kind="gpu", tier=0, place=divmod(rank, hosts))
    for kind, tier, count in (("leaf", 1, len(rows)), ("spine", 2, len(rows[0]))):
        for i in range(count):
            graph.add_node(f"{kind}{i}", kind=kind, tier=tier)
    for rank, vertex in enumerate(ranks):
        wire(graph, vertex, f"leaf{rank // hosts}", width)
    for leaf, row in enumerate(rows):
        for spine, links in enumerate(row):
            if links:
                wire(graph, f"leaf{leaf}", f"spine{spine}", width, links)
    half = [frozenset(ranks[: len(rows) // 2 * hosts])] if len(rows) > 1 else []
    return finish(f"{len(ranks)} GPUs below {len(rows)} leaf switches", graph, ranks, halves=half)


def dragonfly(
    p: int,
    a: int,
    h: int,
    bandwidth: Any,
    *,
    groups: int | None = None,
    local_bandwidth: Any = None,
    global_bandwidth: Any = None,
    latency: float = 0.0,
    global_latency: float | None = None,
) -> Topology:
    """Groups of `a` routers, all joined within a group; each router has `p` accelerators and `h` cables out.

    a*h cables leave a group, so a*h + 1 groups are each joined to each other by one: any two accelerators are
    at most one local, one global and one local hop apart. Balanced when a = 2p = 2h. With fewer `groups`, the
    cables are shared evenly, a*h / (groups - 1) for each pair. Source: Kim et al., ISCA 2008.
    """
    p, a, h = (whole(f"dragonfly: {letter}", value) for letter, value in (("p", p), ("a", a), ("h", h)))
    g = a * h + 1 if groups is None else whole("dragonfly: groups", groups, 2)
    if a * h % (g - 1):
        raise TopologyError(
            f"dragonfly: {a * h} cables leave a group; they are shared evenly by groups - 1, got groups={g}"
        )
    own = as_rate("dragonfly: bandwidth", bandwidth, latency)
    local = as_rate("dragonfly: local_bandwidth", local_bandwidth or own, latency)
    far = latency if global_latency is None else global_latency
    world = as_rate("dragonfly: global_bandwidth", global_bandwidth or own.bandwidth, far)
    graph = new_graph()
    ranks = [f"gpu{i}" for i in range(p * a * g)]
    for rank, vertex in enumerate(ranks):
        graph.add_node(vertex, kind="gpu", tier=0, place=(rank // (p * a), rank // p % a, rank % p))
    for group, router in product(range(g), range(a)):
        graph.add_node(f"g{group}.r{router}", kind="switch", tier=0)
    for rank, vertex in enumerate(ranks):
        wire(graph, vertex, f"g{rank // (p * a)}.r{rank // p % a}", own)
    for group in range(g):
        for first in range(a):
            for two in range(first + 1, a):
                wire(graph, f"g{group}.r{first}", f"g{group}.r{two}", local)
        for port in range(a * h):
            turn, step = divmod(port, g - 1)
            other = (group + 1 + step) % g
            if group < other:
                back = turn * (g - 1) + (g - 2 - step)
                wire(graph, f"g{group}.r{port // h}", f"g{other}.r{back // h}", world)
    halves = [frozenset(ranks[: prod((p, a, g // 2))])] if g % 2 == 0 else []
    return finish(f"dragonfly p={p} a={a} h={h}, {g} groups", graph, ranks, halves=halves)
