"""Collectives: how long they take, what each rank and each port carries, and which algorithm wins where.

S is the full array: what every rank has after an all-gather, an all-reduce or a broadcast, or before a
reduce-scatter; in an all-to-all the data of all ranks together, so that a rank holds S/n and each pair
exchanges S/n^2. W is the bandwidth of a rank's port (of a link, for what goes both ways round a ring) in one
direction, alpha the latency of a round.

Blocks are equal: for N elements that do not divide, S is the padded size, `padded_bytes`. Each module says
for which sizes its formulas are exact.
"""

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
)
from hwlib.collectives.hierarchical import (
    hierarchical_allgather_time,
    hierarchical_allreduce_time,
    hierarchical_alltoall_time,
    hierarchical_broadcast_time,
    hierarchical_reduce_scatter_time,
)
from hwlib.collectives.ring import (
    bidirectional_ring_allgather_time,
    bidirectional_ring_allreduce_time,
    bidirectional_ring_alltoall_time,
    bidirectional_ring_reduce_scatter_time,
    ring_allgather_time,
    ring_allreduce_time,
    ring_alltoall_time,
    ring_reduce_scatter_time,
)
from hwlib.collectives.switch import switch_allgather_time, switch_allreduce_time, switch_reduce_scatter_time
from hwlib.collectives.traffic import padded_bytes
from hwlib.collectives.tree import (
    binomial_broadcast_time,
    binomial_gather_time,
    binomial_reduce_time,
    binomial_scatter_time,
    chain_broadcast_time,
    scatter_allgather_broadcast_time,
    tree_allreduce_time,
)

__all__ = [
    "bidirectional_ring_allgather_time", "bidirectional_ring_allreduce_time",
    "bidirectional_ring_alltoall_time", "bidirectional_ring_reduce_scatter_time", "binomial_broadcast_time",
    "binomial_gather_time", "binomial_reduce_time", "binomial_scatter_time", "bruck_allgather_time",
    "bruck_alltoall_bound_time", "bruck_alltoall_time", "chain_broadcast_time", "direct_allgather_time",
    "direct_allreduce_time", "direct_alltoall_time", "direct_broadcast_time", "direct_gather_time",
    "direct_reduce_scatter_time", "direct_reduce_time", "direct_scatter_time", "doubling_allgather_time",
    "doubling_allreduce_time", "halving_doubling_allreduce_time", "halving_reduce_scatter_time",
    "hierarchical_allgather_time", "hierarchical_allreduce_time", "hierarchical_alltoall_time",
    "hierarchical_broadcast_time", "hierarchical_reduce_scatter_time", "one_shot_allreduce_time",
    "padded_bytes", "pairwise_alltoall_time", "ring_allgather_time", "ring_allreduce_time",
    "ring_alltoall_time", "ring_reduce_scatter_time", "scatter_allgather_broadcast_time",
    "switch_allgather_time", "switch_allreduce_time", "switch_reduce_scatter_time", "tree_allreduce_time",
]  # fmt: skip
