"""A systolic array, played: its products against numpy, its cycles against the formulas and the scaling book."""

import numpy as np
import pytest

from hwlib.hierarchy import play_systolic, systolic_cycles, systolic_fraction, systolic_tile_cycles


def played(M, K, N, side, seed=0):
    draw = np.random.default_rng(seed)
    A, W = draw.integers(-4, 5, (M, K)), draw.integers(-4, 5, (K, N))
    run = play_systolic(A.tolist(), W.tolist(), side)
    assert np.array_equal(run.product, A @ W)
    return run


@pytest.mark.parametrize(("M", "side"), [(1, 1), (1, 4), (3, 4), (9, 4), (16, 8)])
def test_one_tile_takes_the_cycles_of_the_formula(M, side):
    run = played(M, side, side, side)
    assert run.cycles == systolic_tile_cycles(M, side)
    assert run.useful == M * side**2


@pytest.mark.parametrize(("M", "K", "N", "side"), [(8, 8, 8, 4), (4, 12, 5, 4), (11, 6, 7, 3)])
def test_tiles_follow_one_another_and_padding_is_paid(M, K, N, side):
    run = played(M, K, N, side)
    assert run.cycles == systolic_cycles(M, N, K, side)
    assert run.share == pytest.approx(systolic_fraction(M, N, K, side))


def test_eight_rows_an_eight_cycles_as_in_the_scaling_book():
    """A product [8, 128] x [128, 128] every 8 cycles, once the weights are there: here on an array of 8 x 8."""
    assert played(40, 8, 8, 8).cycles - played(32, 8, 8, 8).cycles == 8
    full = [len(places) for places in played(40, 8, 8, 8).places]
    assert full.count(64) == 40 - 2 * 8 + 2  # all busy but while the diagonal fills and drains


def test_few_rows_wait_for_the_next_weights():
    """Of three tiles the last waits for no other."""
    run = played(1, 12, 4, 4)
    assert systolic_cycles(1, 4, 12, 4) == run.cycles


def test_shapes_that_do_not_fit_are_rejected():
    with pytest.raises(ValueError, match="M x K"):
        play_systolic([[1, 2]], [[1]], 2)
