"""Figures of engines: what is drawn is what the runs have."""

import pytest

from hwlib import plots
from hwlib.engine import Request, chunked, draw_requests, prefill_first, run_engine, step_cost
from hwlib.plots.engines import generating
from hwlib.specs import measured_users

COST = step_cost("llama3-8b", "h100-sxm")
LONG = [Request(0, 200, 100), Request(0, 200, 100), Request(0.3, 12_000, 1)]


def run(policy=chunked, rate=6.0, **how):
    return run_engine(draw_requests(rate, 40, prompt=400, output=20), COST, policy, **how)


def test_a_row_shows_its_prompt_its_tokens_and_the_stall_between():
    stalled, cut = (
        run_engine(LONG, COST, policy, budget=budget) for policy, budget in ((prefill_first, 16_384), (chunked, 512))
    )
    began = {step.end: step.start for step in stalled.steps}
    (_, stops), (goes, _) = generating(stalled.outcomes[0], began)
    assert goes - stops == pytest.approx(COST.prompt(12_000))
    assert len(generating(cut.outcomes[0], {step.end: step.start for step in cut.steps})) == 1
    figure = plots.engine_rows({"whole": stalled, "cut": cut}, 0.0, 5.0)
    widths = [sum(bar.get_width() for bar in axes.containers[1]) for axes in figure.axes]
    assert widths == [
        pytest.approx(sum(part.end - part.start for one in found.outcomes for part in one.chunks))
        for found in (stalled, cut)
    ]


def test_curves_are_the_quantiles_of_the_runs():
    curves = {"cut": {rate: run(rate=rate) for rate in (8.0, 2.0)}}
    first, between = plots.load_curves(curves, ttft=0.5).axes
    rates, seconds = first.lines[0].get_data()
    assert list(rates) == [2.0, 8.0]
    assert seconds[1] == curves["cut"][8.0].ttft(0.99)
    assert between.lines[0].get_ydata()[0] == pytest.approx(1e3 * curves["cut"][2.0].tbt(0.99))
    assert first.lines[1].get_ydata()[0] == 0.5
    limit = curves["cut"][8.0].ttft(0.5)
    shares = plots.attained_shares(curves, ttft=limit, tpot=1.0).axes[0].lines[0].get_ydata()
    assert shares[1] == pytest.approx(50)
    assert shares[0] > 50


def test_a_closed_load_is_drawn_beside_what_was_measured():
    rows = measured_users("llama3-70b")[:3]
    runs = {n: run_engine([Request(0, 200, 20)] * 4 * n, COST, users=n) for n in (1, 5)}
    figure = plots.closed_loads(runs, rows, full=4)
    told, seen, full = figure.axes[0].lines
    assert told.get_xydata().tolist() == [[n, pytest.approx(runs[n].tokens_per_second)] for n in (1, 5)]
    assert list(seen.get_xdata()) == [1, 5, 25]
    assert list(seen.get_ydata()) == [row.rate for row in rows]
    assert list(full.get_xdata()) == [4, 4]
    assert figure.axes[1].lines[1].get_ydata()[0] == pytest.approx(18.58)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plots.engine_rows({}, 0, 1), "at least one run"),
        (lambda: plots.load_curves({"x": {}}), "with a run"),
        (lambda: plots.engine_rows({"x": run()}, 900, 1), "0 requests"),
        (lambda: plots.attained_shares({}, ttft=1, tpot=1), "at least one curve"),
    ],
)
def test_what_cannot_be_drawn_is_said(call, words):
    with pytest.raises(ValueError, match=words):
        call()
