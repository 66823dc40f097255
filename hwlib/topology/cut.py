"""How much a network carries between two sets of ranks: the minimum cut, found by maximum flow.

The flow is found by Dinic's algorithm over integers (scipy's); the cut that it saturates is then summed from the
edges' own bandwidths, so the result is exact wherever all bandwidths are multiples of a common one, and within
one part in 10^5 where rounding them to 2^30 parts could prefer another cut of nearly the same width.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from hwlib.specs.cluster import Level
from hwlib.topology.graph import Topology
from hwlib.topology.link_rate import TopologyError

MOST = 2**30  # what fits into scipy's 32-bit capacities, with room to add


class Cut(NamedTuple):
    """The narrowest place between two sets of vertices: what it carries one way in B/s, and its edges."""

    bandwidth: float
    edges: tuple[tuple[str, str], ...]

    def kinds(self, topology: Topology) -> dict[str, int]:
        """The edges counted by the kinds at their ends, as {"leaf-spine": 256}: which tier is the narrow one."""
        counts: dict[str, int] = defaultdict(int)
        for edge in self.edges:
            counts["-".join(topology.graph.nodes[v]["kind"] for v in edge if v in topology.graph)] += 1
        return dict(counts)


def minimum_cut(
    topology: Topology,
    sources: Iterable[Any],
    sinks: Iterable[Any],
    *,
    inside: Collection[str] | None = None,
    drain: Mapping[str, float] | None = None,
) -> Cut:
    """The most that `sources` can send to `sinks` together, one way, and where that is decided.

    Both are ranks, or names of vertices; `inside` leaves out every other vertex, and `drain` limits what a
    sink takes in B/s (a network port that leads out of the graph). Raises TopologyError for an empty or a
    shared side.
    """
    starts, ends = _side(topology, "sources", sources), _side(topology, "sinks", sinks)
    if both := starts & ends:
        raise TopologyError(f"the two sides of a cut share {', '.join(sorted(both)[:3])}")
    graph = topology.graph
    vertices = list(graph) if inside is None else [v for v in graph if v in inside]
    number = {vertex: i for i, vertex in enumerate(vertices)}
    arcs = [(number[u], number[v], graph.edges[u, v]["bandwidth"]) for u in vertices for v in graph[u] if v in number]
    source, sink = len(vertices), len(vertices) + 1
    reach: dict[tuple[int, bool], float] = defaultdict(float)
    for u, v, bandwidth in arcs:
        reach[u, True] += bandwidth
        reach[v, False] += bandwidth
    arcs += [(source, number[v], reach[number[v], True]) for v in starts if v in number]
    arcs += [(number[v], sink, (drain or {}).get(v, reach[number[v], False])) for v in ends if v in number]
    side = _reachable_side([arc for arc in arcs if arc[2] > 0], source, sink)
    names = [*vertices, "source", "sink"]
    across = [(u, v, bandwidth) for u, v, bandwidth in arcs if u in side and v not in side]
    edges = tuple((names[u], names[v]) for u, v, _ in across)
    return Cut(math.fsum(bandwidth for _, _, bandwidth in across), edges)


def _side(topology: Topology, which: str, members: Iterable[Any]) -> set[str]:
    names = {v if isinstance(v, str) and v in topology.graph else topology.vertex_of(v) for v in members}
    if not names:
        raise TopologyError(f"{which} of a cut are at least one rank, got none")
    return names


def _reachable_side(arcs: list[tuple[int, int, float]], source: int, sink: int) -> set[int]:
    """The source's side of a minimum cut: what can still be reached once the largest flow runs."""
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    if not any(arc[0] == source for arc in arcs):
        return {source}
    unit = _unit(arcs, source)
    rows, columns, bandwidths = zip(*arcs, strict=True)
    most = max(sum(width for u, _, width in arcs if u == source), 1.0)
    capacity = np.maximum(np.rint(np.minimum(bandwidths, most) / unit), 1).astype(np.int32)
    size = max(source, sink) + 1
    network = csr_array((capacity, (rows, columns)), shape=(size, size), dtype=np.int32)
    flow = maximum_flow(network, source, sink, method="dinic").flow
    left = (network - flow).tocsr()
    left.data[left.data < 0] = 0
    left.eliminate_zeros()
    return set(breadth_first_order(left, source, return_predecessors=False).tolist())


def _unit(arcs: list[tuple[int, int, float]], source: int) -> float:
    """The B/s of one unit of flow: what all bandwidths are multiples of, or else the total in 2^30 parts."""
    total = sum(width for u, _, width in arcs if u == source)
    widths = {width for _, _, width in arcs}
    if all(width == int(width) for width in widths):
        common = math.gcd(*map(int, widths))
        if total / common < MOST:
            return float(common)
    return total / MOST


