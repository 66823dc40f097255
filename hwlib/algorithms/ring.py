"""Around a ring: every rank sends to the next one and receives from the one before, all links busy at once.

The fewest bytes that a rank can send, at the price of n - 1 rounds a pass, which is why long rings lose at
small sizes (Thakur, Rabenseifner and Gropp, 2005; Patarasuk and Yuan, 2009). Where links work both ways at
once, blocks can go both ways round.
"""

from hwlib.algorithms.protocol import Array, Program, Step, algorithm, blocks


def pass_around(rank: int, n: int, block: list[Array]) -> Program:
    """Pass on the block that came last: after n - 1 rounds everyone has seen every block."""
    after, before = (rank + 1) % n, (rank - 1) % n
    for k in range(n - 1):
        block[(rank - k - 1) % n][:] = yield Step(block[(rank - k) % n], after, before)


def sum_around(rank: int, n: int, block: list[Array]) -> Program:
    """A partial sum of each block travels the ring: block r starts at rank r + 1, so that it ends at rank r."""
    after, before = (rank + 1) % n, (rank - 1) % n
    for k in range(n - 1):
        block[(rank - k - 2) % n][:] += yield Step(block[(rank - k - 1) % n], after, before)


@algorithm("all_gather", time="ring_allgather_time")
def ring_allgather(rank: int, n: int, x: Array) -> Program:
    """The buffer has its full size, a rank's own block is valid. Rounds n - 1; bytes per rank (n - 1)/n * S."""
    yield from pass_around(rank, n, blocks(x, n))
    return x


@algorithm("reduce_scatter", time="ring_reduce_scatter_time")
def ring_reduce_scatter(rank: int, n: int, x: Array) -> Program:
    """Returns the rank's own block of the sum. Rounds n - 1; bytes per rank (n - 1)/n * S."""
    yield from sum_around(rank, n, block := blocks(x, n))
    return block[rank]


@algorithm("all_reduce", time="ring_allreduce_time")
def ring_allreduce(rank: int, n: int, x: Array) -> Program:
    """Reduce-scatter, then all-gather: no algorithm sends fewer bytes. Rounds 2(n - 1); bytes 2(n - 1)/n * S."""
    yield from ring_reduce_scatter(rank, n, x)
    return (yield from ring_allgather(rank, n, x))


# Both ways round: n//2 hops one way and (n - 1)//2 the other make n - 1 together


def pass_both_ways(rank: int, n: int, block: list[Array]) -> Program:
    """Every block goes half around each way."""
    after, before = (rank + 1) % n, (rank - 1) % n
    for k in range(n // 2):
        steps = [Step(block[(rank - k) % n], after, before)]
        if k < (n - 1) // 2:
            steps.append(Step(block[(rank + k) % n], before, after))
        for got, i in zip((yield steps), (rank - k - 1, rank + k + 1), strict=False):
            block[i % n][:] = got


def sum_both_ways(rank: int, n: int, block: list[Array]) -> Program:
    """The sum of the ranks before a block's owner comes from one side, of those after it from the other."""
    after, before = (rank + 1) % n, (rank - 1) % n
    far, near = n // 2, (n - 1) // 2
    for k in range(far):
        steps = [Step(block[(rank + far - k) % n], after, before)]
        if k < near:
            steps.append(Step(block[(rank - near + k) % n], before, after))
        for got, i in zip((yield steps), (rank + far - k - 1, rank - near + k + 1), strict=False):
            block[i % n][:] += got


@algorithm("all_gather", time="bidirectional_ring_allgather_time", wires="link")
def bidirectional_ring_allgather(rank: int, n: int, x: Array) -> Program:
    """Half around each way. Rounds n//2; bytes per rank (n - 1)/n * S, over two links."""
    yield from pass_both_ways(rank, n, blocks(x, n))
    return x


@algorithm("reduce_scatter", time="bidirectional_ring_reduce_scatter_time", wires="link")
def bidirectional_ring_reduce_scatter(rank: int, n: int, x: Array) -> Program:
    """Sums from both sides. Rounds n//2; bytes per rank (n - 1)/n * S, over two links."""
    yield from sum_both_ways(rank, n, block := blocks(x, n))
    return block[rank]


@algorithm("all_reduce", time="bidirectional_ring_allreduce_time", wires="link")
def bidirectional_ring_allreduce(rank: int, n: int, x: Array) -> Program:
    """Reduce-scatter, then all-gather, both ways round. Rounds 2(n//2); bytes per rank 2(n - 1)/n * S."""
    yield from bidirectional_ring_reduce_scatter(rank, n, x)
    return (yield from bidirectional_ring_allgather(rank, n, x))


# A line is a ring that is not closed: a slice of a torus without its wraparound


def pass_along(rank: int, n: int, block: list[Array]) -> Program:
    """Blocks go out to both ends; in round k come those of the ranks k + 1 to the left and to the right."""
    for k in range(n - 1):
        steps, into = [], []
        if rank < n - 1 and rank - k >= 0:
            steps.append(Step(block[rank - k], to=rank + 1))
        if rank > 0 and rank + k < n:
            steps.append(Step(block[rank + k], to=rank - 1))
        for neighbour, owner in ((rank - 1, rank - k - 1), (rank + 1, rank + k + 1)):
            if 0 <= owner < n:
                steps.append(Step(frm=neighbour))
                into.append(block[owner])
        arrived = yield steps
        for view, got in zip(into, arrived[len(steps) - len(into) :], strict=True):
            view[:] = got


def sum_along(rank: int, n: int, block: list[Array]) -> Program:
    """The same backwards: sums start at the ends and come in to the owners of their blocks."""
    for k in reversed(range(n - 1)):
        steps, into = [], []
        for neighbour, owner in ((rank - 1, rank - k - 1), (rank + 1, rank + k + 1)):
            if 0 <= owner < n:
                steps.append(Step(block[owner], to=neighbour))
        if rank < n - 1 and rank - k >= 0:
            steps.append(Step(frm=rank + 1))
            into.append(block[rank - k])
        if rank > 0 and rank + k < n:
            steps.append(Step(frm=rank - 1))
            into.append(block[rank + k])
        arrived = yield steps
        for view, got in zip(into, arrived[len(steps) - len(into) :], strict=True):
            view[:] += got


@algorithm("all_gather", time="line_allgather_time", wires="link")
def line_allgather(rank: int, n: int, x: Array) -> Program:
    """Both ways along a line. Rounds n - 1, twice those of the closed ring: the ends wait for each other."""
    yield from pass_along(rank, n, blocks(x, n))
    return x


@algorithm("reduce_scatter", time="line_allgather_time", wires="link")
def line_reduce_scatter(rank: int, n: int, x: Array) -> Program:
    """From both ends of a line. Rounds n - 1, as the all-gather, which it is backwards."""
    yield from sum_along(rank, n, block := blocks(x, n))
    return block[rank]
