"""The time of a collective as NCCL runs it: two protocols, a pipeline that fills, a switch that reduces.

A single line alpha + S/W is off by 10 to 25 % over six decades of sizes, for three reasons. Small messages
go by a protocol with little latency and little bandwidth, large ones by one with more of both; the large ones
flow in chunks, and a pipeline of chunks takes time to fill; and each rank copies its own block beside what it
sends. The constants of a chip and operation are in `hwlib.specs.fitted`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any, NamedTuple, TypeVar

from hwlib.calibrated.kernel import fit_logarithms
from hwlib.collectives import bus_factor, call_latency, nvls_sharp_allreduce_time, nvls_tree_allreduce_time
from hwlib.columns import is_column
from hwlib.formula import formula, log2, maximum, minimum, sqrt, where
from hwlib.network import send_time
from hwlib.specs import accelerators
from hwlib.specs.fitted import (
    CollectiveConstants,
    MeasuredCollective,
    TreeConstants,
    collective_constants,
    tree_constants,
    trees_over,
)

__all__ = [
    "AlphaBeta",
    "Timed",
    "collective_time",
    "fit_alpha_beta",
    "fit_collective",
    "nccl_latency",
    "nccl_time",
    "nodes_allreduce_time",
    "pipelined_time",
    "plain_time",
    "rank_doublings",
    "ring_ranks",
    "ring_step",
    "size_region",
    "tree_time",
]

RINGS = ("all_reduce", "nccl-tests")  # the sweeps that tell steps of a ring from the rest
STEPS = 1.5  # exponent of the mean of the steps' floor and the transfer: 1 adds them, infinity takes the larger
FILLED = 8  # times the time of one byte, from which on at least seven eighths of a call are bytes
NEXT_TO_NOTHING = 1e-30  # s/B: one rank sends nothing


class Timed(NamedTuple):
    """One measured collective: bytes of the full buffer, ranks, seconds."""

    S: float
    n: int
    time: float


@formula("t", cite="sanders2009")
def pipelined_time(S, alpha, W):
    """The time of a pipeline of d stages whose latencies add up to alpha, in the best number of chunks.

    m chunks need m + d steps of alpha/d + S/(m W) each. Multiplied out that is alpha + S/W, a part that rises
    with m and one that falls with it; at the best m these two are equal, and their sum is the root.
    """
    return alpha + S / W + 2 * sqrt(alpha * (S / W))


def collective_time(c: CollectiveConstants, n: Any, S: Any, switch: bool = True) -> Any:
    """Seconds of one collective of S bytes (the full buffer) on n ranks: the faster of two protocols.

    The bandwidth protocol is a ring, in which each rank also copies its own block, or (all-reduce, `switch`)
    the switch's reduction, in which a port carries (n+1)/n of the buffer each way. In a mesh fewer ranks have fewer of
    the links whose rate the constants have. How its start-up meets the
    transfer is the entry's `flow`: "chunks" fill a pipeline around the ring, blocks sent "direct" to each rank
    wait for it once, and in "steps" each of the n-1 steps lasts at least `alpha`.
    """
    share, hops, joined = bus_factor(c.op, n), c.alpha_hop * (n - 1), joined_share(c.chip, n)
    low = send_time(share * S, c.alpha_low + hops, joined * c.W_low)
    seconds_per_byte = share / (joined * c.W) + 1 / (n * c.W_copy)
    if switch:
        ports = (n + 1) / (n * c.W_switch)
        seconds_per_byte = minimum(seconds_per_byte, ports) if c.W_switch < float("inf") else seconds_per_byte
    return minimum(low, hops + _started(c, n, S, maximum(seconds_per_byte, NEXT_TO_NOTHING)))


@cache
def mesh_links(chip: str) -> int:
    """Links of a chip that join it to one other each; 0 where switches do.

    >>> mesh_links("mi300x"), mesh_links("h100-sxm")
    (7, 0)
    """
    spec = accelerators[chip]
    return (spec.scaleup_domain or 1) - 1 if spec.scaleup_switches == 0 and spec.scaleup_link_bandwidth else 0


def joined_share(chip: str, n: Any) -> Any:
    """The part of a chip's links that lead to n - 1 others: all, where switches join them, and beyond a node."""
    links = mesh_links(chip)
    return minimum(maximum(n - 1, 1), links) / links if links else 1.0


