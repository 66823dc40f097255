"""A class in which notebooks have lost what marks their cells: nobody has nothing for it without a word."""

import io
import json
import sys

import nbformat
import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from autograder import course
from autograder.course import gradebook
from autograder.course.agreements import learner_groups
from autograder.course.class_results import results_table
from autograder.course.report import of_class, page, terminal_report
from autograder.grading.found_cells import LOST
from autograder.values.inline_html import inline_html
from tests.autograder import tiny
from tests.autograder.course.test_agreed import WHY
from tests.autograder.course.test_operations import hand_in

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux"),
]
ASKED = ("tiny-steps", "tiny-double", "tiny-why")
FULL = [2.0, 2.0, 0.0]  # the answer in words waits


def forget(cells):
    for number, cell in enumerate(cells):
        cell.metadata, cell.id = {}, f"copy-{number}"


def answers_alone(nb):
    """What is left in a notebook into which only the answers were copied."""
    own = [cell for cell in nb.cells if cell.metadata.get("gpubook", {}).get("part") == "answer"]
    nb.cells[:] = [cell for cell in nb.cells if not cell.metadata.get("nbgrader")] + own
    forget(nb.cells)


LEARNERS = {
    "whole": lambda nb: None,
    "copied": lambda nb: forget(nb.cells),
    "words": lambda nb: forget(c for c in nb.cells if c.metadata.get("gpubook", {}).get("exercise") == "tiny-why"),
    "steps": lambda nb: forget(c for c in nb.cells if c.metadata.get("gpubook", {}).get("exercise") == "tiny-steps"),
    "alone": answers_alone,
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory, zygotes):
    folder = tmp_path_factory.mktemp("lost") / "course"
    course.init(folder)
    (folder / "exercises" / "tiny.py").write_text(tiny.EXERCISES + WHY)
    released = course.assign(folder, "hw", exercises=list(ASKED))
    with Gradebook(gradebook.url_of(folder)) as book:
        for who in (*LEARNERS, "mate"):
            book.add_student(who)
    learner_groups.form(folder, "hw", {"A": ["copied", "mate"]})
    for who, edit in LEARNERS.items():
        nb = tiny.fill(nbformat.read(released, as_version=4), tiny.RIGHT | {"tiny-why": f"Because, says {who}."})
        edit(nb)
        hand_in(folder, who, nb, name="hw")
    with pytest.MonkeyPatch.context() as patch:
        tiny.lend(patch, zygotes())
        yield folder, course.grade(folder, "hw")


def text_of(show, *what):
    out = io.StringIO()
    show(*what, Console(file=out, width=300))
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_what_can_be_found_is_judged_and_waits_as_any_other(graded):
    folder, result = graded
    for who in ("whole", "copied", "mate", "words", "steps"):
        results = result.learner(who).results
        assert [one.points for one in results] == FULL
        assert [one.kind for one in results] == ["right", "right", "waiting"]
    assert gradebook.waiting(folder, "hw") == dict.fromkeys((*LEARNERS, "mate"), 1)


def test_what_cannot_is_lost_and_not_empty(graded):
    _, result = graded
    results = result.learner("alone").results
    assert [(one.kind, one.points) for one in results] == [("lost", 0.0), ("right", 2.0), ("waiting", 0.0)]
    assert results[0].say == LOST


def test_the_teacher_is_told(graded):
    folder, result = graded
    said = text_of(results_table.print_class, result)
    assert (
        "copied has none of the 3 answer cells, and 3 cells of its own; 3 found again by prompt, name or `grade` line"
        in said
    )
    assert (
        "steps has 2 of the 3 answer cells, and 1 cell of its own; 1 found again by prompt, name or `grade` line"
        in said
    )
    (alone,) = [line for line in said if line.startswith("alone has none of the 3 answer cells")]
    assert alone.endswith("; not found: tiny-steps")
    assert [line for line in said if line.startswith(("whole has", "mate has"))] == []
    assert alone in text_of(results_table.show, course.results(folder, "hw"), "alone")
    saved = {
        one["name"]: one["cells"]
        for one in json.loads((folder / ".gpubook" / "hw.results.json").read_text())["learners"]
    }
    assert saved["words"] == {"asked": 3, "missing": ["tiny-why"], "found": ["tiny-why"], "own": 1, "repeated": []}
    report = of_class.of_assignment(folder, "hw")
    assert alone in text_of(terminal_report.show, report)
    assert alone in " ".join(page.of(report).split())


def test_the_learner_is_told(graded):
    folder, _ = graded

    def told(who):
        return (folder / "feedback" / who / "hw" / "hw.html").read_text()

    assert "has none of the 3 answer cells" in told("copied")
    assert "has none of the 3 answer cells" in told("mate")
    assert "Found again by the text around them: tiny-steps, tiny-double, tiny-why. " in told("copied")
    assert "Not found: tiny-steps. " in told("alone")
    assert inline_html(LOST) in told("alone")
    assert "No answer yet" not in told("alone")
    assert "answer cells" not in told("whole")


def test_it_stays_so_when_a_run_goes_on_and_when_a_key_changes(graded):
    folder, before = graded
    result = course.grade(folder, "hw", resume=True)
    assert [(one.results, one.cells) for one in result.learners] == [
        (one.results, one.cells) for one in before.learners
    ]
    declared = folder / "exercises" / "tiny.py"
    declared.write_text(declared.read_text().replace("solution=lambda n: 2*(n - 1)", "solution=lambda n: 2*n - 1"))
    result = course.grade(folder, "hw", resume=True)
    assert [one.kind for one in result.learner("alone").results] == ["lost", "right", "waiting"]
    assert result.learner("copied").results[0].points == 0.0
    course.drop(folder, "hw", "tiny-double")
    result = course.grade(folder, "hw", resume=True)
    assert [one.kind for one in result.learner("alone").results] == ["lost", "right", "waiting"]
    assert result.learner("alone").cells == before.learner("alone").cells
