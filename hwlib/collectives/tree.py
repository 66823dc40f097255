"""Trees: the number of ranks that hold the data doubles every round. Best where latency is the cost.

Broadcast, reduce and what is made of them are exact for any size. Gather, scatter and the broadcast built on
them are exact where all n blocks have one size.
"""

from hwlib.formula import ceil, formula, log2, where


@formula("t", cite="chan2007")
def binomial_broadcast_time(n, S, alpha, W):
    """Every rank that has the data sends it on, so ceil(log2(n)) rounds reach all, each with all S bytes."""
    return ceil(log2(n)) * (alpha + S / W)


@formula("t", cite="chan2007")
def binomial_reduce_time(n, S, alpha, W):
    """The broadcast backwards: sums of S bytes meet pairwise until one rank has the total."""
    return ceil(log2(n)) * (alpha + S / W)


@formula("t", cite="chan2007")
def binomial_gather_time(n, S, alpha, W):
    """The root receives 1, 2, 4, ... blocks of S/n bytes: all but its own, in ceil(log2(n)) rounds."""
    return ceil(log2(n)) * alpha + (n - 1) / n * (S / W)


@formula("t", cite="chan2007")
def binomial_scatter_time(n, S, alpha, W):
    """The gather backwards: the root sends half of the blocks to its deputy first, then a quarter, and so on."""
    return ceil(log2(n)) * alpha + (n - 1) / n * (S / W)


@formula("t", cite="chan2007")
def tree_allreduce_time(n, S, alpha, W):
    """Reduce to one rank, then broadcast from it: few rounds, but all S bytes in each."""
    return 2 * ceil(log2(n)) * (alpha + S / W)


@formula("t", cite="chan2007")
def scatter_allgather_broadcast_time(n, S, alpha, W):
    """Broadcast of a large array: a binomial scatter, then a ring all-gather; two S over W, whatever n is."""
    return (ceil(log2(n)) + n - 1) * alpha + 2 * (n - 1) / n * (S / W)


@formula("t", cite="chan2007")
def chain_broadcast_time(n, S, alpha, W, m):
    """Ranks in a line pass on m chunks: chunk m leaves after m - 1 others and has n - 1 hops to go.

    Exact where m divides the elements.
    """
    return where(n > 1, (n + m - 2) * (alpha + S / (m * W)), 0)
