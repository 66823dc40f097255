"""Grading a class, from the options of a run to its results. The grader is made up: no cell runs."""

import json
import shutil
import sys
import warnings
from concurrent.futures import Future
from contextlib import contextmanager

import nbformat
import pytest

from autograder.course import class_grading, gradebook
from autograder.course.agreements import learner_groups
from autograder.course.class_results.stored_results import results_path
from autograder.course.gradebook_url import opened
from autograder.course.run import class_run, dask_cluster
from autograder.course.run.journal import Journal
from autograder.course.terms import group_shares
from autograder.grading.restore import grade_cell, restore
from autograder.grading.results import written_result
from autograder.grading.worker import JobOutcome
from tests.autograder.course.made_class import grade_of, in_formgrader, make_class

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A course with a roster of three, of whom ann and bob have submitted."""
    folder = tmp_path_factory.mktemp("made") / "course"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make_class(folder, {})
        with opened(gradebook.url_of(folder)) as book:
            for who in ("ann", "bob", "cy"):
                book.add_student(who)
    for who in ("ann", "bob"):
        hand_in(folder, who, f"Because, says {who}.")
    return folder


def hand_in(folder, who, text):
    nb = nbformat.read(folder / "release" / "hw" / "hw.ipynb", as_version=4)
    for cell in nb.cells:
        if cell.id == "mine-why":
            cell.source = text
    path = folder / "submitted" / who / "hw" / "hw.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nb, path)


@pytest.fixture
def course(made, tmp_path):
    return shutil.copytree(made, tmp_path / "course")


@pytest.fixture
def graded(monkeypatch):
    """The learners that were graded, and with which settings and where."""
    calls = []

    @contextmanager
    def instant(where, assignment, *more):
        def submit(job):
            calls.append((where, job.learner, assignment.settings, more))
            nb = restore(nbformat.from_dict(json.loads(job.notebook)), assignment.release)
            roles = [(cell, role) for cell in nb.cells if (role := grade_cell(cell)) and role.part == "written"]
            future: Future[JobOutcome] = Future()
            future.set_result(JobOutcome(json.dumps(nb), [written_result(cell, role) for cell, role in roles]))
            return future

        yield submit, 1

    monkeypatch.setattr(class_run, "local_executor", lambda assignment, *more: instant("here", assignment, *more))
    monkeypatch.setattr(dask_cluster, "executor", lambda assignment, *more: instant("there", assignment, *more))
    return calls


def who(calls):
    return [learner for _, learner, _, _ in calls]


def test_a_class_is_graded_with_the_courses_settings(course, graded):
    started, done = [], []
    result = class_grading.grade(course, "hw", progress=done.append, started=lambda *what: started.append(what))
    assert who(graded) == ["ann", "bob"]
    assert (sorted(done), started) == (["ann", "bob"], [(2, "")])
    assert 0 < result.seconds < 600
    assert [learner.name for learner in result.learners] == ["ann", "bob"]
    assert result.folder == str(course)
    where, _, settings, more = graded[0]
    assert (where, more) == ("here", (None,))
    assert (settings.unsafe, settings.limits.cell) == (False, 30.0)
    assert grade_of(course, "ann")[:2] == (None, True)
    plain = json.loads(results_path(course, "hw").read_text())
    assert [learner["name"] for learner in plain["learners"]] == ["ann", "bob"]
    with Journal.open(course, "hw") as journal:
        assert journal.finished


def test_a_run_takes_a_limit_a_cluster_and_rights_that_the_course_may_have_given_too(course, graded):
    class_grading.grade(course, "hw", cell_limit=5.0, unsafe=True, workers=3, scheduler="tcp://there")
    where, _, settings, more = graded[0]
    assert (where, more) == ("there", ("tcp://there", 3))
    assert (settings.unsafe, settings.limits.cell) == (True, 5.0)
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text() + "c.GradeInSandbox.unsafe = True\n")
    graded.clear()
    class_grading.grade(course, "hw", workers=2)
    assert (graded[0][0], graded[0][2].unsafe, graded[0][3]) == ("here", True, (2,))


def test_a_run_from_the_start_grades_all_again_and_one_that_resumes_nothing(course, graded):
    class_grading.grade(course, "hw")
    graded.clear()
    class_grading.grade(course, "hw", resume=True)
    assert graded == []
    class_grading.grade(course, "hw")
    assert who(graded) == ["ann", "bob"]


@pytest.mark.parametrize("resume", [True, False])
def test_a_run_from_the_start_discards_what_was_graded_before_and_one_that_resumes_keeps_it(course, graded, resume):
    class_grading.grade(course, "hw")
    shutil.rmtree(course / "submitted" / "bob")
    hand_in(course, "ann", "Otherwise.")
    class_grading.grade(course, "hw", resume=resume)
    with Journal.open(course, "hw") as journal:
        assert set(journal.entries) == ({"ann", "bob"} if resume else {"ann"})


def test_some_learners_are_graded_and_the_others_results_stay(course, graded):
    class_grading.grade(course, "hw")
    graded.clear()
    hand_in(course, "ann", "Otherwise.")
    result = class_grading.grade(course, "hw", ["ann"])
    assert who(graded) == ["ann"]
    assert [learner.name for learner in result.learners] == ["ann"]
    plain = json.loads(results_path(course, "hw").read_text())
    assert [learner["name"] for learner in plain["learners"]] == ["ann", "bob"]


@pytest.mark.parametrize(
    ("students", "resume", "words"),
    [(None, False, "graded again now"), (None, True, "with 2 graded."), (["ann"], False, "with 2 graded.")],
)
def test_a_run_that_ended_early_is_remarked_on_and_one_over_some_does_not_end_it(
    course, graded, students, resume, words
):
    class_grading.grade(course, "hw")
    with Journal.open(course, "hw") as journal:
        journal.begin(restart=False)
    remarks = []
    class_grading.grade(course, "hw", students, resume=resume, started=lambda _, remark: remarks.append(remark))
    assert words in remarks[0]
    with Journal.open(course, "hw") as journal:
        assert journal.finished == (students is None)
        assert set(journal.entries) == {"ann", "bob"}


def test_a_group_has_one_submission_and_who_leaves_it_has_nothing(course, graded):
    learner_groups.form(course, "hw", {"red": ["ann", "cy"]})
    result = class_grading.grade(course, "hw")
    assert who(graded) == ["ann", "bob"]
    assert result.learner("cy").submitted_by == "ann"
    in_formgrader(course, "ann", manual_score=2.0, needs_manual_grade=False, comment="Good.")
    class_grading.grade(course, "hw", ["bob"])
    assert grade_of(course, "cy") == (2.0, False, "Good.")
    assert "Good." in (course / "feedback" / "cy" / "hw" / "hw.html").read_text()
    learner_groups.form(course, "hw", {})
    class_grading.grade(course, "hw", ["bob"])
    assert set(group_shares.read(course, "hw")) == {"cy"}  # a run over some takes nothing back
    result = class_grading.grade(course, "hw")
    assert any("cy no longer shares the submission of ann" in line for line in result.problems)
    assert group_shares.read(course, "hw") == {}
    assert not (course / "feedback" / "cy" / "hw").exists()


def test_what_a_group_had_stays_where_its_submission_cannot_be_graded(course, graded):
    learner_groups.form(course, "hw", {"red": ["ann", "cy"]})
    class_grading.grade(course, "hw")
    (course / "submitted" / "ann" / "hw" / "hw.ipynb").write_text("{")
    result = class_grading.grade(course, "hw")
    assert result.learner("cy").problem
    assert set(group_shares.read(course, "hw")) == {"cy"}


def test_feedback_is_shown_anew_with_grades_by_hand(course, graded):
    class_grading.grade(course, "hw")
    in_formgrader(course, "bob", manual_score=1.25, needs_manual_grade=False, comment="Nearly.")
    pages = class_grading.show_feedback(course, "hw")
    assert [page.parent.parent.name for page in pages] == ["ann", "bob"]
    assert "Nearly." in pages[1].read_text()


def test_trusted_times_count_in_that_run(course, graded):
    (course / "submitted" / "bob" / "hw" / "timestamp.txt").write_text("2030-01-01 12:00:00 UTC")
    result = class_grading.grade(course, "hw")
    assert any("of bob: not written by nbgrader's exchange" in line for line in result.problems)
    result = class_grading.grade(course, "hw", trust_timestamps=True)
    assert result.problems == []
    with opened(gradebook.url_of(course)) as book:
        assert book.find_submission("hw", "bob").timestamp is not None
