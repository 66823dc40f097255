"""What a judge hears of the calls of a learner's function; the process is a stand-in."""

import time
from types import SimpleNamespace

import pytest

from autograder.grading.callbacks import FunctionCalls, problem_reason
from autograder.sandbox import WAITED, ChildLost


class Child:
    """A process that gives these replies, one after another; an exception is raised."""

    def __init__(self, *replies, defined="callable"):
        self.replies, self.asked, self.killed, self.waited = list(replies), [], False, False
        self.defined = defined

    def call(self, *arguments):
        self.asked.append(arguments)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def answer(self, *arguments):
        self.asked.append(arguments)
        return {"value": {"$": self.defined}}

    def kill(self):
        self.killed = True


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(time=100.0)
    monkeypatch.setattr(time, "monotonic", lambda: now.time)
    return now


def exercise(*withholds):
    return SimpleNamespace(id="t-f", answer_name="f", withholds=withholds, answer=SimpleNamespace(plays="kernel"))


def calls(child, *withholds, spawn=None, limit=10.0):
    return FunctionCalls(exercise(*withholds), limit, child, spawn)


def test_a_value_is_passed_on_and_nothing_else(clock):
    child = Child({"value": 7, "number": 3, "more": 1})
    with calls(child) as ask:
        assert ask([1]) == {"value": 7}
    assert child.asked == [("t-f", [1], 10.0, (), "kernel")]
    assert not child.killed  # it is not its own


def test_the_calls_share_their_time_from_the_first_one(clock):
    child = Child({"value": 1}, {"value": 2}, {"value": 3})
    ask = calls(child)
    clock.time = 200.0
    assert ask(0) == {"value": 1}
    clock.time = 209.5
    assert ask(0) == {"value": 2}
    assert [asked[2] for asked in child.asked] == [10.0, 0.5]
    clock.time = 210.0
    late = {"problem": "its calls took longer than 10 s", "reason": "time-limit", "withheld": ""}
    assert ask(0) == late
    clock.time = 205.0
    assert ask(0) == late  # lost is lost
    assert len(child.asked) == 2


@pytest.mark.parametrize("waited", [False, True])
def test_a_call_that_does_not_return_costs_all_that_follow(clock, waited):
    child = Child({"expired": True})
    child.waited = waited
    ask = calls(child)
    problem = f"your function did not return within 10 s{WAITED if waited else ''}"
    assert ask(0) == {"problem": problem, "reason": "time-limit"}
    assert ask(0) == {"problem": problem, "reason": "time-limit", "withheld": ""}
    assert len(child.asked) == 1


def test_a_process_that_is_lost_costs_all_that_follow(clock):
    ask = calls(Child(ChildLost("it ended", "forged-reply")))
    lost = {"problem": "your function was stopped: it ended", "reason": "forged-reply"}
    assert ask(0) == lost
    assert ask(0) == lost | {"withheld": ""}


@pytest.mark.parametrize(
    ("reply", "problem", "reason", "withheld"),
    [
        ({"problem": "ValueError", "said": "f failed", "message": "m"}, "f failed", "", ""),
        ({"problem": "TooLarge", "message": "m"}, "TooLarge: m", "", ""),
        ({"problem": "NotEncodable", "message": ""}, "NotEncodable", "no-plain-data", ""),
        ({"problem": "Withheld", "said": "s", "withheld": "w" * 201}, "s", "", "w" * 200),
        ({"problem": "E", "said": "s" * 400}, "s" * 400, "", ""),
        ({"problem": "E", "said": "s" * 401}, "s" * 400, "", ""),
        ({}, "", "", ""),
    ],
)
def test_a_problem_is_told_up_to_its_bounds(clock, reply, problem, reason, withheld):
    ask = calls(Child(reply, {"value": 1}))
    assert ask(0) == {"problem": problem, "reason": reason, "withheld": withheld}
    assert ask(0) == {"value": 1}  # the next call is one of its own


def test_what_is_withheld_is_missing_in_a_process_of_its_own(clock):
    child, separate = Child(), Child({"value": 5}, {"value": 6})
    with calls(child, "hwlib.a", "hwlib.b", spawn=lambda: separate) as ask:
        assert [ask(1), ask(2)] == [{"value": 5}, {"value": 6}]
        assert not separate.killed
    assert separate.asked[0] == ("t-f", "f", False)
    assert separate.asked[1] == ("t-f", 1, 10.0, ("hwlib.a", "hwlib.b"), "kernel")
    assert (separate.killed, child.killed, child.asked) == (True, False, [])


def test_a_function_that_is_not_there_without_what_is_withheld(clock):
    ask = calls(Child(), "hwlib.a", "hwlib.b", spawn=lambda: Child(defined="ellipsis"))
    problem = "without hwlib.a, hwlib.b your cells do not define it"
    assert ask(1) == {"problem": problem, "reason": "", "withheld": "hwlib.a"}


def test_cells_that_are_stopped_when_they_run_again(clock):
    def spawn():
        raise ChildLost("too late", "out-of-time")

    problem = "your cells were stopped when they ran again: too late"
    assert calls(Child(), "hwlib.a", spawn=spawn)(1) == {"problem": problem, "reason": "out-of-time", "withheld": ""}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({}, ""),
        ({"expired": True, "problem": "NotEncodable"}, "time-limit"),
        ({"problem": "NotEncodable", "reason": "other"}, "no-plain-data"),
        ({"problem": "Other", "reason": "a-reason"}, "a-reason"),
        ({"reason": "a" * 40}, "a" * 40),
        ({"reason": "a" * 41}, ""),
        ({"reason": "A reason"}, ""),
    ],
)
def test_the_reason_of_a_problem(reply, reason):
    assert problem_reason(reply) == reason
