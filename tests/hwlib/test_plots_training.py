"""The figures of data parallelism draw what they are given."""

import pytest

from hwlib import plots
from hwlib.specs import measured_steps
from hwlib.virtual.clock import ClockSpan
from hwlib.virtual.record import StepTiming

STEP = StepTiming(
    rank=0,
    ranks=2,
    step_time=3e-3,
    compute=2e-3,
    flops=1e9,
    calls=(),
    spans=(
        ClockSpan("compute", "mm", 0.0, 2e-3),
        ClockSpan("group 0", "broadcast", 0.0, 1e-5, 0.0, 8.0, (0, 1)),
        ClockSpan("group 0", "all_reduce", 1e-3, 3e-3, 0.0, 8e6, (0, 1)),
    ),
)


def test_what_a_rank_has_given_up_is_an_outline():
    (axes,) = plots.zero_stages(4).axes
    filled = [patch for patch in axes.patches if patch.get_facecolor()[3] > 0]
    held = sum(patch.get_width() for patch in filled)
    assert held == pytest.approx(4 * (16 + (4 + 3) + (2 + 3.5) + 4))
    assert len(axes.patches) == 2 * 4 * 4 * 3
    with pytest.raises(ValueError, match="got 1"):
        plots.zero_stages(1)


def test_a_line_for_each_way_of_keeping_a_weight():
    (axes,) = plots.rounded_steps({"a": [1.0, 2.0], "b": [1.0, 1.0, 1.0]}).axes
    assert [len(line.get_xdata()) for line in axes.lines] == [2, 3]
    assert [text.get_text() for text in axes.texts] == ["a", "b"]


def test_kernels_and_collectives_are_rows_of_their_own():
    (axes,) = plots.streams({"8 MB": STEP}).axes
    starts = [[path.vertices[:, 0].min() for path in bars.get_paths()] for bars in axes.collections]
    assert starts == [[0.0], [1e-3]]
    assert axes.lines[0].get_xdata()[0] == 3e-3


def test_peaks_are_bars_with_what_was_saved():
    (axes,) = plots.peaks([("before", 6e10), ("after", 4e10), ("no better", 4e10)]).axes
    assert [patch.get_width() for patch in axes.patches] == [6e10, 4e10, 2e10, 4e10]


def test_published_steps_are_points_and_models_lines():
    rows = [row for row in measured_steps("internevo") if row.m == 1 and row.gpus >= 512]
    (axes,) = plots.batch_times(rows, {"a": lambda tokens: 1e-4 * tokens}).axes
    line, *points = axes.lines
    assert line.get_ydata()[-1] == pytest.approx(1e-4 * 1.08 * 16384)
    assert sum(len(each.get_xdata()) for each in points) == len(rows) == 5
    (axes,) = plots.weak_scaling({"a": rows[:2]}).axes
    assert list(axes.lines[0].get_ydata()) == [3199, 3163]
