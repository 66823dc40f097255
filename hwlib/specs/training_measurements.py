"""Measured training steps: the table measured_training.csv, runs of data parallelism alone as published."""

from typing import NamedTuple

from hwlib.specs.measured import Measurements, of
from hwlib.units import GB, GiB


class MeasuredStep(NamedTuple):
    """A published run on `gpus` chips of one kind (a key of `accelerators`), each with the whole model.

    A GPU's step is `m` microbatches of `micro` sequences of `T` tokens. `zero` is ZeRO's stage over `shards` GPUs,
    `recompute` a word of `hwlib.strategy`. `network` (B/s) is what all cards of a node have, one way, if it was
    printed; `rate` (token/s) that of a GPU, and `memory` (B) its peak, each 0 if it was not. `variant` is what a run
    has beyond the one before it. `source` begins with a key of docs/references.bib.
    """

    chip: str
    model: str
    gpus: int
    T: int
    micro: int
    m: int
    zero: int
    shards: int
    recompute: str
    network: float
    rate: float
    memory: float
    variant: str
    source: str

    @property
    def reference(self) -> str:
        """The key of docs/references.bib."""
        return self.source.split()[0]

    @property
    def tokens(self) -> int:
        """Tokens of a GPU in a step."""
        return self.m * self.micro * self.T

    @property
    def time(self) -> float:
        """Seconds of a step, from the rate. Raises ValueError if none was printed."""
        if not self.rate:
            raise ValueError(f"no rate was published of {self.model} on {self.gpus} GPUs, {self.source}")
        return self.tokens / self.rate


STEPS = Measurements("step", "measured_training.csv", MeasuredStep, network=of("network", GB), memory=of("memory", GiB))


def measured_steps(source: str | None = None, model: str | None = None) -> tuple[MeasuredStep, ...]:
    """The published runs, all or of one source (the key of a reference) or model, in the order of the table.

    Raises ValueError, listing the known ones, if the table has none.
    """
    return STEPS.where(reference=source, model=model)
