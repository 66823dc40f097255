"""The live figure of traces, computed by its own script, against what Python reads in the same traces."""

import json

import pytest

from hwlib import widgets
from hwlib.traces import CAUSES, draw_traces, job_span, read_trace, trace_times, waits_between
from hwlib.widgets.live import module_source
from hwlib.widgets.traces import SICK_RANK
from tests.hwlib.test_widgets import node, state_of


def explored(body, *given):
    source = module_source("trace_explorer", ())
    return node(f"{source}\nprocess.stdout.write(JSON.stringify({body}));", [state_of(one) for one in given])


def test_the_times_and_waits_are_those_of_python():
    drawn = [widgets.trace_explorer(cause) for cause in CAUSES]
    found = explored("given.map(compute).map(({rows, waits, step}) => ({rows, waits, step}))", *drawn)
    for cause, now in zip(CAUSES, found, strict=True):
        traces = [read_trace(raw) for raw in draw_traces(cause, SICK_RANK)]
        span = job_span(traces)
        assert now["step"] == pytest.approx(1e6 * (span[1] - span[0]), abs=0.01)
        for row, one in zip(now["rows"], traces, strict=True):
            told = trace_times(one, span)
            for key in ("compute", "communication", "exposed", "idle"):
                assert row[key] == pytest.approx(1e6 * getattr(told, key), abs=1)  # us: starts and ends are rounded
        waits = {pair: 1e6 * wait for pair, wait in waits_between(traces).items() if wait > 1e-5}
        got = {(one["who"], one["whom"]): one["time"] for one in now["waits"]}
        assert {pair: got.get(pair, 0) for pair in waits} == pytest.approx(waits, abs=1)


def test_a_sick_rank_is_whom_the_others_wait_for():
    stall, cap = explored(
        "given.map((one) => tell(compute(one)))",
        widgets.trace_explorer("data stall", rank=5),
        widgets.trace_explorer("clock cap", rank=3),
    )
    assert "on rank 5" in stall[1]
    assert "for rank 5" in stall[2]
    assert "for rank 3" in cap[2]


def test_ones_own_traces_are_shown_and_what_there_is_not_is_named():
    own = widgets.trace_explorer("mine", jobs={"mine": [read_trace(raw) for raw in draw_traces(layers=1)]})
    assert list(json.loads(json.dumps(state_of(own)))["jobs"]) == ["mine"]
    with pytest.raises(KeyError, match="known: healthy"):
        widgets.trace_explorer("tired")
    with pytest.raises(ValueError, match="zoom is one of"):
        widgets.trace_explorer(zoom=3)
    with pytest.raises(Exception, match="unknown job"):
        own.job = "yours"
