"""Other points for an exercise in one assignment: which can be had, and where they are written."""

import math

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.answers import Count, Written
from autograder.book.course_error import CourseError
from autograder.course.assigning import exercise_points
from autograder.declaration import Exercise
from autograder.declaration.bank import Bank

STEPS = Exercise(id="t-steps", prompt="?", answer=Count(), solution=14, points=2)
WHY = Exercise(id="t-why", prompt="?", answer=Written(rubric=(("Names it.", 2),)), solution="Model.")
BANK = Bank([STEPS, WHY])


@pytest.mark.parametrize("worth", [0.001, 0.5, 5, 1e6])
def test_points_above_zero_can_be_set(worth):
    assert exercise_points.with_points(BANK, ["t-steps"], "t-steps", worth).points == worth
    assert BANK["t-steps"].points == 2


@pytest.mark.parametrize("worth", [0, -1, -0.5, math.inf, math.nan])
def test_no_others_can(worth):
    with pytest.raises(CourseError, match="more than 0"):
        exercise_points.with_points(BANK, ["t-steps"], "t-steps", worth)


def test_points_are_set_of_what_is_asked_and_has_no_parts():
    with pytest.raises(CourseError, match="'t-why', which is not asked"):
        exercise_points.with_points(BANK, ["t-steps"], "t-why", 1)
    with pytest.raises(CourseError, match="those of its parts"):
        exercise_points.with_points(BANK, ["t-why"], "t-why", 3)
    assert exercise_points.with_points(BANK, ["t-why"], "t-why", 2) == WHY


def cell(kind, source, part, exercise="t-steps", **nbgrader):
    return kind(source, metadata={"gpubook": {"exercise": exercise, "part": part}, "nbgrader": nbgrader})


def test_points_are_written_into_the_prompt_and_for_nbgrader():
    worth = {"t-steps": exercise_points.with_points(BANK, ["t-steps"], "t-steps", 5)}
    prompt = cell(new_markdown_cell, "**Steps** · 2 points\n\nHow many · 2 points?", "prompt")
    graded = cell(new_code_cell, "grade()", "grade", grade=True, points=2)
    other = cell(new_code_cell, "grade()", "grade", "t-why", grade=True, points=2)
    answer = cell(new_code_cell, "answer = ...", "answer", solution=True)
    for each in (prompt, graded, other, answer):
        exercise_points.set_points(each, BANK, worth)
    assert prompt.source == "**Steps** · 5 points\n\nHow many · 2 points?"
    assert (graded.metadata.nbgrader.points, other.metadata.nbgrader.points) == (5, 2)
    assert "points" not in answer.metadata.nbgrader
    with pytest.raises(CourseError, match="at the end of the line"):
        exercise_points.set_points(cell(new_markdown_cell, "**Steps**\n · 2 points", "prompt"), BANK, worth)
