"""What ranks say to each other while they decode, in letters: activations move, weights and caches stay.

What no chapter calls yet is for chapter 15.
"""

from hwlib.collectives import alltoall_bytes, direct_allreduce_time
from hwlib.formula import formula, sqrt


@formula("t", cite="pope2022")
def tensor_decode_time(L, B, D, n, alpha, W, b=2):
    """Two all-reduces a layer, of B rows of D: few bytes, so their latency counts most."""
    return 2 * L * direct_allreduce_time(n, b * B * D, alpha, W)


@formula("n", cite="scaling-book")
def tensor_ranks_limit(F, C, W, b=2):
    """Ranks that can share an MLP before gathering and scattering its b bytes of activations, 2bBD/W, takes longer than
    its 4BDF/n operations: the batch drops out. W is that of all links of a rank together.
    """
    return 2 * F * W / (b * C)


@formula("t", cite="pope2022")
def batch_cache_time(L, B, n_q, H, n, W, b=2):
    """Where there are fewer key-value heads than ranks, a cache is cut by sequences: queries go to its rank, and what
    attention gives comes back, two all-to-alls a layer.
    """
    return 2 * L * alltoall_bytes(n, b * B * n_q * H) / W


@formula("bytes", cite="zhao2025")
def expert_decode_bytes(B, D, k, b_disp=1, b_comb=2):
    """What one rank sends and gets back for one layer: each of its B tokens goes to k experts and comes back.

    Nothing is saved where two experts of a token live on one rank or node.
    """
    return B * D * k * (b_disp + b_comb)


@formula("t", cite="zhao2025")
def expert_decode_time(L, B, D, k, W, b_disp=1, b_comb=2):
    """Dispatch and combine of L layers with experts, at the full bandwidth of a rank."""
    return L * expert_decode_bytes(B, D, k, b_disp, b_comb) / W


@formula("t", cite="zhao2025")
def two_batch_step_time(L, B, D, k, W, b_disp=1, b_comb=2):
    """A step where two microbatches of B tokens take turns: one is sent while the other computes, and computing takes
    no longer. The network alone decides, and each token waits for the exchanges of both.
    """
    return 2 * expert_decode_time(L, B, D, k, W, b_disp, b_comb)


@formula("t", cite="scaling-book")
def stationary_1d_time(B, D, W, b=2):
    """Activations of one MLP when only F is cut, over three axes of a torus, each link of W both ways together:
    gathered before, scattered after, however many ranks there are.
    """
    return 2 * b * B * D / (3 * W)


@formula("t", cite="pope2022")
def stationary_2d_time(B, D, F, n, n_D, W, b=2):
    """Activations of one MLP when D is cut among n_D ranks and F among n/n_D: the more ranks, the fewer bytes."""
    return b * B * D / (n_D * W) + 2 * b * B * F * n_D / (n * W)


@formula("n_D", cite="pope2022")
def best_width_ranks(D, F, n):
    """Ranks for D such that both terms are alike: sqrt(n/8) where F = 4D."""
    return sqrt(n * D / (2 * F))


@formula("n", cite="scaling-book")
def stationary_2d_ranks(D, F):
    """Ranks from which on cutting both D and F sends less than cutting F alone: 72 where F = 4D."""
    return 18 * F / D
