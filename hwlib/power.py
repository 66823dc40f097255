"""The clock of a chip under a power limit: a model of one constant, and the clock in time that it gives.

The power of switching a transistor grows with the clock and the square of the voltage, and the voltage that a clock
needs grows about as the clock does; what a chip draws at rest does not depend on the clock. How much switches depends
on the work and on its data. Temperature is left out: a chip that is too hot lowers its clock too, and leaks more.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hwlib.formula import formula


@formula("P_el", cite="chandrakasan1992")
def chip_power(P_idle, P_switch, f_clk, f_max):
    """Power at a clock, if at the highest one switching takes P_switch: clock times voltage squared is a cube.

    To first order: near its lowest voltage a chip's power falls only as fast as the clock.
    """
    return P_idle + P_switch * (f_clk / f_max) ** 3


class Phase(NamedTuple):
    """A while of one kind of work: its name, its length in s, and its switching power at the highest clock, in W."""

    name: str
    time: float
    switching: float


class PowerSample(NamedTuple):
    """One moment of a run: when, the clock, the power, and what was running."""

    at: float
    clock: float
    power: float
    phase: str


def clock_series(
    phases: Sequence[Phase],
    limit: float,
    f_max: float,
    P_idle: float,
    *,
    period: float = 0.02,
    step: float = 15e6,
    f_min: float = 345e6,
) -> list[PowerSample]:
    """The clock of a chip in time, under a governor that looks at the power once a period.

    Above the limit it lowers the clock by one step, and raises it by one where a step more would stay below. Starts at
    f_max. Raises ValueError for a limit that is not above what the chip takes at rest.
    """
    if not limit > P_idle:
        raise ValueError(f"clock_series: the limit is above the {P_idle:g} W at rest, got {limit:g} W")
    samples: list[PowerSample] = []
    clock, at = f_max, 0.0
    for phase in phases:
        for _ in range(max(1, round(phase.time / period))):
            power = chip_power(P_idle, phase.switching, clock, f_max)
            samples.append(PowerSample(at, clock, power, phase.name))
            at += period
            if power > limit:
                clock = max(f_min, clock - step)
            elif clock + step <= f_max and chip_power(P_idle, phase.switching, clock + step, f_max) <= limit:
                clock += step
    return samples
