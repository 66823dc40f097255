"""Measured all-reduces: the table measured_allreduce.csv, sweeps over sizes and over numbers of GPUs as published."""

from typing import NamedTuple

from hwlib.specs.measured import Measurements, of
from hwlib.units import GB


class MeasuredAllreduce(NamedTuple):
    """One timed all-reduce of `S` bytes on each of `n` GPUs, which are chips of one kind (a key of `accelerators`).

    `bus_bandwidth` (B/s) is as printed: 2(n - 1)/n of S over the time, whatever crossed the wires. `how` is "ring"
    (no reduction in the switch), "auto" (NCCL chooses: the switch for large arrays) or "NVLSTree". `source` begins
    with a key of docs/references.bib.
    """

    chip: str
    n: int
    S: int
    how: str
    bus_bandwidth: float
    source: str

    @property
    def time(self) -> float:
        """Seconds, from the bandwidth: to as many digits as that has."""
        return 2 * (self.n - 1) / self.n * self.S / self.bus_bandwidth


ALLREDUCES = Measurements(
    "all-reduce", "measured_allreduce.csv", MeasuredAllreduce, S=of("bytes"), bus_bandwidth=of("bus_bandwidth", GB)
)


def measured_allreduces(
    chip: str | None = None, n: int | None = None, how: str | None = None
) -> tuple[MeasuredAllreduce, ...]:
    """The measured all-reduces, all or of one chip, number of GPUs and way of doing it, the smallest first.

    Raises ValueError, listing the known ones, if the table has none.
    """
    return tuple(sorted(ALLREDUCES.where(chip=chip, n=n, how=how), key=lambda r: (r.chip, r.how, r.n, r.S)))
