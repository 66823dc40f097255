"""Measured steps of pipelines: the small table measured_pipelines.csv, chosen from published sweeps.

Rows of one software differ in one or two fields only, so that a model of few constants can be held against them.
"""

from functools import cache
from typing import NamedTuple

from hwlib.specs.table import csv_rows
from hwlib.units import GB, GiB

_MEMORY = {"GB": GB, "GiB": GiB}


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
    def dp(self) -> int:
        """Replicas, each of tp*pp GPUs."""
        return self.gpus // (self.tp * self.pp)

    @property
    def m(self) -> int:
        """Microbatches of a replica in a step."""
        return self.sequences // (self.dp * self.micro)


def _row(r: dict[str, str]) -> MeasuredPipeline:
    whole = {name: int(r[name]) for name in ("gpus", "width", "layers", "tp", "pp", "v", "T", "sequences", "micro")}
    rate, unit = r["rate"].split(" ")
    tokens = whole["sequences"] * whole["T"]
    time = {"s/step": float(rate), "token/s/GPU": tokens / (float(rate) * whole["gpus"])}[unit]
    memory, of = r["memory"].split(" ")
    return MeasuredPipeline(
        r["run"], r["software"], **whole, time=time, memory=float(memory) * _MEMORY[of], source=r["source"]
    )


@cache
def _table() -> tuple[MeasuredPipeline, ...]:
    return tuple(map(_row, csv_rows("measured_pipelines.csv")))


def measured_pipelines(software: str) -> tuple[MeasuredPipeline, ...]:
    """The runs of one software, whose name begins with `software`, in the order of the table.

    Raises ValueError, listing the known ones, when the table has none.
    """
    rows = tuple(r for r in _table() if r.software.startswith(software))
    if not software or not rows:
        known = ", ".join(sorted({r.software for r in _table()}))
        raise ValueError(f"no measured pipelines of {software!r}; known: {known}")
    return rows
