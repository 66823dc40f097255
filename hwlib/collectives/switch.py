"""Reduction and multicast in the switch: SHARP in a network, NVLS in an NVSwitch.

The switch is no rank: the ports that count are those of the n ranks. Buffers go through it in m chunks, up
and down at once, so the time is that of the pipeline: m + 1 rounds of a chunk. Exact where m (and, where
blocks are S/n bytes, m*n) divides the elements.
"""

from hwlib.formula import formula, where


@formula("t", cite="graham2016")
def switch_allreduce_time(n, S, alpha, W, m):
    """Every rank sends its S bytes up once and gets the sum of S bytes down once, chunk by chunk.

    Up and down overlap but for the first and the last chunk: many chunks approach S/W, whatever n is, where
    a ring takes 2(n - 1)/n of it.
    """
    return where(n > 1, (m + 1) * (alpha + S / (m * W)), 0)


@formula("t", cite="graham2016")
def switch_reduce_scatter_time(n, S, alpha, W, m):
    """A rank sends all S bytes up and gets S/n down, so the way up decides, and the sum in the switch saves no
    time over a ring; only the last round, a chunk's S/(m*n) down, comes after it.
    """
    return where(n > 1, (m + 1) * alpha + S / W + S / (m * n * W), 0)


@formula("t", cite="graham2016")
def switch_allgather_time(n, S, alpha, W, m):
    """A rank sends S/n up once, the switch copies it to all: S bytes down, which is what a ring brings, too."""
    return where(n > 1, (m + 1) * alpha + S / W + S / (m * n * W), 0)
