"""Measured memories: the small table measured_memory.csv, chosen from published sweeps of size and of occupancy."""

from typing import NamedTuple

from hwlib.specs.measured import Measurements, of
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


MEMORIES = Measurements(
    "memory", "measured_memory.csv", MeasuredMemory, "of", at=of("at", UNITS), value=of("value", UNITS)
)


def measured_memory(chip: str, what: str) -> tuple[MeasuredMemory, ...]:
    """One sweep of one chip, in ascending order of what was turned.

    Raises ValueError, listing the known ones, when the table has none.
    """
    return MEMORIES.where(what=what, chip=chip)