def holds_among(c: CollectiveConstants, n: int) -> bool:
    """Whether constants speak of n ranks: in a mesh rings take all links for some numbers alone (six MI355X ran at the
    rate of one link of their five), so only of those measured, and of more than a node has.
    """
    links = mesh_links(c.chip)
    return not links or n in c.ranks or n > links + 1


def _started(c: CollectiveConstants, n: Any, S: Any, seconds_per_byte: Any) -> Any:
    """The bandwidth protocol's start-up and transfer."""
    if c.flow == "chunks":
        return pipelined_time(S, c.alpha, 1 / seconds_per_byte)
    if c.flow == "direct":
        return send_time(S, c.alpha, 1 / seconds_per_byte)
    floor, transfer = c.alpha * (n - 1), S * seconds_per_byte
    return c.alpha_low + (floor**STEPS + transfer**STEPS) ** (1 / STEPS)


def tree_time(c: TreeConstants, n: Any, S: Any) -> Any:
    """Seconds of one all-reduce of S bytes on n ranks: whole nodes, or, with fewer ranks than a node has, one node.

    A ring of all ranks has the latencies of the one inside a node, and the bandwidth at which it leaves the nodes.
    """
    inside = collective_constants()[c.chip, c.op, c.inside]
    if c.stages == "ring":
        return collective_time(replace(inside, W=c.W, W_low=min(inside.W_low, c.W)), n, S, switch=False)
    n_in = minimum(n, c.node)
    time = nvls_sharp_allreduce_time if c.stages == "one" else nvls_tree_allreduce_time
    latencies = inside.alpha_low, inside.alpha_hop, c.alpha_level
    return time(n_in, n / n_in, S, *latencies, c.W, c.S_stage)


def nodes_allreduce_time(chip: str, n: Any, S: Any, network: str) -> Any:
    """Seconds of one all-reduce of S bytes by NCCL on n GPUs of several nodes, by the constants that are kept.

    `network` is what joins the nodes: "NVLSTree" (that algorithm over InfiniBand), "EFA", "InfiniBand SHARP". S and n
    are numbers or arrays. Raises KeyError, listing similar ones, if nothing was fitted, and ValueError for ranks that
    do not fill their nodes, and for bytes or ranks that cannot be.

    >>> round(nodes_allreduce_time("h100-sxm", 1024, 2**30, "NVLSTree"), 6)
    0.006411
    """
    nearest, *others = trees_over(chip, network)
    ranks = n if is_column(n) else (n,)
    if odd := [r for r in ranks if not r >= 1 or (r > nearest.node and r % nearest.node)]:
        raise ValueError(
            f"nodes_allreduce_time: n (ranks) is at least 1 and fills nodes of {nearest.node} ranks, got {odd[0]:g}"
        )
    time, away = tree_time(nearest, n, S), rank_doublings(nearest, n)
    for c in others:  # the constants whose rows have most nearly so many ranks
        time = where(rank_doublings(c, n) < away, tree_time(c, n, S), time)
        away = minimum(away, rank_doublings(c, n))
    return time


def size_region(time: Callable[[float], float], S: float) -> str:
    """What decides a call of S bytes: "latency" up to twice the time of one byte, the "wires" from FILLED times on, and
    between them "filling", where NCCL changes its protocol and its algorithm.
    """
    share = time(S) / time(1.0)
    return "latency" if share < 2 else "filling" if share < FILLED else "wires"


def rank_doublings(c: MeasuredCollective, n: Any) -> Any:
    """How often the nearest measured number of ranks is doubled or halved: 0 within the range of the rows."""
    return maximum(maximum(log2(n / max(c.ranks)), log2(min(c.ranks) / n)), 0)


