"""Where constants of collectives hold: bands from rows that were held back, growth beyond them, ranks and releases."""

import math

import pytest

from benchmarks.fit.measured_ranges import SPAN, band, bands, growths, held_back, spans
from benchmarks.rows.published_row import PublishedRow
from hwlib.calibrated import Timed
from hwlib.specs.fitted import MeasuredCollective, all_fitted

MEASURED = [entry for entry in all_fitted() if isinstance(entry, MeasuredCollective)]


def test_one_row_in_twenty_may_take_longer_where_there_are_enough():
    few, many = ([1.0] * (count - 1) + [2.0] for count in (19, 20))
    assert band(few, 0.01) == pytest.approx(1.0)
    assert band(many, 0.01) == pytest.approx(0.01)


def test_a_band_is_of_what_takes_longer_and_not_below_the_mean_error():
    assert band([0.5, 0.6, 1.1], 0.02) == pytest.approx(0.1)
    assert band([0.5, 0.6, 0.7], 0.02) == 0.02


def line(slope, row):
    return 1e-5 + slope * row[0].S


def test_each_region_has_its_own_band_and_an_empty_one_that_of_all():
    rows = [(Timed(S, 8, line(1e-11, (Timed(S, 8, 0.0), True)) * more), True) for S, more in ((8, 1.5), (1e9, 1.02))]
    held = held_back(1e-11, rows, line)
    assert [one.region for one in held] == ["latency", "wires"]
    of = bands(held)
    mean = (1 - 1 / 1.5 + 1 - 1 / 1.02) / 2
    assert of["band_latency"] == pytest.approx(0.5)
    assert of["band_filling"] == pytest.approx(0.5)
    assert of["band_wires"] == pytest.approx(mean)


def test_growth_is_that_of_rows_beyond_those_that_are_fitted():
    """A law that is wrong by 10 % a doubling of the ranks, from the fewest on; sizes make no difference."""
    ranks = [8 * 2**k for k in range(7)]
    rows = [(Timed(S, n, (n / 8) ** 0.1 * 1e-3), True) for n in ranks for S in (1e3, 1e4, 1e5, 1e6, 1e7)]

    def fit(some):
        return max(t.time for t, _ in some)

    found = growths(rows, fit, lambda c, _: c)
    assert found["growth_ranks"] == pytest.approx(0.1 * math.log(2))
    near = [row for row in rows if row[0].n < SPAN * ranks[0]]
    assert math.isnan(growths(near, fit, lambda c, _: c)["growth_ranks"])
    assert math.isnan(growths(rows[:3], fit, lambda c, _: c)["growth_bytes"])


def test_ranks_bytes_and_releases_are_those_of_the_rows():
    def row(source, system="x", **config):
        return PublishedRow(1, "s", "collective", system, 8, config, 1.0, "us", source, {})

    rows = [
        (row("a/nccl/2.29.2/nccl_perf.parquet"), Timed(1024.0, 8, 1.0)),
        (row("b", system="8x (nccl 2.27.7, NVLS)"), Timed(8.0, 2, 1.0)),
        (row("c", nccl="2.26.2"), Timed(16.0, 8, 1.0)),
        (row("d"), Timed(16.0, 4, 1.0)),
    ]
    measured = spans(rows)
    assert (measured["ranks"], measured["S_least"], measured["S_most"]) == ((2, 4, 8), 8, 1024)
    assert measured["releases"] == ("NCCL 2.26.2", "NCCL 2.27.7", "NCCL 2.29.2")


@pytest.mark.parametrize("entry", MEASURED, ids=lambda entry: f"{entry.chip} {entry.software} {entry.op}")
def test_every_entry_says_where_it_holds_and_no_band_is_below_its_error(entry):
    assert list(entry.ranks) == sorted(set(entry.ranks))
    assert entry.ranks[0] >= 2
    assert 0 < entry.S_least < entry.S_most
    for name in ("latency", "filling", "wires"):
        assert 0.8 * entry.error <= getattr(entry, f"band_{name}") < 1.3
    assert not entry.growth_ranks < 0
    assert not entry.growth_bytes < 0
