"""Rooflines of serving, as formulas: a prompt is processed at once, and tokens are generated one per step.

In a decode step each of B sequences gets one token, so B counts both. n ranks share weights and cache evenly; their
communication is in `hwlib.inference.ranks`.
"""

from hwlib.formula import formula, maximum
from hwlib.transformer import forward_flops


@formula("t_in", cite="scaling-book")
def prefill_time(P, T_in, n, C, mfu):
    """A prompt of hundreds of tokens is compute-bound: two operations per parameter and token; attention neglected."""
    return forward_flops(P, T_in) / (n * C * mfu)


@formula("t", cite="scaling-book")
def weight_time(P, n, W, b_w=2):
    """Every weight is read once per step: the lower bound of any step, however small the batch."""
    return P * b_w / (n * W)


@formula("t_in", cite="scaling-book")
def prompt_roofline_time(P, T_in, n, C, W, mfu=1, b_w=2):
    """A prompt shorter than the critical batch is memory-bound: it takes as long as reading the weights."""
    return maximum(prefill_time(P, T_in, n, C, mfu), weight_time(P, n, W, b_w))


@formula("t", cite="scaling-book")
def cache_time(B, T_kv, S_kv, n, W):
    """Every sequence reads its own cache: unlike the weights, this cost is not amortized over the batch."""
    return B * T_kv * S_kv / (n * W)


@formula("t", cite="scaling-book")
def small_batch_time(P, B, T_kv, S_kv, n, W, b_w=2):
    """A step below the critical batch: weights and caches are read once."""
    return cache_time(B, T_kv, S_kv, n, W) + weight_time(P, n, W, b_w)


@formula("t", cite="scaling-book")
def decode_time(P, B, T_kv, S_kv, n, C, W, b_w=2):
    """A step of any batch: attention is always memory-bound, the matrices are bound by whichever is slower."""
    return cache_time(B, T_kv, S_kv, n, W) + maximum(forward_flops(P, B) / (n * C), weight_time(P, n, W, b_w))


@formula("R_tok", cite="scaling-book")
def decode_token_rate(P, B, T_kv, S_kv, n, C, W, b_w=2):
    """Tokens per second of the whole batch: B per step."""
    return B / decode_time(P, B, T_kv, S_kv, n, C, W, b_w)


@formula("R_tok", cite="scaling-book")
def cache_bound_token_rate(T_kv, S_kv, n, W):
    """The limit for large batches while memory-bound: the weights are amortized, the caches are not."""
    return n * W / (T_kv * S_kv)


@formula("R_req", cite="scaling-book")
def request_rate(B, T_out, t_step):
    """Requests per second of a full batch: each occupies a slot for T_out steps."""
    return B / (T_out * t_step)


@formula("cost", cite="deepseek-serving")
def token_cost(n, price, R_tok):
    """Rent of n ranks per second, divided by the tokens that they generate per second."""
    return n * price / R_tok


@formula("I", cite="deepseek-v3")
def latent_decode_intensity(n_q, r_kv, d_rope, b=2):
    """Decode with latent attention: all heads share the cached vector, which is both key and value, so each byte serves
    n_q heads, where `roofline.attention_decode_intensity` has G.
    """
    return 2 * n_q * (2 * r_kv + d_rope) / (b * (r_kv + d_rope))
