"""Operations in letters: of the matrices, two a parameter and token, and of attention, which grow with the length.

B counts the tokens of the batch, in sequences of T. The backward pass does everything twice: once for the
gradient of the input and once for that of the weights. What recomputes a layer pays its forward pass again.
Norms, activation functions and the lookup of the embedding are left out; so, by P, are parameters that meet no
token: those of other experts. Attention is that of one layer.

What no chapter calls yet is for chapter 09.
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
    """Forward and backward: 6 a parameter and token. Without attention, which is no product with parameters."""
    return forward_flops(P, B) + backward_flops(P, B)


@formula("flops", cite="narayanan2021")
def recompute_training_flops(P, B):
    """Forward, forward again from the checkpoint, and backward: 8 a parameter and token."""
    return 2 * forward_flops(P, B) + backward_flops(P, B)


@formula("flops", cite="scaling-book")
def attention_forward_flops(B, T, n_q, H):
    """Scores, and the values that they weigh: each token meets T keys, 2H operations a head, twice. No mask."""
    return 4 * B * T * n_q * H


@formula("T", cite="scaling-book")
def attention_equal_tokens(D, F, n_q, K, H, matrices=3):
    """Length from which on attention costs more than the matrices of its layer, no mask: 8D where F = 4D, with a gate.

    With a causal mask whose other half is skipped it is twice as long.
    """
    return layer_params(D, F, n_q, K, H, matrices) / (2 * n_q * H)


@formula("flops", cite="dao2022")
def causal_attention_forward_flops(B, T, n_q, H):
    """A token sees itself and those before it, (T + 1)/2 at the mean: a kernel that skips the rest does half."""
    return 4 * B * (T + 1) / 2 * n_q * H


@formula("flops", cite="jiang2024")
def window_attention_forward_flops(B, T, T_win, n_q, H):
    """A token sees the T_win tokens that end with itself: the first ones of a sequence see fewer."""
    return 4 * B * minimum(T, T_win) * (1 - (minimum(T, T_win) - 1) / (2 * T)) * n_q * H


@formula("flops", cite="deepseek-v3")
def mla_attention_forward_flops(B, T, n_q, d_nope, d_rope, d_v):
    """Latent attention unfolded, as in training: keys of d_nope + d_rope, values of d_v, no mask."""
    return 2 * B * T * n_q * (d_nope + d_rope + d_v)


@formula("flops", cite="korthikanti2022")
def gpt_training_flops(B, T, L, D, V):
    """GPT with F = 4D, without recomputation: attention counted without its mask, and the output layer."""
    return 72 * B * L * D**2 * (1 + T / (6 * D) + V / (12 * L * D))


@formula("flops", cite="narayanan2021")
def gpt_recompute_training_flops(B, T, L, D, V):
    """The same with every layer recomputed, the output layer not: from this, TFLOP/s of papers before 2022 follow."""
    return 96 * B * L * D**2 * (1 + T / (6 * D) + V / (16 * L * D))
