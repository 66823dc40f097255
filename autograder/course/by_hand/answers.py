"""The answers to one question, over all learners, with what the gradebook and the marks say of each; and a new grade.

A grade is entered as nbgrader's formgrader enters it. Whoever enters one names the state it was decided on, so that of
two graders the second learns what the first did.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    MissingEntry,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.coursedir import CourseDirectory

from ...book.course_error import CourseError
from ...grading import attachments
from ...values.digest import digest
from ..gradebook import GradebookLearner, full_name
from ..gradebook_url import opened
from ..layout import read_config
from . import marks
from .marks import Mark
from .questions import Rubric, WrittenQuestion


@dataclass(frozen=True)
class LearnerText:
    """What a learner wrote into a cell; `pictures` are the names of those that may be shown."""

    source: str = ""
    pictures: tuple[str, ...] = ()
    digest: str = ""


def _points(number: float) -> str:
    return f"{number:g} point" + "s" * (number != 1)


@dataclass(frozen=True)
class HandGradedAnswer:
    """One learner's answer to a question; `number` is that of the submission in formgrader, where names are hidden."""

    learner: str
    name: str
    submission: str
    number: int
    text: LearnerText
    score: float | None
    waits: bool
    comment: str
    mark: Mark | None
    rubric: Rubric = ()  # of the question as it is now; empty: that of the mark
    scale: float = 1.0

    @property
    def state(self) -> str:
        """ "waiting", "review" (something changed under a grade), "rubric" (graded by an earlier rubric), "graded", or
        "empty": nothing was written."""
        if self.waits:
            return "waiting" if self.score is None else "review"
        if self.score is None:
            return "empty"
        return "rubric" if self.earlier else "graded"

    @property
    def counts(self) -> bool:
        """Whether the mark is a draft, or what the grade is made of."""
        return self.mark is not None and (not self.mark.decided or self.mark.stands(self.score))

    @property
    def earlier(self) -> bool:
        """Whether the mark is of a rubric that has changed since."""
        if self.mark is None or not self.rubric or not self.counts:
            return False
        return self.mark.rubric != self.rubric or not math.isclose(self.mark.scale, self.scale)

    @property
    def given(self) -> tuple[float | None, ...] | None:
        """The points by criterion, of a grade or of a draft, in the rubric as it is now; None where the grade is
        another, or was given at once."""
        if self.mark is None or not self.counts:
            return None
        return marks.carried(self.mark, self.rubric) if self.earlier else self.mark.given

    @property
    def in_words(self) -> str:
        """The points as one is told of them: those of a draft, too."""
        if self.given is None:
            return "no points" if self.score is None else f"{_points(self.score)}, not by criterion"
        parts = " + ".join(map(_in_words, self.given))
        if self.mark is not None and self.mark.decided and not self.earlier and self.score is not None:
            return f"{_points(self.score)} ({parts})"
        so_far = marks.total(self.given, self.scale)
        counts = "" if self.score is None else f"; until it is decided {self.score:g} count"
        return f"a draft with {_points(so_far)} so far ({parts}){counts}"

    @property
    def revision(self) -> str:
        """Another one as soon as anything here has changed: the text, the grade, the comment, the points."""
        marked = None if self.mark is None else [self.mark.given, self.mark.points, self.mark.rubric]
        return digest(repr([self.text.digest, self.score, self.waits, self.comment, marked]))


def _in_words(points: float | None) -> str:
    return "–" if points is None else f"{points:g}"


class Conflict(CourseError):
    """The answer was changed since: `now` is what it is."""

    def __init__(self, now: HandGradedAnswer, by: str, at: str):
        self.now, self.by, self.at = now, by, at
        who = f" by {by} at {at}" if by else ""
        super().__init__(
            f"the answer of {now.learner!r} was changed{who} since you read it; it has {now.in_words}: read it again"
        )


def answers(folder: Path | str, question: WrittenQuestion, learner: str | None = None) -> list[HandGradedAnswer]:
    """The answers to a question, in the order of formgrader's submissions; of everybody, or of `learner`."""
    folder = Path(folder).resolve()
    course = CourseDirectory(config=read_config(folder))
    known = marks.load(folder, question.assignment, question.exercise)
    with opened(course.db_url) as gradebook:
        rows = _rows(gradebook, question)
    every: list[HandGradedAnswer] = []
    for row in rows:
        path = Path(course.format_path(course.autograded_directory, row.student, question.assignment))
        path /= f"{question.assignment}.ipynb"
        if not path.is_file():
            continue
        person = GradebookLearner(row.student, row.first_name or "", row.last_name or "")
        every.append(
            HandGradedAnswer(
                row.student,
                full_name(person),
                row.submission,
                len(every) + 1,
                text_in(path, question.cell),
                row.manual_score,
                bool(row.needs_manual_grade),
                row.manual_comment or "",
                known.get(row.student),
                question.rubric,
                question.scale,
            )
        )
    return [one for one in every if learner in (None, one.learner)]


def _rows(gradebook: Any, question: WrittenQuestion) -> list[Any]:
    """A row for each submission: learner, grade and comment of the question's cell."""
    query = gradebook.db.query(
        SubmittedNotebook.id.label("submission"),
        Student.id.label("student"),
        Student.first_name,
        Student.last_name,
        Grade.manual_score,
        Grade.needs_manual_grade,
        Comment.manual_comment,
    ).select_from(SubmittedNotebook)
    query = query.join(SubmittedNotebook.assignment).join(SubmittedAssignment.student)
    query = query.join(SubmittedAssignment.assignment).join(SubmittedNotebook.grades).join(Grade.cell)
    query = query.outerjoin(Comment, (Comment.notebook_id == SubmittedNotebook.id) & _of_cell(question.cell))
    query = query.filter(Assignment.name == question.assignment, BaseCell.name == question.cell)
    return query.order_by(SubmittedNotebook.id).all()


