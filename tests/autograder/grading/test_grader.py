"""What becomes of a submission whose zygote or judge goes, with both made up: nothing is started."""

import errno
import json
from concurrent.futures import Future
from types import SimpleNamespace

import pytest
from nbformat import from_dict

from autograder.declaration import Verdict
from autograder.grading import worker
from autograder.grading.judge import JudgeGone, JudgeRequest
from autograder.grading.results import GradedNotebook, Result
from autograder.grading.submission import RunSettings
from autograder.grading.worker import STOPPED, TRIES, Grader, GradingJob, JobOutcome
from autograder.sandbox import NoSandbox, ZygoteGone

NB = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}
JOB = GradingJob("ann", json.dumps(NB))
RIGHT = Verdict(1.0, "Right.", "right")


class Program:
    """A zygote or a judge: it notes what is done to it."""

    def __init__(self, unconfined="", unmeasured=""):
        self.unconfined, self.unmeasured = unconfined, unmeasured
        self.steps, self.says = [], [RIGHT]

    def refuse_unless(self, unsafe):
        self.steps.append(("refuse unless", unsafe))
        if self.unconfined and not unsafe:
            raise NoSandbox(self.unconfined)

    def ask(self, question):
        self.steps.append(question)
        verdict = self.says.pop(0)
        if isinstance(verdict, Exception):
            raise verdict
        return verdict

    def stop(self):
        self.steps.append("stop")

    def close(self):
        self.steps.append("close")


@pytest.fixture
def parts(monkeypatch):
    """What is made; what grading a submission comes to, one after another, an exception is raised."""
    made = SimpleNamespace(zygotes=[], judges=[], outcomes=[], asked=[], about={})

    def zygote():
        made.zygotes.append(Program(**made.about))
        return made.zygotes[-1]

    def judge():
        made.judges.append(Program())
        return made.judges[-1]

    def graded(*about, **more):
        made.asked.append((about, more))
        outcome = made.outcomes.pop(0) if made.outcomes else None
        if isinstance(outcome, Exception):
            raise outcome
        if outcome is not None:
            outcome(more)
        return GradedNotebook(from_dict(NB), [Result("q", 1.0, 2.0, "Half.")], ["a note"], {"q": 1})

    monkeypatch.setattr(worker, "Zygote", zygote)
    monkeypatch.setattr(worker.submission, "grade_notebook", graded)
    monkeypatch.setattr(worker.rejudging, "judge_again", graded)
    made.judge = judge
    return made


@pytest.fixture
def grader(parts):
    made = Grader("release", {}, parts.judge, RunSettings(variants=True), served=3)
    yield made
    made._over = True
    made._starter.shutdown()


def test_a_submission_is_graded_by_the_zygote_and_the_judge(grader, parts):
    job = GradingJob(
        "ann", json.dumps(NB), kept=({"exercise": "k", "points": 1.0, "max_points": 1.0, "say": "."},), answers={"a": 1}
    )
    outcome = grader.grade(job)
    assert (outcome.problem, outcome.problems, outcome.answers) == ("", ["a note"], {"q": 1})
    assert (json.loads(outcome.notebook), outcome.results[0].say) == (NB, "Half.")
    ((nb, release, bank, learner, _settings), more) = parts.asked[0]
    assert (nb, release, bank, learner) == (NB, "release", {}, "ann")
    assert (more["zygote"], more["judge"]) == (parts.zygotes[0], parts.judges[0])
    assert ([one.exercise for one in more["kept"]], more["answers"]) == (["k"], {"a": 1})
    assert JobOutcome.of(json.loads(json.dumps(outcome.as_plain()))) == outcome


def test_one_exercise_is_graded_by_its_part_of_the_release(grader, parts, monkeypatch):
    monkeypatch.setattr(worker.restore, "only", lambda release, name: (release, name))
    grader.grade(GradingJob("ann", json.dumps(NB), only="q"))
    assert parts.asked[0][0][1] == ("release", "q")


