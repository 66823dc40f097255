"""Layers that keep a state in place of keys and values, as formulas: one layer each.

A head's state is a matrix of d_k rows and d_v columns, into which every token is added under its key, and from which it
reads with its query. Gated DeltaNet and KDA first take away what the state holds under that key (the delta rule).
Training and prefill compute T_part tokens at once, so that products of matrices do the work; decoding goes token by
token. Both give the same values. A tensor-parallel rank has n_s/tp heads of states, and what belongs to them.
"""

from hwlib.formula import formula


@formula("P", cite="gated-deltanet")
def gated_delta_params(D, n_s, n_key, d_k, d_v, T_conv):
    """Exact, as in Qwen3-Next: queries, keys, values and a gate as wide as these; two numbers a head, for decay and
    strength; the output; a convolution without biases; decay and its offset of a head; gains of a head.
    """
    return D * (2 * n_key * d_k + 3 * n_s * d_v + 2 * n_s) + T_conv * (2 * n_key * d_k + n_s * d_v) + 2 * n_s + d_v


@formula("P", cite="dao2024")
def mamba2_params(D, n_s, n_key, d_k, d_v, T_conv):
    """Exact, as in Nemotron-H: values and their gate, B and C of n_key groups, one step a head, the output; a
    convolution with biases; decay, offset and skip of a head; gains of all values.
    """
    return (
        D * (3 * n_s * d_v + 2 * n_key * d_k + n_s) + (T_conv + 1) * (2 * n_key * d_k + n_s * d_v) + 3 * n_s + n_s * d_v
    )


@formula("P", cite="gu2023")
def mamba1_params(D, n_s, d_k, r_dt, T_conv):
    """Exact, as in Jamba: n_s channels and their gate; from the channels steps of r_dt numbers, keys and queries, each
    with gains; steps of every channel; a convolution with biases; decays, a skip a channel, the output.
    """
    return (
        3 * D * n_s + n_s * (r_dt + 2 * d_k) + r_dt * n_s + n_s + (T_conv + 1) * n_s + n_s * (d_k + 1) + r_dt + 2 * d_k
    )


@formula("P", cite="kimi-linear")
def kimi_delta_params(D, n_s, d_k, d_v, T_conv):
    """Exact: queries, keys, values and output; a decay for each channel of the keys and a gate for each of the values,
    both through d_v channels; a strength a head; a convolution; decay and offsets; gains of a head.
    """
    return (
        2 * D * n_s * (d_k + d_v)
        + 2 * D * d_v
        + d_v * n_s * (d_k + d_v)
        + D * n_s
        + T_conv * n_s * (2 * d_k + d_v)
        + n_s * (d_k + 1)
        + d_v
    )


@formula("P", cite="minimax01")
def lightning_params(D, n_s, d_k, d_v):
    """Exact: queries, keys, values, a gate, the output; gains of all values. The decay of a head is fixed."""
    return D * n_s * (2 * d_k + 3 * d_v) + n_s * d_v


@formula("P", cite="lfm2")
def short_conv_params(D, T_conv):
    """Exact: two gates and what they weigh, the convolution of each channel, the output."""
    return 4 * D**2 + T_conv * D


@formula("flops", cite="lfm2")
def short_conv_flops(B, D, T_conv):
    """A gate before the convolution, and one after it."""
    return 2 * B * D * (T_conv + 1)


@formula("flops", cite="gated-deltanet")
def delta_rule_flops(B, n_s, d_k, d_v):
    """Token by token: the state decays, 1 operation an element, is read under the key, 2, corrected, 2, and read with
    the query, 2. It does not depend on the length of the sequence.
    """
    return 7 * B * n_s * d_k * d_v


@formula("flops", cite="dao2024")
def state_scan_flops(B, n_s, d_k, d_v):
    """The same without the delta rule, as in Mamba-2 and lightning attention: nothing is read under the key."""
    return 5 * B * n_s * d_k * d_v


@formula("flops", cite="gated-deltanet")
def chunked_delta_flops(B, T_part, n_s, d_k, d_v):
    """The delta rule on T_part tokens at once: products of keys with keys and with queries, the inverse of a triangle
    (a third of a cube), which multiplies keys and values, scores times values; and the state, read twice and written.
    """
    return B * n_s * (T_part * (6 * d_k + 4 * d_v) + T_part**2 / 3 + 6 * d_k * d_v)


@formula("flops", cite="dao2024")
def chunked_scan_flops(B, T_part, n_s, n_key, d_k, d_v):
    """The same without the delta rule: scores of each group of keys, times the values of each head; and the state, read
    and written.
    """
    return B * (2 * T_part * n_key * d_k + n_s * (2 * T_part * d_v + 4 * d_k * d_v))


@formula("S_mix", cite="gated-deltanet")
def state_matrix_bytes(n_s, d_k, d_v, b_s=4):
    """The state of one sequence in one layer, whatever its length; usually in 32 bits."""
    return n_s * d_k * d_v * b_s


@formula("S_mix", cite="gated-deltanet")
def conv_state_bytes(n_s, n_key, d_k, d_v, T_conv, b=2):
    """The last T_conv - 1 inputs of the short convolution, of one sequence in one layer."""
    return (T_conv - 1) * (2 * n_key * d_k + n_s * d_v) * b


@formula("T_kv", cite="gated-deltanet")
def state_equal_tokens(S_mix, S_kv):
    """Tokens whose keys and values take as many bytes as the state: a longer sequence gains by a state."""
    return S_mix / S_kv


@formula("t", cite="gated-deltanet")
def state_step_time(B, S_mix, W):
    """A decode step reads the state of each of B sequences and writes it again; it is far from compute-bound."""
    return 2 * B * S_mix / W
