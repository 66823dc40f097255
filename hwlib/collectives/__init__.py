"""Collectives: how long they take, what each rank and each port carries, and which algorithm is fastest where.

S is the full array: what every rank has after an all-gather, an all-reduce or a broadcast, or before a
reduce-scatter; in an all-to-all the data of all ranks together, so that a rank holds S/n and each pair
exchanges S/n^2. W is the bandwidth of a rank's port (for bidirectional rings, of a link) in one direction,
alpha the latency of a round.

Blocks have equal size: for N elements that n does not divide, S is the padded size, `padded_bytes`. Each module
says for which sizes its formulas are exact.
"""

from hwlib.collectives.channels import channels_bandwidth, shared_chip_time
from hwlib.collectives.choice import (
    CANDIDATES,
    CHUNKS,
    IN_SWITCH,
    NCCL_PROTOCOLS,
    AlgorithmChoice,
    Protocol,
    choose,
    crossover_bytes,
    ring_tree_crossover_bytes,
)
from hwlib.collectives.direct import (
    direct_allgather_time,
    direct_allreduce_time,
    direct_alltoall_time,
    direct_broadcast_time,
    direct_gather_time,
    direct_reduce_scatter_time,
    direct_reduce_time,
    direct_scatter_time,
    one_shot_allreduce_time,
    pairwise_alltoall_time,
)
from hwlib.collectives.doubling import (
    bruck_allgather_time,
    bruck_alltoall_bound_time,
    bruck_alltoall_time,
    doubling_allgather_time,
    doubling_allreduce_time,
    halving_doubling_allreduce_time,
    halving_reduce_scatter_time,
    paired_allreduce_time,
)
from hwlib.collectives.hierarchical import (
    call_latency,
    hierarchical_allgather_time,
    hierarchical_allreduce_time,
    hierarchical_alltoall_time,
    hierarchical_broadcast_time,
    hierarchical_reduce_scatter_time,
    nvls_sharp_allreduce_time,
    nvls_tree_allreduce_time,
)
from hwlib.collectives.levels import (
    allgather_bandwidth,
    axis_levels,
    axis_time,
    level_bandwidths,
    level_time,
    level_times,
    levels_allgather_time,
    levels_allreduce_time,
    levels_switch_allreduce_time,
    nodes_alltoall_time,
    nvls_levels_allreduce_time,
    nvls_sharp_levels_allreduce_time,
    nvls_two_trees_allreduce_time,
    outer_axis_allgather_time,
)
from hwlib.collectives.limits import (
    allgather_limit,
    allreduce_limit,
    alltoall_limit,
    bidirectional_ring_allgather_limit,
    bidirectional_ring_alltoall_limit,
)
from hwlib.collectives.mesh import (
    torus_allgather_limit,
    torus_allgather_time,
)
from hwlib.collectives.ragged import (
    destination_fraction,
    destination_fraction_limit,
    exact_destination_fraction,
    ragged_alltoall_limit,
    ragged_alltoall_time,
    sparse_alltoall_time,
)
from hwlib.collectives.ring import (
    bidirectional_ring_allgather_time,
    bidirectional_ring_allreduce_time,
    bidirectional_ring_alltoall_time,
    bidirectional_ring_reduce_scatter_time,
    line_allgather_time,
    ring_allgather_time,
    ring_allreduce_time,
    ring_alltoall_time,
    ring_reduce_scatter_time,
)
from hwlib.collectives.switch import (
    nvls_allreduce_limit,
    nvls_allreduce_speedup,
    nvls_allreduce_time,
    switch_allgather_time,
    switch_allreduce_limit,
    switch_allreduce_speedup,
    switch_allreduce_time,
    switch_reduce_scatter_time,
)
from hwlib.collectives.traffic import (
    allgather_bytes,
    allreduce_bytes,
    alltoall_bytes,
    bus_factor,
    node_switch_allgather_in_bytes,
    node_switch_allgather_out_bytes,
    nvls_algorithm_bandwidth,
    nvls_allreduce_bytes,
    nvls_bus_factor,
    nvls_port_bandwidth,
    nvls_switch_allreduce_in_bytes,
    one_shot_allreduce_bytes,
    padded_bytes,
    ring_alltoall_bytes,
    switch_allreduce_in_bytes,
    tree_root_bytes,
)
from hwlib.collectives.tree import (
    binomial_broadcast_time,
    binomial_gather_time,
    binomial_reduce_time,
    binomial_scatter_time,
    chain_broadcast_time,
    double_tree_allreduce_time,
    scatter_allgather_broadcast_time,
    tree_allreduce_time,
)