def test_what_was_executed_is_judged_again_without_a_run(grader, parts):
    grader.grade(GradingJob("ann", "", executed=json.dumps(NB), notes={"q": "n"}))
    about, more = parts.asked[0]
    assert about == (NB, "ann", True, parts.judges[0], [], {}, {"q": "n"})
    assert more == {}
    assert grader._zygote.served == 0


@pytest.mark.parametrize(("which", "error"), [("zygotes", ZygoteGone("g")), ("judges", JudgeGone("g"))])
def test_what_goes_is_replaced_and_the_submission_graded_again(grader, parts, which, error):
    parts.outcomes = [error]
    outcome = grader.grade(JOB)
    assert outcome.problem == ""
    first, second = getattr(parts, which)
    assert (first.steps[-1], second.steps) == ("close", [])
    assert len(parts.zygotes) + len(parts.judges) == 3
    assert len(parts.asked) == 2


@pytest.mark.parametrize("error", [ZygoteGone("gone"), JudgeGone("gone")])
def test_a_submission_is_tried_three_times(grader, parts, error):
    parts.outcomes = [error] * (TRIES - 1)
    assert grader.grade(JOB).problem == ""
    parts.outcomes = [error] * TRIES
    assert grader.grade(JOB).problem.endswith("3 times over: gone")
    assert parts.outcomes == []
    assert TRIES == 3


def test_a_submission_that_the_grader_fails_on_is_a_problem(grader, parts):
    parts.outcomes = [ValueError("odd"), OSError(errno.ENOENT, "none")]
    assert "ValueError: odd" in grader.grade(JOB).problem
    assert "none" in grader.grade(JOB).problem
    assert len(parts.zygotes) == 1


@pytest.mark.parametrize("error", [NoSandbox("n"), OSError(errno.EMFILE, "m"), OSError(errno.ENFILE, "m")])
def test_what_concerns_every_submission_ends_the_run(grader, parts, error):
    parts.outcomes = [error]
    with pytest.raises(type(error)):
        grader.grade(JOB)


def test_what_has_another_number_is_no_full_machine(grader, parts):
    odd = ValueError("odd")
    odd.errno = errno.EMFILE
    parts.outcomes = [odd]
    assert "odd" in grader.grade(JOB).problem


def test_a_run_that_is_stopped_grades_nothing_more(grader, parts):
    parts.outcomes = [lambda _: grader.stop()]
    grader.grade(JOB)
    assert [one.steps.count("stop") for one in (*parts.zygotes, *parts.judges)] == [2, 1]
    assert grader.grade(JOB) == JobOutcome(problem=STOPPED)
    with pytest.raises(JudgeGone, match="stopped"):
        grader.ask(JudgeRequest("q", None, 1))
    assert parts.judges[0].says == [RIGHT]


def test_nothing_is_replaced_after_a_stop(grader, parts):
    grader._over = True
    grader._replace_judge(parts.judges[0])
    grader._replace_zygote(parts.zygotes[0])
    assert (len(parts.judges), len(parts.zygotes)) == (1, 1)


def test_what_another_thread_has_replaced_is_not_replaced_again(grader, parts):
    grader._replace_judge("an earlier one")
    grader._replace_zygote("an earlier one")
    assert (len(parts.judges), len(parts.zygotes)) == (1, 1)


def test_a_value_is_judged_and_judge_after_judge_tried(grader, parts):
    question = JudgeRequest("q", None, 1)
    assert grader.ask(question) == RIGHT
    parts.judges[0].says = [JudgeGone("g")]
    assert grader.ask(question) == RIGHT
    assert (len(parts.judges), parts.judges[0].steps[-1]) == (2, "close")
    new = grader.judges

    def dying():
        new().says = [JudgeGone("last")]
        return parts.judges[-1]

    grader.judges = dying
    parts.judges[-1].says = [JudgeGone("g")]
    with pytest.raises(JudgeGone, match="last"):
        grader.ask(question)
    assert len(parts.judges) == 2 + TRIES


