"""The unit of work: a zygote or a judge that dies is replaced, and the submission on its way is graded all the same."""

import json
import os
import re
import signal
import sys
import threading
import time
from functools import partial

import pytest

from autograder.grading import worker
from autograder.grading.judge import Judge
from autograder.grading.submission import RunSettings
from autograder.grading.worker import Grader, GradingJob, JobOutcome
from autograder.sandbox import Limits, NoSandbox, Zygote
from tests.autograder import tiny

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux"),
]


@pytest.fixture(scope="module")
def assignment(tmp_path_factory):
    root = tmp_path_factory.mktemp("grader")
    bank = tiny.write_bank(root)
    return tiny.released(root, bank), bank


@pytest.fixture
def running(assignment):
    """A grader of the test's own, for those that end its parts."""
    release, bank = assignment
    with Grader(release, bank, partial(Judge, [bank.path]), RunSettings(Limits(cell=5.0))) as made:
        yield made


@pytest.fixture(scope="module")
def impatient(assignment):
    """A grader that waits 2 s for a cell, for those that leave it as it was."""
    release, bank = assignment
    with Grader(release, bank, partial(Judge, [bank.path]), RunSettings(Limits(cell=2.0))) as made:
        yield made


def job(release, learner: str = "ann", **answers: str) -> GradingJob:
    return GradingJob(learner, json.dumps(tiny.fill(release, {**tiny.RIGHT, **answers})))


def points(outcome: JobOutcome) -> float:
    assert outcome.problem == ""
    return sum(result.points for result in outcome.results)


def kill(program) -> None:
    os.kill(program._process.pid, signal.SIGKILL)
    program._process.wait()


def test_an_outcome_is_plain_data(running, assignment):
    outcome = running.grade(job(assignment[0]))
    assert points(outcome) == 10.0
    assert JobOutcome.of(json.loads(json.dumps(outcome.as_plain()))) == outcome
    assert json.loads(outcome.notebook)["cells"]


def test_a_zygote_that_dies_between_two_submissions_is_replaced(running, assignment):
    kill(running._zygote.program)
    assert points(running.grade(job(assignment[0]))) == 10.0


@pytest.mark.parametrize("which", ["zygote", "judge"])
def test_one_that_dies_amid_submissions_costs_none(running, assignment, which):
    waits = {"tiny-time": "import time; time.sleep(0.5)\nanswer = 4e9/2e9"}
    outcomes: list[JobOutcome] = []
    threads = [
        threading.Thread(target=lambda n=n: outcomes.append(running.grade(job(assignment[0], f"l{n}", **waits))))
        for n in range(3)
    ]
    for thread in threads:
        thread.start()
    time.sleep(0.4)
    kill(running._zygote.program if which == "zygote" else running._judge)
    for thread in threads:
        thread.join()
    assert [points(outcome) for outcome in outcomes] == [10.0] * 3


def test_a_dead_judge_gives_no_zero(running, assignment):
    kill(running._judge)
    assert points(running.grade(job(assignment[0]))) == 10.0


def test_a_submission_that_brings_down_every_zygote_is_one_problem(running, assignment, monkeypatch):
    def gone(self, *_, **__):
        raise worker.ZygoteGone("gone")

    with monkeypatch.context() as patch:
        patch.setattr(Zygote, "spawn", gone)
        assert re.search(r"\b3 times.*: gone", running.grade(job(assignment[0])).problem)
    assert points(running.grade(job(assignment[0]))) == 10.0


def test_a_zygote_is_recycled_when_it_has_served(assignment, monkeypatch):
    release, bank = assignment
    started: list[Zygote] = []

    class Counted(Zygote):
        def __init__(self):
            super().__init__()
            started.append(self)

    monkeypatch.setattr(worker, "Zygote", Counted)
    with Grader(release, bank, partial(Judge, [bank.path]), RunSettings(Limits(cell=5.0)), served=2) as made:
        for number in range(3):
            assert points(made.grade(job(release, f"l{number}"))) == 10.0
        deadline = time.monotonic() + 60
        while len(started) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert points(made.grade(job(release, "last"))) == 10.0
        assert made._zygote.program is started[1]
        assert not started[0].alive
    assert [one._process.returncode for one in started] == [0] * len(started)


def test_a_system_that_shuts_nothing_in_is_refused(assignment, monkeypatch):
    release, bank = assignment
    monkeypatch.setattr(Zygote, "unconfined", property(lambda self: "unshare: Operation not permitted"))
    with pytest.raises(NoSandbox, match="--unsafe"):
        Grader(release, bank, partial(Judge, [bank.path]), RunSettings())


@pytest.mark.parametrize(
    ("name", "cell", "said"),
    [
        ("loop", "while True:\n    pass", r"\b2 s .*stopped\."),
        ("deadlock", "import queue\nqueue.Queue().get()", r"processes waited"),
        (
            "ranks that wait for each other",
            "import os\na, b = os.pipe(), os.pipe()\nif os.fork() == 0:\n    os.read(a[0], 1)\nos.read(b[0], 1)",
            r"processes waited",
        ),
        ("dead process", "import os\nos._exit(3)", r"exit status 3"),
        (
            "no signals",
            "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})\nwhile True:\n    pass",
            r"stop within 2 s\.",
        ),
    ],
    ids=["loop", "deadlock", "ranks", "dead", "deaf"],
)
def test_what_never_ends_costs_its_question_only(impatient, assignment, name, cell, said):
    import re

    outcome = impatient.grade(job(assignment[0], **{"tiny-steps": cell}))
    steps = next(result for result in outcome.results if result.exercise == "tiny-steps")
    assert (points(outcome), steps.points) == (8.0, 0.0)
    assert re.search(said, steps.say)
