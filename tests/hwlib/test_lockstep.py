"""Rounds, ports and links by hand on small cases; errors that name ranks."""

import numpy as np
import pytest

from hwlib.algorithms import Step, ring_allreduce
from hwlib.simulate import Message, SimulationError, lockstep, run_programs

X = np.zeros(10)  # 80 bytes


def ones(n):
    return [np.ones(10) for _ in range(n)]


# Time


def relay(rank, n, x):
    """Rank 0 to 1 to 2 ..., all of x."""
    if rank:
        x = yield Step(frm=rank - 1)
    if rank < n - 1:
        yield Step(x, to=rank + 1)
    return x


def test_a_chain_of_dependent_messages_is_as_many_rounds():
    run = lockstep(relay, ones(4), alpha=1.0, W=80.0)
    assert run.messages == [Message(0, 0, 1, 80, 0), Message(1, 1, 2, 80, 1), Message(2, 2, 3, 80, 2)]
    assert (run.rounds, run.time, run.round_bytes) == (3, 3 * (1 + 1), [80, 80, 80])
    assert run.sent_bytes == [80, 80, 80, 0]
    assert run.received_bytes == [0, 80, 80, 80]


def test_all_messages_of_a_step_share_the_port_but_not_the_links():
    def fan_out(rank, n, x):
        if rank:
            return (yield Step(frm=0))
        yield [Step(x, to=other) for other in range(1, n)]

    assert lockstep(fan_out, ones(5), W=80.0).time == 4
    assert lockstep(fan_out, ones(5), W=80.0, wires="link").time == 1


def test_a_run_is_shown_in_one_line():
    run = lockstep(relay, ones(4), alpha=1.0, W=80.0)
    assert repr(run) == "<3 messages in 3 rounds, at most 80 B sent by a rank: 6 s>"


def test_a_port_carries_both_directions_at_once():
    def swap(rank, n, x):
        return (yield Step(x, 1 - rank, 1 - rank))

    assert lockstep(swap, ones(2), W=80.0).time == 1


def test_a_message_waits_for_a_late_receiver():
    """Rank 0 sends at once; rank 1 receives from 2 first, so the bytes come in when it turns to them."""

    def late(rank, n, x):
        if rank == 1:
            yield Step(frm=2)
            yield Step(frm=0)
        else:
            yield Step(x, to=1)

    run = lockstep(late, ones(3), W=80.0)
    assert sorted(run.messages) == [Message(0, 0, 1, 80, 1), Message(0, 2, 1, 80, 0)]
    assert (run.rounds, run.time) == (2, 2)
    assert lockstep(late, ones(3), W=80.0, wires="link").round_bytes == [80, 0]


def test_what_is_sent_may_be_overwritten():
    def overwrite(rank, n, x):
        if rank:
            return (yield Step(frm=0))
        yield Step(x, to=1)
        x[:] = 7

    assert lockstep(overwrite, ones(2)).outputs[1].tolist() == [1] * 10


def test_messages_between_two_ranks_keep_their_order():
    def two(rank, n, x):
        if rank == 0:
            yield [Step(x[:1], to=1), Step(x[:2], to=1)]
            return (yield Step(x[:3], to=1))
        third_is_last = yield [Step(frm=0), Step(frm=0)]
        return [len(got) for got in [*third_is_last, (yield Step(frm=0))]]

    assert lockstep(two, ones(2)).outputs[1] == [1, 2, 3]


def test_a_step_without_messages_takes_no_time():
    def idle(rank, n, x):
        assert (yield Step()) is None
        assert (yield []) == []
        got = yield [Step(x, to=1 - rank), Step(frm=1 - rank), Step()]
        assert got[0] is None
        assert got[2] is None
        return got[1]

    assert lockstep(idle, ones(2), alpha=1.0).time == 1


