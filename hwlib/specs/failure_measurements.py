"""How often runs are interrupted, and what their checkpoints take, as published: measured_failures.csv and
measured_checkpoints.csv. What interrupted one of them is `hwlib.specs.interruption_measurements`.
"""

from typing import NamedTuple

from hwlib.specs.measured import Measurements, of
from hwlib.units import GiB, day


class MeasuredFailures(NamedTuple):
    """Interruptions of a run, or of a cluster's jobs: so many in `time` (s) on `gpus` in nodes of `node`.

    `rate` is per second and node where the source prints a rate; `goodput` the share of the time that was training, as
    printed: exactly so much, or "at least" (`bound`). None where nothing is printed. `source` begins with a key of
    docs/references.bib.
    """

    key: str
    name: str
    chip: str
    gpus: int | None
    node: int
    time: float | None
    interruptions: int | None
    rate: float | None
    goodput: float | None
    bound: str
    source: str

    @property
    def t_gpu(self) -> float:
        """Mean seconds of one GPU between two interruptions. Raises ValueError where the source prints no number.

        >>> round(measured_failures("llama3-405b").t_gpu / day)
        2112
        """
        if self.rate:
            return self.node / self.rate
        if not (self.time and self.gpus and self.interruptions):
            raise ValueError(f"{self.key}: its source does not print how often it was interrupted")
        return self.time * self.gpus / self.interruptions


class MeasuredCheckpoint(NamedTuple):
    """A checkpoint of a model of `params` parameters on `gpus` in nodes of `node`, and its seconds.

    Training is `blocked`, the whole `save` and `load` take so long; `how` is "blocking" or "async". `bytes` as printed.
    None where nothing is printed. `source` begins with a key of docs/references.bib.
    """

    key: str
    name: str
    params: float
    gpus: int | None
    node: int | None
    bytes: float | None
    how: str
    blocked: float
    save: float | None
    load: float | None
    source: str


FAILURES = Measurements(
    "failures", "measured_failures.csv", MeasuredFailures, time=of("days", day), rate=of("rate", 1e-3 / day)
)
CHECKPOINTS = Measurements(
    "checkpoint", "measured_checkpoints.csv", MeasuredCheckpoint, bytes=of("bytes", {"GiB": GiB})
)


def measured_failures(key: str) -> MeasuredFailures:
    """A row of measured_failures.csv. Raises KeyError, naming the rows there are."""
    return FAILURES[key]


def measured_checkpoint(key: str) -> MeasuredCheckpoint:
    """A row of measured_checkpoints.csv. Raises KeyError, naming the rows there are."""
    return CHECKPOINTS[key]
