"""The live figure of an engine, played by its own script, against the Python engine."""

import pytest

from hwlib import widgets
from hwlib.engine import POLICIES, run_engine, step_cost
from hwlib.widgets.engine import explored_requests
from hwlib.widgets.live import module_source
from tests.hwlib.test_widgets import node, state_of

MANY = 90  # requests
CASES = [
    {},
    {"policy": "prefill first", "budget": 8192},
    {"policy": "decode first", "rate": 2.0},
    {"rate": 8.0, "share": 0.3, "long": 16000, "budget": 2048},
]


def drawn(**case):
    """The figure's state, with the first of its requests."""
    state = state_of(widgets.engine_explorer(**case))
    return state | {name: state[name][:MANY] for name in ("gaps", "draws", "outputs")}


def explored(body, *states):
    source = module_source("engine_explorer", ())
    return node(f"{source}\nprocess.stdout.write(JSON.stringify({body}));", list(states))


def played(state):
    cost = step_cost("llama3-70b", "h100-sxm", tp=8)
    requests = explored_requests(state["rate"], state["share"], state["long"])[:MANY]
    return run_engine(
        requests,
        cost,
        POLICIES[state["policy"]],
        budget=state["budget"],
        seats=state["seats"],
        room=state["room"],
        gpus=8,
    )


@pytest.mark.slow
def test_the_script_plays_as_python_does():
    states = [drawn(**case) for case in CASES]
    states.append(states[0] | {"room": 12_000, "seats": 30, "rate": 6.0})  # caches are lost
    runs = [played(state) for state in states]
    assert runs[-1].again > 0
    for state, told, now in zip(states, runs, explored("given.map(compute)", *states), strict=True):
        assert [job["times"] for job in now["jobs"]] == [pytest.approx(one.times, rel=1e-12) for one in told.outcomes]
        assert now["again"] == told.again
        assert [(one["read"], one["decoding"]) for one in now["steps"]] == [step[2:] for step in told.steps]
        assert now["ttft"] == pytest.approx([told.ttft(0.5), told.ttft(0.99)])
        assert now["tbt"] == pytest.approx([told.tbt(0.5), told.tbt(0.99)])
        assert now["money"] == pytest.approx(told.dollars_per_million(state["price"]))


def test_the_rows_show_a_stall_without_chunks_and_none_with_them():
    states = [drawn(**case) for case in CASES[:2]]
    cut, whole = explored("given.map((one) => compute(one).jobs.map((job) => spans(job)))", *states)
    assert all(len(row) == 1 for row in cut)
    assert sum(len(row) > 2 for row in whole) > 40


@pytest.mark.parametrize(("how", "error"), [({"policy": "best"}, KeyError), ({"share": 1.5}, ValueError)])
def test_what_the_figure_does_not_have_is_named(how, error):
    with pytest.raises(error):
        widgets.engine_explorer(**how)
