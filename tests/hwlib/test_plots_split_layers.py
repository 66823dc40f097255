"""Figures of a shared layer: what stands in them, and what they refuse."""

import pytest

from hwlib import plots


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_split_mlp_has_a_partial_sum_of_each_rank(n):
    axes = plots.split_mlp(n).axes[0]
    assert [f"rank {k}" in texts(axes.figure) for k in range(n)] == [True] * n
    assert len(axes.patches) >= 4 * n + n
    with pytest.raises(ValueError, match="2 to 4 ranks, got 5"):
        plots.split_mlp(5)


def test_work_from_both_ends_is_even():
    axes = plots.causal_pieces(4).axes[0]
    bars = [patch for patch in axes.patches if patch.get_xy()[:, 1].max() < 0]
    widths = [bar.get_xy()[:, 0].max() - bar.get_xy()[:, 0].min() for bar in bars]
    assert widths == pytest.approx([1, 3, 5, 7, 4, 4, 4, 4], rel=1e-9)
    with pytest.raises(ValueError, match="2 to 4 ranks, got 1"):
        plots.causal_pieces(1)


def test_bars_and_marks_are_those_given():
    axes = plots.shares_by_model({"a": {"x": 0.5, "y": 0.2}, "b": {"x": 0.4, "y": 0.1}}, {"a": {"x": 0.51}}).axes[0]
    assert [bar.get_width() for bar in axes.patches] == [0.5, 0.2, 0.4, 0.1]
    assert [line.get_xdata()[0] for line in axes.lines] == [0.51]
    axes = plots.step_parts({"one": {"w": 1e-3, "s": 2e-3}}, {"one": 3.1e-3}).axes[0]
    assert [bar.get_height() for bar in axes.patches] == [1.0, 2.0]
    assert axes.lines[0].get_ydata()[0] == pytest.approx(3.1)
    axes = plots.rates_by_length({"a": [(4096, 7e14), (8192, 6e14)]}).axes[0]
    assert [*axes.lines[0].get_ydata()] == [7e14, 6e14]


@pytest.mark.parametrize(
    "draw", [lambda: plots.shares_by_model({}, {}), lambda: plots.step_parts({}, {}), lambda: plots.rates_by_length({})]
)
def test_nothing_to_draw_is_refused(draw):
    with pytest.raises(ValueError, match="at least one"):
        draw()
