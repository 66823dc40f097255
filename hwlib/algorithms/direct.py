"""Straight to where it belongs: every rank sends to every other at once, in one round.

The bytes of a ring, n - 1 messages at once: right inside a node, where a switch joins all ports, and for
small arrays. Rooted ones are limited by the root's port.
"""

from hwlib.algorithms.protocol import Array, Program, Step, algorithm, blocks, checked_root, copied


def _others(rank: int, n: int) -> list[int]:
    """All other ranks, from the next one on, so that not everyone begins with the same one."""
    return [(rank + d) % n for d in range(1, n)]


@algorithm("all_gather", time="direct_allgather_time")
def direct_allgather(rank: int, n: int, x: Array) -> Program:
    """One's own block to everyone. One round; bytes per rank (n - 1)/n * S."""
    block, others = blocks(x, n), _others(rank, n)
    for other, got in zip(others, (yield [Step(block[rank], r, r) for r in others]), strict=True):
        block[other][:] = got
    return x


@algorithm("reduce_scatter", time="direct_reduce_scatter_time")
def direct_reduce_scatter(rank: int, n: int, x: Array) -> Program:
    """Each block to its owner, who adds. One round; bytes per rank (n - 1)/n * S."""
    block = blocks(x, n)
    for got in (yield [Step(block[r], r, r) for r in _others(rank, n)]):
        block[rank][:] += got
    return block[rank]


@algorithm("all_reduce", time="direct_allreduce_time")
def direct_allreduce(rank: int, n: int, x: Array) -> Program:
    """Two shots: reduce-scatter, then all-gather. Two rounds; bytes per rank 2(n - 1)/n * S."""
    yield from direct_reduce_scatter(rank, n, x)
    return (yield from direct_allgather(rank, n, x))


@algorithm("all_reduce", time="one_shot_allreduce_time")
def one_shot_allreduce(rank: int, n: int, x: Array) -> Program:
    """Everyone sends all to everyone and adds for itself: one round, (n - 1) * S bytes. For tiny arrays.

    All add in the order of the ranks, so that all round alike: replicas must not drift apart.
    """
    parts = {rank: copied(x)}
    parts |= zip(_others(rank, n), (yield [Step(x, r, r) for r in _others(rank, n)]), strict=True)
    x[:] = parts[0]
    for r in range(1, n):
        x[:] += parts[r]
    return x


@algorithm("broadcast", time="direct_broadcast_time")
def direct_broadcast(rank: int, n: int, x: Array, root: int = 0) -> Program:
    """The root sends x to everyone: one round of (n - 1) * S bytes through one port."""
    if rank == checked_root(root, n):
        yield [Step(x, to=r) for r in _others(rank, n)]
    else:
        x[:] = yield Step(frm=root)
    return x


@algorithm("reduce", time="direct_reduce_time")
def direct_reduce(rank: int, n: int, x: Array, root: int = 0) -> Program:
    """Everyone sends x to the root: one round of (n - 1) * S bytes through one port. The root returns x."""
    if rank != checked_root(root, n):
        yield Step(x, to=root)
        return None
    for got in (yield [Step(frm=r) for r in _others(rank, n)]):
        x[:] += got
    return x


@algorithm("gather", time="direct_gather_time")
def direct_gather(rank: int, n: int, x: Array, root: int = 0) -> Program:
    """Everyone sends its block to the root: one round, (n - 1)/n * S bytes arrive. The root returns x."""
    block, others = blocks(x, n), _others(rank, n)
    if rank != checked_root(root, n):
        yield Step(block[rank], to=root)
        return None
    for other, got in zip(others, (yield [Step(frm=r) for r in others]), strict=True):
        block[other][:] = got
    return x


@algorithm("scatter", time="direct_scatter_time")
def direct_scatter(rank: int, n: int, x: Array, root: int = 0) -> Program:
    """The root sends each rank its block: one round of (n - 1)/n * S bytes."""
    block = blocks(x, n)
    if rank == checked_root(root, n):
        yield [Step(block[r], to=r) for r in _others(rank, n)]
    else:
        block[rank][:] = yield Step(frm=root)
    return block[rank]


@algorithm("send", time="send_time")
def send(rank: int, n: int, x: Array, src: int = 0, dst: int = -1) -> Program:
    """One rank sends x to another, by default the first to the last: what every other algorithm is made of."""
    src, dst = src % n, dst % n
    if src != dst and rank == src:
        yield Step(x, to=dst)
    if src != dst and rank == dst:
        x[:] = yield Step(frm=src)
    return x
