"""First-order times for many ranks and large arrays, as for mental arithmetic: (n - 1)/n is taken as 1.

At eight ranks that is 14 % too much, so say whether an answer is exact or to first order.
"""

from hwlib.formula import formula


@formula("t", cite="scaling-book")
def allgather_limit(S, W):
    """Every byte must enter through the port; the number of ranks cancels. A reduce-scatter takes as long."""
    return S / W


@formula("t", cite="scaling-book")
def allreduce_limit(S, W):
    """A reduce-scatter and an all-gather: twice the bytes, whatever the number of ranks."""
    return 2 * S / W


@formula("t", cite="scaling-book")
def alltoall_limit(n, S, W):
    """A rank has S/n bytes to send, nearly all of them to others: n ports share the work."""
    return S / (n * W)


@formula("t", cite="scaling-book")
def bidirectional_ring_allgather_limit(S, W):
    """Half of the blocks come from either side, over two links."""
    return S / (2 * W)


@formula("t", cite="scaling-book")
def bidirectional_ring_alltoall_limit(S, W):
    """A quarter of the bidirectional all-gather: a block goes only as far as it must, n/4 hops on average."""
    return S / (8 * W)
