"""Measured steps of pipelines: the small table measured_pipelines.csv, chosen from published sweeps.

Rows of one software differ in one or two fields only, so that a model of few constants can be held against them.
"""

from typing import NamedTuple

from hwlib.specs.measured import Measurements, of
from hwlib.units import GB, GiB


class MeasuredPipeline(NamedTuple):
    """One run: `time` of a step in seconds, the most bytes of `memory` that were printed, and what it trained.

    `sequences` of T tokens are a step of all replicas, `micro` of them a microbatch; a rank has v chunks of layers.
    `source` is a key of docs/references.bib.
    """

    run: str
    software: str
    gpus: int
    width: int
    layers: int
    tp: int
    pp: int
    v: int
    T: int
    sequences: int
    micro: int
    time: float
    memory: float
    source: str

    @property
    def program(self) -> str:
        """The software without its version."""
        return self.software.split()[0]

    @property
    def dp(self) -> int:
        """Replicas, each of tp*pp GPUs."""
        return self.gpus // (self.tp * self.pp)

    @property
    def m(self) -> int:
        """Microbatches of a replica in a step."""
        return self.sequences // (self.dp * self.micro)


def _time(row: dict[str, str]) -> float:
    rate, unit = row["rate"].split(" ")
    tokens = int(row["sequences"]) * int(row["T"])
    return {"s/step": float(rate), "token/s/GPU": tokens / (float(rate) * int(row["gpus"]))}[unit]


PIPELINES = Measurements(
    "pipeline", "measured_pipelines.csv", MeasuredPipeline, time=_time, memory=of("memory", {"GB": GB, "GiB": GiB})
)


def measured_pipelines(program: str) -> tuple[MeasuredPipeline, ...]:
    """The runs of one program, in the order of the table. Raises ValueError, listing the known ones, if it has none."""
    return PIPELINES.where(program=program)
