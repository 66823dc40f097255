"""Data parallelism in letters: dp ranks with a share of the batch each, from DDP to ZeRO-3 and HSDP.

P are the parameters that one rank of the other axes holds; bytes are those that a rank sends, and receives, in a
step. m counts the times that a step does it: once, or for every microbatch where nothing is kept in between. b_g are
the bytes of a gradient on its way; what is kept, `hwlib.footprint` says, in formulas such as `zero1_state_bytes`.
"""

from hwlib.collectives import allgather_bytes, allreduce_bytes
from hwlib.formula import formula, maximum

# Bytes of a step


@formula("S_out", cite="rajbhandari2020")
def dp_bytes(P, dp, b_g=2):
    """Every rank has all weights, and gradients are summed: one all-reduce."""
    return allreduce_bytes(dp, b_g * P)


@formula("S_out", cite="rajbhandari2020")
def zero1_bytes(P, dp, b=2, b_g=2):
    """A rank updates its share: gradients are reduce-scattered, new weights gathered. That is an all-reduce."""
    return allgather_bytes(dp, (b_g + b) * P)


@formula("S_out", cite="rajbhandari2020")
def zero2_bytes(P, dp, m=1, b=2, b_g=2):
    """Gradients are kept in shares too, so each microbatch's must be scattered before the next comes."""
    return allgather_bytes(dp, (m * b_g + b) * P)


@formula("S_out", cite="rajbhandari2020")
def zero3_bytes(P, dp, m=1, b=2, b_g=2):
    """Weights are gathered for the forward pass, and again for the backward one: half more than data parallelism."""
    return allgather_bytes(dp, m * (2 * b + b_g) * P)


@formula("S_out", cite="zhao2023")
def fsdp_kept_bytes(P, dp, m=1, b=2, b_g=2):
    """Weights stay gathered from forward to backward: the bytes of ZeRO-2 if the step is one microbatch."""
    return allgather_bytes(dp, m * (b + b_g) * P)


@formula("S_out", cite="zhao2023")
def hsdp_in_bytes(P, n_in, m=1, b=2, b_g=2):
    """Hybrid sharding: ZeRO-3 among the n_in ranks that share one copy."""
    return zero3_bytes(P, n_in, m, b, b_g)


@formula("S_out", cite="zhao2023")
def hsdp_out_bytes(P, n_in, n_out, b_g=2):
    """And an all-reduce of its share with the n_out - 1 ranks that hold the same one in other copies."""
    return allreduce_bytes(n_out, b_g * P / n_in)


# Times, and the batch from which on arithmetic decides


@formula("t", cite="scaling-book")
def dp_comm_time(P, dp, W, b_g=2):
    """Time of the gradients' all-reduce, bandwidth only."""
    return dp_bytes(P, dp, b_g) / W


@formula("t", cite="scaling-book")
def dp_backward_time(P, B, dp, C):
    """Four operations a parameter and token: what can hide the all-reduce."""
    return 4 * P * B / (dp * C)


@formula("t_step", cite="scaling-book")
def dp_step_time(P, B, n, n_out, C, W, b_g=2):
    """A forward pass; then the longer of the backward pass and the all-reduce between n_out nodes, each with W."""
    return 2 * P * B / (n * C) + maximum(dp_backward_time(P, B, n, C), dp_comm_time(P, n_out, W, b_g))


@formula("t", cite="rajbhandari2020")
def zero3_comm_time(P, dp, W, m=1, b=2, b_g=2):
    """Time of both gathers and the scatter, bandwidth only."""
    return zero3_bytes(P, dp, m, b, b_g) / W


@formula("t", cite="zhao2023")
def hsdp_comm_time(P, n_in, n_out, W_in, W_out, m=1, b=2, b_g=2):
    """Shards inside, copies outside, one after the other: the outer all-reduce needs the scattered sums."""
    return hsdp_in_bytes(P, n_in, m, b, b_g) / W_in + hsdp_out_bytes(P, n_in, n_out, b_g) / W_out


@formula("B_crit", cite="scaling-book")
def dp_critical_batch(C, W, b_g=2):
    """Tokens of a rank from which the backward pass hides the all-reduce: parameters and ranks drop out.

    ZeRO-3 and FSDP have the same bound, in either pass: a gather of b bytes against two operations a token.
    """
    return b_g * C / (2 * W)


@formula("B_crit", cite="scaling-book")
def dp_exact_critical_batch(dp, C, W, b_g=2):
    """The same for few ranks: two of them keep half of what they would send."""
    return (dp - 1) / dp * b_g * C / (2 * W)


@formula("B_crit", cite="scaling-book")
def dp_moe_critical_batch(E, k, C, W, b_g=2):
    """Gradients of all E experts are sent, but a token computes with k: the batch must grow by E/k."""
    return E / k * dp_critical_batch(C, W, b_g)


@formula("B_crit", cite="scaling-book")
def dp_moe_exact_critical_batch(dp, E, k, C, W, b_g=2):
    """The same for few ranks."""
    return E / k * dp_exact_critical_batch(dp, C, W, b_g)


@formula("B_crit", cite="zhao2023")
def hsdp_critical_batch(n_in, C, W_out, b_g=2):
    """Tokens of a rank from which copies outside hide under the backward pass: W_out is one rank's own cable.

    n_in cables of a node are one of n_in * W_out: sharding inside is what a hierarchical all-reduce does too.
    """
    return b_g * C / (2 * n_in * W_out)


@formula("n", cite="scaling-book")
def dp_max_ranks(B, C, W, b_g=2):
    """The most ranks that a batch of B tokens keeps busy."""
    return B / dp_critical_batch(C, W, b_g)
