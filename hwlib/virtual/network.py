"""The time of a collective among given ranks of a cluster: the levels that it crosses, and the time of each.

All groups of a parallel program are busy at once, so a group gets a share of a child's connection in proportion to its
ranks in that child. Without latencies the time is that of `hwlib.collectives.level_time`. A call takes the latency that
`hwlib.steptime` gives it, by the ranks of a node and the nodes; or, where latencies are given, those of a ring at each
level, one after another.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, log2, prod
from typing import Any

from hwlib.arguments import as_int
from hwlib.collectives import level_times
from hwlib.specs import Accelerator, Cluster, Level, Node, Stack, levels_of, stack_for
from hwlib.steptime.transfer_times import call_seconds, scaled
from hwlib.topology import Topology, level_bandwidth

ROUNDS = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1, "all_to_all": 1, "gather": 1, "scatter": 1}


@dataclass(frozen=True)
class Network:
    """The levels of a cluster, innermost first, and the latency in seconds of a round at each.

    `overlap`: the levels of a collective work in parallel, and the slowest decides; otherwise one after another.
    `calls` is the stack whose latencies each call has instead; `stack` is the one whose shares of the bandwidths count.
    """

    levels: tuple[Level, ...]
    latency: Mapping[str, float] = field(default_factory=dict)
    overlap: bool = True
    calls: Stack | None = None
    stack: Stack | None = None

    @cached_property
    def ranks(self) -> int:
        """Ranks of the whole cluster."""
        return prod(level.size for level in self.levels)

    @cached_property
    def _crossed(self) -> dict[tuple[int, ...], tuple[Level, ...]]:
        return {}  # of the groups that were asked for: every rank of a group asks

    def crossed(self, ranks: Sequence[int]) -> tuple[Level, ...]:
        """The levels that a group crosses: the children that take part, and the bandwidth of each that is its own.

        If nodes have unequal parts of the group, the widest part counts.
        """
        group = tuple(ranks)
        if group not in self._crossed:
            self._crossed[group] = self._levels_of(group)
        return self._crossed[group]

    def _levels_of(self, ranks: tuple[int, ...]) -> tuple[Level, ...]:
        levels, below = [], 1
        for name, size, bandwidth in self.levels if self.stack is None else scaled(self.levels, self.stack):
            members = max(Counter(rank // below for rank in ranks).values())  # of a child: they share its connection
            children: dict[int, set[int]] = defaultdict(set)
            for rank in ranks:
                children[rank // (below * size)].add(rank // below)
            taking_part = max(map(len, children.values()))
            if taking_part > 1:
                levels.append(Level(name, taking_part, bandwidth * members / below))
            below *= size
        return tuple(levels)

    def time(self, call: str, S: float, ranks: Sequence[int]) -> float:
        """Seconds of a call of torch.distributed among ranks; S as in `hwlib.collectives`: the full buffer."""
        levels = self.crossed(ranks)
        waits = [self.latency.get(level.name, 0.0) * _rounds(call, level.size) for level in levels]
        if self.calls is not None:
            near = max(Counter(rank // self.levels[0].size for rank in ranks).values())  # of them in a node
            waits.append(float(call_seconds(self.calls, near, call, len(ranks))))
        moves = () if call == "barrier" else level_times(call, S, levels)
        return sum(waits) + (max(moves, default=0.0) if self.overlap else sum(moves))


def _rounds(call: str, n: int) -> int:
    """Those of a ring, or of a binomial tree for what has a root; a plain message has one."""
    if call == "send":
        return 1
    return ROUNDS[call] * (n - 1) if call in ROUNDS else ceil(log2(n))


def network(
    where: Any,
    n: int | None,
    chip: Accelerator,
    latency: float | Mapping[str, float] | None = None,
    slow_levels: Mapping[str, float] | None = None,
    overlap: bool = True,
    stack: Stack | None = None,
) -> Network:
    """The network of a number of ranks in one domain, a cluster or a node (or its key, line or file), a topology, or
    levels.

    `n` ranks of it, from the first: less than all if whole nodes or whole parts of one. `slow_levels` divides the
    bandwidth of a level by a factor. Where no latency is given, each call has that of the stack, or of the chip's usual
    one. Raises ValueError for anything without levels, and KeyError for an unknown level.
    """
    levels = _first(_levels(where, chip), n)
    names = [level.name for level in levels]
    latencies = latency if isinstance(latency, Mapping) else dict.fromkeys(names, latency or 0.0)
    slow = slow_levels or {}
    for name in [*latencies, *slow]:
        if name not in names:
            raise KeyError(f"cluster: its levels are {', '.join(names)}, there is no {name!r}")
    if any(not time >= 0 for time in latencies.values()):
        raise ValueError(f"cluster: latency is in seconds, at least 0, got {latency!r}")
    if any(not factor > 0 for factor in slow.values()):
        raise ValueError(f"cluster: slow_levels are factors above 0, got {slow_levels!r}")
    slowed = tuple(Level(name, size, bandwidth / slow.get(name, 1.0)) for name, size, bandwidth in levels)
    return Network(slowed, latencies, overlap, (stack or stack_for(chip)) if latency is None else None, stack)


def _levels(where: Any, chip: Accelerator) -> tuple[Level, ...]:
    if isinstance(where, Topology):
        return where.levels or level_bandwidth(where)
    if isinstance(where, str | Cluster | Node | Sequence):
        return levels_of(where)
    if chip.scaleup_bandwidth is None:
        raise ValueError(f"cluster: no source says how fast {chip.name} sends to its neighbours: give levels")
    return (Level("node", as_int("cluster: n (ranks)", where), chip.scaleup_bandwidth),)


def _first(levels: Sequence[Level], n: int | None) -> list[Level]:
    if n is None:
        return list(levels)
    left, taken_levels = as_int("cluster: n (ranks)", n), []
    for name, size, bandwidth in levels:
        taken = min(left, size)
        if left % taken:
            raise ValueError(f"cluster: {n} ranks do not fill whole parts of level {name!r}, which has {size} children")
        taken_levels.append(Level(name, taken, bandwidth))
        left //= taken
    if left > 1:
        raise ValueError(f"cluster: at most {prod(level.size for level in levels)} ranks fit, got {n}")
    return taken_levels
