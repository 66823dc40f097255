"""What is drawn of collectives of many ranks, and beside a matmul."""

import pytest

from hwlib import plots
from hwlib.collectives import channels_bandwidth, shared_chip_time


def test_two_charts_over_the_same_ranks():
    figure = plots.against_ranks(
        {"large": [(8, 3e11), (64, 2.9e11)]}, {"small": [(8, 2e-5), (64, 5e-5)]}, {"line": lambda n: n * 1e-6}
    )
    above, below = figure.axes
    assert [text.get_text() for text in below.get_xticklabels()] == ["8", "64"]
    assert above.get_ylim()[0] == 0
    assert [len(line.get_xdata()) for line in below.lines] == [2, 100]


def test_the_cost_beside_a_matmul_is_cut_off_where_channels_are_too_few():
    def collective(n):
        return 1e9 / channels_bandwidth(n, 20e9, 320e9)

    curves = {"alone": collective, "both": lambda n: shared_chip_time(4e-3, collective(n), 132, n)}
    figure = plots.beside_a_matmul(curves, most=64, marks={"full": 16})
    (axes,) = figure.axes
    assert axes.get_ylim()[1] == pytest.approx(2.5 * min(map(curves["both"], range(8, 64))), rel=0.02)
    assert axes.texts[0].get_text() == "full"