def nccl_latency(
    chip: str, collective: str, n_in: Any, n_out: Any = 1, software: str = "nccl-tests", network: str = ""
) -> Any:
    """Seconds of a call of NCCL before its bytes count, on n_out nodes of n_in GPUs: numbers or arrays.

    Each further rank of a node adds a step of its ring, each doubling of the nodes a level of the tree between them,
    in the constants that are kept of the chip, and of the `network` where there is more than one node. Raises
    KeyError, listing similar ones, if nothing was fitted, and ValueError for several nodes without a network.

    >>> from hwlib.units import show
    >>> [show(nccl_latency("h100-sxm", "all_reduce", 8, nodes, network="NVLSTree"), "s") for nodes in (1, 2, 128)]
    ['17.28 us', '62.96 us', '337 us']
    """
    c = collective_constants()[chip, collective, software]
    if not network and any(one > 1 for one in (n_out if is_column(n_out) else (n_out,))):
        known = ", ".join(sorted(name for of, name in tree_constants() if of == chip)) or "none"
        raise ValueError(f"nccl_latency: several nodes need a network, one of those known of {chip}: {known}")
    tree = tree_constants()[chip, network] if network else None
    if tree and tree.stages == "ring":
        return call_latency(n_in * n_out, 1, c.alpha_low, c.alpha_hop, 0.0)
    return call_latency(n_in, n_out, c.alpha_low, c.alpha_hop, tree.alpha_level if tree else 0.0)


def nccl_time(chip: str, collective: str, n: Any, S: Any, software: str = "nccl-tests", switch: bool = True) -> Any:
    """Seconds of one collective of NCCL on n GPUs of a node, by the constants that are kept for the chip.

    S is bytes of the full buffer, a number or an array; `software` measured what the constants were fitted to:
    "nccl-tests", "nccl-tests, one process" with all GPUs in it, or "torch" with its own overhead. Without `switch`,
    no reduction in the switch. Raises KeyError, listing similar ones, if nothing was fitted.
    """
    return collective_time(collective_constants()[chip, collective, software], n, S, switch)


@cache
def ring_step(chip: str) -> float:
    """Seconds that each further rank of a node adds to an all-reduce before its bytes count: 1.6 to 2.7 us.

    Chips without constants take the mean of the others.
    """
    steps = {of: c.alpha_hop for (of, op, software), c in collective_constants().items() if (op, software) == RINGS}
    return steps.get(chip, sum(steps.values()) / len(steps))


def ring_ranks(chip: str) -> tuple[int, ...]:
    """The ranks of a node among which a chip's step of a ring was measured; none, where it is the mean of others'."""
    c = collective_constants().get((chip, *RINGS))
    return c.ranks if c else ()


def port_of(c: CollectiveConstants) -> float:
    """B/s of a chip's port inside a node, by its data sheet."""
    return accelerators[c.chip].scaleup_bandwidth or float("inf")


def plain_time(c: CollectiveConstants | TreeConstants, n: Any, S: Any) -> Any:
    """The single alpha-beta line fitted to the same measurements: the baseline of the other model."""
    return send_time(bus_factor(c.op, n) * S, c.plain_alpha, c.plain_W)


class AlphaBeta(NamedTuple):
    """A line alpha + S/W through measured times: seconds, B/s, and its mean |relative error| on them."""

    alpha: float
    W: float
    error: float

    def time(self, S: Any) -> Any:
        """Seconds for S bytes."""
        return self.alpha + S / self.W


