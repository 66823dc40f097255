"""Ranks in a grid, nodes of several ranks or a torus: a collective goes along one axis after another.

What counts is the order. A reduce-scatter takes the fast axis first, so that only a part of the array is left
for the slow one; an all-gather takes it last. On a torus, where all axes are alike, the array can be cut into
a part for each axis, which start along different ones, so that every link is busy.

Ranks are numbered along the last axis first: of nodes with 8 ranks each, ranks 0 to 7 are the first.
"""

import math
from collections.abc import Callable, Sequence

from hwlib.algorithms.alltoall import swap_in_pairs
from hwlib.algorithms.protocol import (
    Array,
    Program,
    algorithm,
    at_once,
    blocks,
    checked_root,
    joined,
    parts_of_blocks,
    pieces,
    spread,
    within,
)
from hwlib.algorithms.ring import (
    pass_along,
    pass_around,
    pass_both_ways,
    ring_allgather,
    ring_allreduce,
    ring_reduce_scatter,
    sum_along,
    sum_around,
    sum_both_ways,
)
from hwlib.algorithms.tree import binomial_broadcast

Ring = Callable[[int, int, list[Array]], Program]  # an all-gather or a reduce-scatter of blocks, along an axis


def _gather_along(rank: int, shape: Sequence[int], ways: Sequence[tuple[int, Ring]], block: list[Array]) -> Program:
    """All-gather of the blocks, one by rank: along one axis after another everyone passes on what it has.

    `ways` are the axes in their order, each with the algorithm of its ring.
    """
    have = [rank]
    for axis, ring in ways:
        stride, n = math.prod(shape[axis + 1 :]), shape[axis]
        place = rank // stride % n
        owners = [[owner + (p - place) * stride for owner in have] for p in range(n)]
        bundle = [joined([block[owner] for owner in some]) for some in owners]
        yield from within([rank + (p - place) * stride for p in range(n)], ring(place, n, bundle))
        for some, data in zip(owners, bundle, strict=True):
            spread(data, [block[owner] for owner in some])
        have = [owner for some in owners for owner in some]


