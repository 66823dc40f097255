"""Measured limits of power: the small table measured_power.csv, of what a GPU still does with fewer watts."""

from functools import cache
from typing import NamedTuple

from hwlib.specs.table import csv_rows


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


@cache
def _table() -> tuple[MeasuredPower, ...]:
    return tuple(
        MeasuredPower(
            r["chip"], r["workload"], float(r["cap_w"]), float(r["rate"]) if r["rate"] else None, r["unit"],
            float(r["clock_mhz"]) * 1e6 if r["clock_mhz"] else None, float(r["chip_w"]) if r["chip_w"] else None,
            r["source"],
        )
        for r in csv_rows("measured_power.csv")
    )  # fmt: skip


def measured_powers(workload: str | None = None) -> tuple[MeasuredPower, ...]:
    """Every row of the table, or those of one workload, by rising limit.

    Raises ValueError, listing the known ones, for another.
    """
    rows = tuple(r for r in _table() if workload in (None, r.workload))
    if not rows:
        known = ", ".join(dict.fromkeys(r.workload for r in _table()))
        raise ValueError(f"no measured power of {workload!r}; known: {known}")
    return rows
