"""Partners at distances 1, 2, 4, ...: log2(n) rounds where a ring has n - 1, with the bytes of a ring.

A round has a partner of its own, farther away each time, so a network must carry all the pairs at once.
Exchanges in pairs need a power of two of ranks. For other numbers the pieces of an all-gather come from one
side, as Bruck et al. (1997) send them, and a reduce-scatter is that run backwards (Träff, 2024); an
all-reduce may also fold the ranks beyond the power of two into others first (Thakur, Rabenseifner and Gropp,
2005).
"""

from collections.abc import Callable

from hwlib.algorithms.protocol import Array, Program, Step, algorithm, blocks, joined, run_of, spread


@algorithm("all_gather", time="doubling_allgather_time")
def doubling_allgather(rank: int, n: int, x: Array) -> Program:
    """Exchange all that one has with a partner at distance 1, 2, 4, ...: what one has doubles.

    Rounds ceil(log2(n)); bytes per rank (n - 1)/n * S. Where n is no power of two, Bruck's.
    """
    if n & (n - 1):
        return (yield from bruck_allgather(rank, n, x))
    have = 1
    while have < n:
        partner = rank ^ have
        mine, theirs = (run_of(x, n, r - r % have, have) for r in (rank, partner))
        theirs[:] = yield Step(mine, partner, partner)
        have *= 2
    return x


@algorithm("reduce_scatter", time="halving_reduce_scatter_time")
def halving_reduce_scatter(rank: int, n: int, x: Array) -> Program:
    """The farthest partner takes over half of the blocks and gives its share of the others, then half of those.

    Rounds ceil(log2(n)); bytes per rank (n - 1)/n * S. Where n is no power of two, Bruck's run backwards.
    """
    if n & (n - 1):
        return (yield from bruck_reduce_scatter(rank, n, x))
    keep = n // 2
    while keep:
        partner = rank ^ keep
        mine, theirs = (run_of(x, n, r - r % keep, keep) for r in (rank, partner))
        mine[:] += yield Step(theirs, partner, partner)
        keep //= 2
    return run_of(x, n, rank, 1)


@algorithm("all_gather", time="bruck_allgather_time")
def bruck_allgather(rank: int, n: int, x: Array) -> Program:
    """Rank r has blocks r to r + d - 1, and gets those from r + d on from the rank d after it; then d doubles.

    Any n: the last round sends what is still missing. Rounds ceil(log2(n)); bytes per rank (n - 1)/n * S.
    """
    block, d = blocks(x, n), 1
    while d < n:
        count = min(d, n - d)
        mine, theirs = ([block[(r + i) % n] for i in range(count)] for r in (rank, rank + d))
        spread((yield Step(joined(mine), (rank - d) % n, (rank + d) % n)), theirs)
        d *= 2
    return x


@algorithm("reduce_scatter", time="halving_reduce_scatter_time")
def bruck_reduce_scatter(rank: int, n: int, x: Array) -> Program:
    """Bruck's all-gather backwards: partial sums return the way that the blocks came, largest distance first.

    Any n. Rounds ceil(log2(n)); bytes per rank (n - 1)/n * S, and no schedule has fewer of either.
    """
    block = blocks(x, n)
    for j in reversed(range((n - 1).bit_length())):
        d = 2**j
        count = min(d, n - d)
        mine, theirs = ([block[(r + i) % n] for i in range(count)] for r in (rank, rank + d))
        spread((yield Step(joined(theirs), (rank + d) % n, (rank - d) % n)), mine, add=True)
    return block[rank]


def folded(rank: int, n: int, x: Array, program: Callable[[int, int, Array], Program]) -> Program:
    """An all-reduce among the largest power of two of ranks, 2^k.

    Each of the others gives its buffer to a partner before, and gets the result after: 2 rounds of S bytes.
    """
    power = 2 ** (n.bit_length() - 1)
    if rank >= power:
        yield Step(x, to=rank - power)
        x[:] = yield Step(frm=rank - power)
        return x
    if rank + power < n:
        x[:] += yield Step(frm=rank + power)
    yield from program(rank, power, x)
    if rank + power < n:
        yield Step(x, to=rank + power)
    return x


@algorithm("all_reduce", time="doubling_allreduce_time")
def doubling_allreduce(rank: int, n: int, x: Array) -> Program:
    """Exchange and add whole buffers: the fewest rounds, log2(n), but S bytes in each. For small arrays.

    Two rounds more where n is no power of two.
    """
    return (yield from folded(rank, n, x, _exchange_whole))


def _exchange_whole(rank: int, n: int, x: Array) -> Program:
    d = 1
    while d < n:
        x[:] += yield Step(x, rank ^ d, rank ^ d)
        d *= 2


@algorithm("all_reduce", time="halving_doubling_allreduce_time")
def halving_doubling_allreduce(rank: int, n: int, x: Array) -> Program:
    """Rabenseifner's: reduce-scatter by halving, all-gather by doubling. Few rounds and the bytes of a ring.

    Rounds 2 log2(n), bytes per rank 2(n - 1)/n * S; where n is no power of two, two rounds of S bytes more.
    """
    return (yield from folded(rank, n, x, _halve_and_double))


def _halve_and_double(rank: int, n: int, x: Array) -> Program:
    yield from halving_reduce_scatter(rank, n, x)
    yield from doubling_allgather(rank, n, x)
