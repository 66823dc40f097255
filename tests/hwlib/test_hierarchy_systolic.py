"""Cycles on a systolic array: what the papers print, and a square of multipliers that is played cycle by cycle."""

import pytest

from hwlib.hierarchy import systolic_cycles, systolic_fraction, systolic_tile_cycles


def test_tile_loads_hide_behind_as_many_rows_as_the_square_has():
    """Jouppi 2017: double buffering hides "the 256 cycles it takes to shift a tile in"."""
    tiles, side = 64, 256
    fewer = systolic_cycles(256, side, tiles * side, side) - systolic_cycles(128, side, tiles * side, side)
    assert fewer == 128  # of the last tile alone
    assert systolic_cycles(512, side, tiles * side, side) - systolic_cycles(256, side, tiles * side, side) == 256 * 64


def test_eight_rows_take_eight_cycles_more():
    """The scaling book: a product [8, 128] x [128, 128] every 8 cycles, once the weights are there."""
    assert systolic_tile_cycles(1032, 128) - systolic_tile_cycles(1024, 128) == 8
    assert systolic_tile_cycles(1024, 128) == 2 * 128 + 128 + 1024 - 2  # SCALE-Sim: 2R + C + T - 2


def test_the_share_tends_to_one_and_halves_with_half_a_width():
    assert systolic_fraction(1e9, 128, 128, 128) == pytest.approx(1, abs=1e-6)
    assert systolic_fraction(1e9, 64, 128, 128) == pytest.approx(0.5, abs=1e-6)
    assert systolic_fraction(1e9, 64, 128, 256) == pytest.approx(0.125, abs=1e-6)


def played(rows, side):
    """The cycle in which the last result leaves: a weight a row and cycle in, then each row one later than the last."""
    last = 0
    for row in range(rows):
        for column in range(side):
            enters = side + row  # at the first multiplier of the first row of weights
            last = max(last, enters + (side - 1) + column)  # down the sums, across the columns
    return last + 1


@pytest.mark.parametrize(("rows", "side"), [(1, 4), (5, 4), (64, 8)])
def test_one_tile_is_as_long_as_a_played_one(rows, side):
    assert systolic_tile_cycles(rows, side) == played(rows, side)
    assert systolic_cycles(rows, side, side, side) == played(rows, side)