__all__ = [
    "CANDIDATES", "CHUNKS", "IN_SWITCH", "NCCL_PROTOCOLS", "AlgorithmChoice", "Protocol", "allgather_bandwidth",
    "allgather_bytes", "allgather_limit", "allreduce_bytes", "allreduce_limit", "alltoall_bytes", "alltoall_limit",
    "axis_levels", "axis_time", "bidirectional_ring_allgather_limit", "bidirectional_ring_allgather_time",
    "bidirectional_ring_allreduce_time", "bidirectional_ring_alltoall_limit", "bidirectional_ring_alltoall_time",
    "bidirectional_ring_reduce_scatter_time", "binomial_broadcast_time", "binomial_gather_time", "binomial_reduce_time",
    "binomial_scatter_time", "bruck_allgather_time", "bruck_alltoall_bound_time", "bruck_alltoall_time", "bus_factor",
    "call_latency", "chain_broadcast_time", "channels_bandwidth", "choose", "crossover_bytes", "destination_fraction",
    "destination_fraction_limit", "direct_allgather_time", "direct_allreduce_time", "direct_alltoall_time",
    "direct_broadcast_time", "direct_gather_time", "direct_reduce_scatter_time", "direct_reduce_time",
    "direct_scatter_time", "double_tree_allreduce_time", "doubling_allgather_time", "doubling_allreduce_time",
    "exact_destination_fraction", "halving_doubling_allreduce_time", "halving_reduce_scatter_time",
    "hierarchical_allgather_time", "hierarchical_allreduce_time", "hierarchical_alltoall_time",
    "hierarchical_broadcast_time", "hierarchical_reduce_scatter_time", "level_bandwidths", "level_time", "level_times",
    "levels_allgather_time", "levels_allreduce_time", "levels_switch_allreduce_time", "line_allgather_time",
    "node_switch_allgather_in_bytes", "node_switch_allgather_out_bytes", "nodes_alltoall_time",
    "nvls_algorithm_bandwidth", "nvls_allreduce_bytes", "nvls_allreduce_limit", "nvls_allreduce_speedup",
    "nvls_allreduce_time", "nvls_bus_factor", "nvls_levels_allreduce_time", "nvls_port_bandwidth",
    "nvls_sharp_allreduce_time", "nvls_sharp_levels_allreduce_time", "nvls_switch_allreduce_in_bytes",
    "nvls_tree_allreduce_time", "nvls_two_trees_allreduce_time", "one_shot_allreduce_bytes", "one_shot_allreduce_time",
    "outer_axis_allgather_time", "padded_bytes", "paired_allreduce_time", "pairwise_alltoall_time",
    "ragged_alltoall_limit", "ragged_alltoall_time", "ring_allgather_time", "ring_allreduce_time",
    "ring_alltoall_bytes", "ring_alltoall_time", "ring_reduce_scatter_time", "ring_tree_crossover_bytes",
    "scatter_allgather_broadcast_time", "shared_chip_time", "sparse_alltoall_time", "switch_allgather_time",
    "switch_allreduce_in_bytes", "switch_allreduce_limit", "switch_allreduce_speedup", "switch_allreduce_time",
    "switch_reduce_scatter_time", "torus_allgather_limit", "torus_allgather_time", "tree_allreduce_time",
    "tree_root_bytes",
]  # fmt: skip
