"""Executed notebooks that follow a new release of their assignment, without a cell run."""

import nbformat

from autograder.grading.reissue import reissued
from autograder.grading.results import Result


def cell(name, source, *, solution):
    made = nbformat.v4.new_code_cell(source)
    made.metadata["nbgrader"] = {
        "grade": False,
        "grade_id": name,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    return made


def notebook(*cells):
    return nbformat.v4.new_notebook(cells=list(cells))


def test_locked_cells_follow_the_release_and_a_learners_answer_stays():
    executed = notebook(
        cell("locked", "old", solution=False),
        cell("answer", "mine", solution=True),
        cell("dropped", "as it was", solution=False),
        nbformat.v4.new_code_cell("unnamed"),
    )
    release = notebook(
        cell("locked", "new", solution=False), cell("answer", "stub", solution=True), nbformat.v4.new_code_cell("other")
    )
    for released in release.cells[:2]:
        released.metadata["nbgrader"]["points"] = 7
    assert reissued(executed, release, []) == []
    assert [one.source for one in executed.cells] == ["new", "mine", "as it was", "unnamed"]
    assert [one.metadata.get("nbgrader", {}).get("points") for one in executed.cells] == [7, 7, None, None]


def test_the_release_is_not_shared_with_what_follows_it():
    executed, release = notebook(cell("a", "x", solution=True)), notebook(cell("a", "y", solution=True))
    reissued(executed, release, [])
    executed.cells[0].metadata["nbgrader"]["points"] = 3
    assert "points" not in release.cells[0].metadata["nbgrader"]


def graded(name, part, points, *, written=False):
    made = cell(name, "grade()", solution=written)
    made.metadata["nbgrader"] |= {"grade": True, "points": points}
    made.metadata["gpubook"] = {"exercise": name.removesuffix("-grade"), "part": part}
    made.execution_count = 7
    return made


def test_verdicts_follow_the_points_and_written_answers_wait():
    executed = notebook(
        graded("q-grade", "grade", 2.0),
        graded("why", "written", 4.0, written=True),
        cell("q", "answer = 1", solution=True),
    )
    release = notebook(
        graded("q-grade", "grade", 3.0),
        graded("why", "written", 5.0, written=True),
        cell("q", "answer = ...", solution=True),
    )
    executed.cells[1].source = "Because."
    before = [Result("q", 1.0, 2.0, "Half.", kind="partial", score=0.5), Result("why", 0.0, 4.0, "", kind="waiting")]
    first, second = reissued(executed, release, before)
    assert (first.points, first.max_points, first.say) == (1.5, 3.0, "Half.")
    assert (second.kind, second.max_points) == ("waiting", 5.0)
    assert executed.cells[0].outputs[-1].data["text/plain"] == "1.5"
    assert executed.cells[0].outputs[-1].execution_count == 7
    assert executed.cells[1].outputs == []
