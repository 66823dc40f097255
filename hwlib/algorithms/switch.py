"""The switch computes: it adds what the ranks send and copies what it sends out (SHARP, NVLS).

A rank sends its S bytes once and receives the result once, whatever n is. The switch runs a program of its
own, as rank n. It has nothing to send before it has received, so buffers go in m chunks: while one goes up,
the one before comes down (Graham et al., 2016).
"""

from collections.abc import Callable, Iterable, Sequence

from hwlib.algorithms.protocol import (
    Array,
    Program,
    Step,
    algorithm,
    at_once,
    blocks,
    joined,
    parts_of_blocks,
    pieces,
    spread,
)


def _up(n: int, chunks: Iterable[Array]) -> Program:
    """A rank's way to the switch: chunk after chunk."""
    for chunk in chunks:
        yield Step(chunk, to=n)


def _down(n: int, chunks: Iterable[Sequence[Array]]) -> Program:
    """A rank's way from the switch: each chunk fills the views that it is made of."""
    for views in chunks:
        spread((yield Step(frm=n)), views)


def _later(steps: int, program: Program) -> Program:
    """The program after a number of steps without a message."""
    for _ in range(steps):
        yield []
    yield from program


def _stream(n: int, m: int, work: Callable[[int, list[Array]], Sequence[Array]]) -> Program:
    """The switch: while chunk k comes in from all n ranks, `work` of chunk k - 1 goes out, a part to each."""
    out: list[Step] = []
    for k in range(m):
        arrived = yield [*out, *(Step(frm=r) for r in range(n))]
        out = [Step(part, to=r) for r, part in enumerate(work(k, arrived[-n:]))]
    yield out


def _total(parts: Sequence[Array]) -> Array:
    """The sum of what arrived, in the order of the ranks."""
    total = parts[0]
    for part in parts[1:]:
        total[:] += part
    return total


def _add_and_copy(_rank: int, n: int, _x: Array, m: int = 4) -> Program:
    if n > 1:
        yield from _stream(n, m, lambda _k, arrived: [_total(arrived)] * n)


@algorithm("all_reduce", time="switch_allreduce_time", switch=_add_and_copy)
def switch_allreduce(_rank: int, n: int, x: Array, m: int = 4) -> Program:
    """Up go the chunks, down come their sums. Rounds m + 1; bytes per rank S, half of what a ring moves."""
    chunks = blocks(x, m)
    if n > 1:
        yield from at_once([_up(n, chunks), _later(1, _down(n, [[chunk] for chunk in chunks]))])
    return x


def _add_and_deal(_rank: int, n: int, x: Array, m: int = 4) -> Program:
    if n > 1:
        sizes = [[len(shard) for shard in shards] for shards in parts_of_blocks(x, n, m)]
        yield from _stream(n, m, lambda k, arrived: pieces(_total(arrived), sizes[k]))


@algorithm("reduce_scatter", time="switch_reduce_scatter_time", switch=_add_and_deal)
def switch_reduce_scatter(rank: int, n: int, x: Array, m: int = 4) -> Program:
    """Up go the chunks, down comes one's shard of each sum. Rounds m + 1; S bytes out, so no gain over a ring."""
    chunks = parts_of_blocks(x, n, m)
    if n > 1:
        own = [[shards[rank]] for shards in chunks]
        yield from at_once([_up(n, map(joined, chunks)), _later(1, _down(n, own))])
    return blocks(x, n)[rank]


def _join_and_copy(_rank: int, n: int, _x: Array, m: int = 4) -> Program:
    if n > 1:
        yield from _stream(n, m, lambda _k, arrived: [joined(arrived)] * n)


@algorithm("all_gather", time="switch_allgather_time", switch=_join_and_copy)
def switch_allgather(rank: int, n: int, x: Array, m: int = 4) -> Program:
    """Up goes one's shard of each chunk, down comes the chunk. Rounds m + 1; S bytes in, so no gain over a ring."""
    chunks = parts_of_blocks(x, n, m)
    if n > 1:
        yield from at_once([_up(n, [shards[rank] for shards in chunks]), _later(1, _down(n, chunks))])
    return x


def _deal_then_copy(rank: int, n: int, x: Array, m: int = 4) -> Program:
    yield from at_once([_add_and_deal(rank, n, x, m), _later(2, _join_and_copy(rank, n, x, m))])


@algorithm("all_reduce", time="nvls_allreduce_time", switch=_deal_then_copy)
def nvls_allreduce(rank: int, n: int, x: Array, m: int = 4) -> Program:
    """NVLS: each rank is handed the sum of its shard, and then has the switch copy it to all.

    Through a port go S bytes of data and S/n of finished shards, each way: (n + 1)/n * S, where SHARP's switch
    sends the sum straight on. Rounds m + 3: four things happen to a chunk, one after another.
    """
    scatter = switch_reduce_scatter(rank, n, x, m)
    yield from at_once([scatter, _later(2, switch_allgather(rank, n, x, m))])
    return x
