"""Bars of loads and of cards: their heights are the numbers given, and the busiest is marked."""

import pytest
from matplotlib.colors import to_hex

from hwlib import plots
from hwlib.plots.style import BLUE, ORANGE


def heights(axes):
    return [bar.get_height() for bar in axes.patches]


def test_loads_are_drawn_over_their_mean():
    figure = plots.expert_loads({"a": [10, 20, 30, 20], "b": [4, 4, 4, 4]}, inner=2)
    first, second = figure.axes
    assert heights(first) == pytest.approx([0.5, 1, 1.5, 1])
    assert heights(second) == [1, 1, 1, 1]
    assert first.get_title(loc="left") == "a: 1.50 times the mean"
    assert [to_hex(bar.get_facecolor()).upper() for bar in first.patches] == [BLUE, BLUE, ORANGE, BLUE]
    lefts = [bar.get_x() for bar in first.patches]
    assert lefts[2] - lefts[1] > lefts[1] - lefts[0]  # a gap between the nodes
    assert [label.get_text() for label in second.get_xticklabels()] == ["node 0", "node 1"]


def test_cards_of_all_rows_have_one_scale():
    figure = plots.nic_bytes({"each expert": [2e6, 1e6], "each node": [1e6, 5e5]})
    first, second = figure.axes
    assert first.get_ylim() == second.get_ylim()
    assert heights(second) == [1e6, 5e5]
    assert second.get_title(loc="left") == "each node: 1 MB at most"
    assert first.lines[0].get_ydata()[0] == 1.5e6


def test_one_row_of_many_ranks_and_nodes_by_number():
    (axes,) = plots.nic_bytes({"all": range(1, 65)}, inner=8).axes
    assert len(axes.patches) == 64
    assert [label.get_text() for label in axes.get_xticklabels()] == [str(k) for k in range(8)]


@pytest.mark.parametrize("draw", [plots.expert_loads, plots.nic_bytes])
def test_nothing_to_draw_is_refused(draw):
    with pytest.raises(ValueError, match="1 to 6 rows, got 0"):
        draw({})
    with pytest.raises(ValueError, match="'a' has nothing to draw"):
        draw({"a": []})
