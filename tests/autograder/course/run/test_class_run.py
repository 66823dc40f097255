"""A run over a class: what is graded, what stands, what is entered for whom, and whose problem an error is.

The grader, the gradebook and the release are made up; the journal and the submissions are files.
"""

import errno
import json
import os
import sys
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.answers import Count, Written
from autograder.book.course_error import CourseError
from autograder.course.banks import CourseBank
from autograder.course.class_results.class_result import ClassResult, EntryChange, Learner
from autograder.course.run import class_run
from autograder.course.run.class_run import ClassRun, ReleasedAssignment, _record, changes, local_executor
from autograder.course.run.journal import Journal, JournalEntry
from autograder.course.run.trail_file import ENTERED, JUDGED, RAN, TrailFile
from autograder.course.terms import history
from autograder.course.terms.group_shares import GroupShare
from autograder.course.terms.lateness import Lateness
from autograder.course.terms.page_basis import PageBasis
from autograder.declaration import Exercise
from autograder.declaration.bank import Bank
from autograder.grading.fingerprints import Fingerprint
from autograder.grading.rejudging import Reuse
from autograder.grading.results import Result
from autograder.grading.submission import RunSettings
from autograder.grading.worker import GradingJob, JobOutcome
from autograder.sandbox import Limits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux")
LATE = Lateness("2030-01-02 12:00:00 UTC", False, "2030-01-01T00:00:00", 0.5)


class Release:
    """What a run is over, made up: an entry holds while the text is the same, in full unless `reuses` is there."""

    path = "release/hw/hw.ipynb"
    release = new_notebook()
    wording = "now"

    def __init__(self):
        self.reuses: Reuse | None = None

    def fingerprint(self, text):
        return Fingerprint(text, "release", {}, self.wording)

    def reuse(self, earlier, text):
        if earlier.fingerprint.submission != text:
            return None
        return self.reuses or Reuse(tuple(earlier.results), True, True)


@dataclass
class Writer:
    """A gradebook of whom it has, and how late everybody counts."""

    late: Lateness = LATE
    entered: list[tuple[str, str]] = field(default_factory=list)
    there: set[str] = field(default_factory=set)
    error: Exception | None = None
    beside: dict[str, PageBasis] = field(default_factory=dict)

    def record(self, learner, text, by=""):
        if self.error is not None:
            raise self.error
        json.loads(text)
        self.entered.append((learner, by))
        return self.late

    def lateness(self, learner, by=""):
        return self.late

    def basis(self, learner, by="", entered=False):
        return self.beside.get(learner, PageBasis())

    def has(self):
        return self.there

    def page_of(self, learner):
        return f"{learner}.html"


class Setting:
    """A course of one assignment; `grade` is what becomes of a job."""

    def __init__(self, folder):
        self.folder, self.release, self.writer = folder, Release(), Writer()
        self.jobs: list[GradingJob] = []
        self.most_waiting = self.entered_executors = 0
        self.shared: dict[str, GroupShare] = {}
        self.notes = 0
        self.done: list[str] = []
        self.workers = 1

    def submit(self, learner, text="x = 1"):
        path = self.folder / "submitted" / learner / "hw" / "hw.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(new_notebook(cells=[new_code_cell(text, id="a")]), path)
        return path.parent

    def grade(self, job):
        points = float("good" in job.notebook)
        return JobOutcome(job.notebook, [Result("t-one", points, 1.0, "Say.", kind="right" if points else "wrong")])

    @contextmanager
    def executor(self):
        self.entered_executors += 1

        def submit(job):
            self.jobs.append(job)
            self.most_waiting = max(self.most_waiting, len(self.jobs) - len(self.done))
            future: Future[JobOutcome] = Future()
            future.set_result(self.grade(job))
            return future

        yield submit, self.workers

    def run(self, *learners, resume=False, shares=None, also=()):
        self.jobs, self.done = [], []
        result = ClassResult("hw", {"t-one": 1.0}, [Learner(who) for who in (*learners, *also)])
        homes = {who: self.folder / "submitted" / who / "hw" for who in learners}
        with Journal.open(self.folder, "hw") as journal:
            run = ClassRun(
                self.release,
                homes,
                result,
                journal,
                self.writer,
                self.executor,
                resume,
                self.done.append,
                shares or {},
                self.shared,
                self._note,
                TrailFile(self.folder, "hw"),
            )
            run.run()
            self.recorded = dict(journal.recorded)
        self.writer.there |= {who for who, _ in self.writer.entered}
        entered, self.writer.entered = sorted(self.writer.entered), []
        return result, entered

    def _note(self):
        self.notes += 1


