"""Assigning, dropping and giving full marks: the deadline, the released notebook and the gradebook, all or nothing."""

import shutil
import warnings
from datetime import datetime

import nbformat
import pytest

from autograder.book.course_error import CourseError
from autograder.course import gradebook, layout
from autograder.course.assigning import assign_and_drop
from autograder.course.assigning.assign_and_drop import assign, drop, full_marks, set_points
from autograder.course.assigning.dropped_exercises import Settled
from autograder.course.gradebook_url import opened
from autograder.course.terms import agreed_terms, assignment_state, history, history_text
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


ASKED = ["tiny-time", "tiny-steps"]


def auto(course, cell):
    with opened(gradebook.url_of(course)) as book:
        return book.find_grade(cell, "hw", "hw", "ann").auto_score


def test_a_dropped_exercise_counts_for_nobody_until_that_is_taken_back(course):
    untouched = (course / "source" / "hw" / "hw.ipynb").read_text()
    path = drop(course, "hw", "tiny-time")
    assert path == course / "release" / "hw" / "hw.ipynb"
    assert "This exercise was dropped" in prompts(path)
    assert raw(course) == (1.0, 2.0)
    assert assign(course, "hw", exercises=ASKED) == path
    assert "This exercise was dropped" in prompts(path)
    assert raw(course) == (1.0, 2.0)
    with pytest.raises(CourseError, match=r"tiny-time was dropped .* --undo"):
        full_marks(course, "hw", "tiny-time")
    with pytest.raises(CourseError, match=r"tiny-steps of hw has no `drop` .*; tiny-time has"):
        drop(course, "hw", "tiny-steps", undo=True)
    drop(course, "hw", "tiny-time", undo=True)
    assert "dropped" not in prompts(path)
    assert raw(course) == (2.5, 5.0)
    assert (course / "source" / "hw" / "hw.ipynb").read_text() == untouched
    assert not (course / ".gpubook" / "hw.set-aside.json").exists()
    with pytest.raises(CourseError, match="nothing has"):
        drop(course, "hw", "tiny-time", undo=True)


@pytest.mark.nightly  # each time tests of other points and of drops check the same steps
def test_full_marks_are_everybodys_who_submitted_until_they_are_taken_back(course):
    assert "Everybody gets full marks" in prompts(full_marks(course, "hw", "tiny-time"))
    assert raw(course) == (4.0, 5.0)
    set_points(course, "hw", {"tiny-time": 6})
    assert raw(course) == (7.0, 8.0)
    drop(course, "hw", "tiny-time")  # in place of them
    assert raw(course) == (1.0, 2.0)
    assert assignment_state.read(course, "hw").as_plain()["dropped"] == ["tiny-time"]
    drop(course, "hw", "tiny-time", undo=True)
    assert raw(course) == (4.0, 8.0)  # half of six, and of two


def test_other_points_are_worth_their_share_at_once_and_stay(course):
    assert set_points(course, "hw", {"tiny-steps": 7}) == Settled(1)
    assert (raw(course), auto(course, "tiny-steps-grade")) == ((5.0, 10.0), 3.5)
    path = assign(course, "hw", points={"tiny-time": 1})  # of what it was made of before
    assert "**Exercise 1** · 1 point\n" in prompts(path)
    assert "**Exercise 2** · 7 points\n" in prompts(path)
    assert raw(course) == (4.0, 8.0)
    with opened(gradebook.url_of(course)) as book:
        book.find_grade("tiny-steps-grade", "hw", "hw", "ann").manual_score = 6.0
        book.db.commit()
    assert set_points(course, "hw", {"tiny-steps": None}) == Settled(1, {"tiny-steps": 1})
    assert (auto(course, "tiny-steps-grade"), raw(course)) == (1.0, (6.5, 3.0))
    with pytest.raises(
        CourseError, match="tiny-steps: no other points than declared in hw; there are some for tiny-time"
    ):
        set_points(course, "hw", {"tiny-steps": None})
    for points, why in ((0, "more than 0"), (-1, "more than 0")):
        with pytest.raises(CourseError, match=why):
            set_points(course, "hw", {"tiny-steps": points})
    assert assignment_state.read(course, "hw").points == {"tiny-time": 1.0}


