"""Rooflines of serving, in letters: a prompt is taken in at once, and tokens come out one a step.

In a decode step each of B sequences gets one token, so B counts both. n ranks share weights and cache evenly; what
they say to each other is in `hwlib.inference.decode_transfers`.

What no chapter calls yet is for chapters 15 and 16.
"""

from hwlib.formula import formula, maximum
from hwlib.transformer import forward_flops


@formula("t_in", cite="scaling-book")
def prefill_time(P, T_in, n, C, mfu):
    """A prompt of hundreds of tokens is bound by arithmetic: two operations a parameter and token, no attention."""
    return forward_flops(P, T_in) / (n * C * mfu)


@formula("t", cite="scaling-book")
def weight_time(P, n, W, b_w=2):
    """Every weight is read once a step: no step is shorter, however few sequences there are."""
    return P * b_w / (n * W)


@formula("t_in", cite="scaling-book")
def prompt_roofline_time(P, T_in, n, C, W, mfu=1, b_w=2):
    """A prompt shorter than the critical batch takes as long as reading the weights, for that is what it waits for."""
    return maximum(prefill_time(P, T_in, n, C, mfu), weight_time(P, n, W, b_w))


@formula("t", cite="scaling-book")
def cache_time(B, T_kv, S_kv, n, W):
    """Every sequence reads a cache of its own, which no other shares: a larger batch does not spread this."""
    return B * T_kv * S_kv / (n * W)


@formula("t", cite="scaling-book")
def small_batch_time(P, B, T_kv, S_kv, n, W, b_w=2):
    """A step below the critical batch: all that is in memory is read once."""
    return cache_time(B, T_kv, S_kv, n, W) + weight_time(P, n, W, b_w)


@formula("t", cite="scaling-book")
def decode_time(P, B, T_kv, S_kv, n, C, W, b_w=2):
    """A step of any batch: attention is always bound by memory, the matrices by whichever is slower."""
    return cache_time(B, T_kv, S_kv, n, W) + maximum(forward_flops(P, B) / (n * C), weight_time(P, n, W, b_w))


@formula("R_tok", cite="scaling-book")
def decode_token_rate(P, B, T_kv, S_kv, n, C, W, b_w=2):
    """Tokens per second of the whole batch: B for each step."""
    return B / decode_time(P, B, T_kv, S_kv, n, C, W, b_w)


@formula("R_tok", cite="scaling-book")
def cache_bound_token_rate(T_kv, S_kv, n, W):
    """What a large batch comes near, and no batch passes, while memory decides: weights are free, caches are not."""
    return n * W / (T_kv * S_kv)


@formula("R_req", cite="scaling-book")
def request_rate(B, T_out, t_step):
    """Requests that a full batch finishes in a second: each takes a place for T_out steps."""
    return B / (T_out * t_step)


@formula("cost", cite="deepseek-serving")
def token_cost(n, price, R_tok):
    """Rent of the ranks for the time of one token of the R_tok that they make."""
    return n * price / R_tok


@formula("I", cite="deepseek-v3")
def latent_decode_intensity(n_q, r_kv, d_rope, b=2):
    """Decode with latent attention: all heads share what is cached, which is key and value in one, so each byte serves
    n_q heads, where `roofline.attention_decode_intensity` has G.
    """
    return 2 * n_q * (2 * r_kv + d_rope) / (b * (r_kv + d_rope))
