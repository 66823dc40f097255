import pytest
from matplotlib.colors import to_hex

from hwlib import plots
from hwlib.pipeline import dualpipe, gpipe, interleaved, one_f_one_b, play, zbv
from hwlib.plots.pipelines import KINDS


def bars(figure):
    """[(label, row, start, end, height), ...] of what is drawn."""
    found = []
    for collection in figure.axes[0].collections:
        for path in collection.get_paths():
            x, y = path.vertices[:4, 0], path.vertices[:4, 1]
            found.append((collection.get_label(), round(y.mean()), x.min(), x.max(), round(y.max() - y.min(), 3)))
    return found


def test_every_pass_is_a_bar_from_its_start_to_its_end():
    run = play(one_f_one_b(4, 8), 1, 2.5)
    expected = [
        (KINDS[op.kind][0], rank, start, end, 0.8) for rank, spans in enumerate(run.spans) for op, start, end in spans
    ]
    assert sorted(bars(plots.pipeline(run))) == sorted(expected)


def test_the_number_of_a_microbatch_is_in_its_bar():
    run = play(gpipe(2, 3))
    said = {(text.get_position(), text.get_text()) for text in plots.pipeline(run).axes[0].texts}
    assert said == {
        (((start + end) / 2, rank), str(op.microbatch))
        for rank, spans in enumerate(run.spans)
        for op, start, end in spans
    }


def test_what_runs_together_shares_a_bar():
    run = play(dualpipe(4, 12))
    halves = [bar for bar in bars(plots.pipeline(run)) if bar[-1] == 0.4]
    assert len(halves) == 2 * sum(op.paired for ops in run.schedule.ops for op in ops)


def test_later_chunks_are_paler_and_kinds_have_one_colour_each():
    figure = plots.pipeline(play(interleaved(2, 4, 3)))
    faces = [collection.get_facecolor()[0] for collection in figure.axes[0].collections]
    forward, backward = faces[:3], faces[3:]
    for shades in (forward, backward):
        assert [sum(face[:3]) for face in shades] == sorted(sum(face[:3]) for face in shades)
    assert [to_hex(shades[0]).upper() for shades in (forward, backward)] == [KINDS["F"][1], KINDS["B"][1]]
    assert [text.get_text() for text in figure.legends[0].texts] == ["forward", "backward"]


def test_the_title_says_the_bubble():
    assert plots.pipeline(play(zbv(4, 8))).axes[0].get_title(loc="left") == "zbv, 8 microbatches: bubble 5.9 %"


@pytest.mark.parametrize(("stages", "m"), [(1, 1), (2, 40), (20, 4), (64, 64)])
def test_any_size_can_be_drawn(stages, m):
    figure = plots.pipeline(play(one_f_one_b(stages, m)))
    assert figure._repr_svg_().startswith("<?xml")
    assert len(bars(figure)) == 2 * stages * m


def test_too_many_ranks_and_what_is_not_played():
    with pytest.raises(ValueError, match=r"\b64 ranks .* 65$"):
        plots.pipeline(play(gpipe(65, 1)))
    with pytest.raises(TypeError, match=r"play .* Schedule$"):
        plots.pipeline(gpipe(2, 2))
