"""Measured steps of runs that differ in their plan alone: the small table measured_mixtures.csv.

A planner orders plans of one model, batch and machine; such runs are what its order can be held against.
"""

from typing import NamedTuple

from hwlib.specs.measured import Measurements, of
from hwlib.units import GB, ms


class MeasuredMixture(NamedTuple):
    """One run: `time` of a step in seconds, and what it trained. Layers are recomputed in full, as printed.

    `stack` is a key of `stacks`, whose constants are those of its software; W_out (B/s) leave a node, one way. A step
    has `sequences` of 2,048 tokens, a microbatch `micro` of them. `source` is a key of docs/references.bib.
    """

    run: str
    stack: str
    gpus: int
    W_out: float
    layers: int
    width: int
    heads: int
    vocab: int
    sequences: int
    tp: int
    pp: int
    dp: int
    micro: int
    zero: int
    time: float
    source: str

    @property
    def job(self) -> tuple[object, ...]:
        """What runs must have in common to be compared: software, GPUs, model and batch."""
        return self.stack, self.gpus, self.layers, self.width, self.heads, self.sequences

    @property
    def plan(self) -> tuple[int, ...]:
        """In what runs of one job differ: tp, pp, dp, micro, zero."""
        return self.tp, self.pp, self.dp, self.micro, self.zero


MIXTURES = Measurements(
    "mixture", "measured_mixtures.csv", MeasuredMixture, W_out=of("W_out", GB), time=of("time", {"s": 1, "ms": ms})
)


def measured_mixtures(source: str | None = None) -> tuple[MeasuredMixture, ...]:
    """The runs, all or of one source (the key of a reference), in the order of the table.

    Raises ValueError, listing the known ones, if the table has none.
    """
    return MIXTURES.where(source=source)
