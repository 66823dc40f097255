"""Serving: prefill and decode, batching and caches, speculative decoding, chunked and disaggregated prefill, tensor and
expert parallelism, price.

A prompt is bound by arithmetic and a decode step by memory; most techniques of serving balance the two.

>>> largest_batch("llama3-70b", "h100-sxm", n=8, T_kv=8192)
185
>>> decode_point("llama3-70b", "h100-sxm", n=8, B=1, T_kv=8192)
<Point: 1 sequence on 8 ranks, a step in 5.287 ms, 189.1 tokens/s of a sequence, 23.64 of a rank; bound by weights>
"""

from hwlib.inference.decode import (
    cache_bound_token_rate,
    cache_time,
    decode_time,
    decode_token_rate,
    latent_decode_intensity,
    prefill_time,
    prompt_roofline_time,
    request_rate,
    small_batch_time,
    token_cost,
    weight_time,
)
from hwlib.inference.decode_transfers import (
    batch_cache_time,
    best_width_ranks,
    expert_decode_bytes,
    expert_decode_time,
    stationary_1d_time,
    stationary_2d_ranks,
    stationary_2d_time,
    tensor_decode_time,
    tensor_ranks_limit,
    two_batch_step_time,
)
from hwlib.inference.launched_steps import drafted_speedup, host_step_time, launched_step_time, reached_step_time
from hwlib.inference.prefixes import cache_copy_time, hit_prefill_time, prefix_hits, recompute_bandwidth
from hwlib.inference.prices import cost_margin, request_cost
from hwlib.inference.queueing import (
    kingman_wait,
    mg1_wait,
    mm1_load,
    mm1_quantile,
    poisson_arrivals,
    pooled_wait,
    queue_stays,
    requests_at_once,
    residual_time,
    server_load,
    shared_stays,
    squared_variation,
)
from hwlib.inference.server_memory import (
    batch_limit,
    cache_copies,
    context_limit,
    freed_tokens,
    least_ranks,
    mean_lost_tokens,
    page_lost_fraction,
    paged_bytes,
    reserved_lost_fraction,
    scaled_weight_bytes,
)
from hwlib.inference.server_steps import (
    best_drafts,
    budget_chunk_tokens,
    first_token_time,
    free_chunk_tokens,
    prefill_ranks_ratio,
    prefill_servers_ratio,
    reread_tokens,
    speculative_critical_batch,
    speculative_speedup,
    speculative_tokens,
    speculative_work,
    transfer_bandwidth,
)
from hwlib.inference.serving import (
    Point,
    decode_point,
    decode_points,
    expert_share,
    largest_batch,
    network_time,
    pareto,
    prompt_time,
    step_bytes,
    weight_bytes,
)

__all__ = [
    "Point", "batch_cache_time", "batch_limit", "best_drafts", "best_width_ranks", "budget_chunk_tokens",
    "cache_bound_token_rate", "cache_copies", "cache_copy_time", "cache_time", "context_limit", "cost_margin",
    "decode_point", "decode_points", "decode_time", "decode_token_rate", "drafted_speedup", "expert_decode_bytes",
    "expert_decode_time", "expert_share", "first_token_time", "free_chunk_tokens", "freed_tokens",
    "hit_prefill_time", "host_step_time", "kingman_wait", "largest_batch", "latent_decode_intensity",
    "launched_step_time", "least_ranks", "mean_lost_tokens", "mg1_wait", "mm1_load", "mm1_quantile",
    "network_time", "page_lost_fraction", "paged_bytes", "pareto", "poisson_arrivals", "pooled_wait",
    "prefill_ranks_ratio", "prefill_servers_ratio", "prefill_time", "prefix_hits", "prompt_roofline_time",
    "prompt_time", "queue_stays", "reached_step_time", "recompute_bandwidth", "request_cost", "request_rate",
    "requests_at_once", "reread_tokens", "reserved_lost_fraction", "residual_time", "scaled_weight_bytes",
    "server_load", "shared_stays", "small_batch_time", "speculative_critical_batch", "speculative_speedup",
    "speculative_tokens", "speculative_work", "squared_variation", "stationary_1d_time", "stationary_2d_ranks",
    "stationary_2d_time", "step_bytes", "tensor_decode_time", "tensor_ranks_limit", "token_cost",
    "transfer_bandwidth", "two_batch_step_time", "weight_bytes", "weight_time",
]  # fmt: skip
