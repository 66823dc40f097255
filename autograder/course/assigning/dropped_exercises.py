"""Other points, and exercises that count for nobody or for everybody in full: in the gradebook at once.

What the gradebook had of these, grades by hand among them, is set aside in `.gpubook/NAME.set-aside.json` until it is
taken back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, BaseCell, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy.orm import Query

from ...book.course_error import CourseError
from ...grading.restore import GradeCell, grade_cell
from ...grading.results import DIGITS
from ...values.atomic_write import write_whole
from ...values.own_file import json_of
from ...values.own_folder import own
from .. import gradebook
from ..gradebook_url import opened
from ..run.journal import finished_entries
from ..terms import group_shares

REMEDY = "restore it from a backup, for grades by hand are in it; without it, those of the dropped exercises are lost"
POINTS = {float, int, type(None)}
LEAST = 1e-6  # points: what is nearer is the same
BY_HAND = ("waiting", "empty", "lost", "given")  # kinds of results that no judge gave a share of the points


@dataclass(frozen=True)
class Settled:
    """What a change of points or decisions did to a gradebook: how many learners have a grade for the assignment, and
    how many grades by hand stay as they were given under other points, by exercise."""

    graded: int = 0
    by_hand: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Standing:
    """What held for the exercises of an assignment: what each is worth, and of those that were decided about, whether
    everybody gets all points."""

    worths: Mapping[str, float]
    decided: Mapping[str, bool]

    def changed(self, before: Standing) -> set[str]:
        """The exercises of which something else held before."""
        return {
            exercise
            for exercise, worth in self.worths.items()
            if (worth, self.decided.get(exercise)) != (before.worths.get(exercise, worth), before.decided.get(exercise))
        }


def settle(folder: Path, name: str, nb: Any, before: Standing, now: Standing) -> Settled:
    """Have the gradebook follow at once, of the released notebook `nb`: no cell runs. What was judged is worth its
    share of the points that there are now; what was dropped or given to everybody is set aside, also what was graded
    by hand, and comes back when the exercise counts again."""
    changed = now.changed(before)
    cells = {role.exercise: (cell, role.part == "written") for cell in nb.cells if (role := _graded(cell))}
    record, judged = _read(folder, name), _judged(folder, name)
    by_hand = dict[str, int]()
    with opened(gradebook.url_of(folder)) as book:
        for exercise in sorted(changed & cells.keys()):
            cell, written = cells[exercise]
            work, cell_id = _Exercise(exercise, written, before, now, judged), cell.metadata["nbgrader"]["grade_id"]
            grades = list(_grades(book.db.query(Grade, SubmittedAssignment.student_id), name, cell_id))
            rows = work.settle(grades, record.pop(cell_id, {}))
            if rows:
                record[cell_id] = rows
            elif work.factor != 1:
                by_hand[exercise] = sum(1 for grade, _ in grades if grade.manual_score is not None)
        _write(folder, name, record)
        book.db.commit()
    graded = sum(score.graded for score in gradebook.scores(folder, [name])[name])
    return Settled(graded, {exercise: count for exercise, count in by_hand.items() if count})


@dataclass
class _Exercise:
    """One exercise of which something is decided anew, which may be answered in words (`written`); `judged`: by learner
    and exercise, the share that a run gave."""

    exercise: str
    written: bool
    before: Standing
    now: Standing
    judged: Mapping[tuple[str, str], float]

    @property
    def worth(self) -> float:
        return self.now.worths[self.exercise]

    @property
    def factor(self) -> float:
        """How much more it is worth than before."""
        was = self.before.worths.get(self.exercise, self.worth)
        return self.worth / was if was else 1.0

    def settle(self, grades: Sequence[tuple[Grade, str]], rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """Give the grades their points, and return what is set aside of them now, where `rows` was before."""
        aside = {who: [self._scaled(who, row[0]), *row[1:]] for who, row in rows.items()}
        decided = self.now.decided.get(self.exercise)
        for grade, who in grades:
            if who not in aside and self.was is None:
                had = [grade.manual_score, grade.extra_credit, bool(grade.needs_manual_grade)]
                aside[who] = [self._scaled(who, grade.auto_score), *had]
            if decided is not None:
                grade.auto_score, grade.manual_score = grade.max_score if decided else 0.0, None
                grade.extra_credit = grade.extra_credit if decided else None
                grade.needs_manual_grade = False
            elif self.was is None:
                grade.auto_score = aside[who][0]
            elif who in aside:
                _restore(grade, *aside[who])
            elif self.written:  # graded since, and read by nobody
                grade.auto_score, grade.needs_manual_grade = None, grade.manual_score is None
            else:
                grade.auto_score = self._scaled(who, grade.auto_score)
        return aside if decided is not None else {}

    @property
    def was(self) -> bool | None:
        """What was decided about it before."""
        return self.before.decided.get(self.exercise)

    def _scaled(self, who: str, points: float | None) -> float | None:
        """What was judged, under the points that there are now: by the last run, unless another program has judged
        since."""
        if points is None:
            return None
        share = self.judged.get((who, self.exercise))
        before = self.before.worths.get(self.exercise, self.worth)
        if share is None or (self.was is None and abs(share * before - points) > LEAST):
            return round(points * self.factor, DIGITS)
        return round(share * self.worth, DIGITS)


def _graded(cell: Any) -> GradeCell | None:
    role = grade_cell(cell)
    return role if role is not None and role.exercise and role.part in ("grade", "written") else None


def _judged(folder: Path, name: str) -> dict[tuple[str, str], float]:
    """By learner and exercise, the share of full marks that the last run gave, whatever the points were."""
    entries = finished_entries(folder, name)
    shared = {who: by for who, by in group_shares.submitters(folder, name).items() if by in entries}
    submitters = {who: who for who in entries} | shared
    return {
        (who, result.exercise): result.score
        for who, by in submitters.items()
        for result in entries[by].results
        if result.kind not in BY_HAND
    }


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
    if not record:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(mode=0o700, exist_ok=True)  # of a course in which nobody was graded yet
    write_whole(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def _path(folder: Path, name: str) -> Path:
    return own(folder, f"{name}.set-aside.json")
