"""Figures of mixtures: what stands in them, and what they refuse."""

import pytest

from hwlib import plots


def test_a_split_has_its_curves_and_a_rule():
    axes = plots.split_times([1, 2, 4], {"up": [1.0, 2.0, 4.0], "down": [4.0, 2.0, 1.0]}, 2, 3.0).axes[0]
    assert [*axes.lines[0].get_ydata()] == [1, 2, 4]
    assert axes.lines[2].get_ydata()[0] == 3.0
    assert axes.lines[3].get_xdata()[0] == 2
    with pytest.raises(ValueError, match="'up' has 1 times for 2 degrees"):
        plots.split_times([1, 2], {"up": [1.0]}, 1, 1.0)


def test_bars_are_as_long_as_their_tokens():
    axes = plots.least_tokens({"a": {"x": 850, "y": 113}, "b": {"x": 2474}}).axes[0]
    assert [bar.get_width() for bar in axes.patches] == [850, 113, 2474]
    with pytest.raises(ValueError, match="at least one machine"):
        plots.least_tokens({})


def test_axes_follow_one_another_over_the_levels():
    axes = plots.axes_on_levels({"tp": 8, "pp": 16}, [("node", 8), ("leaf", 256), ("spine", 1024)]).axes[0]
    spans = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches]
    assert spans == [(1, 8), (8, 128), (1, 8), (8, 128)]
    with pytest.raises(ValueError, match="an axis has at least 2 ranks, dp has 1"):
        plots.axes_on_levels({"dp": 1}, [("node", 8)])


def test_time_bars_stack_and_leave_nothing_out_but_nothing():
    figure = plots.time_bars({"one": {"compute": 2.0, "tp": 1.0, "cp": 0.0}, "two": {"compute": 1.0}}, {"two": 1.5})
    axes = figure.axes[0]
    assert [bar.get_width() for bar in axes.patches] == [2.0, 1.0, 1.0, 0]
    assert axes.lines[0].get_xdata()[0] == 1.5
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {"compute", "tp", "measured"}
    with pytest.raises(ValueError, match="at least one bar"):
        plots.time_bars({})


def test_shares_are_in_per_cent_at_their_gap():
    axes = plots.right_by_gap({"a": {(0, 0.02): (4, 0.5), (0.1, 9): (9, 1.0)}}).axes[0]
    assert [*axes.lines[1].get_ydata()] == [50, 100]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0–10", "10+"]
    with pytest.raises(ValueError, match="at least one curve"):
        plots.right_by_gap({})


def test_predictions_are_points_and_the_error_a_band():
    figure = plots.predicted_against_measured({"a": [(14.0, 15.0), (20.0, 30.0)]}, 0.1, {"one": (14.0, 15.0)})
    axes = figure.axes[0]
    assert [*axes.lines[1].get_xdata()] == [14.0, 20.0]
    assert {text.get_text() for text in axes.get_xticklabels()} == {"14 s", "20 s", "30 s"}
    with pytest.raises(ValueError, match="at least one point"):
        plots.predicted_against_measured({"a": []}, 0.1, {})


def test_a_guide_asks_from_top_to_bottom():
    axes = plots.guide([("fits?", "data"), ("wide?", "tensor")], "recompute").axes[0]
    texts = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert texts["fits?"] == texts["data"] > texts["wide?"] == texts["tensor"] > texts["recompute"]
