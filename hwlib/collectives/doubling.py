"""Exchanges between ranks at distances 1, 2, 4, ...: few rounds, each with a partner farther away.

Exact for blocks of equal size. If n does not divide N elements, take S = `padded_bytes`; that is
exact from N = n elements on, because then there are as many full blocks as the largest message holds.
"""

from hwlib.arguments import as_int
from hwlib.formula import ceil, floor, formula, log2, where


@formula("t", cite="thakur2005")
def halving_reduce_scatter_time(n, S, alpha, W):
    """Exchange half with the farthest rank, then a quarter, and so on: (n - 1)/n of S in log2(n) rounds.

    The exchange itself needs a power of two; the mirror image of Bruck's all-gather takes this long for any n.
    """
    return ceil(log2(n)) * alpha + (n - 1) / n * (S / W)


@formula("t", cite="thakur2005")
def doubling_allgather_time(n, S, alpha, W):
    """Exchange all blocks held so far with the rank at distance 1, then 2, then 4, and so on.

    The exchange needs a power of two; for any other n, Bruck's all-gather takes this long.
    """
    return ceil(log2(n)) * alpha + (n - 1) / n * (S / W)


@formula("t", cite="rabenseifner2004")
def paired_allreduce_time(n, S, alpha, W):
    """Halving and doubling among a power of two of ranks: two rounds for each bit of a rank's number, a ring's bytes.

    Ranks beyond a power of two cost more: `halving_doubling_allreduce_time`.
    """
    return 2 * log2(n) * alpha + 2 * (n - 1) / n * (S / W)


@formula("t", cite="rabenseifner2004")
def halving_doubling_allreduce_time(n, S, alpha, W):
    """Reduce-scatter by halving, all-gather by doubling, among 2^k ranks, the largest power of two up to n.

    Each of the n - 2^k others first sends its whole buffer to a partner, and receives the whole result at the end.
    S is N*b where 2^k divides N, since blocks are N/2^k elements.
    """
    return (
        where(n > 2 ** floor(log2(n)), 2 * (alpha + S / W), 0)
        + 2 * floor(log2(n)) * alpha
        + 2 * (1 - 1 / 2 ** floor(log2(n))) * (S / W)
    )


@formula("t", cite="thakur2005")
def doubling_allreduce_time(n, S, alpha, W):
    """Exchange and add whole buffers at distances 1, 2, 4, ...: lowest latency, but S bytes every round.

    Ranks beyond the largest power of two send their buffer to a partner before, and receive the result after.
    Exact for any size: nothing is cut into blocks.
    """
    return (floor(log2(n)) + where(n > 2 ** floor(log2(n)), 2, 0)) * (alpha + S / W)


@formula("t", cite="bruck1997")
def bruck_allgather_time(n, S, alpha, W):
    """Round j sends the first 2^j blocks held to the rank 2^j before, for any n; the last round sends the rest."""
    return ceil(log2(n)) * alpha + (n - 1) / n * (S / W)


@formula("t", cite="bruck1997")
def bruck_alltoall_bound_time(n, S, alpha, W):
    """log2(n) rounds of half of a rank's S/n bytes: fewer messages than n - 1, for log2(n)/2 times the bytes.

    Exact where n is a power of two, an upper bound elsewhere; `bruck_alltoall_time` counts the blocks.
    """
    return ceil(log2(n)) * (alpha + S / (2 * n * W))


def bruck_alltoall_time(n: int, S: float, alpha: float, W: float) -> float:
    """Exact for any n and equal blocks: round j sends the blocks of S/n^2 bytes whose distance has bit j set.

    The number of these blocks has no closed form in n, so this is a plain function. Raises ValueError as
    `bruck_alltoall_bound_time` does, and for a number of ranks that is not an integer.
    """
    bruck_alltoall_bound_time(n, S, alpha, W)  # checks the other arguments
    n = as_int("bruck_alltoall_time: n (ranks in the group)", n)
    rounds = [sum(distance >> j & 1 for distance in range(n)) for j in range((n - 1).bit_length())]
    return sum(alpha + blocks * S / n**2 / W for blocks in rounds)
