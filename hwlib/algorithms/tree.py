"""Trees and chains: one rank's data to all, or all ranks' data to one.

In a binomial tree the ranks that hold the data double every round. In a chain every rank has one neighbour to
send to, and cut into chunks the data streams through it. Two binary trees, of which each rank is inside one
and a leaf of the other, stream at full bandwidth over few hops (Sanders, Speck and Träff, 2009).

A root is any rank; the others are numbered from it, around.
"""

from hwlib.algorithms.protocol import (
    Array,
    Program,
    Step,
    algorithm,
    at_once,
    blocks,
    checked_root,
    joined,
    spread,
    within,
)
from hwlib.algorithms.ring import ring_allgather


@algorithm("broadcast", time="binomial_broadcast_time")
def binomial_broadcast(rank: int, n: int, x: Array, root: int = 0) -> Program:
    """Whoever has the data sends it on, to half of the ranks that it is in charge of first.

    Rounds ceil(log2(n)), each of S bytes. Rank v, from the root, is in charge of the ranks up to its lowest
    bit away.
    """
    v = (rank - checked_root(root, n)) % n
    if v:
        x[:] = yield Step(frm=(rank - _lowest_bit(v, n)) % n)
    for d in _falling(v, n):
        yield Step(x, to=(rank + d) % n)
    return x


@algorithm("reduce", time="binomial_reduce_time")
def binomial_reduce(rank: int, n: int, x: Array, root: int = 0) -> Program:
    """The broadcast backwards: sums meet pairwise. Rounds ceil(log2(n)), each of S bytes; the root returns x."""
    v = (rank - checked_root(root, n)) % n
    for d in reversed(_falling(v, n)):
        x[:] += yield Step(frm=(rank + d) % n)
    if not v:
        return x
    yield Step(x, to=(rank - _lowest_bit(v, n)) % n)


@algorithm("scatter", time="binomial_scatter_time")
def binomial_scatter(rank: int, n: int, x: Array, root: int = 0) -> Program:
    """The root hands half of the blocks to a deputy, then a quarter to another; each deputy does the same.

    Rounds ceil(log2(n)); the root sends (n - 1)/n * S. A rank's block is returned, and is in its place in x.
    """
    block, v = blocks(x, n), (rank - checked_root(root, n)) % n
    if v:
        spread((yield Step(frm=(rank - _lowest_bit(v, n)) % n)), _in_charge(block, rank, v, _lowest_bit(v, n)))
    for d in _falling(v, n):
        yield Step(joined(_in_charge(block, rank + d, v + d, d)), to=(rank + d) % n)
    return block[rank]


@algorithm("gather", time="binomial_gather_time")
def binomial_gather(rank: int, n: int, x: Array, root: int = 0) -> Program:
    """The scatter backwards: bundles of 1, 2, 4, ... blocks. The root receives (n - 1)/n * S and returns x."""
    block, v = blocks(x, n), (rank - checked_root(root, n)) % n
    for d in reversed(_falling(v, n)):
        spread((yield Step(frm=(rank + d) % n)), _in_charge(block, rank + d, v + d, d))
    if not v:
        return x
    yield Step(joined(_in_charge(block, rank, v, _lowest_bit(v, n))), to=(rank - _lowest_bit(v, n)) % n)


def _lowest_bit(v: int, n: int) -> int:
    """How many ranks v is in charge of, itself and those after it; for the root a power of two >= n."""
    return v & -v or 2 ** (n - 1).bit_length()


def _falling(v: int, n: int) -> list[int]:
    """The distances of the ranks below v in the tree: powers of two under its lowest bit, largest first."""
    return [2**j for j in reversed(range(_lowest_bit(v, n).bit_length() - 1)) if v + 2**j < n]


def _in_charge(block: list[Array], rank: int, v: int, count: int) -> list[Array]:
    """The blocks of the ranks that rank is in charge of, from its own on."""
    n = len(block)
    return [block[(rank + i) % n] for i in range(min(count, n - v))]


@algorithm("all_reduce", time="tree_allreduce_time")
def tree_allreduce(rank: int, n: int, x: Array) -> Program:
    """Reduce to rank 0, broadcast from there: 2 ceil(log2(n)) rounds, each of S bytes."""
    yield from binomial_reduce(rank, n, x)
    return (yield from binomial_broadcast(rank, n, x))


