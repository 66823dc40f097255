"""What dropping an exercise, or giving all its points to everybody, changes in the instructor's notebook."""

import json
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.book.course_error import CourseError
from autograder.course.assigning import dropped_exercises
from autograder.course.assigning.dropped_exercises import DROPPED, FULL, bring_back, mark


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
    ("exercise", "at", "points", "grade_id", "prompt"),
    [("bytes", 3, 3, "bytes-grade", "How many?"), ("why", 5, 4, "why-text", "Why?")],
)
def test_full_marks_keep_the_points_and_dropping_takes_them(notebook, exercise, at, points, grade_id, prompt):
    prompt_at = {"bytes": 1, "why": 4}[exercise]
    assert mark(notebook, exercise, full=True) == grade_id
    assert state(notebook, at) == (points, True)
    assert source(notebook, prompt_at) == f"{prompt}\n\n{FULL}"
    assert mark(notebook, exercise, full=False) == grade_id
    assert state(notebook, at) == (0, None)
    assert source(notebook, prompt_at) == f"{prompt}\n\n{DROPPED}"


def test_the_other_exercises_stay_as_they_are(notebook):
    mark(notebook, "bytes", full=False)
    assert state(notebook, 5) == (4, None)
    assert (source(notebook, 0), source(notebook, 4)) == ("Read this.", "Why?")


def test_dropping_twice_says_so_once(notebook):
    mark(notebook, "bytes", full=False)
    mark(notebook, "bytes", full=False)
    assert source(notebook, 1) == f"How many?\n\n{DROPPED}"


def test_a_dropped_exercise_has_no_points_to_give(notebook):
    mark(notebook, "bytes", full=False)
    with pytest.raises(CourseError, match="bytes was dropped and has no points"):
        mark(notebook, "bytes", full=True)
    assert state(notebook, 3) == (0, None)


def test_an_exercise_that_is_not_asked_is_refused_with_those_that_are(notebook, tmp_path):
    with pytest.raises(CourseError, match="does not ask exercise 'steps'; it asks bytes, why"):
        mark(notebook, "steps", full=False)
    empty = tmp_path / "empty.ipynb"
    nbformat.write(new_notebook(), empty)
    with pytest.raises(CourseError, match="it asks none"):
        mark(empty, "steps", full=False)
    with pytest.raises(CourseError, match=r"absent\.ipynb is missing"):
        mark(tmp_path / "absent.ipynb", "bytes", full=False)


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


def test_what_still_counts_for_nobody_or_was_never_set_aside_is_not_brought_back(notebook, tmp_path):
    assert bring_back(tmp_path, "hw", nbformat.read(notebook, as_version=4)) == []
    record = tmp_path / ".gpubook" / "hw.set-aside.json"
    record.parent.mkdir()
    record.write_text(json.dumps({"bytes-grade": {"ann": [1.0, None, None, False]}}))
    before = record.read_text()
    for full in (True, False):
        mark(notebook, "bytes", full)
        assert bring_back(tmp_path, "hw", nbformat.read(notebook, as_version=4)) == []
    assert record.read_text() == before