@pytest.fixture
def setting(tmp_path):
    return Setting(tmp_path)


def test_each_submission_is_graded_entered_and_told(setting):
    setting.submit("ann", "good")
    setting.submit("bob", "bad")
    result, entered = setting.run("ann", "bob")
    assert entered == [("ann", ""), ("bob", "")]
    assert [learner.points for learner in result.learners] == [1.0, 0.0]
    assert [learner.feedback for learner in result.learners] == ["ann.html", "bob.html"]
    assert sorted(setting.done) == ["ann", "bob"]
    assert setting.recorded == {"ann": LATE, "bob": LATE}
    assert (result.changes, result.problems) == ([], [])


@pytest.mark.parametrize("workers", [1, 3])
def test_some_submissions_wait_for_each_worker_and_the_others_are_not_read_yet(setting, workers):
    setting.workers = workers
    learners = [f"l{at}" for at in range(9)]
    for who in learners:
        setting.submit(who)
    setting.run(*learners)
    assert setting.most_waiting == 2 * workers
    assert setting.entered_executors == 1
    assert len(setting.jobs) == 9


def test_nothing_is_started_where_nothing_is_to_be_graded(setting):
    setting.submit("ann")
    setting.run("ann")
    setting.entered_executors = 0
    result, entered = setting.run("ann", resume=True)
    assert (setting.jobs, entered, setting.entered_executors) == ([], [], 0)
    assert result.learner("ann").results[0].points == 0.0
    assert result.learner("ann").feedback == "ann.html"
    assert setting.done == ["ann"]


def test_a_run_from_the_start_grades_all_again_and_one_that_resumes_what_changed(setting):
    setting.submit("ann", "bad")
    setting.submit("bob", "bad")
    setting.run("ann", "bob")
    _, entered = setting.run("ann", "bob")
    assert [job.learner for job in setting.jobs] == ["ann", "bob"]
    assert entered == [("ann", ""), ("bob", "")]
    setting.submit("ann", "good")
    result, entered = setting.run("ann", "bob", resume=True)
    assert [job.learner for job in setting.jobs] == ["ann"]
    assert entered == [("ann", "")]
    (change,) = result.changes
    assert (change.learner, change.before.points, change.after.points, change.resubmitted) == ("ann", 0.0, 1.0, True)


def test_what_is_graded_but_not_entered_is_entered_on_resuming(setting):
    setting.submit("ann")
    setting.run("ann")
    setting.writer.there.clear()
    _, entered = setting.run("ann", resume=True)
    assert (setting.jobs, entered) == ([], [("ann", "")])


def test_what_now_counts_as_late_otherwise_is_entered_again(setting):
    setting.submit("ann")
    setting.run("ann")
    setting.writer.late = replace(LATE, penalty=0.25)
    _, entered = setting.run("ann", resume=True)
    assert entered == [("ann", "")]
    assert setting.recorded == {"ann": replace(LATE, penalty=0.25)}
    _, entered = setting.run("ann", resume=True)
    assert entered == []