@algorithm("broadcast", time="scatter_allgather_broadcast_time")
def scatter_allgather_broadcast(rank: int, n: int, x: Array, root: int = 0) -> Program:
    """For large arrays: the root sends S bytes once, in pieces, and the ranks pass these around.

    Rounds ceil(log2(n)) + n - 1; a time of two S/W, whatever n is (van de Geijn's).
    """
    yield from binomial_scatter(rank, n, x, root)
    return (yield from ring_allgather(rank, n, x))


@algorithm("broadcast", time="chain_broadcast_time")
def chain_broadcast(rank: int, n: int, x: Array, root: int = 0, m: int = 4) -> Program:
    """A line of ranks; each passes on chunk k - 1 while it receives chunk k. Rounds n + m - 2, each of S/m bytes."""
    v, chunk = (rank - checked_root(root, n)) % n, blocks(x, m)
    for k in range(m + 1):
        first, last = v == 0 or k == m, v == n - 1 or k == 0
        steps = [] if first else [Step(frm=(rank - 1) % n)]
        steps += [] if last else [Step(chunk[k - 1], to=(rank + 1) % n)]
        for got in (yield steps)[: not first]:
            chunk[k][:] = got
    return x


@algorithm("reduce", time="chain_broadcast_time")
def chain_reduce(rank: int, n: int, x: Array, root: int = 0, m: int = 4) -> Program:
    """The chain backwards: partial sums stream to the root. Rounds n + m - 2, each of S/m bytes."""
    v, chunk = (rank - checked_root(root, n)) % n, blocks(x, m)
    for k in range(m + 1):
        first, last = v == n - 1 or k == m, v == 0 or k == 0
        steps = [] if first else [Step(frm=(rank + 1) % n)]
        steps += [] if last else [Step(chunk[k - 1], to=(rank - 1) % n)]
        for got in (yield steps)[: not first]:
            chunk[k][:] += got
    return None if v else x


@algorithm("all_reduce", time="double_tree_allreduce_time")
def double_tree_allreduce(rank: int, n: int, x: Array, m: int = 4) -> Program:
    """Each half of x, in m chunks, is summed up a binary tree and copied down it, both halves at once.

    One tree is numbered like a heap: under v are 2v + 1 and 2v + 2. The other is its mirror image, so no rank
    is inside both, and every port is busy. With d = floor(log2(n)) there are 2(d + m - 1) rounds of S/m
    bytes, a chunk of each child: many chunks approach the 2 S/W of a ring, in rounds that grow with log(n).
    """
    half, mirrored = blocks(x, 2), range(n - 1, -1, -1)
    for phase in (_sum_up, _copy_down):
        heap = phase(rank, n, blocks(half[0], m))
        mirror = phase(mirrored[rank], n, blocks(half[1], m))
        yield from at_once([heap, within(mirrored, mirror)])
    return x


def _sum_up(v: int, n: int, chunk: list[Array]) -> Program:
    """The deepest level sends chunk k in beat k, the level above it one beat later, so its sums are there."""
    for beat in range(_depth(n - 1) + len(chunk) - 1):
        k = beat - (_depth(n - 1) - _depth(v))
        steps = [Step(frm=child) for child in _under(v, n) if 0 <= k + 1 < len(chunk)]
        arriving = len(steps)
        if v and 0 <= k < len(chunk):
            steps.append(Step(chunk[k], to=(v - 1) // 2))
        for got in (yield steps)[:arriving]:
            chunk[k + 1][:] += got


def _copy_down(v: int, n: int, chunk: list[Array]) -> Program:
    """The root sends chunk k in beat k, the level under it one beat later."""
    for beat in range(_depth(n - 1) + len(chunk) - 1):
        k = beat - _depth(v)
        steps = [Step(frm=(v - 1) // 2)] if v and 0 <= k + 1 < len(chunk) else []
        arriving = len(steps)
        if 0 <= k < len(chunk):
            steps += [Step(chunk[k], to=child) for child in _under(v, n)]
        for got in (yield steps)[:arriving]:
            chunk[k + 1][:] = got


def _under(v: int, n: int) -> list[int]:
    return [child for child in (2 * v + 1, 2 * v + 2) if child < n]


def _depth(v: int) -> int:
    return (v + 1).bit_length() - 1
