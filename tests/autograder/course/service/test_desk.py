"""What the desk does with a question, by a judging that is made up: which attempts count, and what is told."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from autograder.course.service import desk as module
from autograder.course.service.desk import BURST, INTERVAL, WAITING, Desk
from autograder.course.service.judging import Code, JudgedRequest, NotJudged
from autograder.course.service.limits import Later, Rate
from autograder.course.service.requests import BadRequest, CheckRequest
from autograder.declaration import Verdict
from tests.loops import awaited_here

VALUE = CheckRequest("hw", "mine-time", value=1.5)
CODE = CheckRequest("hw", "mine-double", code=Code(["x"], 0))
WRONG = Verdict(0.25, "No.", "wrong", reason="why", wants_hint=True)


class MadeUp:
    """The generations, the judging and the catalogue: two exercises, and the verdict that is set."""

    def __init__(self, *_):
        self.catalogue = self
        self.served = {
            name: SimpleNamespace(exercise=SimpleNamespace(id=name), allowed=2, key="k", is_code=is_code)
            for name, is_code in (("mine-time", False), ("mine-double", True))
        }
        self.says = JudgedRequest(WRONG, counts=True)
        self.asked, self.closed, self.released = [], 0, {}

    @contextmanager
    def judging(self):
        yield self

    def find(self, assignment, exercise):
        return self.served.get(exercise) if assignment == "hw" else None

    def value(self, served, learner, message):
        self.asked.append((served.exercise.id, learner, message))
        if isinstance(self.says, Exception):
            raise self.says
        return self.says

    code = value

    def renew(self):
        self.served |= self.released
        return bool(self.released)

    def close(self):
        self.closed += 1


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "Generations", MadeUp)
    monkeypatch.setattr(module, "Deadlines", lambda _: SimpleNamespace(over=lambda *_: False))
    with Desk(tmp_path, workers=1) as made:
        yield made


def ask(desk, question=VALUE, who="ann", **about):
    return awaited_here(desk.answer(who, question, **about))


def test_an_exercise_that_was_released_a_moment_ago_is_judged_at_once(desk):
    new = CheckRequest("hw", "mine-new", value=1.5)
    with pytest.raises(BadRequest):
        ask(desk, new)
    desk.generations.released["mine-new"] = desk.generations.served["mine-time"]
    assert ask(desk, new)["used"] == 1


def used(desk):
    return {(one.learner, one.exercise): one.count for one in desk.ledger.used()}


def test_an_answer_that_counts_is_counted_and_told_without_its_reason(desk):
    told = {"say": "No.", "kind": "wrong", "score": 0.25, "wants_hint": True}
    assert ask(desk) == {"verdict": told, "used": 1, "allowed": 2}
    assert ask(desk) == {"verdict": told, "used": 1, "allowed": 2, "again": True}
    assert ask(desk, CODE)["used"] == 1
    assert desk.generations.asked == [("mine-time", "ann", 1.5), ("mine-double", "ann", CODE.code)]
    assert used(desk) == {("ann", "mine-time"): 1, ("ann", "mine-double"): 1}


def test_all_that_are_allowed_are_used_up(desk):
    for value, count in ((1.0, 1), (2.0, 2)):
        assert ask(desk, CheckRequest("hw", "mine-time", value=value))["used"] == count
    assert ask(desk, VALUE) == {"recorded": "used-up", "used": 2, "allowed": 2}
    assert ask(desk, VALUE, "bob")["used"] == 1


def test_what_is_no_answer_is_given_back(desk):
    ask(desk, CheckRequest("hw", "mine-time", value=9.0))
    desk.generations.says = JudgedRequest(WRONG, counts=False)
    assert ask(desk)["used"] == 1
    assert used(desk) == {("ann", "mine-time"): 1}


@pytest.mark.parametrize(
    ("error", "logged"),
    [
        (NotJudged("the key is wrong"), "the key is wrong"),
        (ZeroDivisionError("42"), "ZeroDivisionError: 42"),
        (OSError("full"), "full"),
    ],
)
def test_what_cannot_be_judged_costs_nothing_and_is_in_the_log(desk, caplog, error, logged):
    desk.generations.says = error
    with pytest.raises(Later) as later:
        ask(desk)
    assert (later.value.status, later.value.seconds) == (503, 60)
    assert used(desk) == {}
    assert logged in caplog.text
    assert ("OSError" in caplog.text) == ("OSError" in logged)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (CheckRequest("hw", "none", value=1.0), "not judged here"),
        (CheckRequest("other", "mine-time", value=1.0), "not judged here"),
        (CheckRequest("hw", "mine-double", value=1.0), "code was expected"),
        (CheckRequest("hw", "mine-time", code=CODE.code), "a value was expected"),
    ],
)
def test_what_is_not_served_is_refused(desk, question, expected):
    with pytest.raises(BadRequest, match=expected):
        ask(desk, question)
    assert desk.generations.asked == []


def test_nothing_is_counted_after_the_deadline_nor_for_nobody(desk):
    desk.deadlines.over = lambda assignment, learner: (assignment, learner) == ("hw", "ann")
    assert ask(desk) == {"recorded": "over"}
    assert ask(desk, VALUE, "bob")["used"] == 1
    assert ask(desk, VALUE, "cy", gone=lambda: True) == {}
    assert used(desk) == {("bob", "mine-time"): 1}


@pytest.mark.parametrize("change", [{"mine-time": None}, {"mine-time": True}])
def test_a_course_that_changed_meanwhile_says_to_come_again(desk, change):
    is_code = change["mine-time"]
    desk.generations.served["mine-time"] = is_code and SimpleNamespace(is_code=True)
    with pytest.raises(Later) as later:
        desk._judge("ann", VALUE, lambda: False)
    assert (later.value.status, later.value.seconds) == (503, 2)


def test_an_exercise_that_takes_code_judges_code_after_a_change(desk):
    assert desk._judge("ann", CODE, lambda: False)["used"] == 1


@pytest.mark.parametrize(("score", "told"), [(-0.1, 0.0), (0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (1.1, 1.0)])
def test_a_score_is_told_between_nothing_and_all(score, told):
    assert module._told(Verdict(score, ""))["score"] == told


def test_values_and_code_wait_in_queues_of_their_own(desk):
    assert {code: (queue.most, queue.seconds) for code, queue in desk.queues.items()} == {
        False: (400, 5.0),
        True: (400, 15.0),
    }
    assert WAITING == 400
    desk.queues[False].count = 400
    with pytest.raises(Later):
        ask(desk)
    assert ask(desk, CODE)["used"] == 1
    assert desk.queues[True].count == 0  # and one more may come
    desk.queues[False].count = 399
    assert ask(desk)["used"] == 1
    assert desk.queues[False].count == 399


def test_a_desk_has_a_worker_a_core_and_the_rate_of_a_run_through_a_notebook(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "Generations", MadeUp)
    monkeypatch.setattr(module, "cores", lambda: 3)
    with Desk(tmp_path) as made:
        assert {pool._max_workers for pool in made.pools.values()} == {3}
        assert (made.rate.burst, made.rate.interval) == (BURST, INTERVAL) == (40, 2.0)
    own = Rate(1, 1.0)
    with Desk(tmp_path, workers=2, rate=own) as made:
        assert made.rate is own
        assert {pool._max_workers for pool in made.pools.values()} == {2}


def test_closing_twice_is_closing_once(desk):
    desk.close()
    desk.close()
    assert desk.generations.closed == 1