@pytest.mark.parametrize("saved", [True, False])
def test_where_a_key_changed_the_other_results_and_the_answers_go_with_the_job(setting, saved):
    setting.submit("ann")
    graded = [Result("t-one", 1.0, 1.0, "Yes.", note="It printed."), Result("t-two", 0.0, 1.0, "No.", note="Late.")]
    setting.grade = lambda job: JobOutcome('{"cells": []}', graded, answers={"t-two": {"message": 7}})
    setting.run("ann")
    setting.release.reuses = Reuse((graded[0],), False, saved)
    _, entered = setting.run("ann", resume=True)
    (job,) = setting.jobs
    assert [result["exercise"] for result in job.kept] == ["t-one"]
    assert job.answers == {"t-two": {"message": 7}}
    assert job.executed == ('{"cells": []}' if saved else "")
    assert job.notes == ({"t-one": "It printed.", "t-two": "Late."} if saved else {})
    assert entered == [("ann", "")]


def test_another_wording_is_written_into_what_was_graded_and_entered(setting):
    setting.submit("ann")
    metadata = {
        "nbgrader": {"grade": True, "grade_id": "t-one-grade", "points": 1},
        "gpubook": {"exercise": "t-one", "part": "grade"},
    }
    executed = new_notebook(cells=[new_code_cell("grade()", id="g", metadata=metadata, execution_count=3)])
    answers = {"t-one": {"message": 7}}
    done = [Result("t-one", 0.5, 1.0, "Half.", score=0.5)]
    setting.grade = lambda job: JobOutcome(json.dumps(executed), done, ["odd"], answers=answers)
    setting.run("ann")
    setting.release.wording = "later"
    now = {**metadata, "nbgrader": {**metadata["nbgrader"], "points": 4}}
    setting.release.release = new_notebook(cells=[new_code_cell("grade(1)", id="g", metadata=now)])
    result, entered = setting.run("ann", resume=True)
    assert setting.jobs == []
    assert entered == [("ann", "")]
    assert [(answer.points, answer.max_points) for answer in result.learner("ann").results] == [(2.0, 4)]
    assert result.problems == ["release/hw/hw.ipynb: odd"]
    (change,) = result.changes
    assert (change.before.max_points, change.after.max_points, change.resubmitted) == (1.0, 4, False)
    with Journal.open(setting.folder, "hw") as journal:
        assert journal.entries["ann"].answers == answers
        assert journal.entries["ann"].fingerprint.wording == "later"
    assert setting.run("ann", resume=True)[1] == []


def test_an_unreadable_submission_is_its_learners_problem_and_its_groups(setting):
    (setting.folder / "submitted" / "ann" / "hw").mkdir(parents=True)
    setting.submit("bob")
    result, entered = setting.run("ann", "bob", shares={"ann": ["cy"]}, also=["cy"])
    assert entered == [("bob", "")]
    assert "hw.ipynb: missing" in result.learner("ann").problem
    assert "the submission of ann, for the group" in result.learner("cy").problem
    assert result.learner("bob").problem == ""
    assert setting.done == ["ann", "bob"]


def test_a_submission_on_which_the_grader_fails_is_its_learners_problem(setting):
    setting.submit("ann")
    setting.grade = lambda job: JobOutcome(problem="the grader failed")
    result, entered = setting.run("ann")
    assert (entered, setting.recorded) == ([], {})
    assert (result.learner("ann").problem, result.learner("ann").feedback) == ("the grader failed", "")


def test_a_note_on_the_exercises_is_told_once(setting):
    setting.submit("ann")
    setting.submit("bob")
    setting.grade = lambda job: JobOutcome(job.notebook, [], ["key of t-one fails"])
    result, _ = setting.run("ann", "bob")
    assert result.problems == ["release/hw/hw.ipynb: key of t-one fails"]


