"""Assigning, dropping and giving full marks: the deadline, the released notebook and the gradebook, all or nothing."""

import shutil
import warnings
from datetime import datetime

import nbformat
import pytest

from autograder.book.course_error import CourseError
from autograder.course import gradebook, layout
from autograder.course.assigning import assign_and_drop
from autograder.course.assigning.assign_and_drop import assign, drop, full_marks
from autograder.course.gradebook_url import opened
from autograder.course.terms import agreed_terms
from autograder.course.terms.agreed_terms import Extension
from tests.autograder import tiny

DUE = datetime(2030, 1, 1)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A course in which an assignment of two exercises was released, that is due, and submitted by ann."""
    folder = tmp_path_factory.mktemp("made") / "course"
    layout.init(folder)
    (folder / "exercises" / "tiny.py").write_text(tiny.EXERCISES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assign(folder, "hw", exercises=["tiny-time", "tiny-steps"], due=DUE)
        with opened(gradebook.url_of(folder)) as book:
            book.add_student("ann")
            with book.db.no_autoflush:
                book.add_submission("hw", "ann")
            for grade in book.find_submission_notebook("hw", "hw", "ann").grades:
                grade.auto_score = grade.max_score / 2
            book.db.commit()
    return folder


@pytest.fixture
def course(made, tmp_path):
    return shutil.copytree(made, tmp_path / "course")


def due(course):
    return gradebook.due_date(gradebook.url_of(course), "hw")


def raw(course):
    (score,) = gradebook.scores(course, ["hw"])["hw"]
    return score.raw, score.max_score


def prompts(path):
    return "\n".join(c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "markdown")


def test_an_assignment_is_released_and_entered_with_its_deadline(course):
    path = course / "release" / "hw" / "hw.ipynb"
    assert "Exercise 2" in prompts(path)
    assert "BEGIN SOLUTION" not in path.read_text()
    assert due(course) == DUE
    assert raw(course) == (2.5, 5.0)


@pytest.mark.parametrize(
    ("more", "now"), [({}, DUE), ({"no_due": True}, None), ({"due": datetime(2031, 1, 1)}, datetime(2031, 1, 1))]
)
def test_a_deadline_stays_unless_another_or_none_is_said(course, more, now):
    path = assign(course, "hw", exercises=["tiny-time", "tiny-steps"], **more)
    assert path == course / "release" / "hw" / "hw.ipynb"
    assert due(course) == now
    text = (course / "release" / "hw" / "exercises.json").read_text()
    assert (f"{now:%Y-%m-%d}" if now else '"due": ""') in text


def test_a_deadline_and_none_are_not_both_said(course):
    with pytest.raises(CourseError, match="hw: a deadline, and none"):
        assign(course, "hw", exercises=["tiny-time", "tiny-steps"], due=DUE, no_due=True)


def test_an_assignment_without_a_deadline_has_none(course):
    assign(course, "open", exercises=["tiny-guess"], no_due=True)
    assert gradebook.due_date(gradebook.url_of(course), "open") is None
    assign(course, "later", exercises=["tiny-guess"])
    assert gradebook.due_date(gradebook.url_of(course), "later") is None


def test_a_text_may_be_named_by_a_string(course):
    head = "---\njupytext:\n  text_representation:\n    extension: .md\n    format_name: myst\n---\n\n# Mine\n\n"
    ask = "```{code-cell} ipython3\n:exercise: tiny-guess\n\n### BEGIN SOLUTION\nanswer = 1\n### END SOLUTION\n```\n"
    (course / "mine.md").write_text(head + ask)
    for text in (str(course / "mine.md"), course / "mine.md"):
        assert "# Mine" in prompts(assign(course, "text", text=text))


def test_an_assignment_that_fails_leaves_everything_as_it_was(course, monkeypatch):
    files = {path: path.read_bytes() for path in course.rglob("*.ipynb")}
    (course / "source" / "hw" / "notes.txt").write_text("mine")

    def failing(*_):
        shutil.rmtree(course / "release" / "hw")
        (course / "source" / "hw" / "hw.ipynb").write_text("half")
        raise CourseError("nbgrader could not")

    monkeypatch.setattr(assign_and_drop, "release", failing)
    with pytest.raises(CourseError, match="could not"):
        assign(course, "hw", exercises=["tiny-guess"], no_due=True)
    with pytest.raises(CourseError, match="could not"):
        drop(course, "hw", "tiny-time")
    assert {path: path.read_bytes() for path in course.rglob("*.ipynb")} == files
    assert (course / "source" / "hw" / "notes.txt").read_text() == "mine"
    assert due(course) == DUE
    with pytest.raises(CourseError, match="could not"):
        assign(course, "new", exercises=["tiny-guess"])
    assert not (course / "source" / "new").exists()


def test_a_dropped_exercise_counts_for_nobody_until_it_is_assigned_again(course):
    path = drop(course, "hw", "tiny-time")
    assert path == course / "release" / "hw" / "hw.ipynb"
    assert "This exercise was dropped" in prompts(path)
    assert raw(course) == (1.0, 2.0)
    assert assign(course, "hw", exercises=["tiny-time", "tiny-steps"]) == path
    assert "dropped" not in prompts(path)
    assert raw(course) == (2.5, 5.0)


def test_an_exercise_is_dropped_before_anybody_has_submitted(course):
    assign(course, "new", exercises=["tiny-guess", "tiny-steps"], no_due=True)
    assert not (course / ".gpubook").exists()
    assert "dropped" in prompts(drop(course, "new", "tiny-guess"))
    assert (course / ".gpubook").stat().st_mode & 0o777 == 0o700
    assign(course, "new", exercises=["tiny-guess", "tiny-steps"])
    assert list((course / ".gpubook").iterdir()) == []  # nothing is set aside any more


def test_full_marks_are_everybodys_who_submitted(course):
    assert "Everybody gets full marks" in prompts(full_marks(course, "hw", "tiny-time"))
    assert raw(course) == (4.0, 5.0)


def test_what_was_never_released_cannot_be_dropped(course):
    with pytest.raises(CourseError, match="'other' was never released"):
        drop(course, "other", "tiny-time")
    with pytest.raises(CourseError, match="does not ask exercise 'tiny-what'"):
        full_marks(course, "hw", "tiny-what")
    with pytest.raises(CourseError, match="not an assignment name"):
        drop(course, "../hw", "tiny-time")


def test_an_extension_that_was_granted_is_entered_with_the_assignment(course):
    with agreed_terms.changing(course, "hw") as terms:
        terms.extensions["ann"] = Extension(days=2)
    assign(course, "hw", exercises=["tiny-time", "tiny-steps"])
    with opened(gradebook.url_of(course)) as book:
        assert book.find_submission("hw", "ann").extension.days == 2