def test_clocks_do_not_depend_on_who_is_run_first():
    """Rank 2 idles before it sends, so rank 1's message of round 3 lies there when rank 0 asks for it."""

    def meet(rank, n, x):
        if rank == 0:
            yield Step(frm=2)
            yield Step(frm=1)
            yield Step(x, to=3)
        elif rank == 2:
            for _ in range(20):
                yield []
            yield Step(x, to=0)
        else:
            for _ in range(3):
                yield Step(x, 4 - rank, 4 - rank)
            yield Step(x, to=0) if rank == 1 else Step(frm=0)

    run = lockstep(meet, ones(4))
    assert Message(0, 2, 0, 80, 0) in run.messages
    assert Message(3, 1, 0, 80, 3) in run.messages
    assert Message(4, 0, 3, 80, 4) in run.messages
    assert run.rounds == 5


def test_parties_give_results_messages_and_clocks():
    def numbers(rank, n, x):
        yield from ring_allreduce(rank, n, x)
        return rank

    parties = [numbers(rank, 4, np.ones(8)) for rank in range(4)]
    ended = run_programs(parties)
    assert ended.outputs == [0, 1, 2, 3]
    assert ended.clocks == [6] * 4
    assert len(ended.messages) == 24


def test_a_party_need_not_be_a_generator():
    class Echo:
        def __init__(self, rank):
            self.rank, self.turn = rank, 0

        def send(self, value):
            self.turn += 1
            if self.turn > 1:
                raise StopIteration(value.sum())
            return Step(np.full(3, self.rank), 1 - self.rank, 1 - self.rank)

    assert run_programs([Echo(0), Echo(1)]).outputs == [3, 0]


# What cannot go on


def broken(step):
    """All ranks but the first take one step and return."""

    def algorithm(rank, n, x):
        if rank == 0:
            yield step
        return rank

    return algorithm


@pytest.mark.parametrize(
    ("yielded", "reason", "named"),
    [
        (7, "not-a-step", r"rank 0, step 0: .*Step\(send, to, frm\) .* 7$"),
        ([Step(), "x"], "not-a-step", r"rank 0, step 0: .*Step\(send, to, frm\) .* \[Step\("),
        (None, "not-a-step", " None$"),
        (Step(send=X), "half-a-step", "rank 0, step 0: .*`send` .*`to`"),
        (Step(to=1), "half-a-step", "rank 0, step 0: .*`to` .*`send`"),
        (Step([1.0], to=1), "not-an-array", r"rank 0, step 0: `send` .* \[1.0\]$"),
        (Step(X, to=3), "no-such-rank", "rank 0, step 0: `to` is 3, .*0 to 2$"),
        (Step(X, to=0), "no-such-rank", "`to` is 0, so the rank sends to itself; another rank was expected$"),
        (Step(frm=-1), "no-such-rank", "`frm` is -1, .*0 to 2$"),
        (Step(frm=1.0), "no-such-rank", r"`frm` is 1\.0; .*whole.*0 to 2$"),
        (Step(frm=True), "no-such-rank", "`frm` is True; .*whole.*0 to 2$"),
        (Step(X, to=1), "unreceived", "rank 0 to rank 1$"),
        ([Step(X, to=2)] * 3, "unreceived", " 3 .*rank 0 to rank 2$"),
        (Step(frm=2), "deadlock", "rank 0, step 0, .*rank 2, .*returned"),
    ],
    ids=str,
)
def test_a_step_that_is_none_is_refused(yielded, reason, named):
    with pytest.raises(SimulationError, match=named) as error:
        lockstep(broken(yielded), ones(3))
    assert error.value.reason == reason


def test_a_deadlock_names_who_waits_for_whom():
    def backwards(rank, n, x):
        yield Step(frm=(rank + 1) % n)
        yield Step(x, to=(rank - 1) % n)

    with pytest.raises(SimulationError, match=r"rank 0, step 0, .*rank 1; rank 1, step 0, .*rank 0$") as error:
        lockstep(backwards, ones(2))
    assert error.value.reason == "deadlock"
    with pytest.raises(SimulationError, match=r"\b58\b"):
        lockstep(backwards, ones(64))


