"""Tensor parallelism in letters: tp ranks share every matrix of a layer, and B tokens.

B are the tokens that go through the tp ranks together. A block, attention or MLP, is two products: the first
splits its columns, the second its rows, and sums. With sequence parallelism the sum is a reduce-scatter, and a
gather comes before the block: the same bytes in the forward pass.

A collective and the product beside it can be cut in pieces that follow one another: `split_time`.
"""

from hwlib.collectives import allgather_bytes, allreduce_bytes
from hwlib.formula import formula, maximum


@formula("S_out", cite="shoeybi2019")
def tp_block_bytes(B, D, tp, b=2):
    """Of one block and one pass: an all-reduce of the activations. Backward it is the gradient of the input."""
    return allreduce_bytes(tp, b * B * D)


@formula("S_out", cite="shoeybi2019")
def tp_layer_bytes(B, D, tp, b=2):
    """Of a layer, forward and backward: four all-reduces."""
    return 4 * tp_block_bytes(B, D, tp, b)


@formula("S_out", cite="korthikanti2022")
def sp_layer_bytes(B, D, tp, b=2):
    """With sequence parallelism: four gathers and four scatters, and two gathers more in the backward pass.

    The input of a block is kept in shares, and gathered again for the gradient of the weights.
    """
    return tp_layer_bytes(B, D, tp, b) + 2 * allgather_bytes(tp, b * B * D)


@formula("t", cite="scaling-book")
def tp_block_time(B, D, tp, W, b=2):
    """Time of one block's communication in one pass, bandwidth only."""
    return tp_block_bytes(B, D, tp, b) / W


@formula("t", cite="scaling-book")
def tp_math_time(B, D, F, tp, C, matrices=2):
    """Forward pass of one MLP on tp ranks."""
    return 2 * matrices * B * D * F / (tp * C)


@formula("tp", cite="scaling-book")
def tp_limit(F, C, W, b=2, matrices=2):
    """Degree from which the forward pass of an MLP waits for the network: tokens and width drop out."""
    return matrices * F * W / (b * C)


@formula("tp", cite="scaling-book")
def tp_exact_limit(F, C, W, b=2, matrices=2):
    """The same for finite tp, whose ranks keep 1/tp of what they sum: one more."""
    return 1 + tp_limit(F, C, W, b, matrices)


@formula("tp", cite="scaling-book")
def tp_backward_limit(F, C, W, b=2, matrices=2):
    """Backward: twice the operations, and again one all-reduce. With the second gather of sequence parallelism it is
    two thirds of this.
    """
    return 2 * tp_limit(F, C, W, b, matrices)


@formula("tp", cite="scaling-book")
def tp_nodes_limit(F, n_in, C, W_out, b=2, matrices=2):
    """Over several nodes: what must cross leaves one node's share at home. W_out is one rank's cable.

    With tp/n_in nodes, each lacks (tp - n_in)/tp of the activations: a node more than the bound of the network.
    """
    return n_in + tp_limit(F, C, n_in * W_out, b, matrices)


@formula("F_crit", cite="scaling-book")
def tp_critical_width(tp, C, W, b=2, matrices=2):
    """Width of the MLP from which tp ranks are bound by arithmetic."""
    return tp * b * C / (matrices * W)


def shared_and_fixed_times(one: float, several: float, tp: int) -> tuple[float, float]:
    """Seconds of a step that ranks share evenly, and those that each does in full: from the time of one rank, and from
    that of tp ranks without their collectives.

    >>> shared_and_fixed_times(10.0, 4.0, 4)
    (8.0, 2.0)
    """
    shared = (one - several) * tp / (tp - 1)
    return shared, one - shared


@formula("t", cite="wang2023")
def split_time(t_math, t_comm, m, t0):
    """A gather and the product that needs it, or a product and the scatter of its sum, in m pieces that follow one
    another: the first piece is seen, each further one takes as long as the longer of the two, and each costs a launch.
    """
    return (t_comm + t_math + (m - 1) * maximum(t_comm, t_math)) / m + m * t0
