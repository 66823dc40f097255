"""The ring that a reader breaks, played by its own script, against the simulator and the judge of the exercises."""

from itertools import product

import numpy as np
import pytest

from autograder.ranks.network import carry
from autograder.ranks.network_error import NetworkError
from hwlib import widgets
from hwlib.algorithms import Step
from hwlib.collectives import ring_allgather_time
from hwlib.simulate import Phantom, SimulationError, lockstep, simulate_events
from hwlib.topology import ring
from hwlib.widgets.live import module_source
from hwlib.widgets.ring_breaker import CALLS, COLLECTIVES, FORMULAS, NOBODY, RANKS
from tests.hwlib.test_widgets import node, state_of

SECOND = 1  # the turn that a rank leaves out


def explored(body, *states):
    source = module_source("ring_breaker", FORMULAS)
    return node(f"{source}\nprocess.stdout.write(JSON.stringify({body}));", list(states))


def states(**more):
    """Every ring without a slow link: its size, collective and order of calls, and who leaves out a turn."""
    choices = product(RANKS, COLLECTIVES, CALLS)
    whole = [(*choice, None) for choice in choices]
    whole += [(n, "all_gather", calls, rank) for n in (4, 7) for calls in CALLS for rank in range(n)]
    return [state_of(widgets.ring_breaker(n, what, calls, skips=rank, **more)) for n, what, calls, rank in whole]


def turns(rank, n, calls, skips):
    """The calls of a rank, in groups that are made together: (kind, turn)."""
    receives = {"zero": rank == 0, "odd": rank % 2 == 1}.get(calls, False)
    for turn in range(n - 1):
        if rank == skips and turn == SECOND:
            continue
        pair = [("send", turn), ("recv", turn)]
        yield from [pair] if calls == "together" else [[call] for call in (reversed(pair) if receives else pair)]


def judged(rank, state):
    """The rank as a program for the judge, with torch.distributed's calls: what it receives is added or kept."""
    n, gathers = state["n"], state["collective"] == "all_gather"
    block = np.zeros((n, n))
    block[rank if gathers else slice(None), rank] = 1
    offset = 0 if gathers else 1
    for group in turns(rank, n, state["calls"], state["skips"]):
        handles = []
        for kind, turn in group:
            to, frm = (rank + 1) % n, (rank - 1) % n
            if kind == "send":
                request = {"do": "send", "to": to, "data": block[(rank - turn - offset) % n].copy()}
            else:
                request = {"do": "post", "call": "recv", "from": frm}
            handles.append((kind, turn, (yield request)))
        for kind, turn, handle in handles:
            got = yield {"do": "wait", "handle": handle}
            if kind == "recv":
                into = (rank - turn - offset - 1) % n
                block[into] = got if gathers else block[into] + got
    return block


def carried_or_refused(programs):
    try:
        return carry(programs)
    except NetworkError as error:
        return error


def test_who_waits_for_whom_is_what_the_judge_says():
    every = states()
    found = explored("given.map((one) => play(one)).map((run) => ({...run, say: verdict(run)}))", *every)
    stuck = 0
    for state, run in zip(every, found, strict=True):
        carried = carried_or_refused([judged(rank, state) for rank in range(state["n"])])
        if isinstance(carried, NetworkError):
            assert (run["say"], run["reason"]) == (str(carried), carried.reason)
            stuck += 1
            continue
        assert run["say"] == run["reason"] == ""
        assert run["rounds"] == carried.rounds
        assert len(run["messages"]) == sum(carried.calls.values()) / 2
        for rank, block in enumerate(carried.outputs):
            for place, value in enumerate(run["ranks"][rank]["held"]):
                assert (value["of"], sorted(value["shares"])) == (place, [*block[place].nonzero()[0]])
    assert stuck == len(RANKS) * len(COLLECTIVES) + 4 * (4 + 7)  # all that send first, and all that leave a turn out


def program(calls):
    """A rank of a ring all-gather for the simulator, which calls in this order."""

    def ranks(rank, n, x):
        for group in turns(rank, n, calls, None):
            out = {"send": x[:1], "to": (rank + 1) % n}
            yield Step(
                **(
                    {"frm": (rank - 1) % n} | out
                    if len(group) == 2
                    else out
                    if group[0][0] == "send"
                    else {"frm": (rank - 1) % n}
                )
            )

    return ranks


