"""Sparse attention as formulas: an indexer scores every key cheaply, and attention reads the best T_top (DSA); or
blocks of keys are picked by compressed keys, beside those and a window (NSA); or there are compressed keys alone.

With an indexer attention is latent (MLA) and not unfolded, for each token reads keys of its own. One layer each.
"""

from hwlib.formula import formula, minimum


@formula("P", cite="deepseek-v32")
def indexer_params(D, r_q, n_idx, d_idx):
    """Exact: queries of n_idx heads from the compressed ones, one key for all of them and a norm of it, and a weight
    for each head.
    """
    return n_idx * d_idx * r_q + D * (d_idx + n_idx) + 2 * d_idx


@formula("flops", cite="deepseek-v32")
def indexer_flops(B, T, n_idx, d_idx):
    """Scores of the (T + 1)/2 keys before a token, at the mean, and their weighted sum: quadratic still, in few bits
    and narrow heads.
    """
    return B * (T + 1) / 2 * n_idx * (2 * d_idx + 2)


@formula("flops", cite="deepseek-v32")
def sparse_latent_flops(B, T, T_top, n_q, r_kv, d_rope):
    """Latent attention on the T_top keys that were picked, or on all where there are fewer; each head's query and
    output are as wide as the compressed vector.
    """
    return 2 * B * minimum(T, T_top) * (1 - (minimum(T, T_top) - 1) / (2 * T)) * n_q * (2 * r_kv + d_rope)


@formula("S_kv", cite="deepseek-v32")
def index_token_bytes(L, d_idx, b=1, b_scale=4, group=128):
    """The indexer's key of one token, in 8 bits with a scale for each group, beside what latent attention caches."""
    return L * d_idx * (b + b_scale / group)


@formula("T_read", cite="yuan2025")
def native_sparse_tokens(T_kv, T_stride, n_pick, T_blk, T_win):
    """Native sparse attention: one compressed key for each stride, all tokens of the blocks that these pick, and a
    window. It grows with the sequence still, but by a stride's part of it.
    """
    return T_kv / T_stride + n_pick * T_blk + T_win


@formula("S_kv", cite="deepseek-v4")
def compressed_token_bytes(L, S_entry, T_stride):
    """A cache of one entry for each stride of tokens, as in DeepSeek-V4: for 4 of them where an indexer picks the
    entries, and for 128 where all are read.
    """
    return L * S_entry / T_stride