def test_a_submission_is_entered_for_everybody_in_the_group(setting):
    setting.submit("ann", "good")
    result, entered = setting.run("ann", shares={"ann": ["bob", "cy"]}, also=["bob", "cy"])
    assert entered == [("ann", ""), ("bob", "ann"), ("cy", "ann")]
    assert [learner.points for learner in result.learners] == [1.0, 1.0, 1.0]
    assert [learner.feedback for learner in result.learners] == ["ann.html", "bob.html", "cy.html"]
    assert (setting.shared["bob"].by, setting.shared["bob"].lateness) == ("ann", LATE)
    assert setting.shared["bob"].notebook.endswith(".ipynb")
    assert setting.notes == 4  # before and after each is entered


def test_a_share_stands_while_the_submission_and_its_lateness_do(setting):
    group = {"shares": {"ann": ["bob"]}, "also": ["bob"]}
    setting.submit("ann")
    setting.run("ann", **group)
    assert setting.run("ann", resume=True, **group)[1] == []
    assert setting.run("ann", **group)[1] == [("ann", ""), ("bob", "ann")]
    setting.shared["bob"] = replace(setting.shared["bob"], lateness=None)
    assert setting.run("ann", resume=True, **group)[1] == [("bob", "ann")]
    setting.shared["bob"] = replace(setting.shared["bob"], notebook="another.ipynb")
    assert setting.run("ann", resume=True, **group)[1] == [("bob", "ann")]
    setting.shared["bob"] = replace(setting.shared["bob"], by="cy")
    assert setting.run("ann", resume=True, **group)[1] == [("bob", "ann")]
    setting.writer.there.discard("bob")
    assert setting.run("ann", resume=True, **group)[1] == [("bob", "ann")]
    del setting.shared["bob"]
    assert setting.run("ann", resume=True, **group)[1] == [("bob", "ann")]


def test_what_a_teacher_gave_by_hand_stays_noted_when_a_share_is_entered_again(setting):
    group = {"shares": {"ann": ["bob"]}, "also": ["bob"]}
    setting.submit("ann")
    setting.run("ann", **group)
    setting.shared["bob"] = replace(setting.shared["bob"], given={"t-why": (1.0, None, "")})
    setting.run("ann", **group)
    assert setting.shared["bob"].given == {"t-why": (1.0, None, "")}


def test_who_submits_alone_after_a_group_did_shares_nothing_any_more(setting):
    setting.submit("ann")
    setting.run("ann", shares={"ann": ["bob"]}, also=["bob"])
    setting.submit("bob")
    setting.notes = 0
    _, entered = setting.run("ann", "bob", resume=True)
    assert entered == [("bob", "")]
    assert (setting.shared, setting.notes) == ({}, 1)


def test_a_share_that_cannot_be_entered_is_that_learners_problem(setting):
    setting.submit("ann")
    setting.writer.error = ValueError("odd")
    result, _ = setting.run("ann", shares={"ann": ["bob"]}, also=["bob"])
    for learner in result.learners:
        assert learner.problem.endswith("could not be entered into the gradebook: ValueError: odd")
        assert learner.feedback == ""
    assert setting.recorded == {}
    assert setting.shared["bob"] == GroupShare("ann")


THEIRS = ("ENAMETOOLONG", "EACCES", "EISDIR", "ENOTDIR", "EEXIST", "ENOENT")


@pytest.mark.parametrize("number", [getattr(errno, name) for name in THEIRS])
def test_a_file_that_cannot_be_copied_is_its_learners_problem(number):
    learner = Learner("ann")
    assert _record(Writer(error=OSError(number, os.strerror(number))), learner, "{}") is None
    assert "could not be entered" in learner.problem


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "full"), OSError(errno.EMFILE, "files"), CourseError("locked")]
)
def test_a_full_disk_or_a_locked_gradebook_ends_the_run(error):
    learner = Learner("ann")
    with pytest.raises(type(error)):
        _record(Writer(error=error), learner, "{}")
    assert learner.problem == ""


