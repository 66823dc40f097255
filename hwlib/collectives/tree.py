"""Trees: the number of ranks that hold the data doubles every round. Best where latency dominates.

Broadcast, reduce and their combinations are exact for any size. Gather, scatter and the broadcast built on
them are exact where all n blocks have equal size.
"""

from hwlib.formula import ceil, floor, formula, log2, where


@formula("t", cite="chan2007")
def binomial_broadcast_time(n, S, alpha, W):
    """Every rank that has the data sends it on, so ceil(log2(n)) rounds reach all, each with all S bytes."""
    return ceil(log2(n)) * (alpha + S / W)


@formula("t", cite="chan2007")
def binomial_reduce_time(n, S, alpha, W):
    """The broadcast in reverse: sums of S bytes are added pairwise until one rank has the total."""
    return ceil(log2(n)) * (alpha + S / W)


@formula("t", cite="chan2007")
def binomial_gather_time(n, S, alpha, W):
    """The root receives 1, 2, 4, ... blocks of S/n bytes: all but its own, in ceil(log2(n)) rounds."""
    return ceil(log2(n)) * alpha + (n - 1) / n * (S / W)


@formula("t", cite="chan2007")
def binomial_scatter_time(n, S, alpha, W):
    """The gather in reverse: the root sends half of the blocks to one rank, then a quarter to another, and so on."""
    return ceil(log2(n)) * alpha + (n - 1) / n * (S / W)


@formula("t", cite="chan2007")
def tree_allreduce_time(n, S, alpha, W):
    """Reduce to one rank, then broadcast from it: few rounds, but all S bytes in each."""
    return 2 * ceil(log2(n)) * (alpha + S / W)


@formula("t", cite="chan2007")
def scatter_allgather_broadcast_time(n, S, alpha, W):
    """Broadcast of a large array: a binomial scatter, then a ring all-gather; about 2S/W for any n."""
    return (ceil(log2(n)) + n - 1) * alpha + 2 * (n - 1) / n * (S / W)


@formula("t", cite="sanders2009")
def chain_broadcast_time(n, S, alpha, W, m):
    """Ranks in a line forward m chunks: chunk m leaves after m - 1 others and has n - 1 hops to go.

    Exact where m divides the elements.
    """
    return where(n > 1, (n + m - 2) * (alpha + S / (m * W)), 0)


@formula("t", cite="sanders2009")
def double_tree_allreduce_time(n, S, alpha, W, m):
    """Each half of the buffer, in m chunks, is summed up a binary tree and copied down it, both trees at once.

    A rank inside one tree is a leaf of the other, so that each round fills every port: two chunks of S/(2m).
    Many chunks approach 2S/W, as a ring does, in a number of rounds that grows with log2(n) only. With n a
    power of two the deepest level is one rank, so that the last round down carries one chunk (with four ranks
    the first round up as well; two ranks always send one chunk per round). Exact for trees numbered like
    a heap, from two chunks on, where 2m divides the elements. Otherwise an upper bound: with one chunk, or for
    N elements that 2m does not divide, if S is the padded size 2m*ceil(ceil(N/2)/m)*b.
    """
    return where(
        n > 2,
        2 * (floor(log2(n)) + m - 1) * (alpha + S / (m * W))
        - where(n > 2 ** floor(log2(n)), 0, where(n > 4, S / (2 * m * W), S / (m * W))),
        where(n > 1, 2 * m * alpha + S / W, 0),
    )
