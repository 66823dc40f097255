"""What stops runs, who makes a step slow, and the figures of both: numbers of the sources."""

import json

import pytest

from hwlib import plots, widgets
from hwlib.specs import measured_interruptions
from hwlib.specs.interruption_measurements import OBSERVED
from hwlib.training import cluster_mtbf, goodput_fraction, slow_fraction
from tests.hwlib.test_widgets_collectives import evaluated


def test_a_hundred_servers_make_63_percent_of_the_requests_slow(sources):
    """Dean and Barroso 2013: each of 100 servers is slow once in a hundred times, and all must answer."""
    assert slow_fraction(0.01, 100) == pytest.approx(0.63, abs=0.005)
    assert slow_fraction(0.01, 1) == pytest.approx(0.01)
    assert "dean2013" in sources


def test_the_interruptions_are_419_and_add_up_to_those_that_the_text_counts():
    rows = measured_interruptions()
    assert sum(row.times for row in rows) == 419
    assert sum(row.times for row in rows) + OBSERVED["planned"] == 466


def test_only_the_first_printed_share_contradicts_its_count():
    rows = measured_interruptions()
    off = [row.cause for row in rows if abs(row.times / 419 - row.printed) > 0.0006]
    assert off == ["faulty GPU"]
    assert sum(row.printed for row in measured_interruptions("GPU")) == pytest.approx(0.587)


def test_the_chart_of_goodput_is_the_formula():
    spec = json.loads(json.dumps(widgets.goodput_explorer().spec))
    rows, _ = evaluated(spec, spec["transform"])
    mtbf = cluster_mtbf(5.8 * 365 * 86400, 2**14)
    assert rows
    for row in rows[::11]:
        assert row["good"] == pytest.approx(goodput_fraction(row["tau"], row["t_save"], 600, mtbf), rel=1e-9)


def test_a_ledger_ends_where_its_entries_add_up_to():
    (axes,) = plots.mfu_ledger([("model", 0.48, ""), ("stalls", -0.08, "clock"), ("peak", -0.03, "count")], 0.37).axes
    ends = [bar.get_x() + bar.get_width() for bar in axes.patches]
    assert ends == pytest.approx([0.48, 0.40, 0.37, 0.37])
    with pytest.raises(ValueError, match="at least"):
        plots.mfu_ledger([], 0.37)


def test_the_bars_are_the_counts():
    (axes,) = plots.interruptions(measured_interruptions()).axes
    assert sum(bar.get_width() for bar in axes.patches) == 419
    blue = axes.patches[0].get_facecolor()
    assert sum(bar.get_width() for bar in axes.patches if bar.get_facecolor() == blue) == 268


def test_a_line_begins_at_the_chance_of_one_rank():
    (axes,) = plots.slow_steps([1e-3]).axes
    assert axes.lines[0].get_ydata()[0] == pytest.approx(1e-3)
