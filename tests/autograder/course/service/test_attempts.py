"""Attempts are counted before they are judged, once for each answer, and outlive the process."""

import os
import re
import subprocess
import sys
import threading

import pytest

from autograder.course.service import attempts
from autograder.course.service.attempts import FILE, Ledger, used

RULES = {"allowed": 2, "key": "k", "assignment": "w"}
RIGHT = {"say": "Right.", "kind": "right", "score": 1.0, "wants_hint": False}


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path) as made:
        yield made


def test_each_new_answer_counts_until_all_are_used(ledger):
    assert [ledger.take("ann", "a-b", answer, **RULES).used for answer in "xy"] == [1, 2]
    assert ledger.take("ann", "a-b", "z", **RULES) is None
    assert ledger.take("ann", "a-c", "z", **RULES).used == 1
    assert ledger.take("bob", "a-b", "z", **RULES).used == 1


def test_the_same_answer_again_has_the_same_verdict_and_costs_nothing(ledger):
    ledger.take("ann", "a-b", "x", **RULES)
    ledger.keep("ann", "a-b", "x", key="k", verdict=RIGHT)
    again = ledger.take("ann", "a-b", "x", **RULES)
    assert (again.used, again.verdict) == (1, RIGHT)
    ledger.take("ann", "a-b", "y", **RULES)
    assert ledger.take("ann", "a-b", "x", **RULES).verdict == RIGHT  # when all are used, too


def test_a_verdict_by_another_key_is_made_anew_and_costs_nothing(ledger):
    ledger.take("ann", "a-b", "x", **RULES)
    ledger.keep("ann", "a-b", "x", key="k", verdict=RIGHT)
    again = ledger.take("ann", "a-b", "x", allowed=1, key="other", assignment="w")
    assert (again.used, again.verdict) == (1, None)


def test_only_an_attempt_without_a_verdict_is_given_back(ledger):
    ledger.take("ann", "a-b", "x", **RULES)
    assert ledger.give_back("ann", "a-b", "x") == 1
    ledger.take("ann", "a-b", "x", **RULES)
    ledger.keep("ann", "a-b", "x", key="k", verdict=RIGHT)
    assert ledger.give_back("ann", "a-b", "x") == 0
    assert ledger.take("ann", "a-b", "y", **RULES).used == 2


def test_an_attempt_is_on_the_disk_before_the_process_can_be_killed(tmp_path):
    program = (
        "import os, signal, sys; from pathlib import Path; from autograder.course.service.attempts import Ledger\n"
        "Ledger(Path(sys.argv[1])).take('ann', 'a-b', 'x', allowed=2, key='k', assignment='w')\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], timeout=60, check=False)
    with Ledger(tmp_path) as ledger:
        assert ledger.take("ann", "a-b", "y", **RULES).used == 2
        pending = ledger.take("ann", "a-b", "x", **RULES)
    assert (pending.used, pending.verdict) == (2, None)  # judged now, at no further cost


def test_two_threads_never_take_more_than_is_allowed(ledger):
    taken = []

    def ask(first):
        rules = {"allowed": 7, "key": "k", "assignment": "w"}
        taken.extend(n for n in range(20) if ledger.take("ann", "a-b", f"{first}-{n}", **rules))

    threads = [threading.Thread(target=ask, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 7


def test_the_teacher_sees_who_has_used_how_many(ledger, tmp_path):
    for learner in ("bob", "ann\x1b[31m"):
        ledger.take(learner, "a-b", "x", **RULES)
    ledger.keep("bob", "a-b", "x", key="k", verdict=RIGHT)
    ledger.take("bob", "a-b", "y", **RULES)
    shown = [(one.learner, one.count, one.kind, one.right) for one in used(tmp_path)]
    assert shown == [("ann\x1b[31m", 1, "", False), ("bob", 2, "", True)]
    assert ledger.forget("bob", "a-b") == 2
    assert len(used(tmp_path)) == 1


def test_the_file_is_the_teachers_alone(ledger, tmp_path):
    ledger.take("ann", "a-b", "x", **RULES)
    files = [path for path in (tmp_path / ".gpubook").iterdir() if path.name.startswith(FILE)]
    assert {os.stat(path).st_mode & 0o777 for path in files} == {0o600}


def test_where_no_service_has_run_there_is_nothing_and_nothing_is_made(tmp_path):
    assert used(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_change_that_fails_is_not_made_and_is_told(ledger):
    ledger.take("ann", "a-b", "x", **RULES)

    def fails():
        with ledger._writing() as db:
            db.execute("DELETE FROM attempts")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert [one.count for one in ledger.used()] == [1]
    assert ledger.take("ann", "a-b", "y", **RULES).used == 2  # and the next one is


def test_what_a_learner_has_had_ends_with_the_last_attempt(ledger, monkeypatch):
    times = iter(["2030-01-01T00:00:01Z", "2030-01-01T00:00:02Z"])
    monkeypatch.setattr(attempts, "_now", lambda: next(times))
    for answer, kind, score in (("z", "right", 1.0), ("a", "wrong", 0.5)):
        ledger.take("ann", "a-b", answer, **RULES)
        ledger.keep("ann", "a-b", answer, key="k", verdict=RIGHT | {"kind": kind, "score": score})
    (used_,) = ledger.used()
    assert (used_.kind, used_.right, used_.time, used_.assignment) == ("wrong", True, "2030-01-01T00:00:02Z", "w")
    ledger.forget("ann", "a-b")
    assert ledger.used() == []


def test_nothing_but_all_points_is_right(ledger):
    ledger.take("ann", "a-b", "x", **RULES)
    ledger.keep("ann", "a-b", "x", key="k", verdict=RIGHT | {"score": 0.5})
    assert ledger.used()[0].right is False
    assert ledger.forget("ann", "other") == 0


def test_the_time_of_an_attempt_is_in_utc_to_the_second():
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", attempts._now())
