"""Whole training runs as published: the small table measured_runs.csv, of tokens, GPU hours and rates."""

from functools import cache
from typing import NamedTuple

from hwlib.specs.table import csv_rows


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


@cache
def _table() -> dict[str, MeasuredRun]:
    rows = {}
    for r in csv_rows("measured_runs.csv"):
        names = "tokens", "hours", "rate", "token_rate"
        tokens, hours, rate, token_rate = (float(r[name]) if r[name] else None for name in names)
        rows[r["key"]] = MeasuredRun(
            r["key"], r["model"], r["chip"], int(r["n"]) if r["n"] else None, tokens, int(r["length"]),
            None if hours is None else hours * 3600, None if rate is None else rate * 1e12, token_rate,
            r["counts"], r["source"],
        )  # fmt: skip
    return rows


def measured_run(key: str) -> MeasuredRun:
    """A row of the table. Raises KeyError, naming the rows there are."""
    if key not in _table():
        raise KeyError(f"unknown measured run {key!r}; known: {', '.join(_table())}")
    return _table()[key]


def measured_runs() -> tuple[MeasuredRun, ...]:
    """Every row of the table."""
    return tuple(_table().values())
