"""Measured interruptions: the small table measured_interruptions.csv, of what stopped one published training run."""

from typing import NamedTuple

from hwlib.specs.measured import Measurements, of
from hwlib.units import day


class MeasuredInterruption(NamedTuple):
    """One cause of unexpected interruptions, in which `part` of the machine, how often, and the share as printed."""

    cause: str
    part: str
    times: int
    printed: float
    source: str


INTERRUPTIONS = Measurements(
    "interruption", "measured_interruptions.csv", MeasuredInterruption, printed=of("printed", 0.01)
)
OBSERVED = {"gpus": 16384, "time": 54 * day, "planned": 47}
"""What the table is about: 16,384 GPUs, 54 days, and 47 planned interruptions beside those of the table (llama3)."""


def measured_interruptions(part: str | None = None) -> tuple[MeasuredInterruption, ...]:
    """Every row of the table, or those of one part of the machine, the most frequent first.

    Raises ValueError, listing the known ones, for another part.
    """
    return INTERRUPTIONS.where(part=part)
