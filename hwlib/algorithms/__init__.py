"""Collectives as generators: one body, that runs in a simulator, on real ranks, and in a learner's head.

`ALGORITHMS` holds a record of each: what it computes, and the formula that gives its time. `hwlib.algorithms.step`
says how one is written.
"""

from hwlib.algorithms.ring import ring_allgather, ring_allreduce, ring_reduce_scatter
from hwlib.algorithms.step import (
    ALGORITHMS,
    Algorithm,
    Array,
    Program,
    Step,
    algorithm,
    blocks,
    copied,
    joined,
    pieces,
    record_of,
    within,
)

__all__ = [
    "ALGORITHMS", "Algorithm", "Array", "Program", "Step", "algorithm", "blocks", "copied", "joined", "pieces",
    "record_of", "ring_allgather", "ring_allreduce", "ring_reduce_scatter", "within",
]  # fmt: skip
