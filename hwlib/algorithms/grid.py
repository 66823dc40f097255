"""Ranks in a grid, nodes of several ranks or a torus: a collective goes along one axis after another.

What counts is the order. A reduce-scatter takes the fast axis first, so that only a part of the array is left
for the slow one; an all-gather takes it last. On a torus, where all axes are alike, the array is cut into a
part for each axis, which start along different ones, so that every link is busy.

Ranks are numbered along the last axis first: of nodes with 8 ranks each, ranks 0 to 7 are the first.
"""

import math
from collections.abc import Sequence

from hwlib.algorithms.alltoall import swap_in_pairs
from hwlib.algorithms.ring import pass_around, ring_allgather, ring_allreduce, ring_reduce_scatter, sum_around
from hwlib.algorithms.step import (
    Array,
    Program,
    algorithm,
    at_once,
    blocks,
    checked_root,
    joined,
    pieces,
    spread,
    within,
)
from hwlib.algorithms.tree import binomial_broadcast


def _gather_along(rank: int, shape: Sequence[int], order: Sequence[int], block: list[Array]) -> Program:
    """All-gather of the blocks, one by rank: along each axis everyone passes on what it has so far."""
    have = [rank]
    for axis in order:
        stride, n = math.prod(shape[axis + 1 :]), shape[axis]
        place = rank // stride % n
        owners = [[owner + (p - place) * stride for owner in have] for p in range(n)]
        bundle = [joined([block[owner] for owner in some]) for some in owners]
        yield from within([rank + (p - place) * stride for p in range(n)], pass_around(place, n, bundle))
        for some, data in zip(owners, bundle, strict=True):
            spread(data, [block[owner] for owner in some])
        have = [owner for some in owners for owner in some]


def _scatter_along(rank: int, shape: Sequence[int], order: Sequence[int], block: list[Array]) -> Program:
    """Reduce-scatter of the blocks: after each axis a rank sums for those owners only that share its place."""
    left = list(range(len(block)))
    for axis in order:
        stride, n = math.prod(shape[axis + 1 :]), shape[axis]
        place = rank // stride % n
        owners = [[owner for owner in left if owner // stride % n == p] for p in range(n)]
        bundle = [joined([block[owner] for owner in some]) for some in owners]
        yield from within([rank + (p - place) * stride for p in range(n)], sum_around(place, n, bundle))
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
    yield from _scatter_along(rank, _nodes(n, inner), (1, 0), block := blocks(x, n))
    return block[rank]


@algorithm("all_gather", time="hierarchical_allgather_time")
def hierarchical_allgather(rank: int, n: int, x: Array, inner: int | None = None) -> Program:
    """Rings between the nodes while a rank has one block only, then rings inside, of bundles.

    Rounds inner - 1 + nodes - 1; no block enters a node twice.
    """
    yield from _gather_along(rank, _nodes(n, inner), (0, 1), blocks(x, n))
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


# A torus: links along every axis, all alike


def _orders(n: int, shape: Sequence[int] | None) -> tuple[Sequence[int], list[list[int]]]:
    """The shape, and for each part of the array the order of its axes: part p starts along axis p."""
    shape = square_shape(n) if shape is None else shape
    if math.prod(shape) != n or min(shape) < 1:
        raise ValueError(f"shape: lengths of axes whose product is {n}, got {tuple(shape)}")
    axes = list(range(len(shape)))
    return shape, [axes[p:] + axes[:p] for p in axes]


def _parts(x: Array, n: int, count: int) -> list[list[Array]]:
    """Every block cut into `count` parts: part p of all blocks is list p."""
    cut = [blocks(block, count) for block in blocks(x, n)]
    return [[parts[p] for parts in cut] for p in range(count)]


@algorithm("all_gather", wires="link")
def torus_allgather(rank: int, n: int, x: Array, shape: Sequence[int] | None = None) -> Program:
    """A part of each block for each of the k axes, gathered along all of them in turn, each from another on.

    With k axes of equal length d: k(d - 1) rounds, and (n - 1)/n * S/k bytes over each of a rank's k links.
    """
    shape, orders = _orders(n, shape)
    parts = _parts(x, n, len(orders))
    yield from at_once([_gather_along(rank, shape, order, part) for order, part in zip(orders, parts, strict=True)])
    return x


@algorithm("reduce_scatter", wires="link")
def torus_reduce_scatter(rank: int, n: int, x: Array, shape: Sequence[int] | None = None) -> Program:
    """The all-gather backwards. With k axes of length d: k(d - 1) rounds, (n - 1)/n * S/k bytes over each link."""
    shape, orders = _orders(n, shape)
    parts = _parts(x, n, len(orders))
    yield from at_once([_scatter_along(rank, shape, order, part) for order, part in zip(orders, parts, strict=True)])
    return blocks(x, n)[rank]


@algorithm("all_reduce", wires="link")
def torus_allreduce(rank: int, n: int, x: Array, shape: Sequence[int] | None = None) -> Program:
    """Reduce-scatter, then all-gather, each along all axes at once."""
    yield from torus_reduce_scatter(rank, n, x, shape)
    return (yield from torus_allgather(rank, n, x, shape))
