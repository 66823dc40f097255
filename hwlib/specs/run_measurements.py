"""Whole training runs as published: the small table measured_runs.csv, of tokens, GPU hours and rates."""

from typing import NamedTuple

from hwlib.specs.measured import Measurements, of
from hwlib.units import TFLOP, hour


class MeasuredRun(NamedTuple):
    """One run of a model on n of a chip (keys of the other tables); None where its source prints nothing.

    `tokens` are those of the whole run, in sequences of `length`; `time` is that of one rank times the ranks, in s;
    `rate` is that of one rank in FLOP/s, and `counts` which operations it counts: "model", "unmasked" (attention over
    all keys) or "recomputed" (unmasked, and the forward pass twice). `source` begins with a key of docs/references.bib.
    """

    key: str
    model: str
    chip: str
    n: int | None
    tokens: float | None
    length: int
    time: float | None
    rate: float | None
    token_rate: float | None
    counts: str
    source: str

    @property
    def wall_time(self) -> float:
        """Seconds from the first step to the last. Raises ValueError where hours or ranks are not published."""
        if self.time is None or self.n is None:
            raise ValueError(f"{self.key}: its GPU hours or its number of GPUs are not published")
        return self.time / self.n


RUNS = Measurements("run", "measured_runs.csv", MeasuredRun, time=of("hours", hour), rate=of("rate", TFLOP))


def measured_run(key: str) -> MeasuredRun:
    """A row of the table. Raises KeyError, naming the rows there are."""
    return RUNS[key]


def measured_runs() -> tuple[MeasuredRun, ...]:
    """Every row of the table."""
    return RUNS.rows
