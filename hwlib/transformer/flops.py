"""Operations as formulas: of the matrices, two per parameter and token, and of attention, which grow with the length.

B counts the tokens of the batch, in sequences of T. The backward pass does everything twice: once for the
gradient of the input and once for that of the weights. Recomputing a layer repeats its forward pass.
Norms, activation functions and the lookup of the embedding are neglected; P counts only the parameters that a token
uses, not those of other experts. Attention formulas are for one layer.
"""

from hwlib.formula import formula, minimum
from hwlib.transformer.parameters import layer_params


@formula("flops", cite="kaplan2020")
def forward_flops(P, B):
    """A multiplication and an addition for each parameter and token."""
    return 2 * P * B


@formula("flops", cite="kaplan2020")
def backward_flops(P, B):
    """Two products of the forward pass's size: one for the gradient of the input, one for that of the weights."""
    return 2 * forward_flops(P, B)


@formula("flops", cite="kaplan2020")
def training_flops(P, B):
    """Forward and backward: 6 per parameter and token. Without attention, which multiplies no parameters."""
    return forward_flops(P, B) + backward_flops(P, B)


@formula("flops", cite="narayanan2021")
def recompute_training_flops(P, B):
    """Forward, forward again from the checkpoint, and backward: 8 per parameter and token."""
    return 2 * forward_flops(P, B) + backward_flops(P, B)


@formula("flops", cite="scaling-book")
def attention_forward_flops(B, T, n_q, H):
    """Scores and weighted values: each takes 2H operations per head, token and key, T keys for each token. No mask."""
    return 4 * B * T * n_q * H


@formula("T", cite="scaling-book")
def attention_equal_tokens(D, F, n_q, K, H, matrices=3):
    """Length from which on attention costs more than its layer's matrices, without a mask: 8D for F = 4D with a gate.

    If a kernel skips the masked half of causal attention, the length is twice as large.
    """
    return layer_params(D, F, n_q, K, H, matrices) / (2 * n_q * H)


@formula("flops", cite="dao2022")
def causal_attention_forward_flops(B, T, n_q, H):
    """A token attends to itself and those before it, (T + 1)/2 on average: a kernel that skips the rest does half."""
    return 4 * B * (T + 1) / 2 * n_q * H


@formula("flops", cite="jiang2024")
def window_attention_forward_flops(B, T, T_win, n_q, H):
    """A token attends to the T_win tokens that end with itself; the first tokens of a sequence to fewer."""
    return 4 * B * minimum(T, T_win) * (1 - (minimum(T, T_win) - 1) / (2 * T)) * n_q * H


@formula("flops", cite="deepseek-v3")
def mla_attention_forward_flops(B, T, n_q, d_nope, d_rope, d_v):
    """Latent attention unfolded, as in training: keys of d_nope + d_rope, values of d_v, no mask."""
    return 2 * B * T * n_q * (d_nope + d_rope + d_v)


@formula("flops", cite="deepseek-v2")
def mla_unfolded_flops(T, T_kv, n_q, r_kv, d_nope, d_rope, d_v):
    """T queries against T_kv compressed vectors, which are first unfolded into the keys and values of every head."""
    return 2 * n_q * T_kv * (r_kv * (d_nope + d_v) + T * (d_nope + d_rope + d_v))


@formula("flops", cite="deepseek-v2")
def mla_folded_flops(T, T_kv, n_q, r_kv, d_nope, d_rope, d_v):
    """The same without unfolding: each query and each output goes through its head's matrix, and every pair of a query
    and a key is as wide as the compressed vector.
    """
    return 2 * n_q * T * (r_kv * (d_nope + d_v) + T_kv * (2 * r_kv + d_rope))


@formula("flops", cite="korthikanti2022")
def gpt_training_flops(B, T, L, D, V):
    """GPT with F = 4D, without recomputation; attention is counted without its mask, the output layer included."""
    return 72 * B * L * D**2 * (1 + T / (6 * D) + V / (12 * L * D))


@formula("flops", cite="narayanan2021")
def gpt_recompute_training_flops(B, T, L, D, V):
    """GPT with all layers but the output layer recomputed: the count behind TFLOP/s in papers before 2022."""
    return 96 * B * L * D**2 * (1 + T / (6 * D) + V / (16 * L * D))
