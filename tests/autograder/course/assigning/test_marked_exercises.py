"""What dropping an exercise, or giving all its points to everybody, changes in the instructor's notebook, and in a
grade."""

import json
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.book.course_error import CourseError
from autograder.course.assigning import dropped_exercises
from autograder.course.assigning.dropped_exercises import Standing
from autograder.course.assigning.marked_exercises import DROPPED, FULL, mark, marked, set_worth, worths


def cell(make, part, exercise, text, **grading):
    own = {"gpubook": {"exercise": exercise, "part": part}, "nbgrader": grading}
    return make(text, metadata=own)


@pytest.fixture
def notebook(tmp_path):
    path = tmp_path / "hw.ipynb"
    cells = [
        new_markdown_cell("Read this."),
        cell(new_markdown_cell, "prompt", "bytes", "How many?", grade_id="bytes-prompt"),
        cell(new_code_cell, "answer", "bytes", "n = ...", grade_id="bytes-answer", grade=False),
        cell(new_code_cell, "grade", "bytes", "check()", grade_id="bytes-grade", grade=True, points=3),
        cell(new_markdown_cell, "prompt", "why", "Why?", grade_id="why-prompt"),
        cell(new_markdown_cell, "written", "why", "…", grade_id="why-text", grade=True, solution=True, points=4),
    ]
    nbformat.write(new_notebook(cells=cells), path)
    return path


def state(path, at):
    own = nbformat.read(path, as_version=4).cells[at].metadata
    return own["nbgrader"]["points"], own["gpubook"].get("full_marks")


def source(path, at):
    return nbformat.read(path, as_version=4).cells[at].source


@pytest.mark.parametrize(
    ("exercise", "at", "points", "prompt_at", "prompt"),
    [("bytes", 3, 3, 1, "How many?"), ("why", 5, 4, 4, "Why?")],
)
def test_full_marks_keep_the_points_dropping_takes_them_and_both_are_taken_back(
    notebook, exercise, at, points, prompt_at, prompt
):
    untouched = notebook.read_text()
    assert marked(notebook) == {}
    for full, worth, flag, sentence in ((True, points, True, FULL), (False, 0, None, DROPPED)):
        mark(notebook, exercise, full, points)
        assert state(notebook, at) == (worth, flag)
        assert source(notebook, prompt_at) == f"{prompt}\n\n{sentence}"
        assert marked(notebook) == {exercise: full}
    mark(notebook, exercise, True, points)
    assert state(notebook, at) == (points, True)
    mark(notebook, exercise, None, points)
    assert notebook.read_text() == untouched


def test_the_other_exercises_stay_as_they_are(notebook):
    mark(notebook, "bytes", False, 3)
    assert state(notebook, 5) == (4, None)
    assert (source(notebook, 0), source(notebook, 4)) == ("Read this.", "Why?")


def test_dropping_twice_says_so_once(notebook):
    mark(notebook, "bytes", False, 3)
    mark(notebook, "bytes", False, 3)
    assert source(notebook, 1) == f"How many?\n\n{DROPPED}"


def test_an_exercise_that_is_not_asked_is_refused_with_those_that_are(notebook, tmp_path):
    with pytest.raises(CourseError, match="does not ask exercise 'steps'; it asks bytes, why"):
        mark(notebook, "steps", False, 3)
    empty = tmp_path / "empty.ipynb"
    nbformat.write(new_notebook(), empty)
    with pytest.raises(CourseError, match="it asks none"):
        mark(empty, "steps", False, 3)
    with pytest.raises(CourseError, match=r"absent\.ipynb is missing"):
        mark(tmp_path / "absent.ipynb", "bytes", False, 3)
    assert marked(tmp_path / "absent.ipynb") == {}


def test_what_exercises_are_worth_stands_beside_the_notebook(tmp_path):
    assert worths(tmp_path) == {}
    path = tmp_path / "exercises.json"
    path.write_text(json.dumps({"exercises": {"bytes": {"id": "bytes", "points": 3}, "why": {"points": 4}}}))
    set_worth(tmp_path, "bytes", 1.5)
    assert worths(tmp_path) == {"bytes": 1.5, "why": 4}
    assert json.loads(path.read_text())["exercises"]["bytes"]["id"] == "bytes"
    path.write_text("[]")
    with pytest.raises(CourseError, match="assign it again"):
        worths(tmp_path)


@pytest.mark.parametrize(
    ("had", "given_since", "restored"),
    [
        ((2.0, None, None, False), (None, None), (2.0, None, None, False)),
        ((5.0, 1.5, 0.5, True), (None, None), (3.0, 1.5, 0.5, True)),
        ((None, None, None, True), (None, None), (None, None, None, True)),
        ((2.0, 1.5, 0.5, True), (2.5, 1.0), (2.0, 2.5, 1.0, False)),
        ((2.0, 1.5, 0.5, True), (0.0, 0.0), (2.0, 0.0, 0.0, False)),
    ],
)
def test_a_grade_comes_back_but_for_what_was_given_since(had, given_since, restored):
    grade = SimpleNamespace(
        auto_score=0.0,
        manual_score=given_since[0],
        extra_credit=given_since[1],
        needs_manual_grade=False,
        max_score=3.0,
    )
    dropped_exercises._restore(grade, *had)
    assert (grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade) == restored


@pytest.mark.parametrize(
    ("before", "now", "changed"),
    [
        (Standing({"a": 2}, {}), Standing({"a": 2, "b": 1}, {}), set()),  # one that is new has no grades
        (Standing({"a": 2, "b": 1}, {}), Standing({"a": 3, "b": 1}, {}), {"a"}),
        (Standing({"a": 2}, {}), Standing({"a": 2}, {"a": False}), {"a"}),
        (Standing({"a": 2}, {"a": False}), Standing({"a": 2}, {"a": True}), {"a"}),
        (Standing({"a": 2}, {"a": True}), Standing({"a": 2}, {"a": True}), set()),
        (Standing({"a": 2, "gone": 1}, {"gone": True}), Standing({"a": 2}, {}), set()),
    ],
)
def test_which_exercises_another_state_changes(before, now, changed):
    assert now.changed(before) == changed
