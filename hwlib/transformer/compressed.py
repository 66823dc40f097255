"""Attention on keys that are compressed over time, as formulas: DeepSeek-V4's. One layer each.

A layer reads its last T_win tokens, and beside them entries that each stand for T_stride tokens: all of them where the
stride is long (heavily compressed attention, HCA), and where it is short the T_top best that an indexer picks
(compressed sparse attention, CSA). An entry is key and value of all heads, and the mean of its tokens with learned
weights; those of a short stride overlap, for each is made of the tokens of n_over = 2 strides.
"""

from hwlib.formula import formula, maximum, minimum


@formula("P", cite="deepseek-v4")
def grouped_attention_params(D, n_q, H, r_q, n_grp, r_out):
    """Exact, without what compresses: queries through r_q channels, one key for all heads, which is the value too; each
    group of heads through r_out channels, and all of these to the output; gains of both, and a sink a head.
    """
    return D * (r_q + H) + n_q * H * (r_q + r_out) + n_grp * r_out * D + r_q + H + n_q


@formula("P", cite="deepseek-v4")
def compressor_params(D, H, T_stride, n_over):
    """Exact: what each token adds to an entry, and with which weight; a weight for each place in it; the gains."""
    return n_over * H * (2 * D + T_stride) + H


@formula("P", cite="deepseek-v4")
def compressed_indexer_params(D, r_q, n_idx, d_idx, T_stride, n_over):
    """Exact: the indexer compresses keys of its own; queries of n_idx heads and a weight for each head."""
    return compressor_params(D, d_idx, T_stride, n_over) + n_idx * (d_idx * r_q + D)


@formula("T_read", cite="deepseek-v4")
def mean_entries(T, T_stride, T_top):
    """Entries that a token of a sequence reads at the mean: those that are complete before it, T_top at most."""
    return (
        minimum(T, T_stride * T_top)
        / T_stride
        * maximum(0, 1 - (minimum(T, T_stride * T_top) + T_stride - 2) / (2 * T))
    )


@formula("flops", cite="deepseek-v4")
def entry_attention_flops(B, T, T_stride, T_top, n_q, H):
    """Scores and weighted entries, beside those of the window."""
    return 4 * B * mean_entries(T, T_stride, T_top) * n_q * H


@formula("flops", cite="deepseek-v4")
def entry_index_flops(B, T, T_stride, n_idx, d_idx):
    """Scores of all entries that are complete before a token, and their weighted sum: still quadratic."""
    return B * mean_entries(T, T_stride, T) * n_idx * (2 * d_idx + 2)


@formula("T_read", cite="deepseek-v4")
def entries_read(T_kv, T_stride, T_top, T_win):
    """Keys that a decode step reads behind T_kv tokens: the window's, and entries."""
    return minimum(T_kv, T_win) + minimum(T_kv / T_stride, T_top)


@formula("S_mix", cite="deepseek-v4")
def compressor_state_bytes(H, T_stride, n_over, b_s=4):
    """What one sequence keeps of the tokens whose entry is not complete: what each adds, and its weight."""
    return 2 * n_over * T_stride * n_over * H * b_s
