"""NCCL's model: its limits, an optimum that must agree with a search, and a fit that finds its constants."""

from dataclasses import replace

import numpy as np
import pytest

from hwlib.calibrated import (
    Timed,
    collective_time,
    fit_alpha_beta,
    fit_collective,
    nccl_time,
    pipelined_time,
    tree_time,
)
from hwlib.collectives import bus_factor
from hwlib.specs import measured_allreduces
from hwlib.specs.fitted import collective_constants, tree_constants
from hwlib.units import GB, us
from tests.each import each

ENTRIES = collective_constants()
KEYS = sorted(ENTRIES)
TREE = tree_constants()["h100-sxm", "NVLSTree"]
H200 = ENTRIES["h200-sxm", "all_reduce", "torch"]
SIZES = 2.0 ** np.arange(9, 35)


@pytest.mark.parametrize("stages", [2, 7, 30])
def test_the_pipeline_is_the_best_of_all_numbers_of_chunks(stages):
    S, alpha, W = 1 * GB, 20 * us, 100 * GB
    best = min((m + stages) * (alpha / stages + S / (m * W)) for m in range(1, 20_000))
    assert pipelined_time(S, alpha, W) == pytest.approx(best, rel=1e-4)
    assert pipelined_time(S, alpha, W) <= best


@each("key", KEYS)
def test_time_grows_with_size_and_ends_at_the_bandwidth(key):
    c = ENTRIES[key]
    for n in (2, 4, 8):
        times = collective_time(c, n, SIZES)
        assert (np.diff(times) > 0).all()
        assert times[0] == pytest.approx(collective_time(c, n, 1.0), rel=0.1)
        plateau = c.W if c.W_switch == float("inf") else max(c.W, 2 * c.W_switch)
        assert bus_factor(c.op, n) * 2.0**45 / collective_time(c, n, 2.0**45) <= plateau


@each("key", KEYS)
def test_one_rank_has_nothing_to_send(key):
    c = replace(ENTRIES[key], W_copy=float("inf"))
    assert collective_time(c, 1, 1e-9) == pytest.approx(collective_time(c, 1, 2.0**34), abs=1e-9)


def test_the_switch_reduces_from_five_gpus_on():
    on, off = ([collective_time(H200, n, 2.0**33, switch) for n in range(2, 9)] for switch in (True, False))
    assert on[:2] == off[:2]  # two and three GPUs: the ring sends less than a switch's port
    assert all(a < 0.9 * b for a, b in zip(on[3:], off[3:], strict=True))


def test_a_tree_has_its_latency_by_doublings():
    small = [tree_time(TREE, n, 1.0) for n in (64, 128, 256, 8192)]
    assert small[1] - small[0] == pytest.approx(TREE.alpha_level_low, rel=1e-6)
    assert small[3] - small[2] == pytest.approx(5 * TREE.alpha_level_low, rel=1e-6)
    assert bus_factor("all_reduce", 8192) * 2.0**44 / tree_time(TREE, 8192, 2.0**44) == pytest.approx(TREE.W, rel=0.01)


@each("entry", [*ENTRIES.values(), TREE])
def test_at_most_six_constants(entry):
    assert 4 <= len(entry.constants) <= 6


def test_the_fit_finds_its_constants():
    true = ENTRIES["h100-sxm", "all_gather", "nccl-tests"]
    timed = [Timed(S, n, float(collective_time(true, n, S))) for S in SIZES for n in (2, 4, 8)]
    start = replace(true, **dict.fromkeys(true.constants, 1.0))
    found = fit_collective(start, timed, tuple(true.constants))
    for name, value in true.constants.items():
        assert getattr(found, name) == pytest.approx(value, rel=0.02), name


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"2 constants .* 1$"):
        fit_collective(H200, [Timed(8.0, 2, 1e-6)], ("alpha", "W"))


@pytest.mark.parametrize(("alpha", "W"), [(10 * us, 370 * GB), (5e-3, 0.3 * GB), (1e-7, 40 * GB)])
def test_a_line_is_found_again_under_noise(alpha, W):
    times = (alpha + SIZES / W) * np.random.default_rng(5).uniform(0.95, 1.05, len(SIZES))
    exact, noisy = fit_alpha_beta(SIZES, alpha + SIZES / W), fit_alpha_beta(SIZES, times)
    assert exact[:2] == pytest.approx((alpha, W), rel=1e-5)
    assert exact.error < 1e-5
    assert noisy[:2] == pytest.approx((alpha, W), rel=0.06)
    assert noisy.error == pytest.approx(np.abs(noisy.time(SIZES) / times - 1).mean())
    # A straight line through the seconds has an alpha that is the noise of the largest size.
    _, start = np.polyfit(SIZES, times, 1)
    assert abs(start / alpha - 1) > 10 * abs(noisy.alpha / alpha - 1)


@pytest.mark.parametrize(
    ("S", "time", "says"),
    [
        ([1, 2], [1], r"time: .*\b2 .* 1"),
        ([8, 8], [1, 2], "S: .* 1"),
        ([1, 2], [1, 0], "time: .* 0"),
        ([1, -2], [1, 1], "S: .* -2"),
        ([1, 2], [1, float("nan")], "time: .* nan"),
        ([1, float("inf")], [1, 2], "S: .* inf"),
    ],
)
def test_no_line_goes_through_these(S, time, says):
    with pytest.raises(ValueError, match=rf"^fit_alpha_beta: {says}$"):
        fit_alpha_beta(S, time)


def test_the_time_of_a_chip_is_that_of_its_constants_and_of_the_published_sweep():
    h200 = nccl_time("h200-sxm", "all_reduce", 8, SIZES, software="torch")
    assert (h200 == collective_time(H200, 8, SIZES)).all()
    sweep = measured_allreduces("h200-sxm", 8, "auto")
    errors = [abs(nccl_time("h200-sxm", "all_reduce", 8, row.S, "torch") / row.time - 1) for row in sweep]
    line = fit_alpha_beta([row.S for row in sweep], [row.time for row in sweep])
    assert np.mean(errors) < 0.03 < line.error, "two protocols and a switch explain what no line does"
    assert nccl_time("h200-sxm", "all_reduce", 8, 2**30, switch=False) > nccl_time("h200-sxm", "all_reduce", 8, 2**30)


def test_constants_that_are_not_there_are_answered_with_those_like_them():
    with pytest.raises(KeyError, match=r"'h100 all_reduce nccl-tests'; .*h\d00"):
        nccl_time("h100", "all_reduce", 8, 1e6)