def test_a_zygote_is_replaced_when_it_has_served_and_closed_when_nobody_uses_it(grader, parts):
    for count in (1, 2):
        grader.grade(JOB)
        assert (grader._zygote.served, grader._zygote.users, grader._next) == (count, 0, None)
    grader.grade(JOB)
    grader._next.result()
    assert grader._zygote.program is parts.zygotes[0]
    users = []
    parts.outcomes = [lambda more: users.append((more["zygote"], parts.zygotes[0].steps[-1]))]
    grader.grade(JOB)
    assert users == [(parts.zygotes[1], "close")]
    assert (grader._zygote.program, grader._zygote.served, grader._next) == (parts.zygotes[1], 1, None)


def test_a_zygote_in_use_is_closed_by_its_last_user(grader, parts):
    with grader._zygotes() as first, grader._zygotes() as same:
        assert first is same is parts.zygotes[0]
        assert (grader._zygote.users, grader._used) == (2, [first, first])
        grader._take(done(worker.Zygote()))
        assert "close" not in first.steps
    assert first.steps.count("close") == 1
    assert grader._used == []
    with grader._zygotes() as now:
        assert now is parts.zygotes[1]
    assert "close" not in now.steps


def done(result):
    made = Future()
    if isinstance(result, Exception):
        made.set_exception(result)
    else:
        made.set_result(result)
    return made


def test_where_the_next_zygote_does_not_start_the_old_one_serves_on(grader, parts):
    grader._next = done(OSError("no"))
    assert grader.grade(JOB).problem == ""
    assert (grader._zygote.program, grader._next) == (parts.zygotes[0], None)
    grader._next = done(OSError("no"))
    grader._replace_zygote(parts.zygotes[0])
    assert grader._zygote.program is parts.zygotes[1]
    grader._next = done(Program())
    ready = grader._next.result()
    grader._replace_zygote(parts.zygotes[1])
    assert (grader._zygote.program, grader._next, len(parts.zygotes)) == (ready, None, 2)


def test_closing_ends_everything_the_next_zygote_too(parts):
    ready = Program()
    with Grader("release", {}, parts.judge, RunSettings()) as made:
        made._next = done(ready)
        assert made.served == 500
    assert [one.steps[-1] for one in (*parts.zygotes, *parts.judges, ready)] == ["close"] * 3
    with Grader("release", {}, parts.judge, RunSettings()) as made:
        made._next = done(OSError("no"))
    assert parts.zygotes[1].steps[-1] == "close"


@pytest.mark.parametrize("unsafe", [False, True])
def test_a_system_without_a_sandbox_grades_where_that_was_asked_for(parts, unsafe):
    parts.about = {"unconfined": "unshare: no"}
    if not unsafe:
        with pytest.raises(NoSandbox):
            Grader("release", {}, parts.judge, RunSettings())
        assert [one.steps[-1] for one in (*parts.zygotes, *parts.judges)] == ["close", "close"]
        return
    with Grader("release", {}, parts.judge, RunSettings(unsafe=True)) as made:
        assert "nothing was confined (unshare: no)" in made.grade(JOB).problems[-1]


def test_a_judge_that_does_not_start_leaves_nothing_behind(parts):
    def fails():
        raise ValueError("the key is wrong")

    with pytest.raises(ValueError, match="the key is wrong"):
        Grader("release", {}, fails, RunSettings())
    assert parts.zygotes[0].steps == ["close"]


def test_the_teacher_is_told_what_of_the_sandbox_was_missing():
    assert worker._unsafe(Program()) == []
    assert worker._unsafe(Program(unmeasured="no /proc")) == ["graded with --unsafe: no /proc"]
    (line,) = worker._unsafe(Program("unshare: no", "no /proc"))
    assert "unshare: no" in line


def test_a_worker_a_core(monkeypatch):
    monkeypatch.setattr(worker.os, "sched_getaffinity", lambda pid: {3, 5} if pid == 0 else set())
    assert worker.cores() == 2
