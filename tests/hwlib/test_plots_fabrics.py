import pytest

from hwlib import plots
from hwlib.topology import TopologyError


def markers(figure, marker):
    """How many points of the figure have this marker."""
    return sum(len(line.get_xdata()) for line in figure.axes[0].lines if line.get_marker() == marker)


def test_a_pod_shows_every_node_leaf_and_spine():
    figure = plots.pod("superpod-h100-4su")
    assert markers(figure, "s") == 128
    assert markers(figure, "o") == 32 + 16
    assert any("2 cables from\neach leaf" in text.get_text() for text in figure.axes[0].texts)
    with pytest.raises(TopologyError):
        plots.pod("ethernet-oversubscribed")


@pytest.mark.parametrize("each", [2, 4])
def test_a_dead_leaf_takes_a_card_of_every_node_or_all_of_one(each):
    figure = plots.rails_and_racks(each, dead=0)
    assert markers(figure, "D") == 2 * each**2
    assert markers(figure, "X") == 2
    lost = [line for line in figure.axes[0].lines if line.get_linestyle() == ":"]
    assert len(lost) == 2 * each
    assert markers(plots.rails_and_racks(each), "X") == 0