def test_what_is_graded_by_hand_comes_back_with_a_drop_that_is_taken_back_under_the_points_of_then(course):
    with opened(gradebook.url_of(course)) as book:
        grade = book.find_grade("tiny-time-grade", "hw", "hw", "ann")
        grade.manual_score, grade.extra_credit = 2.5, 0.25
        book.db.commit()
    drop(course, "hw", "tiny-time")
    assert raw(course) == (1.0, 2.0)
    set_points(course, "hw", {"tiny-time": 9})
    assert raw(course) == (1.0, 2.0)
    drop(course, "hw", "tiny-time", undo=True)
    assert (auto(course, "tiny-time-grade"), raw(course)) == (4.5, (3.75, 11.0))


def test_an_exercise_is_dropped_before_anybody_has_submitted(course):
    assign(course, "new", exercises=["tiny-guess", "tiny-steps"], no_due=True)
    assert "dropped" in prompts(drop(course, "new", "tiny-guess"))
    assert (course / ".gpubook").stat().st_mode & 0o777 == 0o700
    assert not (course / ".gpubook" / "new.set-aside.json").exists()
    assert "dropped" not in prompts(assign(course, "new", exercises=["tiny-steps"]))
    assert "dropped" in prompts(assign(course, "new", exercises=["tiny-guess", "tiny-steps"]))
    assign(course, "new", exercises=["tiny-steps"])
    drop(course, "new", "tiny-guess", undo=True)  # though it is not asked
    assert "dropped" not in prompts(assign(course, "new", exercises=["tiny-guess", "tiny-steps"]))


@pytest.mark.nightly  # each time tests of other points and of drops check the same steps
def test_a_drop_of_before_decisions_were_kept_is_kept(course):
    drop(course, "hw", "tiny-time")
    full_marks(course, "hw", "tiny-steps")
    (course / assignment_state.FILE).unlink()
    assign(course, "hw", exercises=ASKED)
    assert raw(course) == (2.0, 2.0)
    kept = assignment_state.read(course, "hw")
    assert (kept.dropped, kept.full) == (["tiny-time"], ["tiny-steps"])


def test_without_a_word_an_assignment_is_made_of_what_it_was_made_of(course):
    made = (course / "source" / "hw" / "hw.ipynb").read_text()
    (course / "source" / "hw" / "hw.ipynb").unlink()
    assign(course, "hw")
    assert (course / "source" / "hw" / "hw.ipynb").read_text() == made
    with pytest.raises(CourseError, match="nothing to assign"):
        assign(course, "other")
    assert "other" not in (course / assignment_state.FILE).read_text()


def test_what_was_done_is_on_record(course):
    before = len(history.events(course))
    set_points(course, "hw", {"tiny-steps": 7})
    drop(course, "hw", "tiny-time")
    with pytest.raises(CourseError):
        full_marks(course, "hw", "tiny-time")
    drop(course, "hw", "tiny-time", undo=True)
    assign(course, "hw", points={"tiny-steps": 3})
    done = history.events(course, "hw")[before:]
    assert [event.what for event in done] == ["points", "drop", "drop undone", "assign"]
    assert done[0].about == {"exercise": "tiny-steps", "before": 2, "after": 7, "graded": 1}
    assert done[3].about["changed"] == ["tiny-steps"]
    assert "tiny-steps 2 → 7; 1 graded by then" in history_text.line(done[0])
    assert "exercises tiny-time, tiny-steps; 2 exercises, 6 points; due 2030-01-01 00:00" in history_text.line(done[3])


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
