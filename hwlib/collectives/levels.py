"""Networks of several levels: which level is the bottleneck, and which levels an axis of a mesh crosses.

A level is a `Level(name, size, bandwidth)`: `size` children, each with `bandwidth` into it, innermost first.
Times here are bandwidth only: no latency, and all levels busy at once, so that the slowest decides.
"""

from collections.abc import Sequence
from math import inf, isnan, prod
from typing import Any

from hwlib.arguments import as_int
from hwlib.collectives.ragged import Routing
from hwlib.formula import formula, max_of, maximum, minimum
from hwlib.notation import COLLECTIVES
from hwlib.specs.cluster import Level


@formula("t", cite="scaling-book")
def levels_allgather_time(S, d, W):
    """Each of the d children of a level lacks (d - 1)/d of S, which arrives through its own connection."""
    return max_of((d_i - 1) / d_i * S / W_i for d_i, W_i in zip(d, W, strict=True))


@formula("t", cite="scaling-book")
def levels_allreduce_time(S, d, W):
    """Reduce-scatter from the inside out, all-gather from the outside in: twice the time of either."""
    return max_of(2 * (d_i - 1) / d_i * S / W_i for d_i, W_i in zip(d, W, strict=True))


@formula("t", cite="scaling-book")
def levels_switch_allreduce_time(S, W):
    """If the switches reduce, every child sends S up and receives S down, whatever the number of children."""
    return max_of(S / W_i for W_i in W)


@formula("t", cite="nccl-1083")
def nvls_levels_allreduce_time(S, n_in, n_out, W_in, W_out):
    """The switch of each node reduces, rings of the cards of equal place join the nodes: both at once.

    A port inside carries (n_in + 1)/n_in of S. All n_in cards of a node together carry twice what it lacks of the sum.
    """
    return maximum((n_in + 1) / n_in * S / W_in, 2 * (n_out - 1) / n_out * S / (n_in * W_out))


@formula("t", cite="sanders2009")
def nvls_two_trees_allreduce_time(S, n_in, W_in, W_out):
    """The same with two trees of nodes, each for half of S: a node has two children in one and none in the other.

    So it sends S/2 up in both, and S/2 down twice: 2*S, however many nodes there are. Three or more: two exchange S.
    """
    return maximum((n_in + 1) / n_in * S / W_in, 2 * S / (n_in * W_out))


@formula("t", cite="graham2016")
def nvls_sharp_levels_allreduce_time(S, n_in, W_in, W_out):
    """The switches between nodes reduce as well: a node sends its sum up once, and gets the sum of all down once."""
    return maximum((n_in + 1) / n_in * S / W_in, S / (n_in * W_out))


@formula("t", cite="scaling-book")
def outer_axis_allgather_time(S, Y, n_in, n_out, W_in, W_out):
    """All-gather along an axis that has Y ranks of other axes inside it, in n_out nodes of n_in ranks.

    S is the array before the inner axes split it. Inside a node its Y parts are gathered in parallel, each by
    n_in/Y ranks. Across nodes, up to Y = n_in all of S must enter every node: no gain. With a larger Y, a node
    has ranks of only some of the parts, and needs only n_in/Y of S.
    """
    return maximum(
        maximum(1 - Y / n_in, 0) * S / (Y * W_in),
        maximum(1 - maximum(Y, n_in) / (n_in * n_out), 0) * S / (maximum(Y, n_in) * W_out),
    )


@formula("t", cite="scaling-book")
def nodes_alltoall_time(S, n_in, n_out, W_in, W_out):
    """An all-to-all over n_out nodes: of its S/n a rank keeps one block, and all but 1/n_out crosses nodes, because
    nothing is reduced or copied on the way.
    """
    return maximum(
        (1 - 1 / (n_in * n_out)) * S / (n_in * n_out * W_in),
        (1 - 1 / n_out) * S / (n_in * n_out * W_out),
    )


def allgather_bandwidth(levels: Sequence[Level]) -> float:
    """S/t of an all-gather over all levels: that of the slowest level, the minimum of d*W/(d - 1)."""
    return min(level_bandwidths(levels))


def level_bandwidths(levels: Sequence[Level]) -> tuple[float, ...]:
    """d*W/(d - 1) of every level: the S/t of an all-gather limited by this level alone; inf for a single child."""
    _check(levels)
    return tuple(size * W / (size - 1) if size > 1 else inf for _, size, W in levels)


