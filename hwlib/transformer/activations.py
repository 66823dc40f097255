"""Activations that a layer keeps for the backward pass, as formulas: elements of two bytes, masks of one.

A microbatch is `micro` sequences of T tokens. The formulas of Korthikanti et al. are for GPT: F = 4D, dropout,
and attention that keeps its T x T scores. tp ranks share a layer; with sequence parallelism they also share the
activations outside the matrices. For any model and plan: `hwlib.footprint`.
"""

from hwlib.formula import const, formula, sqrt


@formula("S_act", cite="korthikanti2022")
def scores_bytes(T, micro, n_q, tp=1):
    """Softmax output and dropout output, two bytes each, and the mask, one: the part that grows with T^2."""
    return const(5, "B") * n_q * T**2 * micro / tp


@formula("S_act", cite="korthikanti2022")
def layer_activation_bytes(T, micro, D, n_q):
    """One GPT layer on one rank: T*micro*D times 11 from attention, 19 from the MLP, 4 from the norms; and scores."""
    return const(34, "B") * T * micro * D + const(5, "B") * n_q * T**2 * micro


@formula("S_act", cite="korthikanti2022")
def tensor_activation_bytes(T, micro, D, n_q, tp):
    """Tensor parallelism splits what is inside attention and MLP, but not norms, their outputs and dropout (10)."""
    return T * micro * D * (const(10, "B") + const(24, "B") / tp) + scores_bytes(T, micro, n_q, tp)


@formula("S_act", cite="korthikanti2022")
def sequence_activation_bytes(T, micro, D, n_q, tp):
    """Sequence parallelism splits the rest by tokens: everything is 1/tp."""
    return layer_activation_bytes(T, micro, D, n_q) / tp


@formula("S_act", cite="korthikanti2022")
def tensor_selective_activation_bytes(T, micro, D, tp):
    """Scores recomputed, as in fused attention; without sequence parallelism."""
    return T * micro * D * (const(10, "B") + const(24, "B") / tp)


@formula("S_act", cite="korthikanti2022")
def selective_activation_bytes(T, micro, D, tp=1):
    """Scores recomputed, the rest kept and split by tokens: linear in T, for any number of heads."""
    return const(34, "B") * T * micro * D / tp


@formula("S_act", cite="korthikanti2022")
def full_activation_bytes(T, micro, D):
    """Only the layer's input is kept, and every rank of the tensor-parallel group keeps all of it."""
    return const(2, "B") * T * micro * D


@formula("S_act", cite="korthikanti2022")
def interleaved_stage_bytes(L, pp, v, S_layer):
    """Interleaved 1F1B, v > 1 chunks per rank: the first rank holds pp microbatches of its L/pp layers, as with v = 1,
    and pp - 1 more chunks of L/(pp*v) layers.
    """
    return L * S_layer * (1 + (pp - 1) / (pp * v))


@formula("S_act", cite="korthikanti2022")
def logit_bytes(T, micro, V, tp=1):
    """The logits in single precision, for the loss: at the last stage only."""
    return const(4, "B") * T * micro * V / tp


@formula("S_act", cite="shazeer2020")
def swiglu_layer_activation_bytes(T, micro, D, F, n_q, K, H, tp=1, b=2):
    """One layer of Llama's kind with fused attention and sequence parallelism: inputs of norms and matrices, 4D;
    queries, keys, values and attention's output; gate, up and their product.
    """
    return b * T * micro * (4 * D + 2 * H * (n_q + K) + 3 * F) / tp


@formula("S_act", cite="chen2016")
def checkpoint_bytes(L, segments, S_keep, S_layer):
    """The input of each segment is kept, and all activations of the one segment that the backward pass is in."""
    return segments * S_keep + L / segments * S_layer


@formula("segments", cite="chen2016")
def best_segments(L, S_keep, S_layer):
    """The number of segments with the least memory: their inputs take as much as one segment's layers."""
    return sqrt(L * S_layer / S_keep)


@formula("S_act", cite="chen2016")
def least_checkpoint_bytes(L, S_keep, S_layer):
    """Memory with the best number of segments: it grows with the root of the layers, for one more forward pass."""
    return 2 * sqrt(L * S_keep * S_layer)
