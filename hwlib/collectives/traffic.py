"""Traffic: bytes per rank and per switch, and the factors that make bandwidths comparable.

The bandwidth that a benchmark prints is a definition. nccl-tests multiplies S/t by what a ring would send, so
that the result is comparable with the port's bandwidth for any n. Where the switch reduces, no ring is used:
480 GB/s of "bus bandwidth" over a port of 450 GB/s are 309 GB/s of bytes that really cross it.
"""

from typing import Any

from hwlib.formula import ceil, formula, log2, maximum
from hwlib.notation import COLLECTIVES


@formula("S", cite="thakur2005")
def padded_bytes(N, n, b=2):
    """Size of N elements in n blocks of ceil(N/n): a shorter last block saves no time, so it counts as full."""
    return n * ceil(N / n) * b


# What a rank must send, and what it sends


@formula("S_out", cite="chan2007")
def allgather_bytes(n, S):
    """What a rank sends, and receives, in an all-gather: all blocks but one. No algorithm receives less.

    Ring, exchange and direct algorithms send this, in an all-gather as in a reduce-scatter.
    """
    return (n - 1) / n * S


@formula("S_out", cite="chan2007")
def allreduce_bytes(n, S):
    """Reduce-scatter and all-gather: the least that ranks can send if no switch reduces for them."""
    return 2 * (n - 1) / n * S


@formula("S_out", cite="chan2007")
def alltoall_bytes(n, S):
    """A rank keeps one of the n blocks of its S/n bytes and sends the others."""
    return (n - 1) / n**2 * S


@formula("S_out", cite="scaling-book")
def ring_alltoall_bytes(n, S):
    """Blocks for others travel through a rank: n/2 hops each on average, so half of an all-gather's bytes."""
    return (n - 1) / (2 * n) * S


@formula("S_out", cite="chan2007")
def tree_root_bytes(n, S):
    """What the root of a binomial broadcast sends: the whole array in every round."""
    return ceil(log2(n)) * S


@formula("S_out", cite="chan2007")
def one_shot_allreduce_bytes(n, S):
    """Every rank sends its whole buffer to every other."""
    return (n - 1) * S


@formula("S_out", cite="nccl-1083")
def nvls_allreduce_bytes(n, S):
    """Bytes through a rank's port with NVLS, each way: S of data and S/n of finished sums."""
    return (n + 1) / n * S


# Through the switch of a node of n_in ranks, one of n_out


@formula("S_in", cite="scaling-book")
def node_switch_allgather_in_bytes(n_out, S):
    """Into the switch: the blocks of its own ranks once, and those of all other nodes once. That is S."""
    return S / n_out + S * (n_out - 1) / n_out


@formula("S_out", cite="scaling-book")
def node_switch_allgather_out_bytes(n_in, n_out, S):
    """Out of the switch: the node's blocks to the network, and to each rank the blocks it lacks: n_in * S in total."""
    return S / n_out + (n_in * S - S / n_out)


@formula("S_in", cite="scaling-book")
def switch_allreduce_in_bytes(n, S):
    """Into a switch that reduces, if a rank keeps its own part: of each block the parts of n - 1 ranks, and the sum.

    As many bytes go out: n * S, which n ports of W carry in S/W.
    """
    return (n - 1) * S + S


@formula("S_in", cite="nccl-1083")
def nvls_switch_allreduce_in_bytes(n, S):
    """Into the switch with NVLS, which also reads the requesting rank's own block: (n + 1) * S, and as much out."""
    return n * S + S


# Bandwidths that can be compared


def bus_factor(collective: str, n: Any) -> Any:
    """The factor by which nccl-tests multiplies S/t: the bytes through a port of a ring, as a fraction of S.

    S is the array as that benchmark counts it: for an all-to-all one rank's data, not that of all ranks.
    Raises KeyError for an unknown collective and ValueError for less than one rank.
    """
    if collective not in COLLECTIVES:
        raise KeyError(f"bus_factor: collective is one of {', '.join(COLLECTIVES)}, got {collective!r}")
    if collective == "all_reduce":
        return allreduce_bytes(n, 1.0)
    share = allgather_bytes(n, 1.0)
    return 1.0 if collective in ("broadcast", "reduce", "send") else share


@formula("q", cite="nccl-tests-239")
def nvls_bus_factor(n):
    """The factor from S/t to the bytes per second through a port of an NVLS all-reduce."""
    return (n + 1) / n


@formula("W_alg", cite="nccl-tests-239")
def nvls_algorithm_bandwidth(n, W):
    """The best S/t of an NVLS all-reduce over ports of bandwidth W: n/(n + 1) of W."""
    return n / (n + 1) * W


@formula("W_use", cite="nccl-tests-239")
def nvls_port_bandwidth(n, W_bus):
    """Bytes per second that really cross a port, from the printed bus bandwidth of an NVLS all-reduce.

    The printed figure is 2(n - 1)/n of S/t; the port carries (n + 1)/n of S/t. Needs at least two ranks.
    """
    return W_bus * (n + 1) / (2 * maximum(n - 1, 1 / 2))
