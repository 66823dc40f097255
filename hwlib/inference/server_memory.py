"""Memory of serving, as formulas: weights of few bits, caches that limit the batch, and pages that waste little."""

from hwlib.formula import ceil, floor, formula, maximum


@formula("b_eff", cite="gpt-oss")
def scaled_weight_bytes(b_w, b_scale, group):
    """Weights of few bits share a scale: 4.25 bits per weight where 32 of 4 bits share a byte, as in MXFP4."""
    return b_w + b_scale / group


@formula("B", cite="scaling-book")
def batch_limit(P, T_kv, S_kv, n, S_hbm, b_w=2):
    """Sequences whose caches fit in memory with one copy of the weights; activations are small and neglected."""
    return maximum(0, floor((n * S_hbm - P * b_w) / (T_kv * S_kv)))


@formula("T_kv", cite="scaling-book")
def context_limit(P, B, S_kv, n, S_hbm, b_w=2):
    """Tokens of context that each of B sequences can have."""
    return maximum(0, floor((n * S_hbm - P * b_w) / (B * S_kv)))


@formula("n", cite="scaling-book")
def least_ranks(P, B, T_kv, S_kv, S_hbm, b_w=2):
    """The fewest ranks that hold weights and caches; in practice, round up to the next available slice."""
    return ceil((P * b_w + B * T_kv * S_kv) / S_hbm)


@formula("copies", cite="pope2022")
def cache_copies(K, tp):
    """Copies of the cache if tp ranks divide a layer by heads: several if tp exceeds the K key-value heads; with latent
    attention K is 1, so every rank has a copy. If ranks divide the sequences instead, there is one copy.
    """
    return maximum(1, tp / K)


@formula("T_drop", cite="scaling-book")
def freed_tokens(B, T_in, T_out):
    """Mean tokens of cache freed in a step: B/T_out sequences end, with prompt and answer in their cache."""
    return B * (T_in + T_out) / T_out


# Pages


@formula("bytes", cite="kwon2023")
def paged_bytes(T_kv, page, S_kv):
    """A sequence holds whole pages, only the last of which may be partly filled."""
    return ceil(T_kv / page) * page * S_kv


@formula("lost", cite="kwon2023")
def page_lost_fraction(T_kv, page):
    """The fraction of a sequence's pages that is empty, all of it in the last page."""
    return (ceil(T_kv / page) * page - T_kv) / (ceil(T_kv / page) * page)


@formula("T_lost", cite="kwon2023")
def mean_lost_tokens(page):
    """Mean number of empty slots in the last page, if all lengths are equally likely."""
    return (page - 1) / 2


@formula("lost", cite="kwon2023")
def reserved_lost_fraction(T_kv, T):
    """The fraction lost without pages: memory for the longest sequence T is reserved from the start, T_kv is used."""
    return maximum(0, 1 - T_kv / T)