def entry(*results, submission="s"):
    return JournalEntry("ann", Fingerprint(submission, "r", {}), results, (), "n.ipynb")


BASE = Result("t-one", 1.0, 2.0, "Say.", kind="wrong")


@pytest.mark.parametrize(
    ("after", "is_change"),
    [
        (BASE, False),
        (replace(BASE, say="Said otherwise."), False),
        (replace(BASE, points=1.5), True),
        (replace(BASE, max_points=1.0), True),
        (replace(BASE, kind="right"), True),
        (replace(BASE, exercise="t-two"), False),
    ],
)
@pytest.mark.parametrize("submission", ["s", "t"])
def test_a_change_is_one_of_points_or_of_the_kind_of_verdict(after, is_change, submission):
    made = changes(entry(BASE), entry(after, submission=submission))
    assert [(change.before, change.after, change.resubmitted) for change in made] == [
        (BASE, after, submission != "s")
    ] * is_change
    assert changes(None, entry(after)) == []


def test_a_released_assignment_has_the_points_of_what_it_asks_and_says_what_still_counts(tmp_path):
    count = Exercise(id="t-one", prompt="?", answer=Count(), solution=14, points=2)
    why = Exercise(id="t-why", prompt="?", answer=Written(rubric=(("Names it.", 2),)), solution="Model.")

    def cell(make, part, exercise, **nbgrader):
        own = {"gpubook": {"exercise": exercise, "part": part}, "nbgrader": nbgrader}
        return make("x", metadata=own)

    release = new_notebook(
        cells=[
            new_markdown_cell("Read."),
            cell(new_markdown_cell, "prompt", "t-one", grade_id="p"),
            cell(new_code_cell, "answer", "t-one", grade_id="a", solution=True),
            cell(new_code_cell, "grade", "t-one", grade_id="g", grade=True, points=2),
            cell(new_markdown_cell, "written", "t-why", grade_id="w", grade=True, solution=True, points=3),
        ]
    )
    settings = RunSettings(Limits(), True, False, "secret", {})
    assignment = ReleasedAssignment(tmp_path, release, CourseBank([Bank([count, why])]), settings)
    assert assignment.exercises == {"t-one": 2, "t-why": 3}
    print_of = assignment.fingerprint("{}")
    assert set(print_of.keys) == {"t-one", "t-why"}
    done = (Result("t-one", 2.0, 2.0, "."), Result("t-why", 0.0, 3.0, "."))
    earlier = SimpleNamespace(fingerprint=print_of, results=done, problems=(), answers={})
    assert assignment.reuse(earlier, "{}") == Reuse(done, True, True)
    assert assignment.reuse(earlier, "{ }") is None
    other = ReleasedAssignment(tmp_path, release, CourseBank([Bank([count, why])]), replace(settings, variants=False))
    assert other.reuse(earlier, "{}") is None


class FakeGrader:
    """What a run on this machine submits to."""

    def __init__(self, *made):
        self.made, self.events = made, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.events.append("closed")

    def stop(self):
        self.events.append("stopped")

    def grade(self, job):
        return job.learner


@pytest.fixture
def grader(monkeypatch):
    """The grader that a run has made."""
    graders = []

    def make(*made):
        graders.append(FakeGrader(*made))
        return graders[-1]

    monkeypatch.setattr(class_run, "Grader", make)
    monkeypatch.setattr(class_run, "cores", lambda: 7)
    return graders


@pytest.mark.parametrize(("workers", "count"), [(None, 7), (3, 3)])
def test_this_machine_grades_as_many_at_once_as_it_has_cores_or_as_was_said(grader, workers, count):
    assignment = SimpleNamespace(bank=SimpleNamespace(paths=[]), release="release", settings="settings")
    with local_executor(assignment, workers) as (submit, at_once):
        assert at_once == count
        assert submit(GradingJob("ann", "{}")).result(5) == "ann"
    assert grader[0].events == ["closed"]
    assert (grader[0].made[0], grader[0].made[3]) == ("release", "settings")


