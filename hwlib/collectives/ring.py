"""Rings: every rank sends to the next one round by round, so each link carries the minimal number of bytes.

All times are exact for blocks of equal size. If n does not divide N elements of b bytes, S is the padded size
n*ceil(N/n)*b (`padded_bytes`): block 0 is always full and is on some link in every round. The two all-to-alls
bundle blocks, so they are exact where only the last block is shorter than the others.
"""

from hwlib.formula import ceil, formula


@formula("t", cite="thakur2005")
def ring_reduce_scatter_time(n, S, alpha, W):
    """Each of n - 1 rounds passes one partial sum of S/n bytes to the next rank, which adds its own share."""
    return (n - 1) * (alpha + S / (n * W))


@formula("t", cite="thakur2005")
def ring_allgather_time(n, S, alpha, W):
    """Each of n - 1 rounds passes on the block that arrived in the round before."""
    return (n - 1) * (alpha + S / (n * W))


@formula("t", cite="thakur2005")
def ring_allreduce_time(n, S, alpha, W):
    """Reduce-scatter, then all-gather: n - 1 rounds each, S/n bytes a round."""
    return 2 * (n - 1) * (alpha + S / (n * W))


@formula("t", cite="scaling-book")
def bidirectional_ring_allgather_time(n, S, alpha, W):
    """Whole blocks travel both ways at once; W is the bandwidth of a link in one direction.

    The farthest block crosses half the ring. With n even it arrives from one side only, so that the last
    round uses one direction; the latency is halved, and the bandwidth term nearly so.
    """
    return ceil((n - 1) / 2) * (alpha + S / (n * W))


@formula("t", cite="scaling-book")
def bidirectional_ring_reduce_scatter_time(n, S, alpha, W):
    """Two partial sums approach the owner of a block, from both sides; W is a link's, in one direction."""
    return ceil((n - 1) / 2) * (alpha + S / (n * W))


@formula("t", cite="scaling-book")
def bidirectional_ring_allreduce_time(n, S, alpha, W):
    """Reduce-scatter both ways round, then all-gather both ways round."""
    return 2 * ceil((n - 1) / 2) * (alpha + S / (n * W))


@formula("t", cite="scaling-book")
def ring_alltoall_time(n, S, alpha, W):
    """Every rank forwards what is not for it: n - 1 blocks of S/n^2 bytes, then n - 2, down to one.

    That sum is n/2 blocks a round on average: half the bytes of the all-gather of the same array.
    """
    return (n - 1) * (alpha + S / (2 * n * W))


@formula("t", cite="scaling-book")
def bidirectional_ring_alltoall_time(n, S, alpha, W):
    """Each block takes the shorter way: h = ceil((n - 1)/2) rounds of h, h - 1, ..., 1 blocks of S/n^2 bytes.

    In a long ring that takes a quarter of the time of the bidirectional all-gather of the same array; the exact ratio
    is (n + 1)/(4n) for odd n, and (n + 2)/(4n) for even n, whose opposite block takes one direction undivided.
    """
    return ceil((n - 1) / 2) * alpha + ceil((n - 1) / 2) * (ceil((n - 1) / 2) + 1) / 2 * S / (n**2 * W)


@formula("t", cite="scaling-book")
def line_allgather_time(n, S, alpha, W):
    """An open ring: blocks go both ways, and each end waits for the block of the other end.

    n - 1 hops, where a closed bidirectional ring has half as many: the cost of a slice of a torus without
    wraparound. A reduce-scatter takes as long.
    """
    return (n - 1) * (alpha + S / (n * W))
