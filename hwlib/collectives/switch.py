"""Reduction and multicast in the switch: SHARP in a network, NVLS in an NVSwitch.

The switch is not a rank: the ports that count are those of the n ranks. Buffers pass through it in m chunks, up
and down at the same time, so the time is that of a pipeline: m + 1 rounds of a chunk. Exact where m (and, where
blocks are S/n bytes, m*n) divides the elements.
"""

from hwlib.formula import formula, where


@formula("t", cite="graham2016")
def switch_allreduce_time(n, S, alpha, W, m):
    """Every rank sends its S bytes up once and gets the sum of S bytes down once, chunk by chunk.

    Up and down overlap except for the first and the last chunk: many chunks approach S/W for any n, where
    a ring takes 2(n - 1)/n times as long.
    """
    return where(n > 1, (m + 1) * (alpha + S / (m * W)), 0)


@formula("t", cite="nccl-1083")
def switch_reduce_scatter_time(n, S, alpha, W, m):
    """A rank sends all S bytes up and receives S/n down, so the upward direction decides, and reducing in the switch
    saves no time over a ring; only the last round, a chunk's S/(m*n) down, comes after it.
    """
    return where(n > 1, (m + 1) * alpha + S / W + S / (m * n * W), 0)


@formula("t", cite="nccl-1083")
def switch_allgather_time(n, S, alpha, W, m):
    """A rank sends S/n up once and the switch copies it to all: S bytes down to each rank, nearly as in a ring."""
    return where(n > 1, (m + 1) * alpha + S / W + S / (m * n * W), 0)


@formula("t", cite="nccl-1083")
def nvls_allreduce_time(n, S, alpha, W, m):
    """In an NVSwitch a rank requests the sum of its own block, and then has the switch copy the result to all.

    The finished blocks of S/n pass the ports once more than in SHARP: (n + 1)/n of S each way, which many
    chunks approach. A chunk takes four steps in sequence; exact from three chunks on, an upper bound below.
    """
    return where(n > 1, (m + 3) * (alpha + S / (m * W)) + (m - 1) * S / (m * n * W), 0)


# Many chunks: what bandwidth alone allows


@formula("t", cite="scaling-book")
def switch_allreduce_limit(S, W):
    """The port carries each byte up once and, at the same time, down once: S/W, for any number of ranks."""
    return S / W


@formula("t", cite="nccl-1083")
def nvls_allreduce_limit(n, S, W):
    """S bytes of data and S/n bytes of finished sums pass every port, each way."""
    return (n + 1) / n * (S / W)


@formula("speedup", cite="scaling-book")
def switch_allreduce_speedup(n):
    """Speedup of reducing in the switch over a ring, which passes 2(n - 1)/n of S through every port."""
    return 2 * (n - 1) / n


@formula("speedup", cite="nccl-1083")
def nvls_allreduce_speedup(n):
    """Speedup of NVLS over a ring: its ports carry (n + 1)/n of S, so it breaks even with three ranks only."""
    return 2 * (n - 1) / (n + 1)
