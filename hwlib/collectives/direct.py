"""Direct exchange: every rank sends to every other at once, through its one port of bandwidth W.

The bytes are those of a ring, in one or two rounds: what a full crossbar (an NVSwitch) makes possible.
Bruck et al. (1997) count rounds with any number of ports; here all messages of a rank share one port's W.
Times with blocks of S/n bytes are exact for S = `padded_bytes`, gather and scatter for blocks of equal size, and
algorithms that move whole buffers for any size.
"""

from hwlib.formula import formula, where


@formula("t", cite="bruck1997")
def direct_allgather_time(n, S, alpha, W):
    """A rank sends its block to n - 1 others and receives theirs: (n - 1)/n of S through its port, each way."""
    return where(n > 1, alpha + (n - 1) / n * (S / W), 0)


@formula("t", cite="bruck1997")
def direct_reduce_scatter_time(n, S, alpha, W):
    """A rank sends each other rank the block that it will own, and adds the n - 1 blocks that arrive."""
    return where(n > 1, alpha + (n - 1) / n * (S / W), 0)


@formula("t", cite="nvidia-multishot")
def direct_allreduce_time(n, S, alpha, W):
    """Two shots: reduce-scatter, then all-gather, one round each, with the bytes of a ring."""
    return where(n > 1, 2 * (alpha + (n - 1) / n * (S / W)), 0)


@formula("t", cite="nvidia-multishot")
def one_shot_allreduce_time(n, S, alpha, W):
    """One shot: every rank sends its whole buffer to all and adds all: n/2 times the bytes, half the rounds."""
    return where(n > 1, alpha + (n - 1) * S / W, 0)


@formula("t", cite="bruck1997")
def direct_alltoall_time(n, S, alpha, W):
    """All n - 1 blocks of S/n^2 bytes leave at once."""
    return where(n > 1, alpha + (n - 1) / n**2 * (S / W), 0)


@formula("t", cite="thakur2005")
def pairwise_alltoall_time(n, S, alpha, W):
    """In round r a rank sends to the one r after it and receives from the one r before it."""
    return (n - 1) * (alpha + S / (n**2 * W))


@formula("t", cite="chan2007")
def direct_gather_time(n, S, alpha, W):
    """Every rank sends its block to the root at once: the root's port is the bottleneck."""
    return where(n > 1, alpha + (n - 1) / n * (S / W), 0)


@formula("t", cite="chan2007")
def direct_scatter_time(n, S, alpha, W):
    """The root sends n - 1 different blocks at once."""
    return where(n > 1, alpha + (n - 1) / n * (S / W), 0)


@formula("t", cite="chan2007")
def direct_broadcast_time(n, S, alpha, W):
    """The root sends the same S bytes n - 1 times: one round, and the worst use of its port."""
    return where(n > 1, alpha + (n - 1) * S / W, 0)


@formula("t", cite="chan2007")
def direct_reduce_time(n, S, alpha, W):
    """Every rank sends its whole buffer to the root, which adds n - 1 of them."""
    return where(n > 1, alpha + (n - 1) * S / W, 0)