def test_the_words_for_a_step_and_for_a_deadlock():
    with pytest.raises(SimulationError, match="a Step has `send` but no `to`"):
        lockstep(broken(Step(send=X)), ones(3))
    with pytest.raises(SimulationError, match="deadlock: rank 0, step 0, waits for rank 2, which has returned"):
        lockstep(broken(Step(frm=2)), ones(3))


def test_one_rank_has_nobody_to_talk_to():
    with pytest.raises(SimulationError, match=r"rank 0, step 0: `to` is 0, .*no other rank$") as error:
        lockstep(broken(Step(X, to=0)), ones(1))
    assert error.value.reason == "no-such-rank"


def test_a_function_without_yield_is_named():
    with pytest.raises(SimulationError, match=r"sum_up .* 10\.0") as error:
        lockstep(lambda_named("sum_up"), ones(2))
    assert error.value.reason == "not-a-generator"


def lambda_named(name):
    def function(rank, n, x):
        return float(x.sum())

    function.__name__ = name
    return function


def test_an_error_inside_says_where():
    def fails(rank, n, x):
        yield Step(x, (rank + 1) % n, (rank - 1) % n)
        if rank == 2:
            raise ZeroDivisionError("inside")

    with pytest.raises(ZeroDivisionError, match="inside") as caught:
        lockstep(fails, ones(3))
    assert caught.value.__notes__ == ["in rank 2, after step 0"]


