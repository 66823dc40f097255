import pytest

from hwlib import plots, simt
from hwlib.simt import WarpRun, warp_ways

TRACES = [[1, 2, 4], [1, 3, 3, 4]]
SCHEDULE = [(1, [0, 1]), (2, [0]), (3, [1]), (3, [1]), (4, [0, 1])]
RUN = WarpRun((SCHEDULE,), width=2)


def squares(figure):
    """Upper left corner of every square, by its label."""
    found = {}
    for collection in figure.axes[0].collections:
        corners = [tuple(path.vertices[0]) for path in collection.get_paths()]
        found[collection.get_label()] = corners
    return found


def test_threads_run_each_by_itself():
    expected = {"line 1": [(0, 0), (0, 1)], "line 2": [(1, 0)], "line 3": [(1, 1), (2, 1)], "line 4": [(2, 0), (3, 1)]}
    assert squares(plots.threads(TRACES)) == expected


def test_a_warp_runs_one_line_a_cycle():
    figure = plots.warp(RUN)
    assert squares(figure)["line 4"] == [(4, 0), (4, 1)]
    assert squares(figure)["line 3"] == [(2, 1), (3, 1)]
    assert figure.axes[0].get_title(loc="left") == "5 cycles, 70% of the lanes busy"
    assert figure.axes[0].get_xlim() == (0, 5)


def test_a_machine_that_is_not_written_yet_is_named_in_the_title():
    run = simt.run(lambda _: None, [TRACES], width=2)
    title = plots.warp(run).axes[0].get_title(loc="left")
    assert title == "7 cycles, 50% of the lanes busy\none thread at a time, because the machine returns nothing yet"


def test_a_long_warp_is_cut_and_that_is_said():
    figure = plots.threads([[1] * 1000, [1]])
    assert figure.axes[0].get_xlim() == (0, 400)
    assert [text.get_text() for text in figure.axes[0].texts] == ["... and 600 more"]


def test_divergence_draws_the_expected_ways_and_the_dots():
    dots = {1: 1.0, 4: 4.0, 32: 20.3}
    lines = {line.get_label(): line.get_data() for line in plots.divergence({"random": dots}, (32, 64)).axes[0].lines}
    assert dict(zip(*lines["random"], strict=True)) == dots
    assert lines["expected, 64 threads"][1][31] == pytest.approx(warp_ways(32, 64))
    assert lines["every path there is"][1][31] == 32
    assert plots.divergence({"a": dots}, note="one at a time").axes[0].get_title("left") == "one at a time"


@pytest.mark.parametrize(
    "draw", [lambda: plots.threads(TRACES), lambda: plots.warp(RUN), lambda: plots.divergence({"a": {2: 2.0}})]
)
def test_a_figure_shows_itself_the_same_way_twice(draw):
    first = draw()._repr_svg_()
    assert "</svg>" in first
    assert first == draw()._repr_svg_()


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: plots.threads([]), "instruction"),
        (lambda: plots.warp(WarpRun(([],))), "instruction"),
        (lambda: plots.divergence({}), "^divergence .*cost"),
        (lambda: plots.divergence({"a": {}}), "^divergence .*cost"),
    ],
)
def test_what_cannot_be_drawn_is_said(draw, words):
    with pytest.raises(ValueError, match=words):
        draw()
