"""What an H100 does under a limit of its power, as published: more watts, more work, and ever less for each."""

from itertools import pairwise
from math import log

import pytest

from hwlib.power import chip_power
from hwlib.specs import accelerators, measured_powers

WORKLOADS = sorted({row.workload for row in measured_powers()})


@pytest.mark.parametrize("workload", WORKLOADS)
def test_more_watts_do_more_work_and_ever_less_for_each(workload):
    rows = measured_powers(workload)
    done = [row.rate or row.clock for row in rows]
    assert [row.cap for row in rows] == [200, 300, 400, 500, 600, 700]
    gains = [b / a for a, b in pairwise(done)]
    assert all(gain > 1 for gain in gains)
    assert gains == sorted(gains, reverse=True)


def test_the_chip_stays_below_its_limit_and_its_highest_clock():
    rows = measured_powers("ViT-L/16 inference")
    assert all(row.chip_power < row.cap for row in rows)
    assert rows[-1].clock < accelerators["h100-sxm"].vector_clock


def test_power_is_nearly_a_cube_of_the_clock_near_the_top_and_nearly_a_line_at_the_bottom():
    """ujeniya2026, figures 6b and 9b: 473 and 527 W at 1,889 and 1,969 MHz, 127 and 207 W at 625 and 1,132 MHz."""
    rows = measured_powers("ViT-L/16 inference")

    def exponent(below, above, at_rest=60):
        return log((above.chip_power - at_rest) / (below.chip_power - at_rest)) / log(above.clock / below.clock)

    assert exponent(*rows[-2:]) == pytest.approx(2.97, abs=0.01)
    assert exponent(*rows[:2]) == pytest.approx(1.32, abs=0.01)
    top = rows[-1]
    cube = chip_power(60, top.chip_power - 60, rows[-2].clock, top.clock)
    assert cube == pytest.approx(rows[-2].chip_power, rel=0.01)
