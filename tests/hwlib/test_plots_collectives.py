"""Which colour stands where in the tables of ranks and blocks, and what is drawn of times against sizes."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from hwlib import plots
from hwlib.algorithms import Step
from hwlib.plots.collectives import EMPTY, TABLES, TITLES, TWICE
from hwlib.plots.style import SERIES
from hwlib.simulate import watch
from hwlib.simulate.buffer_trace import MOST

EIGHT = (
    "binomial_broadcast",
    "binomial_scatter",
    "binomial_gather",
    "binomial_reduce",
    "ring_allgather",
    "ring_reduce_scatter",
    "ring_allreduce",
    "pairwise_alltoall",
)
RANKS = [colour.lower() for colour, _ in SERIES]


def cells(axes):
    """{(rank, block): colours} of a table."""
    found = {}
    for patch in axes.patches:
        assert isinstance(patch, Rectangle)
        if patch.get_fill():
            x, y = patch.get_xy()
            found.setdefault((int(y), int(x + 1e-9)), []).append(to_hex(patch.get_facecolor()))
    return found


def tables(figure):
    return [axes for axes in figure.axes if axes.axison]


def test_each_collective_has_its_two_tables():
    figure = plots.before_and_after([watch(name, 4) for name in EIGHT])
    drawn = tables(figure)
    assert [axes.get_title() for axes in drawn[::2]] == [*TITLES.values()]
    scatter, reduced, exchanged = cells(drawn[3]), cells(drawn[11]), cells(drawn[15])
    assert scatter[2, 2] == [RANKS[0]]
    assert scatter[2, 1] == [EMPTY]
    assert reduced[1, 1] == RANKS[:4]
    assert reduced[1, 0] == [EMPTY]
    assert exchanged[2, 3] == [RANKS[3]]
    assert {text.get_text() for text in drawn[15].texts[4:8]} == {"1"}  # all that rank 1 has was for rank 1
    assert [text.get_text() for text in drawn[9].texts[4:8]] == ["0", "1", "2", "3"]


def test_a_run_is_a_table_a_step():
    figure = plots.blocks_by_step(watch("ring_allreduce", 3))
    drawn = tables(figure)
    assert [axes.get_title() for axes in drawn] == ["start", "step 1", "step 2", "step 3", "step 4"]
    assert cells(drawn[1])[0, 1] == [RANKS[0], RANKS[2]]
    assert set(map(tuple, cells(drawn[-1]).values())) == {tuple(RANKS[:3])}
    assert figure.get_suptitle() == "ring_allreduce: 4 rounds, a rank sends at most 1.33 S"


def test_what_is_added_twice_is_black_and_what_fails_says_so():
    def twice(rank, n, x):
        x += yield Step(x, to=1 - rank, frm=1 - rank)
        x += yield Step(x, to=1 - rank, frm=1 - rank)
        return x

    assert cells(tables(plots.blocks_by_step(watch(twice, 2, "all_reduce")))[-1])[0, 0] == [TWICE, TWICE]

    def unwritten(rank, n, x): ...

    figure = plots.blocks_by_step(watch(unwritten, 4, "all_gather"))
    assert figure.get_suptitle() == "unwritten has no `yield Step(...)` yet: no rank sends\nanything"
    assert len(tables(figure)) == 1


def test_of_a_run_that_never_ends_the_first_steps_are_drawn():
    def again(rank, n, x):
        while True:
            yield Step(x, to=1 - rank, frm=1 - rank)

    figure = plots.blocks_by_step(watch(again, 2, "all_reduce"))
    assert len(tables(figure)) == TABLES
    said = " ".join(figure.get_suptitle().split())
    assert " 400 messages" in said
    assert " 31 of 20" in said


def test_what_went_wrong_fits_into_the_picture():
    def both_wait(rank, n, x):
        yield Step(x, to=(rank + 1) % n, frm=(rank + 1) % n)

    figure = plots.blocks_by_step(watch(both_wait, 4, "all_gather"))
    figure.canvas.draw()
    title = figure._suptitle
    assert title.get_text().startswith("deadlock: rank 0, step 0, ")
    assert title.get_window_extent().x1 <= figure.bbox.x1


@pytest.mark.parametrize("n", [1, 2, 5, *(pytest.param(n, marks=pytest.mark.nightly) for n in (9, 12, 15))])
def test_any_watched_number_of_ranks_can_be_drawn(n):
    figure = plots.blocks_by_step(watch("ring_allreduce", n))
    assert "<svg" in figure._repr_svg_()
    assert len(tables(figure)) == 2 * (n - 1) + 1


def test_all_shares_of_as_many_ranks_as_can_be_watched_are_seen():
    figure = plots.before_and_after([watch("ring_allreduce", MOST)])
    assert "<svg" in figure._repr_svg_()
    summed = cells(tables(figure)[1])
    assert len(summed) == MOST**2
    assert {len(colours) for colours in summed.values()} == {MOST}


def test_times_are_points_and_curves_over_their_sizes():
    points = {"measured": [(1e3, 1e-5), (1e6, 2e-5)]}
    figure = plots.times_against_size(points, {"line": lambda S: 1e-5 + S / 1e11}, {"here": 1e4})
    axes = figure.axes[0]
    measured, line, _ = axes.lines
    assert list(measured.get_xdata()) == [1e3, 1e6]
    assert (line.get_xdata()[[0, -1]] == [1e3, 1e6]).all()
    assert np.allclose(line.get_ydata(), 1e-5 + line.get_xdata() / 1e11)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["measured", "line"]
    assert axes.texts[0].get_text() == "here"
    alone = plots.times_against_size({}, {"line": lambda S: S / 1e9})
    assert alone.axes[0].lines[0].get_xdata()[0] == 2**10
