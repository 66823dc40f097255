"""Verdicts in points, under the points that an exercise has now, and as a notebook shows them."""

import math

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.declaration.verdict import Verdict
from autograder.grading.reissue import reissued
from autograder.grading.restore import GradeCell
from autograder.grading.results import FULL, OUT, Result, result_of, settled, verdict_outputs, written_result


@pytest.mark.parametrize(
    ("score", "points", "earned"),
    [
        (1, 3, 3.0),
        (0, 3, 0.0),
        (0.5, 3, 1.5),
        (1 / 3, 3, 1.0),
        (-1, 3, 0.0),
        (1.5, 3, 3.0),
        (1, 0, 0.0),
        (1e-10, 1, 0.0),
    ],
)
def test_a_score_earns_its_part_of_the_points(score, points, earned):
    result = result_of("t-x", points, Verdict(score, "Say."), "")
    assert (result.points, result.max_points, result.score) == (earned, points, min(max(score, 0), 1))


@pytest.mark.parametrize(
    ("kind", "note", "said"),
    [
        ("wrong", "", "Say."),
        ("wrong", "It failed.", "Say. It failed."),
        ("empty", "", "Say."),
        ("empty", "It failed.", "It failed."),
    ],
)
def test_what_went_wrong_in_the_cells_is_told_with_the_verdict_or_in_place_of_no_answer(kind, note, said):
    result = result_of("t-x", 1, Verdict(0, "Say.", kind, "why", mistakes=("m",)), note)
    assert (result.say, result.note, result.kind, result.reason, result.mistakes) == (said, note, kind, "why", ("m",))


def test_a_result_follows_the_points_of_its_cell():
    result = Result("t-x", 1.0, 3.0, "Say.", score=1 / 3)
    more = settled(result, GradeCell("t-x", "grade", 6.0))
    assert (more.points, more.max_points, more.say) == (2.0, 6.0, "Say.")
    full = settled(result, GradeCell("t-x", "grade", 6.0, full=True))
    assert (full.points, full.max_points, full.say) == (6.0, 6.0, f"{FULL} Say.")
    assert settled(full, GradeCell("t-x", "grade", 6.0, full=True)) == full
    assert settled(full, GradeCell("t-x", "grade", 3.0)) == result
    assert settled(Result("t-x", 0.0, 1.0, ""), GradeCell("t-x", "grade", 1.0, full=True)).say == FULL


@pytest.mark.parametrize(
    ("source", "points", "full", "expected"),
    [
        ("Because.", 2.0, False, ("waiting", 0.0)),
        ("  \n", 2.0, False, ("empty", 0.0)),
        ("Because.", 0.0, False, ("given", 0.0)),
        ("", 0.0, False, ("given", 0.0)),
        ("", 2.0, True, ("given", 2.0)),
    ],
)
def test_a_written_answer_waits_for_a_teacher_where_there_is_something_to_read(source, points, full, expected):
    result = written_result(new_markdown_cell(source), GradeCell("t-x", "written", points, full))
    assert (result.kind, result.points) == expected
    assert result.max_points == points
    assert result.say


@pytest.mark.parametrize(
    ("points", "most", "kind", "sign"),
    [
        (2.0, 2.0, "right", "✓"),
        (1.0, 2.0, "partial", "◐"),
        (0.0, 2.0, "empty", "…"),
        (0.0, 2.0, "wrong", "✗"),
    ],
)
def test_a_notebook_shows_a_sign_and_the_points_as_nbgrader_reads_them(points, most, kind, sign):
    shown, value = verdict_outputs(Result("t-x", points, most, "Say.", kind=kind))
    assert shown.data["text/plain"] == f"{sign} Say. *{points:g} of {most:g} points.*"
    assert math.isclose(float(value.data["text/plain"]), points)


def test_one_that_was_dropped_has_no_tick_and_counts_for_nobody():
    for result in (Result("t-x", 0.0, 0.0, "Say.", kind="wrong"), Result("t-x", 0.0, 0.0, OUT, kind="given")):
        shown, value = verdict_outputs(result)
        text = shown.data["text/plain"]
        assert text.startswith("– ")
        assert text.count("counts for nobody") == 1
        assert "points" not in text
        assert float(value.data["text/plain"]) == 0


def cell(make, name, source, points=0, **nbgrader):
    own = {"grade_id": name, "grade": False, "solution": False, "points": points} | nbgrader
    return make(source, metadata={"nbgrader": own, "gpubook": {"exercise": "t-x", "part": name}})


def test_an_assignment_released_anew_brings_prompts_and_points_up_to_date():
    def notebook(prompt, points, answer):
        return new_notebook(
            cells=[
                cell(new_markdown_cell, "prompt", prompt),
                cell(new_code_cell, "answer", answer, solution=True),
                cell(new_code_cell, "grade", "grade()", points, grade=True),
                cell(new_markdown_cell, "written", "", points, grade=True, solution=True),
                new_code_cell("mine"),
            ]
        )

    executed = notebook("Old?", 2, "answer = 1")
    executed.cells[2].execution_count = 5
    executed.cells[3].source = "Because."
    now = reissued(executed, notebook("New?", 4, "answer = ..."), [Result("t-x", 1.0, 2.0, "Say.", score=0.5)])
    assert [(result.points, result.max_points, result.kind) for result in now] == [
        (2.0, 4.0, "wrong"),
        (0.0, 4.0, "waiting"),
    ]
    assert [one.source for one in executed.cells] == ["New?", "answer = 1", "grade()", "Because.", "mine"]
    assert executed.cells[2].outputs[-1].execution_count == 5
    assert executed.cells[2].metadata.nbgrader.points == 4