def axis_levels(levels: Sequence[Level], size: int, inner: int = 1) -> tuple[Level, ...]:
    """The levels that a mesh axis of `size` ranks crosses, with `inner` ranks of other axes inside it.

    Neighbours on the axis are `inner` ranks apart. A level of the result has the children that take part,
    each with the bandwidth of all ranks below it: where 16 inner ranks fill two nodes, a child is two
    nodes. All `inner` groups communicate at once, so times over these levels take the bytes of all groups.

    Raises ValueError for an axis that does not fit the machine, or that divides a node into unequal parts.
    """
    _check(levels)
    total = prod(level.size for level in levels)
    size, inner = as_int("axis_levels: size (ranks)", size), as_int("axis_levels: inner (ranks)", inner)
    if size * inner > total:
        raise ValueError(f"axis_levels: size * inner is at most the {total} ranks of the levels, got {size * inner}")
    crossed, below = [], 1
    for name, children, bandwidth in levels:
        above = below * children
        low, high = (min(max(ranks, below), above) for ranks in (inner, inner * size))
        if low % below or high % low or above % high:
            raise ValueError(
                f"axis_levels: an axis of {size} with {inner} inside does not divide level {name!r}, "
                f"whose {children} children have {below} ranks each"
            )
        if high > low:
            crossed.append(Level(name, high // low, bandwidth * (low // below)))
        below = above
    return tuple(crossed)


def level_times(collective: str, S: float, levels: Sequence[Level], in_switch: bool = False) -> tuple[float, ...]:
    """The time of each level for its own part, in seconds; S is the full array, of all groups together.

    `in_switch`: the switches of every level reduce, or copy, what goes through them. In an all-to-all nothing
    can be reduced or copied, and a child sends the data of its ranks for all ranks that are not below it.
    Raises ValueError for negative bytes, and KeyError for an unknown collective.
    """
    if collective not in COLLECTIVES:
        raise KeyError(f"level_times: collective is one of {', '.join(COLLECTIVES)}, got {collective!r}")
    if isnan(S) or S < 0:
        raise ValueError(f"level_times: S (size of the full buffer) is at least 0 B, got {S}")
    _check(levels)
    ranks, below, times = prod(level.size for level in levels), 1, []
    for _, d, W in levels:
        if collective == "all_to_all":
            share = below / ranks * (1 - below / ranks)
        elif d == 1:
            share = 0.0
        elif in_switch or collective in ("broadcast", "reduce", "send"):
            share = 1.0
        else:
            share = (2 if collective == "all_reduce" else 1) * (d - 1) / d
        times.append(share * S / W)
        below *= d
    return tuple(times)


def level_time(
    collective: str, S: float, levels: Sequence[Level], in_switch: bool = False, overlap: bool = True
) -> float:
    """Time over all levels: that of the slowest, or, without `overlap`, the sum over the levels."""
    times = level_times(collective, S, levels, in_switch)
    return max(times, default=0.0) if overlap else sum(times)


def axis_time(
    collective: str,
    S: Any,
    levels: Sequence[Level],
    size: Any,
    inner: Any = 1,
    routing: Routing | None = None,
) -> Any:
    """`level_time` over `axis_levels` for arrays of axes: S is the full array of one group, of `size` ranks with
    `inner` ranks of other axes between neighbours, and all groups work at once. In an all-to-all of k copies of each
    token by a `routing`, those that go to one rank, or to one child of a level, travel once; without it none are
    merged.

    An axis may divide a node into unequal parts: a level then has the mean number of children, which need not be an
    integer. Raises ValueError for an axis that does not fit the machine, and KeyError for an unknown
    collective.

    >>> from hwlib.specs import clusters
    >>> round(axis_time("all_gather", 1e9, clusters["superpod-h100-4su"].levels, 128, 8), 6)
    0.019375
    """
    if collective not in COLLECTIVES:
        raise KeyError(f"axis_time: collective is one of {', '.join(COLLECTIVES)}, got {collective!r}")
    _check(levels)
    span, total = size * inner, prod(level.size for level in levels)
    widest, nearest = _most(span), -_most(-inner)
    if not widest <= total:
        raise ValueError(f"axis_time: size * inner is at most the {total} ranks of the levels, got {widest}")
    below, slowest = 1, 0.0 * S
    for _, children, bandwidth in levels:
        above = below * children
        if nearest < above and widest > below:
            low, high = (minimum(maximum(ranks, below) if below > 1 else ranks, above) for ranks in (inner, span))
            share: Any
            if collective == "all_to_all":
                places = maximum(span / low, 1.0)  # one where the axis ends below this level
                share = (high > low) * (1 - 1 / places) / places
                if routing:
                    share = share * routing.share(places, limited=below > 1)
            elif collective not in ("broadcast", "reduce", "send"):
                share = (2 if collective == "all_reduce" else 1) * (1 - low / high)
            else:
                share = high > low
            groups = minimum(inner, below) if below > 1 else 1.0  # that pass through what a child has of the level
            slowest = maximum(slowest, share * S * (groups / bandwidth))
        below = above
    return slowest


def _most(x: Any) -> float:
    """The largest of an array's elements, or a number itself."""
    return float(x.max(initial=-inf)) if getattr(x, "ndim", 0) else float(x)


def _check(levels: Sequence[Level]) -> None:
    for name, size, bandwidth in levels:
        as_int(f"level {name!r}: size (children)", size)
        if not bandwidth > 0:
            raise ValueError(f"level {name!r}: bandwidth is above 0 B/s, got {bandwidth!r}")
