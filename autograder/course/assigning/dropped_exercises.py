"""An exercise that counts for nobody, or for everybody in full: in the gradebook at once, until it is assigned again.

What the gradebook had of it, grades by hand among them, is set aside in `.gpubook/NAME.set-aside.json` until then.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, BaseCell, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy.orm import Query

from ...book.course_error import CourseError
from ...book.source.notebook import used_exercises
from ...grading.restore import FULL_MARKS
from ...values.atomic_write import write_whole
from ...values.own_file import json_of
from ...values.own_folder import own
from .. import gradebook
from ..gradebook_url import opened

REMEDY = "restore it from a backup, for grades by hand are in it; without it, those of the dropped exercises are lost"
POINTS = {float, int, type(None)}
DROPPED = "**This exercise was dropped: it counts for nobody.**"
FULL = "**Everybody gets full marks for this exercise.**"


def mark(path: Path, exercise: str, full: bool) -> str:
    """Have an exercise of the instructor's notebook at `path` count 0 of 0 points, or everybody get all of them
    (`full`); returns its grade cell's id."""
    import nbformat

    if not path.is_file():
        raise CourseError(f"{path} is missing; the instructor's notebook was expected there")
    nb = nbformat.read(path, as_version=4)
    parts = {
        "grade" if c.metadata["nbgrader"].get("grade") else c.metadata["gpubook"]["part"]: c  # or a written answer
        for c in nb.cells
        if c.metadata.get("gpubook", {}).get("exercise") == exercise
    }
    if "grade" not in parts:
        known = ", ".join(used_exercises(nb)) or "none"
        raise CourseError(f"{path} does not ask exercise {exercise!r}; it asks {known}")
    grade = parts["grade"].metadata
    if full and not grade["nbgrader"]["points"]:
        raise CourseError(f"{exercise} was dropped and has no points; assign again before everybody gets full marks")
    if full:
        grade["gpubook"][FULL_MARKS] = True
    else:
        grade["gpubook"].pop(FULL_MARKS, None)
        grade["nbgrader"]["points"] = 0
    if "prompt" in parts:
        text = parts["prompt"].source
        for sentence in (DROPPED, FULL):
            text = text.replace(f"\n\n{sentence}", "")
        parts["prompt"].source = f"{text}\n\n{FULL if full else DROPPED}"
    nbformat.validate(nb)
    nbformat.write(nb, path)
    return grade["nbgrader"]["grade_id"]


def set_aside(folder: Path, name: str, cell: str, full: bool) -> None:
    """In place of what every submission has for a grade cell, also by hand, nothing, or with `full` all points; extra
    credit beside these stays."""
    record = _read(folder, name)
    rows = record.setdefault(cell, {})
    with opened(gradebook.url_of(folder)) as book:
        grades = list(_grades(book.db.query(Grade, SubmittedAssignment.student_id), name, cell))
        for grade, who in grades:
            had = [grade.auto_score, grade.manual_score, grade.extra_credit, bool(grade.needs_manual_grade)]
            rows.setdefault(who, had)
        _write(folder, name, record)
        for grade, _ in grades:
            grade.auto_score, grade.manual_score = grade.max_score if full else 0.0, None
            grade.extra_credit = grade.extra_credit if full else None
            grade.needs_manual_grade = False
        book.db.commit()


def bring_back(folder: Path, name: str, nb: Any) -> list[str]:
    """After an assignment was made anew as `nb`: give back what was set aside of the exercises that count again;
    returns their grade cells."""
    record, back = _read(folder, name), []
    for cell in nb.cells:
        own, grading = cell.metadata.get("gpubook", {}), cell.metadata.get("nbgrader", {})
        if grading.get("grade_id") in record and grading.get("points") and not own.get(FULL_MARKS):
            back.append(grading["grade_id"])
    if not back:
        return []
    with opened(gradebook.url_of(folder)) as book:
        for cell in back:
            for grade, who in _grades(book.db.query(Grade, SubmittedAssignment.student_id), name, cell):
                if who in record[cell]:
                    _restore(grade, *record[cell][who])
        book.db.commit()
    rest = {cell: rows for cell, rows in record.items() if cell not in back}
    if rest:
        _write(folder, name, rest)
    else:
        _path(folder, name).unlink()
    return back


def _restore(grade: Grade, automatic: float | None, by_hand: float | None, extra: float | None, waits: bool) -> None:
    """A grade as it was, but for what a teacher has given since."""
    grade.auto_score = None if automatic is None else min(automatic, grade.max_score)
    grade.extra_credit = extra if grade.extra_credit is None else grade.extra_credit
    if grade.manual_score is None:
        grade.manual_score, grade.needs_manual_grade = by_hand, waits


def _grades(asked: Query, name: str, cell: str) -> Query:
    joined = asked.select_from(Grade).join(Grade.cell).join(Grade.notebook).join(SubmittedNotebook.assignment)
    return joined.join(SubmittedAssignment.assignment).filter(Assignment.name == name, BaseCell.name == cell)


def _read(folder: Path, name: str) -> dict[str, dict[str, list[Any]]]:
    path = _path(folder, name)
    return json_of(path, REMEDY, _rows, CourseError) if path.exists() else {}


def _rows(plain: dict[str, dict[str, list[Any]]]) -> dict[str, dict[str, list[Any]]]:
    for rows in plain.values():
        for had in rows.values():
            automatic, by_hand, extra, waits = had
            if type(waits) is not bool or not {type(number) for number in (automatic, by_hand, extra)} <= POINTS:
                raise TypeError(f"{had!r} is not a grade")
    return plain


def _write(folder: Path, name: str, record: dict[str, Any]) -> None:
    path = _path(folder, name)
    path.parent.mkdir(mode=0o700, exist_ok=True)  # of a course in which nobody was graded yet
    write_whole(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def _path(folder: Path, name: str) -> Path:
    return own(folder, f"{name}.set-aside.json")
