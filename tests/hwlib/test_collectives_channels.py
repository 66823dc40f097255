"""Channels and the chip that they share with a matmul, against a clock that runs both."""

import pytest

from hwlib.collectives import (
    channels_bandwidth,
    halving_doubling_allreduce_time,
    paired_allreduce_time,
    shared_chip_time,
)


def clocked(t_math, t_comm, n_SM, n_ch, steps=20000):
    """Both run in small steps of time; the matmul has n_SM - n_ch until the collective ends."""
    work, t, dt = t_math * n_SM, 0.0, (t_math + t_comm) / steps
    while work > 0 or t < t_comm:
        work -= dt * (n_SM - (n_ch if t < t_comm else 0))
        t += dt
    return t


@pytest.mark.parametrize(
    ("t_math", "t_comm", "n_SM", "n_ch"), [(4e-3, 2.5e-3, 132, 32), (1e-3, 3e-3, 132, 20), (2e-3, 2e-3, 148, 16)]
)
def test_the_formula_is_the_clock(t_math, t_comm, n_SM, n_ch):
    assert shared_chip_time(t_math, t_comm, n_SM, n_ch) == pytest.approx(clocked(t_math, t_comm, n_SM, n_ch), rel=1e-3)


def test_until_the_port_is_full_channels_cost_the_same():
    """20 of 132 SMs, DeepSeek-V3's share, cost as much as 10 for twice as long."""
    S = 1e9
    times = [shared_chip_time(0.1, S / channels_bandwidth(n, 10e9, 200e9), 132, n) for n in (10, 20)]
    assert times[0] == pytest.approx(times[1])
    assert shared_chip_time(0.1, S / channels_bandwidth(40, 10e9, 200e9), 132, 40) > times[1]


@pytest.mark.parametrize("n", [2, 8, 512])
def test_halving_and_doubling_among_a_power_of_two(n):
    for S in (0, 1e3, 1e9):
        assert paired_allreduce_time(n, S, 1e-6, 1e11) == pytest.approx(
            halving_doubling_allreduce_time(n, S, 1e-6, 1e11)
        )
