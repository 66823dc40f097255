import json
from itertools import pairwise

import pytest

from hwlib.algorithms import Step
from hwlib.simulate import lockstep
from hwlib.simulate.events import simulate_events
from hwlib.simulate.size_only_array import Phantom
from hwlib.simulate.trace import chrome_trace
from hwlib.topology import crossbar, torus
from hwlib.units import GB, KB, us

EVENTS = simulate_events(
    "pairwise_alltoall", torus((2, 3), 50 * GB, latency=1 * us), count=60_000, chunk_bytes=1 * KB, delays={1: 3 * us}
)
ROUNDS = lockstep("halving_doubling_allreduce", [Phantom(7000)] * 6, alpha=1 * us, W=50 * GB)
SWITCH = simulate_events("switch_allreduce", crossbar(3, 50 * GB), count=600)
RUNS = {"events": EVENTS, "rounds": ROUNDS, "switch": SWITCH}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_trace_is_json_whose_rows_never_overlap(run, tmp_path):
    trace = chrome_trace(run, tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_text("utf-8")) == trace
    rows, named = {}, set()
    for event in trace["traceEvents"]:
        assert event["ph"] in "XMsf"
        if event["ph"] == "X":
            assert event["dur"] >= 0
            rows.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
        elif event["name"] == "thread_name":
            named.add((event["pid"], event["tid"]))
    assert set(rows) <= named
    for spans in rows.values():
        assert all(after[0] >= before[1] - 1e-9 for before, after in pairwise(sorted(spans)))
    last = max(end for spans in rows.values() for _, end in spans)
    assert last == pytest.approx(run.time * 1e6)


def test_a_rank_row_has_its_steps_and_a_link_row_its_bytes():
    trace = chrome_trace(EVENTS)["traceEvents"]
    steps = [event for event in trace if event["ph"] == "X" and event["pid"] == 1]
    assert len(steps) == len(EVENTS.steps)
    assert sum(event["args"]["sent_bytes"] for event in steps) == sum(EVENTS.sent_bytes)
    names = {e["tid"]: e["args"]["name"] for e in trace if e["pid"] == 2 and e["name"] == "thread_name"}
    carried = dict.fromkeys(names.values(), 0)
    for event in trace:
        if event["ph"] == "X" and event["pid"] == 2:
            carried[names[event["tid"]]] += event["args"]["bytes"]
    assert carried == {f"{u} → {v}": use.bytes for (u, v), use in EVENTS.links.items()}


def test_an_arrow_for_each_message_begins_and_ends_in_a_step():
    trace = chrome_trace(EVENTS)["traceEvents"]
    steps = {}
    for event in trace:
        if event["ph"] == "X" and event["pid"] == 1:
            steps.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"]))
    for kind in "sf":
        arrows = [event for event in trace if event["ph"] == kind]
        assert sorted(arrow["id"] for arrow in arrows) == list(range(len(EVENTS.messages)))
        for arrow in arrows:
            assert any(a - 1e-9 <= arrow["ts"] <= b + 1e-9 for a, b in steps[arrow["tid"]])


def test_a_run_in_rounds_says_what_each_rank_does_in_each():
    slices = [event for event in chrome_trace(ROUNDS)["traceEvents"] if event["ph"] == "X"]
    first = {event["tid"]: event["name"] for event in slices if event["args"]["round"] == 0}
    assert first[4] == "to 0"
    assert first[0] == "from 4"
    assert sum(event["args"]["received_bytes"] for event in slices) == sum(ROUNDS.received_bytes)
    assert sum(ROUNDS.round_times) == pytest.approx(ROUNDS.time)


def test_a_switch_is_called_so():
    trace = chrome_trace(SWITCH)["traceEvents"]
    assert [e["args"]["name"] for e in trace if e["name"] == "thread_name" and e["pid"] == 1][-1] == "switch"


def test_anything_else_is_no_run():
    with pytest.raises(TypeError, match=r"^run: .* list$"):
        chrome_trace([])


@pytest.mark.parametrize("run", [None, 7, EVENTS.schedule, [ROUNDS]])
def test_what_is_no_run_has_no_trace(run, tmp_path):
    with pytest.raises(TypeError, match="run: "):
        chrome_trace(run, tmp_path / "run.json")
    assert not (tmp_path / "run.json").exists()


def test_a_rank_that_does_nothing_has_a_row_too():
    def one_message(rank, n, x):
        if rank == 0:
            yield Step(x, to=1)
        if rank == 1:
            yield Step(frm=0)

    trace = chrome_trace(lockstep(one_message, [Phantom(8)] * 3, alpha=1.0, W=4.0))["traceEvents"]
    assert [e["args"]["name"] for e in trace if e["name"] == "thread_name"] == ["rank 0", "rank 1", "rank 2"]
    slices = [(e["tid"], e["name"], e["ts"], e["dur"], e["args"]) for e in trace if e["ph"] == "X"]
    assert slices == [
        (0, "to 1", 0.0, 3e6, {"round": 0, "sent_bytes": 8, "received_bytes": 0}),
        (1, "from 0", 0.0, 3e6, {"round": 0, "sent_bytes": 0, "received_bytes": 8}),
    ]


@pytest.mark.parametrize(("partners", "name"), [(4, "from 1, 2, 3, 4"), (5, "from 1, 2, 3, 4 and 1 more")])
def test_four_partners_of_a_step_are_named(partners, name):
    def gather(rank, n, x):
        yield Step(x, to=0) if rank else [Step(frm=other) for other in range(1, n)]

    inputs = [Phantom(8)] * (partners + 1)
    for run in (lockstep(gather, inputs), simulate_events(gather, crossbar(partners + 1, 1.0), inputs)):
        names = {e["name"] for e in chrome_trace(run)["traceEvents"] if e["ph"] == "X" and e["tid"] == 0}
        assert name in names


def test_an_arrow_ends_where_it_is_asked_for():
    def late(rank, n, x):
        yield Step(x, to=1) if rank == 0 else Step(frm=0)

    run = simulate_events(late, crossbar(2, 4.0), count=8, start_times={1: 5.0})
    arrows = {e["ph"]: (e["tid"], e["ts"]) for e in chrome_trace(run)["traceEvents"] if e["ph"] in "sf"}
    assert arrows["s"] == (0, 0.0)
    assert arrows["f"] == (1, 5e6)
