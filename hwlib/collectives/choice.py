"""The fastest algorithm, protocol and number of chunks at a given size."""

from collections.abc import Callable, Collection, Sequence
from math import inf
from typing import NamedTuple

from hwlib.collectives import direct, doubling, ring, switch, tree
from hwlib.formula import Formula, ceil, formula, log2, maximum

CANDIDATES: dict[str, tuple[Callable[..., float], ...]] = {
    "all_gather": (ring.ring_allgather_time, doubling.bruck_allgather_time, direct.direct_allgather_time),
    "reduce_scatter": (
        ring.ring_reduce_scatter_time,
        doubling.halving_reduce_scatter_time,
        direct.direct_reduce_scatter_time,
    ),
    "all_reduce": (
        ring.ring_allreduce_time,
        doubling.doubling_allreduce_time,
        doubling.halving_doubling_allreduce_time,
        tree.tree_allreduce_time,
        tree.double_tree_allreduce_time,
        direct.direct_allreduce_time,
        direct.one_shot_allreduce_time,
    ),
    "all_to_all": (direct.pairwise_alltoall_time, direct.direct_alltoall_time, doubling.bruck_alltoall_time),
    "broadcast": (
        tree.binomial_broadcast_time,
        tree.chain_broadcast_time,
        tree.scatter_allgather_broadcast_time,
        direct.direct_broadcast_time,
    ),
    "reduce": (tree.binomial_reduce_time, direct.direct_reduce_time),
    "gather": (tree.binomial_gather_time, direct.direct_gather_time),
    "scatter": (tree.binomial_scatter_time, direct.direct_scatter_time),
}
"""The algorithms of a collective over ports of one bandwidth; those that use the switch are in `IN_SWITCH`."""

IN_SWITCH: dict[str, tuple[Callable[..., float], ...]] = {
    "all_gather": (switch.switch_allgather_time,),
    "reduce_scatter": (switch.switch_reduce_scatter_time,),
    "all_reduce": (switch.switch_allreduce_time, switch.nvls_allreduce_time),
}

CHUNKS = tuple(2**i for i in range(2, 13))


class Protocol(NamedTuple):
    """How a message is sent: the latency of a hop (s), and the fraction of the bandwidth left for data."""

    name: str
    alpha: float
    payload_fraction: float


NCCL_PROTOCOLS = (Protocol("LL", 1e-6, 4 / 8), Protocol("LL128", 2e-6, 120 / 128), Protocol("Simple", 6e-6, 1.0))
"""NCCL's three protocols, with the latencies of a hop by Hu et al. (2025). LL spends 4 of 8 bytes on flags, LL128
8 of 128; Simple has no flags, but waits for memory fences.
"""


class AlgorithmChoice(NamedTuple):
    """An algorithm (the name of its formula without `_time`), its protocol and chunks, and its time in seconds."""

    time: float
    algorithm: str
    protocol: str = ""
    m: int = 1


def choose(
    collective: str,
    n: int,
    S: float,
    alpha: float | None = None,
    W: float = inf,
    protocols: Sequence[Protocol] = (),
    in_switch: bool = False,
    only: Collection[str] = (),
) -> list[AlgorithmChoice]:
    """Every algorithm of a collective, fastest first, each with its best protocol and number of chunks.

    Give `alpha`, or `protocols`, which have their own. `in_switch` adds the algorithms of a switch that reduces;
    `only` restricts the choice to algorithms of these names: a library has few, and direct exchange wins whenever
    a port can really talk to all others at once. Raises KeyError for an unknown collective or algorithm, and
    ValueError for numbers that the formulas reject.
    """
    if collective not in CANDIDATES:
        raise KeyError(f"choose: collective is one of {', '.join(CANDIDATES)}, got {collective!r}")
    if (alpha is None) == (not protocols):
        raise ValueError("choose: give either alpha (latency of one step) or protocols, which have their own")
    ways = protocols or (Protocol("", alpha or 0.0, 1.0),)
    timed = CANDIDATES[collective] + (IN_SWITCH.get(collective, ()) if in_switch else ())
    known = [_name(time) for time in timed]
    if unknown := sorted(set(only).difference(known)):
        raise KeyError(f"choose: only names algorithms among {', '.join(known)}, got {unknown[0]!r}")
    return sorted(min(_tries(time, n, S, W, ways)) for time in timed if not only or _name(time) in only)


def _name(time: Callable[..., float]) -> str:
    return time.__name__.removesuffix("_time")


def _tries(time: Callable[..., float], n: int, S: float, W: float, ways: Sequence[Protocol]) -> list[AlgorithmChoice]:
    chunks = [{"m": m} for m in CHUNKS] if isinstance(time, Formula) and "m" in time.args else [{}]
    return [
        AlgorithmChoice(time(n, S, way.alpha, W * way.payload_fraction, **m), _name(time), way.name, m.get("m", 1))
        for way in ways
        for m in chunks
    ]


@formula("S_cross", cite="thakur2005")
def ring_tree_crossover_bytes(n, alpha, W):
    """Size from which on a ring all-reduce is faster than a tree: it has more rounds, each with far fewer bytes.

    The latency that the tree saves, over the extra time per byte that it takes. Up to three ranks the ring has no
    more rounds than the tree and is never slower, so the size is 0.
    """
    return (n - 1 - ceil(log2(n))) * alpha * W / maximum(ceil(log2(n)) - (n - 1) / n, 1 / n)


def crossover_bytes(first: Callable[..., float], second: Callable[..., float], n: int, alpha: float, W: float) -> float:
    """The size from which on `second` is faster than `first`, two times as functions of (n, S, alpha, W).

    Both must be linear in S, so there is at most one size: 0 if `second` is never slower, inf if it is never
    faster. Raises ValueError as the two do, and TypeError for an argument that is not a function, such as a name.
    """
    for name, time in (("first", first), ("second", second)):
        if not callable(time):
            raise TypeError(f"crossover_bytes: {name} is a time of (n, S, alpha, W), such as a formula, got {time!r}")
    ahead = first(n, 0.0, alpha, W) - second(n, 0.0, alpha, W)  # of `second`, at no bytes, in seconds
    unit = alpha * W or W  # a size at which both terms show
    gain = (first(n, unit, alpha, W) - second(n, unit, alpha, W) - ahead) / unit
    if ahead >= 0 and gain >= 0:
        return 0.0
    return -ahead / gain if gain > 0 else inf
