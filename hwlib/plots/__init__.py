"""Static figures: functions that take records and numbers, and return a matplotlib Figure.

The numbers are computed elsewhere in hwlib; this package only draws. A figure shows itself in a notebook as SVG and
touches no global state: no pyplot, no backend. Series differ in marker and in colour, from the Okabe-Ito palette,
which colour-blind readers can tell apart.
"""

from hwlib.plots.asynchrony import clock_series, issuers, kernel_timeline, power_caps
from hwlib.plots.chips import anatomy, growth
from hwlib.plots.clusters import switches_per_gpu
from hwlib.plots.collectives import before_and_after, blocks_by_step, times_against_size
from hwlib.plots.decode_strips import accepted_tokens, step_strips
from hwlib.plots.decoders import (
    beyond_six,
    day_steps,
    days_against_log,
    layer_matrices,
    parameter_shares,
    rounded_block,
    three_products,
)
from hwlib.plots.decoding import (
    batch_curve,
    cache_pages,
    host_and_device,
    predicted_steps,
    reached_bandwidth,
    rollout_tail,
    times_by_ranks,
    token_caches,
)
from hwlib.plots.expert_traffic import expert_loads, nic_bytes
from hwlib.plots.experts import (
    balancing,
    by_chance,
    exchange_times,
    measured_imbalance,
    room_for_tokens,
    routed_tokens,
    skew_on_a_gpu,
)
from hwlib.plots.fabrics import pod, rails_and_racks
from hwlib.plots.formats import block_scales
from hwlib.plots.fused import fused_attention
from hwlib.plots.groups import against_ranks, beside_a_matmul
from hwlib.plots.kernels import touched
from hwlib.plots.machines import rack, ways_to_the_network
from hwlib.plots.measuring import interruptions, lost_time, mfu_ledger, slow_steps
from hwlib.plots.memories import memory_pyramid, size_sweep, tile_traffic, warp_sweep
from hwlib.plots.mixtures import (
    axes_on_levels,
    guide,
    least_tokens,
    predicted_against_measured,
    right_by_gap,
    split_times,
    time_bars,
)
from hwlib.plots.pipelines import pipeline
from hwlib.plots.plans import plan_cloud
from hwlib.plots.rooflines import model_against_measured, overlap, ridge_bars, roofline
from hwlib.plots.runs import rounds_grid, timeline
from hwlib.plots.scale import allreduce_scale, blame, levels
from hwlib.plots.shardings import four_cases, move_shares, sharded_blocks, split_widths, steps
from hwlib.plots.shared_memory import banks, cta_pair, rasters
from hwlib.plots.split_layers import causal_pieces, rates_by_length, shares_by_model, split_mlp, step_parts
from hwlib.plots.stages import model_on_stages, stage_memory, steps_against_micro, time_and_memory
from hwlib.plots.topologies import node_bandwidths, topology
from hwlib.plots.traces import flight_grid, goodput_waterfall, trace_timeline, waits_grid
from hwlib.plots.training import batch_times, peaks, rounded_steps, streams, weak_scaling, zero_stages
from hwlib.plots.warps import divergence, threads, warp

__all__ = [
    "accepted_tokens", "against_ranks", "allreduce_scale", "anatomy", "axes_on_levels", "balancing", "banks",
    "batch_curve", "batch_times", "before_and_after", "beside_a_matmul", "beyond_six", "blame", "block_scales",
    "blocks_by_step", "by_chance", "cache_pages", "causal_pieces", "clock_series", "cta_pair", "day_steps",
    "days_against_log", "divergence", "exchange_times", "expert_loads", "flight_grid", "four_cases",
    "fused_attention", "goodput_waterfall", "growth", "guide", "host_and_device", "interruptions",
    "issuers", "kernel_timeline", "layer_matrices", "least_tokens", "levels", "lost_time", "measured_imbalance",
    "memory_pyramid", "mfu_ledger", "model_against_measured", "model_on_stages", "move_shares", "nic_bytes",
    "node_bandwidths", "overlap", "parameter_shares", "peaks", "pipeline", "plan_cloud", "pod", "power_caps",
    "predicted_against_measured", "predicted_steps", "rack", "rails_and_racks", "rasters", "rates_by_length",
    "reached_bandwidth", "ridge_bars", "right_by_gap", "rollout_tail", "roofline", "room_for_tokens", "rounded_block",
    "rounded_steps", "rounds_grid", "routed_tokens", "sharded_blocks", "shares_by_model", "size_sweep",
    "skew_on_a_gpu", "slow_steps", "split_mlp", "split_times", "split_widths", "stage_memory", "step_parts",
    "step_strips", "steps", "steps_against_micro", "streams", "switches_per_gpu", "threads", "three_products",
    "tile_traffic", "time_and_memory", "time_bars", "timeline", "times_against_size", "times_by_ranks",
    "token_caches", "topology", "touched", "trace_timeline", "waits_grid", "warp", "warp_sweep",
    "ways_to_the_network", "weak_scaling", "zero_stages",
]  # fmt: skip
