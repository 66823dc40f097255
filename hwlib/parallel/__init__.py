"""Parallel training: what each strategy sends, how long that takes, and from which batch or width it can be hidden.

Formulas, one module per strategy: B are tokens of the batch, times are bandwidth only, W is that of a rank,
or of a node where a collective uses all its cables. `transfers` lists what a plan of a model sends in a step, and
`hiding_times` what can hide it; `critical_points` says from which batch, width or length on it does, on every level of
a machine; `bounds` derives the bounds, case by case.

>>> from hwlib.strategy import Strategy
>>> found = transfers("llama3-70b", Strategy.of(dp=64, tp=8, zero=3), B=2**22)
>>> {axis: round(t, 2) for axis, t in axis_times(found, "superpod-h100-4su").items()}
{'tp': 1.67, 'dp': 1.03}
"""

from hwlib.parallel.axis_orders import order_times, reordered
from hwlib.parallel.bounds import Bound, bounds
from hwlib.parallel.context_parallel import (
    ring_attention_backward_bytes,
    ring_attention_bytes,
    ring_causal_critical_tokens,
    ring_critical_tokens,
    ring_step_comm_time,
    ring_step_math_time,
    ulysses_bytes,
    ulysses_critical_tokens,
    ulysses_layer_bytes,
    ulysses_math_time,
    ulysses_max_ranks,
    ulysses_time,
)
from hwlib.parallel.critical_levels import Critical, critical_points
from hwlib.parallel.data_parallel import (
    dp_backward_time,
    dp_bytes,
    dp_comm_time,
    dp_critical_batch,
    dp_exact_critical_batch,
    dp_max_ranks,
    dp_moe_critical_batch,
    dp_moe_exact_critical_batch,
    dp_step_time,
    fsdp_kept_bytes,
    hsdp_comm_time,
    hsdp_critical_batch,
    hsdp_in_bytes,
    hsdp_out_bytes,
    zero1_bytes,
    zero2_bytes,
    zero3_bytes,
    zero3_comm_time,
)
from hwlib.parallel.expert_parallel import (
    drawn_imbalance,
    drawn_spread,
    ep_bytes,
    ep_copies_bytes,
    ep_critical_width,
    ep_exact_critical_width,
    ep_far_critical_width,
    ep_imbalanced_time,
    ep_latency_time,
    ep_limited_critical_width,
    ep_limited_time,
    ep_math_time,
    ep_nodes_limit,
    ep_nodes_time,
    expert_capacity,
)
from hwlib.parallel.expert_placement import Placement, balanced, copies_of, in_order, lognormal_loads, packed
from hwlib.parallel.expert_traffic import ExpertLayer, ExpertTraffic, drawn_traffic
from hwlib.parallel.hiding import hiding_times
from hwlib.parallel.mixed_parallel import (
    best_dp,
    best_tp,
    exposed_time,
    mixed_comm_time,
    mixed_critical_batch,
    mixed_dp_time,
    mixed_math_time,
    mixed_max_ranks,
    mixed_serial_critical_batch,
    mixed_time,
    mixed_tp_time,
    overlapped_time,
    split_critical_batch,
)
from hwlib.parallel.stage_messages import pp_bytes, pp_forward_time, pp_layer_time
from hwlib.parallel.tensor_parallel import (
    shared_and_fixed_times,
    sp_layer_bytes,
    split_time,
    tp_backward_limit,
    tp_block_bytes,
    tp_block_time,
    tp_critical_width,
    tp_exact_limit,
    tp_layer_bytes,
    tp_limit,
    tp_math_time,
    tp_nodes_limit,
)
from hwlib.parallel.transfers import Transfer, axis_bytes, axis_times, exposed_times, transfers

__all__ = [
    "Bound", "Critical", "ExpertLayer", "ExpertTraffic", "Placement", "Transfer", "axis_bytes", "axis_times",
    "balanced", "best_dp", "best_tp", "bounds", "copies_of", "critical_points", "dp_backward_time", "dp_bytes",
    "dp_comm_time", "dp_critical_batch", "dp_exact_critical_batch", "dp_max_ranks", "dp_moe_critical_batch",
    "dp_moe_exact_critical_batch", "dp_step_time", "drawn_imbalance", "drawn_spread", "drawn_traffic", "ep_bytes",
    "ep_copies_bytes", "ep_critical_width", "ep_exact_critical_width", "ep_far_critical_width",
    "ep_imbalanced_time", "ep_latency_time", "ep_limited_critical_width", "ep_limited_time", "ep_math_time",
    "ep_nodes_limit", "ep_nodes_time", "expert_capacity", "exposed_time", "exposed_times", "fsdp_kept_bytes",
    "hiding_times", "hsdp_comm_time", "hsdp_critical_batch", "hsdp_in_bytes", "hsdp_out_bytes", "in_order",
    "lognormal_loads", "mixed_comm_time", "mixed_critical_batch", "mixed_dp_time", "mixed_math_time",
    "mixed_max_ranks", "mixed_serial_critical_batch", "mixed_time", "mixed_tp_time", "order_times",
    "overlapped_time", "packed", "pp_bytes", "pp_forward_time", "pp_layer_time", "reordered",
    "ring_attention_backward_bytes", "ring_attention_bytes", "ring_causal_critical_tokens", "ring_critical_tokens",
    "ring_step_comm_time", "ring_step_math_time", "shared_and_fixed_times", "sp_layer_bytes",
    "split_critical_batch", "split_time", "tp_backward_limit", "tp_block_bytes", "tp_block_time",
    "tp_critical_width", "tp_exact_limit", "tp_layer_bytes", "tp_limit", "tp_math_time", "tp_nodes_limit",
    "transfers", "ulysses_bytes", "ulysses_critical_tokens", "ulysses_layer_bytes", "ulysses_math_time",
    "ulysses_max_ranks", "ulysses_time", "zero1_bytes", "zero2_bytes", "zero3_bytes", "zero3_comm_time",
]  # fmt: skip
