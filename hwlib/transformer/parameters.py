"""Parameters as formulas: of attention, an MLP, experts, the vocabulary, and the whole model.

F is the width of the MLP, or of one expert. Unless a formula says exact, it counts matrices only: biases and
the gains of norms are about a ten-thousandth. For the exact count of any model see `parameter_count`.
"""

from hwlib.formula import formula


@formula("P", cite="ainslie2023")
def attention_params(D, n_q, K, H):
    """Queries and output have n_q heads, keys and values K: n_q without sharing, fewer in GQA, one in MQA."""
    return 2 * D * H * (n_q + K)


@formula("P", cite="deepseek-v3")
def mla_params(D, n_q, r_q, r_kv, d_nope, d_rope, d_v):
    """Latent attention: projections down to r_q and up to the queries; down to r_kv, and one key with the position; up
    to the keys and values of every head; and the output.
    """
    return D * (r_q + r_kv + d_rope) + n_q * (r_q * (d_nope + d_rope) + r_kv * (d_nope + d_v) + D * d_v)


@formula("P", cite="shazeer2020")
def mlp_params(D, F, matrices=3):
    """An up and a down projection, and with a gate (SwiGLU) a third matrix of the same size."""
    return matrices * D * F


@formula("P", cite="shazeer2017")
def moe_params(D, F, E, matrices=3):
    """E experts, and the router, which scores each of them."""
    return E * mlp_params(D, F, matrices) + D * E


@formula("P", cite="shazeer2017")
def moe_active_params(D, F, E, k, matrices=3):
    """The parameters used for one token: its k experts, and all of the router."""
    return k * mlp_params(D, F, matrices) + D * E


@formula("P", cite="scaling-book")
def embedding_params(D, V, tables=2):
    """The input embedding and the output matrix: one table where they are tied."""
    return tables * V * D


@formula("P", cite="scaling-book")
def layer_params(D, F, n_q, K, H, matrices=3):
    """The matrices of one layer: attention, and the MLP, which has most of them."""
    return attention_params(D, n_q, K, H) + mlp_params(D, F, matrices)


@formula("P", cite="scaling-book")
def decoder_params(L, D, F, n_q, K, H, V, matrices=3, tables=2):
    """The matrices of a dense decoder: L layers between two tables."""
    return L * layer_params(D, F, n_q, K, H, matrices) + embedding_params(D, V, tables)


@formula("P", cite="llama3")
def llama_params(L, D, F, n_q, K, H, V):
    """Exact for Llama: no biases, two norms of D gains per layer and one at the end."""
    return decoder_params(L, D, F, n_q, K, H, V) + (2 * L + 1) * D


@formula("P", cite="narayanan2021")
def gpt_params(L, D, V, T):
    """GPT with F = 4D and T learned positions: 12 D^2 per layer, and small terms for biases, norms and tables.

    Exact except for the last norm's 2D.
    """
    return 12 * L * D**2 * (1 + 13 / (12 * D) + (V + T) / (12 * L * D))
