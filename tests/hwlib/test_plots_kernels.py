import numpy as np
import pytest

from hwlib import plots, tl
from tests.hwlib import kernels


def run_of(touches=True):
    x = np.zeros((32, 32), np.float32)
    given = (x, x, tl.empty((32, 32)), 32, 32, 32, 16, 16, 16)
    return tl.launch(kernels.matmul, (2, 2), *given, touches=touches)


def values(axes):
    return np.ma.filled(axes.images[0].get_array(), -1)


def test_the_first_program_to_touch_an_element_colours_it():
    axes = plots.touched(run_of()).axes
    assert [one.get_title("left").partition("\n")[2] for one in axes] == [
        "loaded up to 2 times",
        "loaded up to 2 times",
        "stored once",
    ]
    a, b, c = map(values, axes)
    assert np.unique(c[:16, :16]).tolist() == [0]
    assert [c[0, 0], c[31, 0], c[0, 31], c[31, 31]] == [0, 1, 2, 3]  # the first axis of the grid is the fastest
    assert [a[0, 31], a[31, 0]] == [0, 1]
    assert [b[0, 0], b[0, 31]] == [0, 2]


def test_times_are_loads_and_stores():
    a, b, c, bar = plots.touched(run_of(), by="times").axes
    assert [np.unique(values(one)).tolist() for one in (a, b, c)] == [[2], [2], [1]]
    assert bar.get_ylabel() == "loads and stores"
    assert [tick.get_text() for tick in bar.get_yticklabels()] == ["1", "2"]


def test_a_vector_is_a_strip_and_what_nothing_touches_is_blank():
    x = np.zeros(100, np.float32)
    run = tl.launch(kernels.add, 2, x, x, tl.empty(100), 80, 64, touches=True)
    cells = values(plots.touched(run).axes[0])
    assert cells.shape == (2, 64)
    assert cells[0].tolist() == [0] * 64
    assert cells[1].tolist() == [1] * 16 + [-1] * 48


@pytest.mark.parametrize("by", ["program", "times"])
def test_a_figure_shows_itself_the_same_way_twice(by):
    first = plots.touched(run_of(), by=by)._repr_svg_()
    assert "</svg>" in first
    assert first == plots.touched(run_of(), by=by)._repr_svg_()


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: plots.touched(run_of(touches=False)), "touches=True"),
        (lambda: plots.touched(run_of(), by="warp"), "program, times, got 'warp'"),
    ],
)
def test_what_cannot_be_drawn_is_said(draw, words):
    with pytest.raises(ValueError, match=words):
        draw()
