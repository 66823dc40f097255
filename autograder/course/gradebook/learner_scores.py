"""What each learner has for an assignment, through nbgrader's own API; nothing here runs or judges anything."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy.orm import Query

from ...book.course_error import CourseError
from ..gradebook_url import opened
from ..terms.granted_time import granted_for
from .course_database import opened_course


@dataclass(frozen=True)
class GradebookLearner:
    """A learner as the gradebook knows one; only `id` is never empty. `lms_id` is nbgrader's `lms_user_id`."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_id: str = ""


def full_name(who: GradebookLearner, last_first: bool = False) -> str:
    """First and last name, as far as they are known; else the id."""
    names = [who.last_name, who.first_name] if last_first else [who.first_name, who.last_name]
    return (", " if last_first else " ").join(name for name in names if name) or who.id


@dataclass(frozen=True)
class AssignmentScore:
    """What one learner has for one assignment; `submitted` is None where there is no submission.

    `raw` includes `extra_credit`; `late_penalty` is what to take away from it. Times are UTC.
    """

    person: GradebookLearner
    assignment: str
    max_score: float
    due: datetime | None = None
    graded: bool = False
    submitted: datetime | None = None
    raw: float = 0.0
    late_penalty: float = 0.0
    extra_credit: float = 0.0
    waiting: int = 0  # how many answers a teacher has still to grade, or to look at again
    comments: tuple[str, ...] = ()  # the teacher's own, written in formgrader

    @property
    def needs_manual_grade(self) -> bool:
        """Whether a teacher has an answer of this learner still to grade."""
        return self.waiting > 0

    @property
    def late(self) -> bool:
        """Whether it was submitted after the deadline, an extension included."""
        return self.submitted is not None and self.due is not None and self.submitted > self.due

    @property
    def score(self) -> float:
        """What counts: the raw score less the late penalty, never below 0, as nbgrader exports it."""
        return max(0.0, self.raw - self.late_penalty)


def learners(folder: Path | str) -> list[str]:
    """The ids of everybody in the gradebook."""
    with opened_course(Path(folder).resolve()) as gradebook:
        return sorted(student.id for student in gradebook.students)


def scores(folder: Path | str, names: Sequence[str] = ()) -> dict[str, list[AssignmentScore]]:
    """Every learner's score, by assignment (all of them, or `names` in their order), learners by id.

    A learner of the gradebook without a submission is there, with `graded` False.
    """
    folder = Path(folder).resolve()
    with opened_course(folder) as gradebook:
        known = [assignment.name for assignment in gradebook.assignments]
        if unknown := [name for name in names if name not in known]:
            raise CourseError(
                f"{folder} has no assignment {', '.join(map(repr, unknown))} in its gradebook; "
                f"it has {', '.join(known) or 'none'}"
            )
        people = [
            GradebookLearner(s.id, s.first_name or "", s.last_name or "", s.email or "", s.lms_user_id or "")
            for s in sorted(gradebook.students, key=lambda student: student.id)
        ]
        wanted = dict.fromkeys(names or known)
        return {name: _of_assignment(folder, gradebook, name, people) for name in wanted}


def _of_assignment(
    folder: Path, gradebook: Gradebook, name: str, people: list[GradebookLearner]
) -> list[AssignmentScore]:
    """The scores of one assignment in four queries: nbgrader's own attributes ask the database for each one."""

    def ask(*columns: Any) -> Query:
        """These columns, behind the learner, over every submitted notebook of the assignment."""
        submitted = SubmittedAssignment
        rows = gradebook.db.query(submitted.student_id, *columns).select_from(submitted).join(submitted.assignment)
        return rows.join(submitted.notebooks).filter(Assignment.name == name)

    assignment = gradebook.find_assignment(name)
    done: dict[str, AssignmentScore] = {}
    by_id = {person.id: person for person in people}
    submitted = SubmittedAssignment
    lateness = (submitted.timestamp, submitted.extension, SubmittedNotebook.late_submission_penalty)
    for who, timestamp, extension, penalty in ask(*lateness):
        due = assignment.duedate and assignment.duedate + (extension or timedelta())
        before = done[who].late_penalty if who in done else 0.0
        done[who] = AssignmentScore(
            by_id[who], name, assignment.max_score, due, True, timestamp, late_penalty=before + (penalty or 0.0)
        )
    grades: dict[str, list[Any]] = {}
    for who, *grade in ask(Grade.score, Grade.extra_credit, Grade.needs_manual_grade).join(SubmittedNotebook.grades):
        grades.setdefault(who, []).append(grade)
    for who, theirs in grades.items():
        done[who] = replace(
            done[who],
            raw=math.fsum(score for score, _, _ in theirs),
            extra_credit=math.fsum(extra or 0.0 for _, extra, _ in theirs),
            waiting=sum(bool(needs) for _, _, needs in theirs),
        )
    comments = ask(Comment.manual_comment).join(SubmittedNotebook.comments).join(Comment.cell).order_by(BaseCell.name)
    for who, comment in comments:
        if comment:
            done[who] = replace(done[who], comments=(*done[who].comments, comment))
    due = assignment.duedate
    own = {who: due + more for who, more in granted_for(folder, name, due).items()} if due is not None else {}
    blank = [AssignmentScore(person, name, assignment.max_score, own.get(person.id, due)) for person in people]
    return [done.get(score.person.id, score) for score in blank]


def waiting(folder: Path | str, name: str) -> dict[str, int]:
    """The learners with answers that a teacher has still to grade by hand, and how many."""
    return {score.person.id: score.waiting for score in scores(folder, [name])[name] if score.waiting}


def waiting_by_cell(folder: Path | str, name: str) -> dict[str, int]:
    """How many answers to each question a teacher has still to grade by hand, by the name of its cell."""
    with opened_course(Path(folder).resolve()) as gradebook:
        rows = gradebook.db.query(BaseCell.name).select_from(Grade).join(Grade.cell).join(Grade.notebook)
        rows = rows.join(SubmittedNotebook.assignment).join(SubmittedAssignment.assignment)
        names = rows.filter(Assignment.name == name, Grade.needs_manual_grade.is_(True)).order_by(BaseCell.name)
        return dict(Counter(cell for (cell,) in names))


def by_hand(db_url: str, name: str) -> dict[tuple[str, str], tuple[float, str]]:
    """The points and the teacher's comment of each grade that was given by hand, by learner and cell."""
    with opened(db_url) as gradebook:
        rows = gradebook.db.query(SubmittedAssignment.student_id, BaseCell.name, Grade.manual_score, Grade.notebook_id)
        rows = rows.select_from(Grade).join(Grade.cell).join(Grade.notebook).join(SubmittedNotebook.assignment)
        rows = rows.join(SubmittedAssignment.assignment).filter(Assignment.name == name)
        manual = rows.filter(Grade.manual_score.isnot(None), Grade.needs_manual_grade.is_(False)).all()
        if not manual:
            return {}
        query = gradebook.db.query(Comment.notebook_id, BaseCell.name, Comment.manual_comment).select_from(Comment)
        comments = {(book, cell): text for book, cell, text in query.join(Comment.cell) if text}
    return {(who, cell): (float(points), comments.get((book, cell), "")) for who, cell, points, book in manual}
