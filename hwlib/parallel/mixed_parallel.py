"""FSDP and tensor parallelism together, in letters: dp * tp = n ranks, one MLP, one pass.

More dp means fewer tokens a rank, and so fewer activations to sum; more tp means fewer weights to gather. W_dp
and W_tp are the bandwidths of the two axes, b the bytes of a weight and of an activation.
"""

from hwlib.formula import formula, maximum, sqrt
from hwlib.parallel.data_parallel import dp_critical_batch


@formula("t", cite="scaling-book")
def mixed_dp_time(D, F, tp, W_dp, b=2, matrices=2):
    """Weights of a forward pass, each rank's tp-th of them, gathered along the data axis."""
    return matrices * b * D * F / (tp * W_dp)


@formula("t", cite="scaling-book")
def mixed_tp_time(B, D, dp, W_tp, b=2):
    """Activations of B/dp tokens, gathered before the block and scattered after it."""
    return 2 * b * B * D / (dp * W_tp)


@formula("t", cite="scaling-book")
def mixed_math_time(B, D, F, n, C, matrices=2):
    """The arithmetic of the same pass."""
    return 2 * matrices * B * D * F / (n * C)


@formula("dp", cite="scaling-book")
def best_dp(B, F, n, W_dp, W_tp, matrices=2):
    """The data-parallel degree at which both axes take equally long: least sum, and least maximum."""
    return sqrt(2 * B * n * W_dp / (matrices * F * W_tp))


@formula("tp", cite="scaling-book")
def best_tp(B, F, n, W_dp, W_tp, matrices=2):
    """The tensor-parallel degree that goes with it."""
    return n / best_dp(B, F, n, W_dp, W_tp, matrices)


@formula("t", cite="scaling-book")
def mixed_comm_time(B, D, F, n, W_dp, W_tp, b=2, matrices=2):
    """One axis at the best mix: the time of both if they move at once, half of it if they do not."""
    return b * D * sqrt(2 * matrices * B * F / (n * W_dp * W_tp))


@formula("t", cite="scaling-book")
def mixed_time(B, D, F, n, C, W_dp, W_tp, b=2, matrices=2):
    """A pass at the best mix if everything overlaps: arithmetic, and both axes."""
    return maximum(mixed_math_time(B, D, F, n, C, matrices), mixed_comm_time(B, D, F, n, W_dp, W_tp, b, matrices))


@formula("B_crit", cite="scaling-book")
def mixed_critical_batch(F, C, W_dp, W_tp, b=2, matrices=2):
    """Tokens of a rank from which the best mix hides, if both axes move at once."""
    return b**2 * C**2 / (2 * matrices * F * W_dp * W_tp)


@formula("B_crit", cite="scaling-book")
def mixed_serial_critical_batch(F, C, W_dp, W_tp, b=2, matrices=2):
    """If one axis waits for the other, the time doubles, and the bound grows by four, for it goes with the square."""
    return 4 * mixed_critical_batch(F, C, W_dp, W_tp, b, matrices)


@formula("n", cite="scaling-book")
def mixed_max_ranks(B, F, C, W_dp, W_tp, b=2, matrices=2):
    """The most ranks that B tokens keep busy, both axes at once."""
    return B / mixed_critical_batch(F, C, W_dp, W_tp, b, matrices)


@formula("B_crit", cite="scaling-book")
def split_critical_batch(C, W, pp=1, tp=1, b_g=2):
    """Tokens of a rank for data parallelism over a level W wide, if tp * pp ranks share the model.

    W is that of one rank: each sends 1/(tp*pp) of the gradients for the tokens of all tp*pp. Where W is a node's
    whole egress, tp inside that node is in it already and stays 1.
    """
    return dp_critical_batch(C, W, b_g) / (tp * pp)


@formula("t", cite="scaling-book")
def exposed_time(t_comm, t_math, hide=1):
    """What of the communication nothing hides: `hide` is the share of the arithmetic that it may run beside."""
    return maximum(t_comm - hide * t_math, 0)


@formula("t", cite="scaling-book")
def overlapped_time(t_comm, t_math, hide=1):
    """The arithmetic, and what communication is left over."""
    return t_math + exposed_time(t_comm, t_math, hide)
