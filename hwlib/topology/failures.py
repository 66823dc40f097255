"""A network after failures of some of its parts."""

from collections.abc import Iterable
from typing import NamedTuple

from hwlib.specs.cluster import Level
from hwlib.topology.cut import bisection_bandwidth, level_bandwidth
from hwlib.topology.graph import Topology
from hwlib.topology.link_rate import TopologyError, whole

Ends = tuple[str, str]


def without(
    topology: Topology,
    *,
    link: Ends | Iterable[Ends] = (),
    node: str | Iterable[str] = (),
    cables: int = 1,
) -> Topology:
    """The network after failures, as a new topology: `link` is (u, v), or several; `node` a vertex, or several.

    Of a bundle of parallel cables `cables` fail, in both directions; a failed accelerator is no rank any more, and
    the others move up. `levels` becomes empty, since the children of a level are no longer alike: see
    `level_bandwidth`. Raises KeyError for an unknown part.
    """
    import networkx

    dead = list(node) if isinstance(node, Iterable) and not isinstance(node, str) else [node]
    cut = [link] if isinstance(link, tuple) and link and isinstance(link[0], str) else list(link)
    cables = whole("without: cables", cables)
    if not dead and not cut:
        raise TopologyError("without: give the link=(u, v) or the node= that has failed")
    for vertex in dead:
        topology.check(vertex)
    graph = networkx.DiGraph(topology.graph)
    for u, v in cut:
        topology.edge(u, v)
        for source, other in ((u, v), (v, u)):
            if not graph.has_edge(source, other):
                raise TopologyError(f"without: the link from {u} to {v} is named twice")
            edge = dict(graph.edges[source, other])
            left = edge["links"] - cables
            if left < 0:
                raise TopologyError(f"without: {cables} cables from {u} to {v}, where there are {edge['links']}")
            graph.remove_edge(source, other)
            if left:
                share = edge["bandwidth"] / edge["links"]
                graph.add_edge(source, other, **edge | {"links": left, "bandwidth": left * share})
    graph.remove_nodes_from(dead)
    ranks = tuple(vertex for vertex in topology.ranks if vertex in graph)
    if not ranks:
        raise TopologyError(f"without: no accelerator of {topology.name} is left")
    lost = [*dead, *("-".join(ends) for ends in cut)]
    name = f"{topology.name} without {', '.join(lost[:3])}" + f" and {len(lost) - 3} more" * (len(lost) > 3)
    return Topology(name, networkx.freeze(graph), ranks, (), topology.tiers, topology.halves)


class Remains(NamedTuple):
    """The capacity that a damaged network still has.

    `ranks` are alive, `islands` are the sizes of the parts that can still talk to each other, largest first, and
    `bisection` is one way in B/s (of the whole: 0 if it has fallen in two across the halves), `share` that of the
    intact network. `levels` are the narrowest children of each level; a ring waits for these.
    """

    ranks: int
    lost: int
    islands: tuple[int, ...]
    bisection: float
    share: float
    levels: tuple[Level, ...]

    @property
    def connected(self) -> bool:
        """Every rank that is alive reaches every other."""
        return len(self.islands) == 1


def remains(before: Topology, after: Topology) -> Remains:
    """Compare a network with the result of `without`."""
    import networkx

    alive = set(after.ranks)
    islands = [len(part & alive) for part in networkx.strongly_connected_components(after.graph)]
    left = bisection_bandwidth(after) if len(alive) > 1 else 0.0
    return Remains(
        ranks=len(alive),
        lost=len(before.ranks) - len(alive),
        islands=tuple(sorted(filter(None, islands), reverse=True)),
        bisection=left,
        share=left / bisection_bandwidth(before),
        levels=level_bandwidth(after),
    )