def test_an_endless_algorithm_is_ended():
    def endless(rank, n, x):
        while True:
            yield Step(x, (rank + 1) % n, (rank - 1) % n)

    with pytest.raises(SimulationError, match=r"\b100\b") as error:
        lockstep(endless, ones(3), limit=100)
    assert error.value.reason == "endless"

    def idle(rank, n, x):
        while True:
            yield []

    with pytest.raises(SimulationError, match=r"\b100\b") as error:
        lockstep(idle, ones(3), limit=100)
    assert error.value.reason == "endless"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"inputs": []}, "inputs: .*1 rank.* 0$"),
        ({"inputs": 4}, "inputs: .* 4; .*simulate_events"),
        ({"alpha": -1.0}, "alpha: .*-1.0$"),
        ({"alpha": float("nan")}, "alpha: .*nan$"),
        ({"W": 0.0}, "W: .*0.0$"),
        ({"W": float("nan")}, "W: .*nan$"),
        ({"wires": "tube"}, "wires: .*port, link, .*'tube'"),
        ({"inputs": [[1.0, 2.0]]}, "inputs: .*list.*rank 0$"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_bad_arguments_are_named(given, message):
    with pytest.raises(ValueError, match=message):
        lockstep(ring_allreduce, **{"inputs": ones(2), **given})


def test_an_unknown_algorithm_is_named():
    with pytest.raises(KeyError, match=r"'ring_allredcue'; .*ring_allreduce"):
        lockstep("ring_allredcue", ones(2))


def test_no_latency_and_a_port_without_bound_take_no_time():
    run = lockstep(relay, ones(4))
    assert (run.rounds, run.time, run.round_times) == (3, 0, [0, 0, 0])
    assert lockstep(relay, ones(3), alpha=0.5).round_times == [0.5, 0.5]
    assert lockstep(relay, ones(3), alpha=1.0, W=160.0).round_times == [1.5, 1.5]


def test_a_switch_has_the_buffer_of_rank_0_and_ports_that_cost_nothing():
    def up_and_down(rank, n, x):
        return (yield [Step(x, to=n), Step(frm=n)])[1]

    def switch(rank, n, x):
        got = yield [Step(frm=peer) for peer in range(n)]
        yield [Step(sum(got) + 0 * x, to=peer) for peer in range(n)]

    run = lockstep(up_and_down, [np.full(4, 2.0), np.full(4, 5.0)], alpha=1.0, W=32.0, switch=switch)
    assert [list(x) for x in run.outputs] == [[7] * 4] * 2
    assert (run.rounds, run.time) == (2, 2 * (1 + 1))
    assert (run.sent_bytes, run.received_bytes) == ([32, 32], [32, 32])

    def size(rank, n, x):
        got = yield [Step(frm=peer) for peer in range(n)]
        yield [Step(x[: 8 * (peer + 1)], to=peer) for peer in range(len(got))]

    run = lockstep(up_and_down, [np.zeros(9), np.zeros(1), np.zeros(2)], switch=size)
    assert [len(x) for x in run.outputs] == [8, 9, 9]


@pytest.mark.parametrize(("limit", "ends"), [(3, True), (2, False)])
def test_a_run_of_as_many_messages_as_the_limit_ends(limit, ends):
    if ends:
        assert len(lockstep(relay, ones(4), limit=limit).messages) == 3
        return
    with pytest.raises(SimulationError) as error:
        lockstep(relay, ones(4), limit=limit)
    assert error.value.reason == "endless"


def test_steps_without_messages_count_once_each():
    def idle(rank, n, x):
        for _ in range(5):
            yield []
        return x

    assert lockstep(idle, ones(1), limit=5).rounds == 0
    with pytest.raises(SimulationError) as error:
        lockstep(idle, ones(1), limit=4)
    assert error.value.reason == "endless"


@pytest.mark.parametrize(("ranks", "more"), [(6, ""), (7, "; and 1 more ranks wait"), (9, "; and 3 more ranks wait")])
def test_a_deadlock_names_six_ranks(ranks, more):
    def waits(rank, n, x):
        yield Step(frm=(rank + 1) % n)

    with pytest.raises(SimulationError) as error:
        lockstep(waits, ones(ranks))
    assert str(error.value).count("waits for") == 6
    assert str(error.value).endswith(f"rank 6{more}" if more else "rank 0")


@pytest.mark.parametrize(("ranks", "more"), [(7, ""), (8, " and 1 more pairs"), (10, " and 3 more pairs")])
def test_of_what_nobody_receives_six_pairs_are_named(ranks, more):
    def sends(rank, n, x):
        if rank:
            yield [Step(x, to=0)] * (1 + (rank == 1))

    with pytest.raises(SimulationError) as error:
        lockstep(sends, ones(ranks))
    assert error.value.reason == "unreceived"
    assert str(error.value).startswith(
        "sent but never received: 2 messages from rank 1 to rank 0, one message from rank 2"
    )
    assert str(error.value).endswith(f"from rank 6 to rank 0{more}")


@pytest.mark.parametrize(("length", "shown"), [(58, "'" + "x" * 58 + "'"), (59, "'" + "x" * 56 + "...")])
def test_a_long_value_is_cut_at_sixty_characters(length, shown):
    def wrong(rank, n, x):
        yield "x" * length

    with pytest.raises(SimulationError) as error:
        lockstep(wrong, ones(2))
    assert str(error.value).endswith(f", got {shown}")


@pytest.mark.parametrize("peer", [-1, 3])
def test_the_ranks_next_to_the_first_and_the_last_are_none(peer):
    def wrong(rank, n, x):
        yield Step(frm=peer)

    with pytest.raises(SimulationError, match=rf"`frm` is {peer}, and the ranks are 0 to 2$") as error:
        lockstep(wrong, ones(3))
    assert error.value.reason == "no-such-rank"


def test_a_rank_may_be_any_whole_number():
    def shift(rank, n, x):
        return (yield Step(x, to=np.int64((rank + 1) % n), frm=np.int64((rank - 1) % n)))

    assert lockstep(shift, ones(2)).rounds == 1


def test_an_error_before_the_first_step_says_so():
    def fails(rank, n, x):
        raise ZeroDivisionError
        yield

    with pytest.raises(ZeroDivisionError) as caught:
        lockstep(fails, ones(1))
    assert caught.value.__notes__ == ["in rank 0, before its first step"]
