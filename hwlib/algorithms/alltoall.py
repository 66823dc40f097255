"""All-to-all: block j of rank i's x goes to rank j, which gets the blocks in the order of their senders.

A transposition: nothing is summed, nothing is copied, so no schedule saves bytes at the ports. What differs is
how many messages there are and how far they go. S is the data of all ranks together: x is S/n, a block S/n^2.
"""

from collections.abc import Sequence

from hwlib.algorithms.protocol import Array, Program, Step, algorithm, blocks, joined, pieces


@algorithm("all_to_all", time="direct_alltoall_time")
def direct_alltoall(rank: int, n: int, x: Array) -> Program:
    """All blocks at once. One round; bytes per rank (n - 1)/n^2 * S."""
    got = blocks(x, n)
    others = [(rank + d) % n for d in range(1, n)]
    for other, arrived in zip(others, (yield [Step(got[r], r, r) for r in others]), strict=True):
        got[other] = arrived
    return joined(got)


@algorithm("all_to_all", time="pairwise_alltoall_time")
def pairwise_alltoall(rank: int, n: int, x: Array) -> Program:
    """One message at a time: n - 1 rounds of S/n^2 bytes."""
    return joined((yield from swap_in_pairs(rank, n, blocks(x, n))))


def swap_in_pairs(rank: int, n: int, block: list[Array]) -> Program:
    """In round d send to the rank d after and receive from the one d before; returns the blocks by sender."""
    got = list(block)
    for d in range(1, n):
        to, frm = (rank + d) % n, (rank - d) % n
        got[frm] = yield Step(block[to], to, frm)
    return got


@algorithm("all_to_all")
def ragged_alltoall(rank: int, n: int, x: Array, counts: Sequence[Sequence[int]] | None = None) -> Program:
    """Rank i sends counts[i][j] elements to rank j, all at once; where that is 0, no message.

    The dispatch of a mixture of experts: the counts are whatever the router chose, known to all after an
    all-gather of them. One round; the fullest port decides.
    """
    counts = counts or [[len(block) for block in blocks(x, n)]] * n
    got = pieces(x, counts[rank])
    steps = []
    for d in range(1, n):
        to, frm = (rank + d) % n, (rank - d) % n
        if counts[rank][to]:
            steps.append(Step(got[to], to=to))
        if counts[frm][rank]:
            steps.append(Step(frm=frm))
    arrived = yield steps
    got = [x[:0] if r != rank else got[r] for r in range(n)]
    for step, data in zip(steps, arrived, strict=True):
        if step.frm is not None:
            got[step.frm] = data
    return joined(got)


@algorithm("all_to_all", time="ring_alltoall_time")
def ring_alltoall(rank: int, n: int, x: Array) -> Program:
    """Everyone passes on what is not for it: n - 1 blocks in the first round, then n - 2, at last one.

    Rounds n - 1; bytes per rank S/n * (n - 1)/2, half of what an all-gather of the same data moves.
    """
    block = blocks(x, n)
    got, own = list(block), len(block[rank])
    bundle = _bundle(x, block, [rank + d for d in range(1, n)])
    for k in range(1, n):
        bundle = yield Step(bundle, (rank + 1) % n, (rank - 1) % n)
        got[(rank - k) % n], bundle = bundle[:own], bundle[own:]
    return joined(got)


@algorithm("all_to_all", time="bidirectional_ring_alltoall_time", wires="link")
def bidirectional_ring_alltoall(rank: int, n: int, x: Array) -> Program:
    """Each block takes the shorter way round. Rounds n//2; about S/8 bytes a link, a quarter of the all-gather."""
    block, after, before = blocks(x, n), (rank + 1) % n, (rank - 1) % n
    got, own = list(block), len(block[rank])
    forth = _bundle(x, block, [rank + d for d in range(1, n // 2 + 1)])
    back = _bundle(x, block, [rank - d for d in range(1, (n - 1) // 2 + 1)])
    for k in range(1, n // 2 + 1):
        steps = [Step(forth, after, before)]
        if k <= (n - 1) // 2:
            steps.append(Step(back, before, after))
        forth, *rest = yield steps
        got[(rank - k) % n], forth = forth[:own], forth[own:]
        for back in rest:
            got[(rank + k) % n], back = back[:own], back[own:]
    return joined(got)


def _bundle(x: Array, block: list[Array], ranks: Sequence[int]) -> Array:
    return joined([x[:0], *(block[r % len(block)] for r in ranks)])


@algorithm("all_to_all", time="bruck_alltoall_time")
def bruck_alltoall(rank: int, n: int, x: Array) -> Program:
    """A block that has d ranks to go takes the hops 1, 2, 4, ... that are the bits of d (Bruck et al., 1997).

    Rounds ceil(log2(n)) instead of n - 1 messages, for log2(n)/2 times the bytes: for small blocks.
    """
    block = blocks(x, n)
    slot = [block[(rank + d) % n] for d in range(n)]  # what started d ranks before its goal
    hop = 1
    while hop < n:
        moving = [d for d in range(n) if d & hop]
        got = yield Step(joined([slot[d] for d in moving]), (rank + hop) % n, (rank - hop) % n)
        goals = [(rank + d - d % (2 * hop)) % n for d in moving]  # the higher bits are still to go
        for d, part in zip(moving, pieces(got, [len(block[goal]) for goal in goals]), strict=True):
            slot[d] = part
        hop *= 2
    return joined([slot[(rank - source) % n] for source in range(n)])