def simulated(state):
    """The same ring, played by events over a ring of cables, in which a send waits for its receive."""
    n, slow = state["n"], state["slow"]
    cable = {} if slow == NOBODY else {(f"gpu{slow}", f"gpu{(slow + 1) % n}"): state["slowdown"]}
    return simulate_events(
        program(state["calls"]),
        ring(n, state["W"]),
        [Phantom(1, state["S"] / n)] * n,
        alpha=state["alpha"],
        eager_bytes=0,
        slow=cable,
    )


def test_a_ring_takes_as_long_as_in_the_simulator_with_and_without_a_slow_link():
    every = [
        state_of(widgets.ring_breaker(n, calls=calls, slow=slow))
        for n in RANKS
        for calls in ("together", "zero", "odd")
        for slow in (None, 0, n - 2)
    ]
    for state, run in zip(every, explored("given.map((one) => play(one))", *every), strict=True):
        events = simulated(state)
        assert run["over"] == pytest.approx(events.time, rel=1e-12), state
        assert run["finish"] == pytest.approx(events.finish, rel=1e-12), state
        told = sorted((m.src, m.start) for m in events.messages)
        assert len(run["messages"]) == len(told) == state["n"] * (state["n"] - 1)


def test_the_simulator_has_the_same_deadlock():
    with pytest.raises(SimulationError, match="deadlock") as found:
        simulated(state_of(widgets.ring_breaker(calls="sends")))
    assert found.value.reason == "deadlock"


def test_a_whole_ring_is_that_of_the_library_and_of_its_formula():
    whole = [state_of(widgets.ring_breaker(n)) for n in RANKS]
    for state, run in zip(whole, explored("given.map((one) => play(one))", *whole), strict=True):
        n, alpha, W = state["n"], state["alpha"], state["W"]
        by_rounds = lockstep("ring_allgather", [Phantom(n, state["S"] / n)] * n, alpha=alpha, W=W)
        assert run["rounds"] == by_rounds.rounds
        assert (
            run["over"] == pytest.approx(by_rounds.time) == pytest.approx(ring_allgather_time(n, state["S"], alpha, W))
        )
        assert len(run["messages"]) * state["S"] / n == pytest.approx(sum(by_rounds.sent_bytes))


def test_the_sentences_name_the_deadlock_the_rank_that_left_and_what_the_slow_link_costs():
    cases = [{}, {"calls": "sends"}, {"skips": 2}, {"slow": 3}, {"calls": "odd"}]
    given = [state_of(widgets.ring_breaker(**case)) for case in cases]
    at_end = "given.map((one) => { const run = play(one); return tell(one, run, run.end); })"
    whole, sends, skips, slow, odd = explored(at_end, *given)
    assert whole[0].startswith("Done in ")
    assert "30 messages, 833 MB sent by each rank, 5 rounds" in whole[0]
    assert sends[0].startswith("Deadlock. No rank can go on: rank 0 waits in send for rank 1 to receive; rank 1 waits")
    assert "rank 5 waits in send for rank 0 to receive." in sends[0]
    assert skips[0].startswith("Hang. No rank can go on: rank 1 waits in send for rank 2 to receive, which has ended")
    assert "rank 3 waits for a message from rank 2, which has ended" in skips[0]
    assert "from rank 3 to rank 4 has a quarter of the bandwidth" in slow[1]
    assert "4.0 times as long" in slow[1]
    assert "2.0 times as long" in odd[1]


def test_a_slow_link_keeps_every_rank_waiting_in_the_end():
    """Behind it ranks wait for its messages, before it their sends are held up."""
    (seen,) = explored(
        """given.map((one) => {
            const run = play(one), who = new Set();
            for (let i = 0; i < 400; i++)
                look(run, (run.over * i) / 400, one).waits.forEach(({ rank }) => who.add(rank));
            return [...who].sort();
        })""",
        state_of(widgets.ring_breaker(6, slow=3)),
    )
    assert seen == [0, 1, 2, 5]  # all but the two at the ends of the link


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ({"n": 3}, ValueError, "4 to 8 ranks"),
        ({"skips": 6}, ValueError, "skips is a rank, 0 to 5"),
        ({"slow": -1}, ValueError, "slow is a rank"),
        ({"calls": "never"}, KeyError, "calls is one of together"),
        ({"collective": "all_to_all"}, KeyError, "collective is one of"),
    ],
)
def test_what_the_figure_cannot_draw_is_named(how, error, words):
    with pytest.raises(error, match=words):
        widgets.ring_breaker(**how)
