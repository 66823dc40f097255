"""The record of a network: a graph of devices and switches whose edges carry bandwidths, and its ranks."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hwlib.specs.cluster import Level
from hwlib.topology.link_rate import LinkRate, TopologyError
from hwlib.topology.router import Router

if TYPE_CHECKING:
    from networkx import DiGraph

SWITCHES = ("nvswitch", "switch", "leaf", "spine", "core")  # the kinds of vertices that are


@dataclass(frozen=True, eq=False, repr=False)
class Topology:
    """Devices, switches and what joins them.

    A cable is two directed edges, one each way, with `bandwidth` in B/s and `latency` in s; parallel cables
    are one edge whose `links` counts them and whose `bandwidth` is their sum. A vertex has a `kind` and a
    `tier`: 0 inside a node, 1 at the leaf switches, and so on up. A rank's `place` lists the group it belongs
    to at each level, outermost first. `levels` is the design; what a damaged network still carries is
    measured by `level_bandwidth`. `halves` are the cuts that `bisection_bandwidth` tries: where this family
    of networks is known to be narrowest.
    """

    name: str
    graph: "DiGraph"
    ranks: tuple[str, ...]
    levels: tuple[Level, ...] = ()
    tiers: tuple[str, ...] = ()
    halves: tuple[frozenset[str], ...] = ()

    def __repr__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.kinds.items())
        return f"<{self.name}: {kinds}>"

    @cached_property
    def kinds(self) -> Counter[str]:
        """How many vertices there are of each kind."""
        return Counter(kind for _, kind in self.graph.nodes(data="kind"))

    @cached_property
    def rank_of(self) -> dict[str, int]:
        """The rank of each accelerator's vertex."""
        return {vertex: rank for rank, vertex in enumerate(self.ranks)}

    @cached_property
    def router(self) -> Router:
        """The routes found so far; see `route`."""
        return Router(self.name, self.graph, self.ranks)

    def vertices(self, *kinds: str) -> list[str]:
        """The names of all vertices of these kinds, in the order in which they were built."""
        return [vertex for vertex, kind in self.graph.nodes(data="kind") if kind in kinds]

    def capacities(self, *kinds: str) -> list[list[float]]:
        """The bandwidth from each vertex to each other one in B/s, 0 without a link: ranks first, then the rest in the
        order in which they were built. With `kinds`, of these alone."""
        vertices = self.vertices(*kinds) if kinds else [*self.graph]
        names = [*(v for v in self.ranks if v in {*vertices}), *(v for v in vertices if v not in self.rank_of)]
        edges = self.graph.edges
        return [[edges[u, v]["bandwidth"] if (u, v) in edges else 0.0 for v in names] for u in names]

    def cables(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Every cable or bundle of them once: its two ends, and the edge's attributes."""
        seen = set()
        for u, v, attributes in self.graph.edges(data=True):
            if (v, u) not in seen:
                seen.add((u, v))
                yield u, v, attributes

    def edge(self, u: str, v: str) -> dict[str, Any]:
        """The attributes of the edge from u to v. KeyError lists u's neighbours if there is no such edge."""
        self.check(u)
        if not self.graph.has_edge(u, v):
            raise KeyError(f"{u} has no link to {v!r}; it has links to {_some(self.graph[u], v) or 'nothing'}")
        return dict(self.graph.edges[u, v])

    def check(self, vertex: Any) -> None:
        """Raises KeyError, listing similar names, for an unknown vertex."""
        if vertex not in self.graph:
            raise KeyError(f"{self.name} has no vertex {vertex!r}; known: {_some(self.graph, vertex)}")

    def vertex_of(self, rank: Any) -> str:
        """The vertex of a rank, given as its number or by its own name."""
        if isinstance(rank, str) and rank in self.rank_of:
            return rank
        if isinstance(rank, int) and not isinstance(rank, bool) and 0 <= rank < len(self.ranks):
            return self.ranks[rank]
        raise TopologyError(f"{self.name}: a rank is 0 to {len(self.ranks) - 1}, or its name; got {rank!r}")


def route(topology: Topology, src: Any, dst: Any) -> tuple[str, ...]:
    """The vertices on the way from rank `src` to rank `dst`, both ends included.

    A shortest path by hops that passes through no other accelerator where there is one; only where there is
    none (a torus; a dead NIC) do accelerators forward. Where several are equally short, a torus goes along its
    axes in order, and in a tree the destination picks: each destination below a leaf switch comes by a cable of
    its own, as far as there are cables, so a shift of all ranks by one distance meets no conflict in a network
    that does not block. Raises TopologyError where a failure has cut the two apart.
    """
    return topology.router(topology.vertex_of(src), topology.vertex_of(dst))


def _some(names: Iterable[str], like: Any) -> str:
    """The names that look most like one that is not there, or one of each kind: a fabric has thousands."""
    known = list(names)
    kinds = {re.sub(r"[0-9]+", "", name): name for name in reversed(known)}
    return ", ".join(get_close_matches(str(like), known, 3, 0.7) or reversed(kinds.values()))


def new_graph() -> "DiGraph":
    """An empty directed graph."""
    import networkx

    return networkx.DiGraph()


def wire(graph: "DiGraph", u: str, v: str, rate: LinkRate, links: int = 1, **attributes: Any) -> None:
    """Join u and v by `links` equal cables; where there is a bundle already, it grows."""
    if graph.has_edge(u, v):
        links += graph.edges[u, v]["links"]
    for ends in ((u, v), (v, u)):
        graph.add_edge(
            *ends, bandwidth=links * rate.bandwidth, latency=rate.latency, link=rate.link, links=links, **attributes
        )


def finish(
    name: str,
    graph: "DiGraph",
    ranks: Iterable[str],
    levels: Iterable[Level] = (),
    tiers: Iterable[str] = (),
    halves: Iterable[frozenset[str]] = (),
) -> Topology:
    """The finished record; its graph can no longer be changed, so routes and cuts stay true."""
    import networkx

    return Topology(name, networkx.freeze(graph), tuple(ranks), tuple(levels), tuple(tiers), tuple(halves))
