import math

import pytest

from hwlib import plots
from hwlib.simulate import LinkFlights
from hwlib.specs import measured_allreduces


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_the_level_that_decides_is_marked():
    figure = plots.levels({"small": {"node": 514e9, "leaf": math.inf}, "large": {"node": 514e9, "leaf": 413e9}})
    (axes,) = figure.axes
    assert [line.get_xdata()[0] for line in axes.lines] == [514e9, 514e9, 413e9]
    assert [t for t in texts(axes) if "decides" in t] == ["514 GB/s decides", "413 GB/s decides"]
    assert [label.get_text() for label in axes.get_yticklabels()][-1] == "large, leaf"
    with pytest.raises(ValueError, match="machine"):
        plots.levels({})


def test_links_are_points_and_some_have_names():
    figure = plots.blame({"a-b": LinkFlights(12, 0.5), "c-d": LinkFlights(3, 1.0)}, ["c-d"])
    (axes,) = figure.axes
    points = axes.collections[0].get_offsets().tolist()
    assert points == [[12, 0.5], [3, 1.0]]
    assert "c-d" in texts(axes)


def test_measured_allreduces_are_a_line_for_each_number_of_gpus():
    rows = [row for row in measured_allreduces("h100-sxm", how="NVLSTree") if row.n in (32, 512)]
    (axes,) = plots.allreduce_scale(rows, {"a limit": 400e9}).axes
    small, large, limit = axes.lines
    assert max(small.get_ydata()) == max(row.bus_bandwidth for row in rows if row.n == 32)
    assert len(large.get_xdata()) == sum(row.n == 512 for row in rows)
    assert limit.get_ydata()[0] == 400e9
    with pytest.raises(ValueError, match="got none"):
        plots.allreduce_scale([])
