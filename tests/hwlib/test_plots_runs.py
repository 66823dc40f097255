import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex

from hwlib import plots
from hwlib.plots.runs import WAITING
from hwlib.simulate import lockstep
from hwlib.simulate.events import simulate_events
from hwlib.simulate.size_only_array import Phantom
from hwlib.topology import crossbar
from hwlib.units import GB, us

STRAGGLER = simulate_events("ring_allreduce", crossbar(4, 50 * GB), count=10**6, delays={2: 40 * us})
ROUNDS = lockstep("halving_doubling_allreduce", [Phantom(800)] * 8, alpha=1 * us, W=50 * GB)


def bars(figure):
    """{label: [(row, start, end), ...]} of the drawn rectangles."""
    found = {}
    for collection in figure.axes[0].collections:
        assert isinstance(collection, PolyCollection)
        corners = [path.vertices for path in collection.get_paths()]
        spans = [(round(c[:, 1].mean()), c[:, 0].min(), c[:, 0].max()) for c in (v[:4] for v in corners)]
        found[collection.get_label()] = spans
    return found


def test_every_step_is_a_bar_and_waiting_is_grey():
    drawn = bars(plots.timeline(STRAGGLER))
    assert set(drawn) == {"from rank −1", "waits for a partner"}
    assert len(drawn["from rank −1"]) == len(STRAGGLER.steps) == 4 * 6
    waited = sum(end - start for row, start, end in drawn["waits for a partner"] if row == 3)
    assert waited == pytest.approx(STRAGGLER.waits[3, 2])
    assert not [row for row, _, _ in drawn["waits for a partner"] if row == 2]
    for spans in drawn.values():
        assert max(end for _, _, end in spans) <= STRAGGLER.time


def test_a_phase_names_the_colours_and_ranks_the_rows():
    figure = plots.timeline(STRAGGLER, lambda rank, step: "first" if step < 3 else "second", ranks=[2, 3])
    drawn = bars(figure)
    assert len(drawn["first"]) == len(drawn["second"]) == 2 * 3
    grey = next(c for c in figure.axes[0].collections if c.get_label() == "waits for a partner")
    assert to_hex(grey.get_facecolor()[0]) == WAITING
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["2", "3"]


def test_a_cell_of_the_grid_says_to_whom_and_how_much():
    axes = plots.rounds_grid(ROUNDS).axes[0]
    said = {tuple(text.get_position()): text.get_text() for text in axes.texts}
    assert said == {(m.round, m.src): str(m.dst) for m in ROUNDS.messages}
    shade = {tuple(np.add(p.get_xy(), 0.5)): p.get_alpha() for p in axes.patches}
    assert shade[0, 0] > shade[1, 0] > shade[2, 0] == shade[3, 0]
    switched = plots.rounds_grid(lockstep("switch_allreduce", [Phantom(80)] * 3)).axes[0]
    assert {"switch", "all"} <= {text.get_text() for text in switched.texts}


def test_a_cell_that_sends_to_another_node_has_a_border():
    axes = plots.rounds_grid(ROUNDS, inner=2).axes[0]
    bordered = {tuple(np.round(p.get_center()).astype(int)) for p in axes.patches if not p.get_fill()}
    assert bordered == {(m.round, m.src) for m in ROUNDS.messages if m.src // 2 != m.dst // 2}
    assert bordered
    assert len(axes.patches) - len(bordered) == len(ROUNDS.messages)
    with pytest.raises(ValueError, match=r"inner = 0"):
        plots.rounds_grid(ROUNDS, inner=0)


@pytest.mark.parametrize("n", [1, 2, 100])
def test_any_number_of_ranks_can_be_drawn(n):
    run = simulate_events("doubling_allreduce", crossbar(n, 50 * GB), count=10)
    assert "<svg" in plots.timeline(run)._repr_svg_()
    assert "<svg" in plots.rounds_grid(lockstep("doubling_allreduce", [Phantom(10)] * n))._repr_svg_()


def test_what_is_no_run_is_refused():
    with pytest.raises(TypeError, match=r"LockstepRun; .*rounds_grid"):
        plots.timeline(ROUNDS)
    with pytest.raises(TypeError, match=r"EventRun; .*timeline"):
        plots.rounds_grid(STRAGGLER)
    for ranks in ([], [4], [-1]):
        with pytest.raises(ValueError, match=r"^ranks: .*0 to 3, "):
            plots.timeline(STRAGGLER, ranks=ranks)
