"""What a judge hears of ranks, each in a process; the processes are stand-ins."""

import time
from types import SimpleNamespace

import pytest

from autograder.grading import rank_processes
from autograder.grading.rank_processes import RankProcesses
from autograder.sandbox import ChildLost
from tests.autograder.grading.test_callbacks import Child

EXERCISE = SimpleNamespace(id="t-r", answer_name="r", withholds=("hwlib.a",), answer=SimpleNamespace(plays="generator"))


class Rank(Child):
    """A process of a rank."""

    def __init__(self, *replies, lost=False):
        super().__init__(*replies)
        self.lost = lost

    def rank(self, *arguments):
        assert arguments == ("t-r", "r", ("hwlib.a",), "generator")
        if self.lost:
            raise ChildLost("it ended")


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(time=100.0)
    monkeypatch.setattr(time, "monotonic", lambda: now.time)
    return now


def prepared(*ranks):
    waiting, counts = list(ranks), []

    def spawn(count):
        counts.append(count)
        return waiting.pop(0)

    processes = RankProcesses(EXERCISE, 10.0, spawn)
    assert processes({"v": ["prepare", len(ranks)]}) == {"value": None}
    assert counts == [len(ranks)] * len(ranks)
    return processes


def test_the_time_of_the_ranks_begins_when_they_are_all_there(clock):
    rank = Rank({"value": 1}, {"value": 2})
    processes = prepared(rank)
    clock.time = 109.5
    assert processes({"v": ["start", 0, "x"]}) == {"value": 1}
    assert rank.asked == [("t-r", {"v": ["start", 0, "x"]}, 0.5)]
    clock.time = 110.0
    late = {"problem": "the ranks did not end within 10 s"}
    assert processes({"v": ["step", 0]}) == late
    clock.time = 100.0
    assert processes({"v": ["step", 0]}) == late  # lost is lost
    assert processes({"v": ["prepare", 2]}) == late
    assert len(rank.asked) == 1


def test_each_rank_is_asked_in_its_own_process_and_all_end(clock):
    ranks = [Rank(), Rank()]
    with prepared(*ranks) as processes:
        processes.children[1].replies.append({"value": 7, "more": 1})
        assert processes({"v": ["start", 1]}) == {"value": 7}
        assert [len(child.asked) for child in processes.children] == [0, 1]
    assert [rank.killed for rank in ranks] == [True, True]


def test_a_rank_that_does_not_start_loses_all(clock):
    ranks = [Rank(), Rank(lost=True)]
    waiting = list(ranks)
    with RankProcesses(EXERCISE, 10.0, lambda count: waiting.pop(0)) as processes:
        assert processes({"v": ["prepare", 2]}) == {"problem": "it ended"}
        assert [rank.killed for rank in ranks] == [False, True]
        assert processes({"v": ["start", 0]}) == {"problem": "it ended"}
    assert ranks[0].killed


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ({"problem": "ValueError", "said": "r failed", "message": "m"}, "r failed"),
        ({"problem": "TooLarge", "message": "m"}, "TooLarge: m"),
        ({"problem": "E", "said": "s" * 400}, "s" * 400),
        ({"problem": "E", "said": "s" * 401}, "s" * 400),
    ],
)
def test_a_problem_of_a_rank_costs_its_own_request(clock, reply, problem):
    processes = prepared(Rank(reply, {"value": 1}))
    assert processes({"v": ["start", 0]}) == {"problem": problem}
    assert processes({"v": ["step", 0]}) == {"value": 1}


def test_a_missing_name_is_remembered(clock):
    missing = {"value": {"v": ["failed", "raises", "NameError: x"]}}
    processes = prepared(Rank({"value": 1}, missing, {"value": 1}))
    seen = []
    for _ in range(3):
        processes({"v": ["step", 0]})
        seen.append(processes.missed)
    assert seen == [False, True, True]


def test_the_bounds_of_what_is_parsed():
    assert (rank_processes.MAX_CELL, rank_processes.MAX_CELLS) == (10_000, 100_000)
