"""Measured limits of power: the small table measured_power.csv, of what a GPU still does with fewer watts."""

from typing import NamedTuple

from hwlib.specs.measured import Measurements, of
from hwlib.units import MHz


class MeasuredPower(NamedTuple):
    """One program on one chip (a key of `accelerators`) under a limit of `cap` watts; None is what nobody gives.

    `rate` is the program's own, in `unit`; `clock` in Hz and `chip_power`, of the chip without its memory, are means.
    `source` begins with a key of docs/references.bib.
    """

    chip: str
    workload: str
    cap: float
    rate: float | None
    unit: str
    clock: float | None
    chip_power: float | None
    source: str


POWERS = Measurements(
    "power", "measured_power.csv", MeasuredPower, cap=of("cap_w"), clock=of("clock_mhz", MHz), chip_power=of("chip_w")
)


def measured_powers(workload: str | None = None) -> tuple[MeasuredPower, ...]:
    """Every row of the table, or those of one workload, by rising limit.

    Raises ValueError, listing the known ones, for another.
    """
    return POWERS.where(workload=workload)
