"""Rings: every rank sends to the next one round by round, so each link carries the least bytes there can be.

All times are exact for blocks of one size. For N elements of b bytes that do not divide, S is the padded size
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

    The farthest block has half the ring to go. With n even it comes from one side only, so that the last
    round uses one direction; the latency is halved, the bandwidth term nearly.
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
    """Every rank passes on what is not for it: n - 1 blocks of S/n^2 bytes, then n - 2, down to one.

    That sum is n/2 blocks a round on average: half the bytes of the all-gather of the same array.
    """
    return (n - 1) * (alpha + S / (2 * n * W))


@formula("t", cite="scaling-book")
def bidirectional_ring_alltoall_time(n, S, alpha, W):
    """Each block takes the shorter way: h = ceil((n - 1)/2) rounds of h, h - 1, ..., 1 blocks of S/n^2 bytes.

    In a long ring that is a quarter of the bidirectional all-gather of the same array; exactly, (n + 1)/(4n)
    of it for odd n, and (n + 2)/(4n) for even n, whose opposite block goes one way whole.
    """
    return ceil((n - 1) / 2) * alpha + ceil((n - 1) / 2) * (ceil((n - 1) / 2) + 1) / 2 * S / (n**2 * W)


@formula("t", cite="scaling-book")
def line_allgather_time(n, S, alpha, W):
    """A ring that is not closed: blocks go both ways, and the ends wait for the block of the other end.

    n - 1 hops where a closed ring of two directions has half as many: what a slice of a torus without
    wraparound costs. A reduce-scatter takes as long.
    """
    return (n - 1) * (alpha + S / (n * W))
