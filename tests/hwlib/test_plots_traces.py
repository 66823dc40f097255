"""Figures of traces and dumps show what the traces and dumps have."""

import pytest
from matplotlib.colors import to_hex

from hwlib import plots
from hwlib.plots.traces import STATES
from hwlib.traces import draw_flight, draw_traces, exposed_intervals, length, read_trace, waits_between

STALL = [read_trace(raw) for raw in draw_traces("data stall", 5, layers=1)]


def widths(collection):
    return sum(path.vertices[:, 0].max() - path.vertices[:, 0].min() for path in collection.get_paths())


def test_the_hatched_part_is_the_exposed_time():
    axes = plots.trace_timeline(STALL, ranks=[0, 5]).axes[0]
    hatched = [c for c in axes.collections if c.get_hatch()]
    told = [1e3 * length(exposed_intervals(STALL[rank])) for rank in (0, 5)]
    assert [widths(c) for c in hatched] == pytest.approx(told)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["0", "5"]


def test_the_darkest_cells_are_of_the_rank_that_is_waited_for():
    axes = plots.waits_grid(STALL).axes[0]
    longest = max(axes.patches, key=lambda p: p.get_alpha())
    who, whom = next(iter(waits_between(STALL)))
    assert (round(longest.get_x() + 0.47), round(longest.get_y() + 0.44)) == (whom, who)


def test_a_call_that_is_missing_is_a_cross():
    """Rank 5 is absent; the two others of its group have queued the call that it has not."""
    dumps = draw_flight("absent", 5, 24, tp=3, dp=3)
    axes = plots.flight_grid(dumps, "tp1", newest=4).axes[0]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines] == [(3, 2)]
    waiting = [p for p in axes.patches if to_hex(p.get_facecolor()) == STATES["scheduled"]]
    assert len(waiting) == 2
    with pytest.raises(ValueError, match="no call of group"):
        plots.flight_grid(dumps, "tp9")


def test_the_waterfall_ends_at_what_is_left():
    axes = plots.goodput_waterfall({"failures": 0.1, "checkpoints": 0.05, "exposed": 0.25}).axes[0]
    assert axes.patches[-1].get_width() == pytest.approx(60)
    assert axes.patches[3].get_x() == pytest.approx(60)
    with pytest.raises(ValueError, match="at most 1"):
        plots.goodput_waterfall({"failures": 0.7, "exposed": 0.4})
