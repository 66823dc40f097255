"""The event loop's view of a topology: numbered links with their rates, slow links, dead links, and the remaining
routes.

A place is named by a rank's number, by the name of a vertex, or by the two ends of a cable.
"""

import math
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hwlib.arguments import is_number
from hwlib.simulate.mailbox import SimulationError

if TYPE_CHECKING:
    from hwlib.topology import Topology

Place = int | str | tuple[int | str, int | str]
"""A rank or a vertex, with every link that it has; or a cable by its two ends, both directions of it."""


class UnreachableError(SimulationError):
    """The failures leave no route from rank `src` to rank `dst` at a `time`."""

    def __init__(self, message: str, src: int, dst: int, time: Any):
        super().__init__(message, "unreachable")
        self.src, self.dst, self.time = src, dst, time


class Fabric:
    """The links of a topology, for programs that sit at its `vertices`.

    `slow` maps places to factors: 4 is a quarter of the bandwidth. `dead` maps places to the times at which they fail,
    or is a collection of places that are dead from the start. Raises ValueError for an invalid factor or time, KeyError
    for a place that the topology does not have.
    """

    def __init__(
        self,
        topology: "Topology",
        vertices: Sequence[str],
        slow: Mapping[Place, Any] | None = None,
        dead: Mapping[Place, Any] | Collection[Place] = (),
    ):
        self.topology, self.vertices = topology, list(vertices)
        edges = topology.graph.edges
        self.links: list[tuple[str, str]] = list(edges)
        self.number = {link: i for i, link in enumerate(self.links)}
        self.bandwidth = [edges[link]["bandwidth"] for link in self.links]
        self.latency = [edges[link]["latency"] for link in self.links]
        self.dies: list[Any] = [math.inf] * len(self.links)
        for place, factor in _entries("slow", slow or {}):
            if not is_number(factor) or not 1 <= factor < math.inf:
                raise ValueError(f"slow: how many times slower {place!r} is, at least 1, got {factor!r}")
            for link in self.at(place):
                self.bandwidth[link] = self.bandwidth[link] / factor
        deaths = dead if isinstance(dead, Mapping) else dict.fromkeys(_places(dead), 0)
        for place, time in _entries("dead", deaths):
            if not is_number(time) or not time >= 0:
                raise ValueError(f"dead: the time in s at which {place!r} fails, at least 0, got {time!r}")
            for link in self.at(place):
                self.dies[link] = min(self.dies[link], time)
        self.changes = sorted({time for time in self.dies if time < math.inf})
        self._left: dict[int, Topology] = {0: topology}

    def at(self, place: Place) -> list[int]:
        """The numbers of the links of a place."""
        if isinstance(place, tuple) and len(place) == 2:
            u, v = map(self.vertex, place)
            self.topology.edge(u, v)
            return [self.number[link] for link in ((u, v), (v, u)) if link in self.number]
        vertex = self.vertex(place)
        return [i for i, link in enumerate(self.links) if vertex in link]

    def vertex(self, place: Any) -> str:
        """The vertex of a rank or of a name."""
        if isinstance(place, str) and place in self.topology.graph:
            return place
        if isinstance(place, int) and not isinstance(place, bool) and 0 <= place < len(self.topology.ranks):
            return self.topology.ranks[place]
        examples = ", ".join(list(self.topology.graph)[:3])
        raise KeyError(
            f"{self.topology.name} has no {place!r}: name a rank (0 to {len(self.topology.ranks) - 1}), a vertex "
            f"({examples}, ...) or a cable as a pair of them"
        )

    def way(self, src: int, dst: int, time: Any) -> tuple[int, ...]:
        """The links from one program to another over what is left at a time."""
        u, v = self.vertices[src], self.vertices[dst]
        left = self.left(bisect_right(self.changes, time))
        vertices = self._between(left, u, v)
        if vertices is None:
            dead = [f"{a} to {b}" for (a, b), end in zip(self.links, self.dies, strict=True) if end <= time]
            raise UnreachableError(
                f"rank {src} ({u}) cannot reach rank {dst} ({v}) at {float(time):.6g} s on {self.topology.name}; dead: "
                f"{', '.join(dead[:6]) or 'nothing'}{f' and {len(dead) - 6} more links' if len(dead) > 6 else ''}",
                src,
                dst,
                time,
            )
        return tuple(self.number[link] for link in pairwise(vertices))

    def left(self, age: int) -> "Topology":
        """The topology after a number of changes."""
        if age not in self._left:
            from networkx import freeze

            graph = self.topology.graph.copy()
            time = self.changes[age - 1]
            graph.remove_edges_from(link for link, end in zip(self.links, self.dies, strict=True) if end <= time)
            self._left[age] = replace(self.topology, graph=freeze(graph))
        return self._left[age]

    @staticmethod
    def _between(topology: "Topology", u: str, v: str) -> Sequence[str] | None:
        from networkx import NetworkXNoPath, shortest_path

        from hwlib.topology import TopologyError, route

        try:
            if u in topology.rank_of and v in topology.rank_of:
                return route(topology, u, v)
            return shortest_path(topology.graph, u, v)  # a switch takes part: it has no rank
        except (TopologyError, NetworkXNoPath):
            return None


def switch_vertex(topology: "Topology", vertices: Sequence[str]) -> str:
    """The switch that is nearest to these ranks on average. Raises ValueError where no switch reaches them all."""
    from networkx import single_source_shortest_path_length

    from hwlib.topology.graph import SWITCHES

    far: dict[str, int] = {}
    for kind in SWITCHES:  # of equally near ones, the innermost
        for vertex in topology.vertices(kind):
            hops = single_source_shortest_path_length(topology.graph, vertex)
            if all(rank in hops for rank in vertices):
                far[vertex] = sum(hops[rank] for rank in vertices)
    if not far:
        raise ValueError(f"{topology.name} has no switch that reaches all ranks, and the algorithm computes in one")
    return min(far, key=lambda vertex: far[vertex])


def _entries(name: str, given: Any) -> list[tuple[Place, Any]]:
    if not isinstance(given, Mapping):
        raise ValueError(f"{name}: a mapping from ranks, vertices or cables, got {given!r}")
    return list(given.items())


def _places(dead: Any) -> list[Place]:
    if isinstance(dead, str | int) or not isinstance(dead, Collection):
        raise ValueError(f"dead: a collection of ranks, vertices or cables, or a mapping to times, got {dead!r}")
    return list(dead)
