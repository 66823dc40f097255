"""Executed notebooks that follow a new release of their assignment, without a cell run."""

import nbformat

from autograder.grading.reissue import reissued


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
