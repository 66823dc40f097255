import numpy as np
import pytest

from hwlib import plots


def test_each_tier_is_a_step_and_a_gpu_takes_two_ports_more():
    figure = plots.switches_per_gpu([64, 144])
    narrow, wide = (np.array(line.get_data()) for line in figure.axes[0].lines)
    assert sorted(set(narrow[1])) == [1 / 64, 3 / 64, 5 / 64]
    assert sorted(set(wide[1])) == [1 / 144, 3 / 144, 5 / 144]
    assert {64, 2048, 65536} <= set(narrow[0])
    assert max(wide[0]) == 131072
    assert plots.switches_per_gpu([64, 144])._repr_svg_() == figure._repr_svg_()


def test_ports_are_asked_for():
    with pytest.raises(ValueError, match="got none"):
        plots.switches_per_gpu([])
