"""Strips of decode steps and the yield of drafts: what is drawn is what was given."""

import pytest

from hwlib import plots
from hwlib.calibrated import decode_parts


def test_a_strip_is_as_long_as_its_step():
    told = decode_parts("llama3-70b", "a100-80gb-sxm", tp=8, T_kv=105)
    figure = plots.step_strips({"told": told._asdict()}, {"told": 17.01e-3})
    axes = figure.axes[0]
    assert sum(bar.get_width() for bar in axes.patches) == pytest.approx(1e3 * told.total)
    assert [tuple(line.get_xdata()) for line in axes.lines] == [pytest.approx((17.01,))]
    labels = [text.get_text() for text in figure.legends[0].texts]
    assert "measured" in labels
    assert "waiting for the host" not in labels


def test_all_rates_begin_at_one_token_and_end_at_their_limit():
    axes = plots.accepted_tokens([0.0, 0.5, 0.8], 60).axes[0]
    lines = [line.get_ydata() for line in axes.lines[:3]]
    assert [line[0] for line in lines] == [1, 1, 1]
    assert [line[-1] for line in lines] == pytest.approx([1, 2, 5], rel=1e-4)
    dear = plots.accepted_tokens([0.8], 8, c_draft=0.2, published={"here": (4, 1.9)}).axes[0]
    assert dear.lines[0].get_ydata()[4] == pytest.approx(3.3616 / 1.8)
    assert dear.lines[1].get_xydata().tolist() == [[4, 1.9]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plots.step_strips({}), "at least one step"),
        (lambda: plots.step_strips({"one": {"tea": 1.0}}), "no part 'tea'"),
        (lambda: plots.accepted_tokens([1.0]), "from 0 to below 1"),
        (lambda: plots.accepted_tokens([]), "got"),
    ],
)
def test_what_cannot_be_drawn_is_said(call, words):
    with pytest.raises(ValueError, match=words):
        call()
