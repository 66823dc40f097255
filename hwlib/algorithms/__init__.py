"""Collectives as generators: one body, that runs in a simulator and on real ranks.

`ALGORITHMS` holds a record of each: what it computes, and the formula that gives its time.
`hwlib.algorithms.protocol` says how one is written, `hwlib.simulate` runs it.
"""

from hwlib.algorithms.alltoall import (
    bidirectional_ring_alltoall,
    bruck_alltoall,
    direct_alltoall,
    pairwise_alltoall,
    ragged_alltoall,
    ring_alltoall,
)
from hwlib.algorithms.direct import (
    direct_allgather,
    direct_allreduce,
    direct_broadcast,
    direct_gather,
    direct_reduce,
    direct_reduce_scatter,
    direct_scatter,
    one_shot_allreduce,
    send,
)
from hwlib.algorithms.grid import (
    hierarchical_allgather,
    hierarchical_allreduce,
    hierarchical_alltoall,
    hierarchical_broadcast,
    hierarchical_reduce_scatter,
    torus_allgather,
    torus_allreduce,
    torus_reduce_scatter,
)
from hwlib.algorithms.halving import (
    bruck_allgather,
    bruck_reduce_scatter,
    doubling_allgather,
    doubling_allreduce,
    halving_doubling_allreduce,
    halving_reduce_scatter,
)
from hwlib.algorithms.protocol import (
    ALGORITHMS,
    Array,
    Program,
    RegisteredAlgorithm,
    Step,
    algorithm,
    at_once,
    blocks,
    copied,
    joined,
    pieces,
    record_of,
    spread,
    within,
)
from hwlib.algorithms.ring import (
    bidirectional_ring_allgather,
    bidirectional_ring_allreduce,
    bidirectional_ring_reduce_scatter,
    line_allgather,
    line_reduce_scatter,
    ring_allgather,
    ring_allreduce,
    ring_reduce_scatter,
)
from hwlib.algorithms.shaped import gathered, scattered, summed
from hwlib.algorithms.switch import nvls_allreduce, switch_allgather, switch_allreduce, switch_reduce_scatter
from hwlib.algorithms.tree import (
    binomial_broadcast,
    binomial_gather,
    binomial_reduce,
    binomial_scatter,
    chain_broadcast,
    chain_reduce,
    double_tree_allreduce,
    scatter_allgather_broadcast,
    tree_allreduce,
)

__all__ = [
    "ALGORITHMS", "Array", "Program", "RegisteredAlgorithm", "Step", "algorithm", "at_once",
    "bidirectional_ring_allgather", "bidirectional_ring_allreduce", "bidirectional_ring_alltoall",
    "bidirectional_ring_reduce_scatter", "binomial_broadcast", "binomial_gather", "binomial_reduce", "binomial_scatter",
    "blocks", "bruck_allgather", "bruck_alltoall", "bruck_reduce_scatter", "chain_broadcast", "chain_reduce", "copied",
    "direct_allgather", "direct_allreduce", "direct_alltoall", "direct_broadcast", "direct_gather", "direct_reduce",
    "direct_reduce_scatter", "direct_scatter", "double_tree_allreduce", "doubling_allgather", "doubling_allreduce",
    "gathered", "halving_doubling_allreduce", "halving_reduce_scatter", "hierarchical_allgather",
    "hierarchical_allreduce", "hierarchical_alltoall", "hierarchical_broadcast", "hierarchical_reduce_scatter",
    "joined", "line_allgather", "line_reduce_scatter", "nvls_allreduce", "one_shot_allreduce", "pairwise_alltoall",
    "pieces", "ragged_alltoall", "record_of", "ring_allgather", "ring_allreduce", "ring_alltoall",
    "ring_reduce_scatter", "scatter_allgather_broadcast", "scattered", "send", "spread", "summed", "switch_allgather",
    "switch_allreduce", "switch_reduce_scatter", "torus_allgather", "torus_allreduce", "torus_reduce_scatter",
    "tree_allreduce", "within",
]  # fmt: skip