def test_a_run_that_fails_stops_what_is_on_its_way_and_says_so(grader):
    assignment = SimpleNamespace(bank=SimpleNamespace(paths=[]), release="release", settings="settings")
    with pytest.raises(KeyboardInterrupt), local_executor(assignment):
        raise KeyboardInterrupt
    assert grader[0].events == ["stopped", "closed"]


def test_other_grades_by_hand_or_files_are_entered_and_told_once(setting):
    setting.submit("ann"), setting.submit("bob")
    setting.run("ann", "bob")
    setting.writer.beside = {"ann": PageBasis({"t-one": (1.0, None, False, "")})}
    result, entered = setting.run("ann", "bob", resume=True)
    assert (setting.jobs, entered) == ([], [("ann", "")])
    assert result.entry_changes == [EntryChange("ann", "t-one", "by hand: nothing → 1")]
    setting.writer.beside["bob"] = PageBasis({}, "other files")
    result, entered = setting.run("ann", "bob", resume=True)
    assert (setting.jobs, entered) == ([], [("bob", "")])
    assert [(change.learner, change.subject) for change in result.entry_changes] == [("bob", "files")]


def trail(setting, learner):
    """What stands in the trail of a learner: how it came about, the points, of whose submission, what it loses."""
    lines = TrailFile(setting.folder, "hw").lines(learner)
    return [
        (line.how, {key: row[:2] for key, row in line.results.items()}, line.submitter, line.late, tuple(line.noticed))
        for line in lines
    ]


def test_what_is_entered_leaves_a_trail_where_it_is_something_else(setting):
    setting.submit("ann", "good")
    setting.run("ann")
    first = (RAN, {"t-one": (1.0, 1.0)}, "", 0.5, ())
    assert trail(setting, "ann") == [first]
    setting.run("ann", resume=True)
    setting.run("ann")  # from nothing, and the same
    assert trail(setting, "ann") == [first]
    setting.submit("ann", "bad")
    setting.run("ann", resume=True)
    second = (RAN, {"t-one": (0.0, 1.0)}, "", 0.5, ())
    assert trail(setting, "ann") == [first, second]
    setting.writer.late = replace(LATE, penalty=0.25)
    setting.run("ann", resume=True)
    assert trail(setting, "ann") == [first, second, (ENTERED, {}, "", 0.25, ())]
    (line, *_) = TrailFile(setting.folder, "hw").lines("ann")
    assert (line.submitted, len(line.results["t-one"]), line.by) == (LATE.submitted, 4, history.who())
    assert TrailFile(setting.folder, "hw").lines("bob") == []


def test_a_trail_says_who_submitted_for_a_group_and_what_others_changed(setting):
    setting.submit("ann", "good")
    setting.run("ann", shares={"ann": ["bob"]}, also=["bob"])
    assert trail(setting, "bob") == [(RAN, {"t-one": (1.0, 1.0)}, "ann", 0.5, ())]
    setting.writer.beside = {"ann": PageBasis({"t-one": (0.5, None, False, "")})}
    setting.run("ann", resume=True, shares={"ann": ["bob"]}, also=["bob"])
    assert trail(setting, "ann")[1:] == [("noticed", {}, "", 0.0, ("t-one by hand: nothing → 0.5",))]
    assert len(trail(setting, "bob")) == 1


def test_a_trail_says_what_was_judged_again_without_a_run(setting):
    setting.submit("ann", "good")
    setting.run("ann")
    setting.release.reuses = Reuse((), False, True)
    setting.grade = lambda job: JobOutcome(job.notebook, [Result("t-one", 0.5, 1.0, "Say.", kind="partial")])
    setting.run("ann", resume=True)
    assert trail(setting, "ann")[1:] == [(JUDGED, {"t-one": (0.5, 1.0)}, "", 0.5, ())]
