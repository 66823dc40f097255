"""Measured memories: the small table measured_memory.csv, chosen from published sweeps of size and of occupancy."""

from functools import cache
from typing import NamedTuple

from hwlib.specs.table import csv_rows
from hwlib.units import GB, KiB

LATENCY_CLOCK = 1.755e9  # 1/s, printed above the cycles
UNITS = {"kB": KiB, "warps": 1, "GB/s": GB, "cycles": 1 / LATENCY_CLOCK}


class MeasuredMemory(NamedTuple):
    """One point of a sweep on one chip (a key of `accelerators`).

    `what` is "read bandwidth", "shared read" or "latency" (at a size in bytes), or "one load" or "two loads" (at a
    number of resident warps of an SM); `value` is in B/s, a latency in s. `source` is a key of docs/references.bib
    and the file in it.
    """

    chip: str
    what: str
    at: float
    value: float
    source: str


def _si(text: str) -> float:
    number, unit = text.split(" ")
    return float(number) * UNITS[unit]


@cache
def _table() -> tuple[MeasuredMemory, ...]:
    rows = csv_rows("measured_memory.csv")
    return tuple(MeasuredMemory(r["chip"], r["what"], _si(r["at"]), _si(r["value"]), r["source"]) for r in rows)


def measured_memory(chip: str, what: str) -> tuple[MeasuredMemory, ...]:
    """One sweep of one chip, in ascending order of what was turned.

    Raises ValueError, listing the known ones, when the table has none.
    """
    rows = tuple(r for r in _table() if (r.chip, r.what) == (chip, what))
    if not rows:
        sweeps = sorted({f"{r.chip} {r.what}" for r in _table()})
        raise ValueError(f"no measured {what} of {chip}; known: {', '.join(sweeps)}")
    return rows
