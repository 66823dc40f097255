"""Figures of generations and machines: what they draw is what the records say."""

import pytest

from hwlib import plots
from hwlib.hierarchy import play_systolic
from hwlib.specs import accelerators, nodes
from hwlib.steptime import critical_batches

CHIPS = {"V100": accelerators["v100-sxm2"], "H100": accelerators["h100-sxm"], "Rubin": accelerators["rubin"]}
RUN = play_systolic([[1] * 4] * 6, [[1] * 4] * 4, 4)


def points(axes, label):
    [line] = [line for line in axes.lines if line.get_label() == label]
    return dict(zip(line.get_xdata(), line.get_ydata(), strict=True))


def test_every_quantity_is_a_multiple_of_the_first_that_has_it():
    axes = plots.doublings(CHIPS, ["Rubin"]).axes[0]
    assert points(axes, "16-bit matrix rate") == {0: 1, 1: pytest.approx(989.4 / 125)}  # none of Rubin is confirmed
    assert points(axes, "memory bandwidth")[2] == pytest.approx(22 / 0.9)
    assert points(axes, "network of a GPU (since H100)") == {1: 1, 2: 4}
    assert sum(line.get_markerfacecolor() == "white" for line in axes.lines) == 4
    with pytest.raises(ValueError, match="got 1"):
        plots.doublings({"V100": CHIPS["V100"]})


def test_bytes_lie_as_far_as_the_records_say():
    axes = plots.ways_to_bytes({key: nodes[key] for key in ("dgx-h100", "gb200-nvl72", "trn2-instance")}).axes[0]
    drawn = [line for line in axes.lines if line.get_marker() != "None" and len(line.get_xdata())]
    dots = {(float(line.get_ydata()[0]), float(line.get_xdata()[0])) for line in drawn}
    assert {(0.0, 3.35e12), (0.0, 50e9), (1.0, 450e9), (2.0, 512e9)} <= dots
    assert len(dots) == 4 + 4 + 3  # nobody says how a Trainium2 reaches its host


def test_critical_batches_are_drawn_by_level():
    axes = plots.critical_by_machine({"H100": critical_batches("dgx-h100")}).axes[0]
    assert sorted(line.get_xdata()[0] for line in axes.lines[1:4]) == pytest.approx([295.3, 2198.7, 2473.5], rel=1e-3)


def test_a_torus_is_closed_on_every_axis_and_its_chip_has_six_links():
    axes = plots.torus_and_switch(3, 8).axes[0]
    arcs = [text for text in axes.texts if text.arrow_patch is not None]
    assert len(arcs) == 3 * 3**2
    assert sum(arc.arrow_patch.get_linewidth() > 1 for arc in arcs) == 3
    with pytest.raises(ValueError, match="side of 3"):
        plots.torus_and_switch(2)


def test_a_wavefront_shows_who_works():
    figure = plots.wavefront(RUN, (4, 7, RUN.cycles - 1))
    said = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert [len(words) for words in said] == [1, 10, 1]
    assert (said[0], said[2]) == (["0"], ["5"])  # the first row enters at one corner, the last leaves at the other
    with pytest.raises(ValueError, match="cycles from 0"):
        plots.wavefront(RUN, (RUN.cycles,))