def _scatter_along(rank: int, shape: Sequence[int], ways: Sequence[tuple[int, Ring]], block: list[Array]) -> Program:
    """Reduce-scatter of the blocks: after each axis a rank sums for those owners only that share its place."""
    left = list(range(len(block)))
    for axis, ring in ways:
        stride, n = math.prod(shape[axis + 1 :]), shape[axis]
        place = rank // stride % n
        owners = [[owner for owner in left if owner // stride % n == p] for p in range(n)]
        bundle = [joined([block[owner] for owner in some]) for some in owners]
        yield from within([rank + (p - place) * stride for p in range(n)], ring(place, n, bundle))
        left = owners[place]
        spread(bundle[place], [block[owner] for owner in left])


# Nodes: inside one the network is fast, between them it is slow


def square_shape(n: int) -> tuple[int, int]:
    """The two factors of n that are closest to each other, the smaller one first."""
    first = max(d for d in range(1, math.isqrt(n) + 1) if n % d == 0)
    return first, n // first


def _nodes(n: int, inner: int | None) -> tuple[int, int]:
    if inner is None:
        return square_shape(n)
    if inner < 1 or n % inner:
        raise ValueError(f"inner: ranks of a node, a divisor of {n}, got {inner!r}")
    return n // inner, inner


@algorithm("reduce_scatter", time="hierarchical_reduce_scatter_time")
def hierarchical_reduce_scatter(rank: int, n: int, x: Array, inner: int | None = None) -> Program:
    """Rings inside the nodes, then rings of the ranks of one place in all nodes, for the 1/inner that is left.

    Rounds inner - 1 + nodes - 1; of the (n - 1)/n * S bytes per rank, less than S/inner leave the node.
    """
    yield from _scatter_along(rank, _nodes(n, inner), [(1, sum_around), (0, sum_around)], block := blocks(x, n))
    return block[rank]


@algorithm("all_gather", time="hierarchical_allgather_time")
def hierarchical_allgather(rank: int, n: int, x: Array, inner: int | None = None) -> Program:
    """Rings between the nodes while a rank has one block only, then rings inside, of bundles.

    Rounds inner - 1 + nodes - 1; no block enters a node twice.
    """
    yield from _gather_along(rank, _nodes(n, inner), [(0, pass_around), (1, pass_around)], blocks(x, n))
    return x


@algorithm("all_reduce", time="hierarchical_allreduce_time")
def hierarchical_allreduce(rank: int, n: int, x: Array, inner: int | None = None) -> Program:
    """Reduce-scatter inside the nodes, all-reduce of a part between them, all-gather inside: rings all.

    Rounds 2(inner - 1 + nodes - 1); less than 2S/inner bytes per rank leave the node, in a flat ring 2S.
    """
    nodes, inner = _nodes(n, inner)
    (node, place), here = divmod(rank, inner), range(n)[rank - rank % inner :]
    part = yield from within(here, ring_reduce_scatter(place, inner, x))
    yield from within(range(place, n, inner), ring_allreduce(node, nodes, part))
    return (yield from within(here, ring_allgather(place, inner, x)))


@algorithm("broadcast", time="hierarchical_broadcast_time")
def hierarchical_broadcast(rank: int, n: int, x: Array, root: int = 0, inner: int | None = None) -> Program:
    """A binomial tree over one rank of every node, then one inside each: every node is entered once."""
    nodes, inner = _nodes(n, inner)
    (node, place), (root_node, root_place) = divmod(rank, inner), divmod(checked_root(root, n), inner)
    if place == root_place:
        yield from within(range(place, n, inner), binomial_broadcast(node, nodes, x, root_node))
    yield from within(range(n)[node * inner :], binomial_broadcast(place, inner, x, root_place))
    return x


@algorithm("all_to_all", time="hierarchical_alltoall_time")
def hierarchical_alltoall(rank: int, n: int, x: Array, inner: int | None = None) -> Program:
    """Inside the node to the rank of the receiver's place, and from there straight to the receiver.

    Bundles of many blocks instead of n - 1 messages: rounds inner - 1 + nodes - 1. The bytes between nodes
    stay as many as they are, and those inside come on top.
    """
    nodes, inner = _nodes(n, inner)
    (node, place), block = divmod(rank, inner), blocks(x, n)
    bundles = [joined(block[p::inner]) for p in range(inner)]
    arrived = yield from within(range(n)[node * inner :], swap_in_pairs(place, inner, bundles))
    by_sender = [pieces(data, [len(b) for b in block[place::inner]]) for data in arrived]
    bundles = [joined([parts[to] for parts in by_sender]) for to in range(nodes)]
    return joined((yield from within(range(place, n, inner), swap_in_pairs(node, nodes, bundles))))


# A torus: every axis a ring of its own links, both ways at once


def _axes(n: int, shape: Sequence[int] | None, wrap: bool | Sequence[bool]) -> tuple[Sequence[int], list[bool]]:
    """The shape, and for each axis whether it is closed to a ring."""
    shape = square_shape(n) if shape is None else shape
    closed = [wrap] * len(shape) if isinstance(wrap, bool) else list(wrap)
    if math.prod(shape) != n or min(shape) < 1:
        raise ValueError(f"shape: lengths of axes whose product is {n}, got {tuple(shape)}")
    if len(closed) != len(shape):
        raise ValueError(f"wrap: for all or for each of {len(shape)} axes, got {wrap!r}")
    return shape, closed


def _turned(ways: list[tuple[int, Ring]], split: bool) -> list[list[tuple[int, Ring]]]:
    """The order of the axes; split, one for each part of the array, beginning with another axis."""
    return [ways[p:] + ways[:p] for p in range(len(ways) if split else 1)]


@algorithm("all_gather", time="torus_allgather_time", wires="link")
def torus_allgather(
    rank: int,
    n: int,
    x: Array,
    shape: Sequence[int] | None = None,
    wrap: bool | Sequence[bool] = True,
    split: bool = False,
) -> Program:
    """One axis after another, blocks first, then bundles: the last axis carries most of the bytes.

    Rounds: half the length of each axis, added up. With `split` the array is cut into a part for each axis,
    which all start along another one, so that with axes of one length every link is always busy.
    """
    shape, closed = _axes(n, shape, wrap)
    ways = _turned([(axis, pass_both_ways if ring else pass_along) for axis, ring in enumerate(closed)], split)
    parts = zip(ways, parts_of_blocks(x, n, len(ways)), strict=True)
    yield from at_once([_gather_along(rank, shape, order, part) for order, part in parts])
    return x


@algorithm("reduce_scatter", time="torus_allgather_time", wires="link")
def torus_reduce_scatter(
    rank: int,
    n: int,
    x: Array,
    shape: Sequence[int] | None = None,
    wrap: bool | Sequence[bool] = True,
    split: bool = False,
) -> Program:
    """The all-gather backwards: the last axis first, so that one part of the array is left for the others."""
    shape, closed = _axes(n, shape, wrap)
    ways = _turned([(axis, sum_both_ways if ring else sum_along) for axis, ring in enumerate(closed)], split)
    parts = zip(ways, parts_of_blocks(x, n, len(ways)), strict=True)
    yield from at_once([_scatter_along(rank, shape, order[::-1], part) for order, part in parts])
    return blocks(x, n)[rank]


@algorithm("all_reduce", wires="link")
def torus_allreduce(
    rank: int,
    n: int,
    x: Array,
    shape: Sequence[int] | None = None,
    wrap: bool | Sequence[bool] = True,
    split: bool = False,
) -> Program:
    """Reduce-scatter, then all-gather: twice the time of either."""
    yield from torus_reduce_scatter(rank, n, x, shape, wrap, split)
    return (yield from torus_allgather(rank, n, x, shape, wrap, split))
