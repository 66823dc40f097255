"""Around a ring: every rank sends to the next one and receives from the one before, all links busy at once.

The most bytes a rank can save: each block travels n - 1 hops, and no byte twice over one link. The price is
2(n - 1) steps, which is why long rings lose at small sizes (Thakur, Rabenseifner and Gropp, 2005; Patarasuk
and Yuan, 2009).
"""

from hwlib.algorithms.step import Array, Program, Step, algorithm, blocks


@algorithm("all_gather", time="ring_allgather_time")
def ring_allgather(rank: int, n: int, x: Array) -> Program:
    """Pass on the block that came last: after n - 1 steps everyone has seen every block.

    Rounds n - 1; bytes per rank (n - 1)/n * S. The buffer has the full size; a rank's own block is valid.
    """
    block, after, before = blocks(x, n), (rank + 1) % n, (rank - 1) % n
    for k in range(n - 1):
        block[(rank - k - 1) % n][:] = yield Step(block[(rank - k) % n], after, before)
    return x


@algorithm("reduce_scatter", time="ring_reduce_scatter_time")
def ring_reduce_scatter(rank: int, n: int, x: Array) -> Program:
    """A partial sum of each block travels the ring and ends, complete, at its owner.

    Rounds n - 1; bytes per rank (n - 1)/n * S. Block r starts at rank r + 1, so that it arrives at rank r.
    """
    block, after, before = blocks(x, n), (rank + 1) % n, (rank - 1) % n
    for k in range(n - 1):
        block[(rank - k - 2) % n][:] += yield Step(block[(rank - k - 1) % n], after, before)
    return block[rank]


@algorithm("all_reduce", time="ring_allreduce_time")
def ring_allreduce(rank: int, n: int, x: Array) -> Program:
    """Reduce-scatter, then all-gather: no algorithm sends fewer bytes. Rounds 2(n - 1); bytes 2(n - 1)/n * S."""
    yield from ring_reduce_scatter(rank, n, x)
    return (yield from ring_allgather(rank, n, x))