def _of_cell(name: str) -> Any:
    from sqlalchemy import select

    return Comment.cell_id.in_(select(BaseCell.__table__.c.id).where(BaseCell.__table__.c.name == name))


def text_in(path: Path, cell: str) -> LearnerText:
    """What stands in a cell of a graded notebook; an empty one where it is not there."""
    about = path.stat()
    return _texts(path, about.st_ino, about.st_mtime_ns, about.st_size).get(cell, LearnerText())


@lru_cache(2048)  # a page that watches a class asks again and again
def _texts(path: Path, *_: int) -> dict[str, LearnerText]:
    texts = {}
    for name, cell in written_cells(path).items():
        whole = attachments.text_with_pictures(cell["source"], cell.get("attachments"))
        texts[name] = LearnerText(cell["source"], tuple(attachments.accepted(cell.get("attachments"))), digest(whole))
    return texts


def written_cells(path: Path) -> dict[str, Any]:
    """The cells of a graded notebook that a teacher grades, with their pictures, by grade id."""
    import nbformat

    cells = nbformat.read(path, as_version=4).cells
    own = [(cell.metadata.get("nbgrader", {}), cell) for cell in cells]
    return {about["grade_id"]: cell for about, cell in own if about.get("grade") and about.get("solution")}


def picture(folder: Path | str, question: WrittenQuestion, learner: str, name: str) -> tuple[str, str]:
    """A picture of an answer as its type and base64; CourseError where it is none of those that may be shown."""
    course = CourseDirectory(config=read_config(Path(folder).resolve()))
    if [one.learner for one in answers(folder, question, learner)] == [learner]:  # a learner's name becomes a path
        path = Path(course.format_path(course.autograded_directory, learner, question.assignment))
        cell = written_cells(path / f"{question.assignment}.ipynb").get(question.cell, {})
        for label, forms in attachments.accepted(cell.get("attachments")).items():
            if label == name:
                return next(iter(forms.items()))
    raise CourseError(f"the answer of {learner!r} has no picture {name!r} that can be shown")


def enter(
    folder: Path | str,
    question: WrittenQuestion,
    learner: str,
    points_given: Any,
    comment: str,
    revision: str,
    by: str = "",
) -> HandGradedAnswer:
    """Give points by criterion and a comment to an answer that is still as in `revision`; returns what it is now.

    Points that are not all decided are kept as a draft, and the grade stays as it is; none at all take the grade back.
    Raises Conflict where the answer was changed since.
    """
    folder = Path(folder).resolve()
    points_given = marks.checked(points_given, question.rubric)
    with marks.alone(folder, question.assignment, question.exercise):
        before = _one(folder, question, learner)
        if before.revision != revision:
            raise conflict(before)
        record(folder, question, [before], points_given, comment, by)
        return _one(folder, question, learner)


def conflict(before: HandGradedAnswer) -> Conflict:
    """What to raise where an answer is not as it was read: who changed it, when that is known."""
    last = before.mark if before.given is not None else None  # what formgrader did has no name
    return Conflict(before, last.by if last else "", last.at if last else "")


def record(
    folder: Path,
    question: WrittenQuestion,
    before: Sequence[HandGradedAnswer],
    points_given: tuple[float | None, ...],
    comment: str,
    by: str,
) -> None:
    """Give the same points and comment to some answers; call it inside `marks.alone`, with the answers as they are."""
    known = marks.load(folder, question.assignment, question.exercise)
    undecided = all(points is None for points in points_given)
    decided = all(points is not None for points in points_given)
    points = marks.total(points_given, question.scale) if decided else None

    def change(answer: HandGradedAnswer, grade: Any, teachers_comment: Any) -> None:
        if points is not None:
            grade.manual_score, grade.needs_manual_grade = points, False
        elif undecided and answer.given is not None:
            grade.manual_score, grade.needs_manual_grade = None, grade.auto_score is None
        if comment.strip() != answer.comment:
            teachers_comment.manual_comment = comment.strip() or None

    write(folder, question, before, change)
    for answer in before:
        if undecided:
            known.pop(answer.learner, None)
        else:
            now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
            known[answer.learner] = Mark(points_given, question.rubric, points, by, now, question.scale)
    marks.save(folder, question.assignment, question.exercise, known)


def _one(folder: Path, question: WrittenQuestion, learner: str) -> HandGradedAnswer:
    matching = answers(folder, question, learner)
    if not matching:
        raise CourseError(f"{learner!r} has no graded submission of {question.assignment}")
    return matching[0]


def write(
    folder: Path,
    question: WrittenQuestion,
    before: Sequence[HandGradedAnswer],
    change: Callable[[HandGradedAnswer, Any, Any], None],
) -> None:
    """Have `change` set each answer's grade and comment in the gradebook, as formgrader does: all of them or none."""
    with opened(CourseDirectory(config=read_config(folder)).db_url) as gradebook:
        for answer in before:
            where = (question.cell, question.assignment, question.assignment, answer.learner)
            try:
                grade, teachers_comment = gradebook.find_grade(*where), gradebook.find_comment(*where)
            except MissingEntry as error:
                raise CourseError(f"the gradebook has no such answer: {error}") from None
            change(answer, grade, teachers_comment)
        gradebook.db.commit()
