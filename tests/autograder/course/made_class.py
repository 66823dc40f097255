"""A class with answers in words as `gpubook grade` leaves it, made up: nothing is released, run or judged."""

import copy
import json
from pathlib import Path

import nbformat

from autograder.course import layout
from autograder.course.assigning import instructor_notebook
from autograder.course.gradebook import url_of
from autograder.course.gradebook_url import opened
from tests.autograder.answers.test_written import DECLARED

IDS = ("mine-why", "mine-secret")


def make_class(folder: Path, answers: dict[str, dict[str, str]], pictures=None, points=None, declared=DECLARED) -> Path:
    """A course with the assignment hw; `answers`: learner → exercise → text, of which an empty one was judged."""
    layout.init(folder)
    (folder / "exercises" / "mine.py").write_text(declared)
    source = nbformat.read(instructor_notebook.stage(folder, "hw", exercises=list(IDS)), as_version=4)
    written = [cell for cell in source.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    for cell in written:
        cell.metadata["nbgrader"]["points"] = (points or {}).get(cell.id, cell.metadata["nbgrader"]["points"])
    nbformat.write(source, folder / "source" / "hw" / "hw.ipynb")
    release = copy.deepcopy(source)
    for cell in release.cells:
        if cell.id in IDS:
            cell.source = "*Your answer*"
    (folder / "release" / "hw").mkdir()
    nbformat.write(release, folder / "release" / "hw" / "hw.ipynb")
    public = (folder / "source" / "hw" / "exercises.json").read_text()
    (folder / "release" / "hw" / "exercises.json").write_text(public)
    assert "hidden criterion" not in json.dumps(public)
    with opened(url_of(folder)) as book:
        book.add_assignment("hw")
        book.add_notebook("hw", "hw")
        for cell in written:
            own = {"max_score": cell.metadata["nbgrader"]["points"], "cell_type": "markdown"}
            book.add_grade_cell(cell.id, "hw", "hw", **own)
            book.add_solution_cell(cell.id, "hw", "hw")
        for learner, theirs in answers.items():
            book.add_student(learner, first_name=learner.title(), last_name="Lovelace" if learner == "ada" else None)
            with book.db.no_autoflush:
                book.add_submission("hw", learner)
            hand_in(folder, learner, theirs, pictures)
            for cell in IDS:
                if not theirs.get(cell):
                    grade = book.find_grade(cell, "hw", "hw", learner)
                    grade.auto_score, grade.needs_manual_grade = 0.0, False
        book.db.commit()
    return folder


def hand_in(folder: Path, learner: str, answers: dict[str, str], pictures=None) -> None:
    """What a learner wrote, graded."""
    nb = nbformat.read(folder / "release" / "hw" / "hw.ipynb", as_version=4)
    for cell in nb.cells:
        if cell.id in IDS:
            cell.source = answers.get(cell.id) or cell.source
            if pictures and cell.id == "mine-why":
                cell.attachments = pictures
    path = folder / "autograded" / learner / "hw" / "hw.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    nbformat.write(nb, path)


def grade_of(folder: Path, learner: str, cell: str = "mine-why"):
    """Manual score, whether it waits, comment: as formgrader sees them."""
    with opened(url_of(folder)) as book:
        grade, said = book.find_grade(cell, "hw", "hw", learner), book.find_comment(cell, "hw", "hw", learner)
        return grade.manual_score, grade.needs_manual_grade, said.manual_comment


def in_formgrader(folder: Path, learner: str, cell: str = "mine-why", comment=None, **columns) -> None:
    """What formgrader does when a teacher types: its handlers set these columns."""
    with opened(url_of(folder)) as book:
        grade = book.find_grade(cell, "hw", "hw", learner)
        for column, value in columns.items():
            setattr(grade, column, value)
        if comment is not None:
            book.find_comment(cell, "hw", "hw", learner).manual_comment = comment
        book.db.commit()