def bisection_bandwidth(topology: Topology, half: Iterable[Any] | None = None) -> float:
    """What one half of the ranks can send to the other half, in B/s, one way: all cables full at once.

    Without `half`, the least over the halves that the builder names (across each axis of a torus, between
    groups of a tree); for the networks of this module that is the true bisection, which for a graph in general
    is hard to find. Twice this figure counts both directions, as some texts do.
    """
    return bisection_cut(topology, half).bandwidth


def bisection_cut(topology: Topology, half: Iterable[Any] | None = None) -> Cut:
    """The cut of `bisection_bandwidth`, with the edges that limit it."""
    if len(topology.ranks) < 2:
        raise TopologyError(f"{topology.name} has {len(topology.ranks)} ranks: halves take at least 2")
    if half is not None:
        halves = [frozenset(topology.vertex_of(rank) for rank in half)]
    else:
        halves = [known & topology.rank_of.keys() for known in topology.halves]
        halves = [known for known in halves if 0 < len(known) < len(topology.ranks)]
        halves = halves or [frozenset(topology.ranks[: len(topology.ranks) // 2])]
    cuts = []
    for half_ranks in halves:
        other = [rank for rank in topology.ranks if rank not in half_ranks]
        cuts.append(minimum_cut(topology, half_ranks, other))
    return min(cuts, key=lambda cut: cut.bandwidth)


def groups(topology: Topology, depth: int) -> dict[tuple[int, ...], list[str]]:
    """The ranks by the first `depth` entries of their place."""
    by_place: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for vertex in topology.ranks:
        by_place[topology.graph.nodes[vertex]["place"][:depth]].append(vertex)
    return dict(by_place)


def level_bandwidth(topology: Topology) -> tuple[Level, ...]:
    """Each level as the graph has it, innermost first: children of a group, and B/s of a child into it, one way.

    Measured: the minimum cut between a child's ranks and the other ranks of its group, using no switch above
    that level. Where children differ (after a failure), the narrowest; a group's size is the largest.
    """
    levels = []
    depth = len(topology.tiers)
    position = {vertex: i for i, vertex in enumerate(topology.graph)}
    for tier, name in enumerate(topology.tiers):
        vertices = {v for v, above in topology.graph.nodes(data="tier") if above <= tier}
        families: dict[tuple[int, ...], list[list[str]]] = defaultdict(list)
        for child, ranks in groups(topology, depth - tier).items():
            families[child[: depth - 1 - tier]].append(ranks)
        bandwidths: dict[Any, float] = {}  # by shape: most groups are alike, after a failure too
        for children in families.values():
            if len(children) > 1 and not (topology.levels and bandwidths):  # as built, all children are alike
                members = {rank for ranks in children for rank in ranks}
                inside = _connected(topology, vertices, members)
                shape = _shape(topology, position, inside, children)
                if shape not in bandwidths:
                    bandwidths[shape] = min(
                        minimum_cut(topology, ranks, members - {*ranks}, inside=inside).bandwidth
                        for ranks in (children[:1] if topology.levels else children)
                    )
        if bandwidths:
            levels.append(Level(name, max(map(len, families.values())), min(bandwidths.values())))
    return tuple(levels)


def _shape(
    topology: Topology, position: Mapping[str, int], inside: Collection[str], children: Iterable[Iterable[str]]
) -> Any:
    """The same for two groups that differ in names alone: their links and children by the order of the vertices."""
    number = {vertex: i for i, vertex in enumerate(sorted(inside, key=position.__getitem__))}
    links = frozenset(
        (number[u], number[v], edge["bandwidth"])
        for u in inside
        for v, edge in topology.graph.adj[u].items()
        if v in number
    )
    return links, tuple(tuple(number[rank] for rank in ranks) for ranks in children)


def _connected(topology: Topology, kept: Collection[str], members: Iterable[str]) -> set[str]:
    """The vertices among `kept` that the members reach through others of them."""
    edge = list(members)
    reached = set(edge)
    while edge:
        edge = [*dict.fromkeys(w for v in edge for w in topology.graph[v] if w in kept and w not in reached)]
        reached.update(edge)
    return reached


def per_gpu_bandwidth(topology: Topology) -> dict[str, float]:
    """B/s one way that each rank has for itself at each level when all send at once: the level's over its ranks."""
    measured = level_bandwidth(topology)
    share, ranks = {}, 1
    for level in measured:
        share[level.name] = level.bandwidth / ranks
        ranks *= level.size
    return share


def egress_bandwidth(topology: Topology) -> float:
    """B/s one way that all ranks together can send out through the NICs at their line rate."""
    nics = topology.vertices("nic")
    if not nics:
        raise TopologyError(f"{topology.name} has no NIC that leads out of it")
    drain = {nic: topology.graph.nodes[nic]["bandwidth"] for nic in nics}
    local = topology.vertices("gpu", "nic", "nvswitch", "pcie", "cpu")
    return minimum_cut(topology, topology.ranks, nics, drain=drain, inside={*local}).bandwidth
