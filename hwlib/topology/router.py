"""The route of a message: one shortest path for each pair of ranks, deterministic."""

from array import array
from collections.abc import Iterator, MutableSequence, Sequence
from typing import TYPE_CHECKING

from hwlib.topology.link_rate import TopologyError

if TYPE_CHECKING:
    from networkx import DiGraph

KEPT = 2**23  # hops that a router remembers, of 4 bytes each: those to all ranks of 1,024 GPUs


class Router:
    """The routes between the ranks of one graph, found when first asked for and kept; errors begin with `name`."""

    def __init__(self, name: str, graph: "DiGraph", ranks: Sequence[str]):
        self._name, self._vertices = name, list(graph)
        self._number = {vertex: i for i, vertex in enumerate(self._vertices)}
        self._next = [[self._number[w] for w in graph[v]] for v in self._vertices]
        self._before = [[self._number[w] for w in graph.predecessors(v)] for v in self._vertices]
        self._relays = [kind != "gpu" for _, kind in graph.nodes(data="kind")]
        self._core = [self._is_core(v) for v in range(len(self._vertices))]
        self._core_before = [[w for w in before if self._core[w]] for before in self._before]
        self._switches = [kind != "nic" for _, kind in graph.nodes(data="kind")]
        self._graph = graph
        places = [graph.nodes[v]["place"] for v in ranks]
        width = 1 + max(place[-1] for place in places)
        self._digits = {v: _digits(place, width) for v, place in zip(ranks, places, strict=True)}
        self._far: dict[tuple[int, bool], MutableSequence[int]] = {}
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}

    def __call__(self, src: str, dst: str) -> tuple[str, ...]:
        """The route between two ranks, by the names of their vertices."""
        if (src, dst) not in self._known:
            self._known[src, dst] = self._find(src, dst)
        return self._known[src, dst]

    def _find(self, src: str, dst: str) -> tuple[str, ...]:
        start, end = self._number[src], self._number[dst]
        for through in (False, True):
            far = self._distances(end, through)
            if self._hops(start, far) >= 0:
                return tuple(self._vertices[i] for i in self._walk(start, end, far, through, self._digits[dst]))
        raise TopologyError(f"{self._name}: no way from {src} to {dst}: what joined them has failed")

    def _is_core(self, vertex: int) -> bool:
        """Whether a route may pass from one switch or NIC to another at this vertex.

        A NIC on one leaf, or the switch inside a node, has at most one such neighbour: a route only enters or leaves
        a node there, so the search for distances need not visit it. That is nine tenths of a large cluster.
        """
        near = {*self._next[vertex], *self._before[vertex]}
        return self._relays[vertex] and sum(self._relays[w] for w in near) > 1

    def _distances(self, end: int, through: bool) -> MutableSequence[int]:
        """Hops to `end`, -1 where there is no way; accelerators relay if `through`.

        Without that, vertices outside the core have -1 too, until `_hops` is asked for them.
        """
        if (end, through) in self._far:
            return self._far[end, through]
        before, relays = (self._before, None) if through else (self._core_before, self._relays)
        far = [-1] * len(self._vertices)
        far[end], hops, edge = 0, 0, [end]
        while edge:
            hops += 1
            after = []
            for v in edge:
                for w in before[v] if v != end else self._before[v]:
                    if far[w] < 0 and (relays is None or relays[w]):
                        far[w] = hops
                        after.append(w)
            edge = after
        if (len(self._far) + 1) * len(far) > KEPT:
            return far
        return self._far.setdefault((end, through), array("i", far))

    def _hops(self, vertex: int, far: MutableSequence[int]) -> int:
        """The hops from any vertex, kept in `far`: one more than from the nearest relay that it sends to."""
        if far[vertex] < 0 and not self._core[vertex]:
            ways = [w for w in self._next[vertex] if self._relays[w] or far[w] == 0]
            if not self._relays[vertex]:
                for w in ways:
                    self._hops(w, far)
            far[vertex] = min((far[w] + 1 for w in ways if far[w] >= 0), default=-1)
        return far[vertex]

    def _walk(
        self, start: int, end: int, far: MutableSequence[int], through: bool, digits: tuple[int, int]
    ) -> Iterator[int]:
        here, choices = start, 0
        yield here
        while here != end:
            nearer = [
                w for w in self._next[here] if far[w] == far[here] - 1 and (w == end or through or self._relays[w])
            ]
            if len(nearer) > 1:
                slots = self._slots(here, nearer)
                here, choices = slots[digits[choices % 2] % len(slots)], choices + 1
            else:
                here = nearer[0]
            yield here

    def _slots(self, here: int, options: list[int]) -> list[int]:
        """The equally short ways, each as often as it has cables: by switch rather than NIC, the first axis."""
        options = [w for w in options if self._switches[w]] or options
        edges = [self._graph.edges[self._vertices[here], self._vertices[w]] for w in options]
        axis = min(edge.get("axis", 0) for edge in edges)
        return [
            w
            for w, edge in zip(options, edges, strict=True)
            if edge.get("axis", 0) == axis
            for _ in range(edge["links"])
        ]


def _digits(place: tuple[int, ...], width: int) -> tuple[int, int]:
    """What a destination picks by, at a leaf's and at a spine's cables up: its node and rail; its group and rail.

    The nodes of one rail come by different spines, and what one spine carries goes by different cores.
    """
    outer = (0, 0, 0, 0, *place)[-4:]
    return outer[2] + outer[3], outer[1] * width + outer[3]
