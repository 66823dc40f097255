"""Memory of serving, in letters: weights in few bits, caches that bound the batch, and pages that waste little.

What no chapter calls yet is for chapters 15 and 16.
"""

from hwlib.formula import ceil, floor, formula, maximum


@formula("b_w", cite="gpt-oss")
def scaled_weight_bytes(b_w, b_scale, group):
    """Weights of few bits share a scale: 4.25 bits a weight where 32 of 4 bits share a byte, as in MXFP4."""
    return b_w + b_scale / group


@formula("B", cite="scaling-book")
def batch_limit(P, T_kv, S_kv, n, S_hbm, b_w=2):
    """Sequences whose caches fit beside one copy of the weights; activations are small, and left out."""
    return maximum(0, floor((n * S_hbm - P * b_w) / (T_kv * S_kv)))


@formula("T_kv", cite="scaling-book")
def context_limit(P, B, S_kv, n, S_hbm, b_w=2):
    """Tokens of context that each of B sequences can have."""
    return maximum(0, floor((n * S_hbm - P * b_w) / (B * S_kv)))


@formula("n", cite="scaling-book")
def least_ranks(P, B, T_kv, S_kv, S_hbm, b_w=2):
    """Ranks that hold weights and caches; machines come in other numbers, so the next larger slice is taken."""
    return ceil((P * b_w + B * T_kv * S_kv) / S_hbm)


@formula("copies", cite="pope2022")
def cache_copies(K, tp):
    """Where ranks share a layer by heads, those beyond the key-value heads that there are keep copies; with latent
    attention, where K is 1, all of them do. Where they share the sequences out instead, there is one.
    """
    return maximum(1, tp / K)


@formula("T_drop", cite="scaling-book")
def freed_tokens(B, T_in, T_out):
    """Tokens of cache freed in a step, at the mean: B/T_out sequences end, with prompt and answer in their cache."""
    return B * (T_in + T_out) / T_out


# Pages


@formula("bytes", cite="kwon2023")
def paged_bytes(T_kv, page, S_kv):
    """A sequence holds whole pages, and no more of them than it has begun."""
    return ceil(T_kv / page) * page * S_kv


@formula("lost", cite="kwon2023")
def page_lost_fraction(T_kv, page):
    """Share of a sequence's pages that is empty: of the last page only."""
    return (ceil(T_kv / page) * page - T_kv) / (ceil(T_kv / page) * page)


@formula("T_lost", cite="kwon2023")
def mean_lost_tokens(page):
    """Tokens of the last page that are empty, at the mean, where any length is as likely as the next one."""
    return (page - 1) / 2


@formula("lost", cite="kwon2023")
def reserved_lost_fraction(T_kv, T):
    """What is lost without pages: room for the longest sequence T is kept from the start, T_kv of it is used."""
    return maximum(0, 1 - T_kv / T)