def fit_alpha_beta(S: Sequence[float], time: Sequence[float]) -> AlphaBeta:
    """The alpha and W that explain measured times (s) of these bytes best, with equal weight for all sizes.

    Errors are relative: in a straight line through seconds, the largest sizes alone would decide, and alpha
    would be noise. For one rank's port give the bytes that cross it: S times the bus factor. Raises ValueError
    for fewer than two sizes, and for a size or a time that cannot be one.
    """
    import numpy as np

    sizes, times = np.asarray(S, float), np.asarray(time, float)
    if sizes.shape != times.shape or sizes.ndim != 1:
        raise ValueError(f"fit_alpha_beta: time: one for each of the {sizes.size} sizes was expected, got {times.size}")
    if (different := len(np.unique(sizes))) < 2:
        raise ValueError(f"fit_alpha_beta: S: at least 2 different sizes were expected, got {different}")
    for name, values, right, expected in (
        ("S", sizes, sizes >= 0, "finite sizes of at least 0 B"),
        ("time", times, times > 0, "finite times above 0 s"),
    ):
        if (wrong := values[~(right & np.isfinite(values))]).size:
            raise ValueError(f"fit_alpha_beta: {name}: {expected} were expected, got {wrong[0]:g}")

    def misfit(values: Any) -> Any:
        return np.log((values[0] + sizes / values[1]) / times)

    starts = [(share * times.min(), (sizes / times).max()) for share in (0.01, 0.9)]
    alpha, W = fit_logarithms(misfit, starts, [(1e-12, 1e3), (1.0, 1e16)])
    return AlphaBeta(alpha, W, float(np.abs(np.expm1(misfit((alpha, W)))).mean()))


K = TypeVar("K", CollectiveConstants, TreeConstants)

BOUNDS = {
    "alpha_low": (1e-7, 1e-3),
    "alpha_hop": (1e-9, 1e-4),
    "W_low": (1e8, 1e13),
    "alpha": (1e-8, 1e-3),
    "W": (1e9, 1e13),
    "W_copy": (1e10, 1e13),
    "W_switch": (1e10, 1e13),
    "alpha_level": (1e-7, 1e-3),
}
PORTS = ("W_low", "W")
"""Rates at which no protocol passes more than a port of the data sheet does."""
STARTS: dict[str, Sequence[float]] = {
    "alpha_low": (5e-6, 1.2e-5),
    "alpha_hop": (1e-6,),
    "W_low": (2e10, 8e10, 2e11),
    "alpha": (2e-6, 1e-5, 3e-5),
    "W": (3e11,),
    "W_copy": (2e11, 8e11),
    "W_switch": (2e11, 5e11),
    "alpha_level": (5e-5, 1e-4),
}


def fit_collective(
    constants: K, timed: Iterable[Timed], free: Iterable[str], switched: Sequence[bool] | None = None
) -> K:
    """The free constants that explain measured collectives best, the rest as in `constants`.

    The loss is that of `fit_kernel_model`. `switched` says of each row whether the switch may reduce. Raises
    ValueError for fewer rows than free constants.
    """
    import numpy as np

    timed, free = list(timed), tuple(free)
    if len(timed) < len(free):
        raise ValueError(f"{len(free)} constants need at least as many rows, got {len(timed)}")
    S, n, time = np.array(timed, float).T
    on = np.array(switched if switched is not None else [True] * len(timed))

    def predict(c: K) -> Any:
        if isinstance(c, TreeConstants):
            return tree_time(c, n, S)
        return np.where(on, collective_time(c, n, S), collective_time(c, n, S, switch=False))

    def with_constants(values: Iterable[float]) -> K:
        chosen: dict[str, Any] = dict(zip(free, map(float, values), strict=True))
        if "W_low" in chosen:  # else the protocols could change places
            chosen["W_low"] = min(chosen["W_low"], chosen["W"])
        return replace(constants, **chosen)

    def misfit(values: Any) -> Any:
        return np.log(predict(with_constants(values)) / time)

    starts = list(product(*(STARTS[name] for name in free)))
    best = with_constants(fit_logarithms(misfit, starts, [BOUNDS[name] for name in free]))
    if isinstance(best, CollectiveConstants) and any(getattr(best, name) > port_of(best) for name in PORTS):
        port = {name: min(BOUNDS[name][1], port_of(best)) for name in PORTS}
        ends = [(BOUNDS[name][0], port.get(name, BOUNDS[name][1])) for name in free]
        best = with_constants(fit_logarithms(misfit, starts, ends))
    return best
