"""Communication between ranks during decoding, as formulas: activations move, weights and caches stay."""

from hwlib.collectives import alltoall_bytes, direct_allreduce_time
from hwlib.formula import formula, sqrt


@formula("t", cite="pope2022")
def tensor_decode_time(L, B, D, n, alpha, W, b=2):
    """Two all-reduces per layer, of B rows of D: few bytes, so latency dominates."""
    return 2 * L * direct_allreduce_time(n, b * B * D, alpha, W)


@formula("n", cite="scaling-book")
def tensor_ranks_limit(F, C, W, b=2):
    """Ranks that can share an MLP until gathering and scattering its activations, 2bBD/W, takes longer than its 4BDF/n
    operations: the batch cancels. W is the bandwidth of all links of a rank together.
    """
    return 2 * F * W / (b * C)


@formula("t", cite="pope2022")
def batch_cache_time(L, B, n_q, H, n, W, b=2):
    """With fewer key-value heads than ranks, the cache is divided by sequences: queries go to its rank, and attention's
    output comes back, in two all-to-alls per layer.
    """
    return 2 * L * alltoall_bytes(n, b * B * n_q * H) / W


@formula("bytes", cite="zhao2025")
def expert_decode_bytes(B, D, k, b_disp=1, b_comb=2):
    """Bytes that one rank sends and receives for one layer: each of its B tokens goes to k experts and comes back.

    Tokens are not merged where two of their experts are on the same rank or node.
    """
    return B * D * k * (b_disp + b_comb)


@formula("t", cite="zhao2025")
def expert_decode_time(L, B, D, k, W, b_disp=1, b_comb=2):
    """Dispatch and combine of L layers with experts, at the full bandwidth of a rank."""
    return L * expert_decode_bytes(B, D, k, b_disp, b_comb) / W


@formula("t", cite="zhao2025")
def two_batch_step_time(L, B, D, k, W, b_disp=1, b_comb=2):
    """A step with two microbatches of B tokens in turn: one communicates while the other computes. If computing takes
    no longer, the network alone decides, and each token waits for the exchanges of both.
    """
    return 2 * expert_decode_time(L, B, D, k, W, b_disp, b_comb)


@formula("t", cite="scaling-book")
def stationary_1d_time(B, D, W, b=2):
    """Communication of one MLP when only F is split, over three axes of a torus, W being a link's bandwidth in both
    directions together: activations are gathered before and scattered after, for any number of ranks.
    """
    return 2 * b * B * D / (3 * W)


@formula("t", cite="pope2022")
def stationary_2d_time(B, D, F, n, n_D, W, b=2):
    """Communication of one MLP when D is split over n_D ranks and F over n/n_D: the more ranks, the fewer bytes."""
    return b * B * D / (n_D * W) + 2 * b * B * F * n_D / (n * W)


@formula("n_D", cite="pope2022")
def best_width_ranks(D, F, n):
    """The ranks for D that make both terms of `stationary_2d_time` equal: sqrt(n/8) for F = 4D."""
    return sqrt(n * D / (2 * F))


@formula("n", cite="scaling-book")
def stationary_2d_ranks(D, F):
    """Ranks from which on splitting both D and F sends less than splitting F alone: 72 for F = 4D."""
    return 18 * F / D
