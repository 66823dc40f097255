"""Rings on arrays of any shape, which they leave alone: the parts that programs of parallel training are made of.

Their blocks are cut along the first axis, whose length is a multiple of n where there are n of them.
"""

import sys

from hwlib.algorithms.protocol import Array, Program
from hwlib.algorithms.ring import ring_allgather, ring_allreduce, ring_reduce_scatter


def _flat(x: Array) -> Array:
    """A copy of one dimension, by the package that made the array."""
    package = sys.modules[type(x).__module__.partition(".")[0]]
    return package.concatenate([x.reshape(-1)])


def summed(rank: int, n: int, x: Array) -> Program:
    """An all-reduce: the sum over all ranks, of x's shape."""
    total = yield from ring_allreduce(rank, n, _flat(x))
    return total.reshape(x.shape)


def gathered(rank: int, n: int, x: Array) -> Program:
    """An all-gather: the parts of all ranks one after another along the first axis."""
    package = sys.modules[type(x).__module__.partition(".")[0]]
    whole = yield from ring_allgather(rank, n, package.concatenate([x.reshape(-1)] * n))
    return whole.reshape((n * x.shape[0], *x.shape[1:]))


def scattered(rank: int, n: int, x: Array) -> Program:
    """A reduce-scatter: this rank's part of the sum, of n along the first axis."""
    part = yield from ring_reduce_scatter(rank, n, _flat(x))
    return part.reshape((x.shape[0] // n, *x.shape[1:]))
