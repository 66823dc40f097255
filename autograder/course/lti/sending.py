"""Grades into a platform's column: what would be sent, what differs from what is there, and the sending.

A score replaces a learner's one before, so a repeated send leaves each grade there once. What somebody entered in the
platform stays, unless it is to be replaced.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values.digest import digest
from .. import gradebook
from ..export import question_lines, sentences_of
from ..gradebook import AssignmentScore
from ..gradebook.question_points import QuestionPoints, by_question
from ..spreadsheet import number
from . import columns, sent_scores
from .columns import SCORE, GradeColumn, PlatformResult
from .connection import Connection, NotTaken
from .sent_scores import Sent

NEAR = 0.005  # points within which the platform's rounding leaves a grade the same
SAVED = 25  # scores after which it is written down what has arrived
IN_A_ROW = 5  # scores that a platform does not take, one after another, after which it is not asked further
NEW, CHANGED, COMMENT, SAME, KEPT = "new", "changed", "comment changed", "unchanged", "kept there"
SENDING = (NEW, CHANGED, COMMENT)
CANVAS_SUBMISSION = "https://canvas.instructure.com/lti/submission"


@dataclass(frozen=True)
class Grade:
    """What is to stand in the platform for a learner: points of a maximum, a comment, when it was submitted (UTC), and
    whether answers are still to be graded by hand."""

    learner: str
    user: str
    points: float
    maximum: float
    comment: str
    submitted: datetime | None = None
    waiting: bool = False

    @property
    def share(self) -> float:
        """The points as a share of the maximum."""
        return self.points / self.maximum if self.maximum else 0.0

    @property
    def digest(self) -> str:
        """A mark of all that is sent."""
        return digest(repr(self.points), repr(self.maximum), self.comment, str(self.submitted), str(self.waiting))

    def body(self, kind: str, now: datetime) -> dict[str, Any]:
        """The score as AGS has it, to a platform of this kind."""
        made: dict[str, Any] = {
            "userId": self.user,
            "scoreGiven": round(self.points, 6),
            "scoreMaximum": self.maximum,
            "comment": self.comment,
            "timestamp": _written(now),
            "activityProgress": "Completed",
            "gradingProgress": "PendingManual" if self.waiting else "FullyGraded",
        }
        if self.submitted is not None:
            made["submission"] = {"submittedAt": _written(self.submitted.replace(tzinfo=UTC))}
        if kind == "canvas":  # which would make a new submission of each score
            made[CANVAS_SUBMISSION] = {"new_submission": False}
        return made


@dataclass(frozen=True)
class SendStep:
    """What is done with a learner's grade, and what is in the platform."""

    grade: Grade
    kind: str
    there: PlatformResult | None = None


@dataclass
class SendPlan:
    """What sending would do: the column (None: it is to be made), a step for each grade, and notes."""

    name: str
    maximum: float
    column: GradeColumn | None
    steps: list[SendStep] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def to_send(self) -> list[SendStep]:
        """The grades that would go out."""
        return [step for step in self.steps if step.kind in SENDING]

    @property
    def counts(self) -> Counter[str]:
        """How many of each kind."""
        return Counter(step.kind for step in self.steps)


@dataclass(frozen=True)
class SendOptions:
    """How grades are sent: to which column, whether what was entered there is replaced, whether grades that are not
    complete go out too, and a zero for whoever submitted nothing."""

    item: str | None = None
    replace: bool = False
    partial: bool = False
    missing_as_zero: bool = False


def planned(
    folder: Path, name: str, connection: Connection, users: Mapping[str, str], options: SendOptions
) -> SendPlan:
    """What sending the grades of the assignment `name` would do, by what is in the platform now; only reads. `users`:
    the learners by the platform's id."""
    scores = gradebook.scores(folder, [name])[name]
    maximum = scores[0].max_score if scores else 0.0
    column = columns.of_assignment(connection, name, options.item)
    plan = SendPlan(name, maximum, column)
    grades = list(_grades(folder, plan, scores, users, options))
    there: dict[str, PlatformResult] | None = {}
    if column is None:
        other = columns.of_that_title(connection, name)
        if other is not None:
            plan.notes.append(
                f"a column {other.label!r} is there that was not made from here; --item {other.url} fills it"
            )
    else:
        there = columns.results(connection, column)
        if there is None:
            plan.notes.append(
                f"{connection.at.host} does not let its results be read, so only what was sent is compared"
            )
        if column.maximum and abs(column.maximum - maximum) > NEAR:
            plan.notes.append(
                f"the column's maximum is {number(column.maximum)}, the course's {number(maximum)}: the platform "
                "scales grades to its own; --set-maximum changes it to the course's"
            )
    sent = sent_scores.load(folder, name, column.url if column else "")
    plan.steps = [_step(grade, there, sent.learners.get(grade.learner), options.replace) for grade in grades]
    return plan


def send(folder: Path, plan: SendPlan, connection: Connection, progress: Callable[[int], None]) -> list[str]:
    """Send what a plan says, and make its column where there is none; `progress` gets how many have arrived.

    Returns notes: grades that it did not take, such as of somebody who has left, and those that it shows otherwise when
    it is read again. What has arrived is written down whatever ends this: the next run sends the rest.
    """
    column = plan.column or columns.made(connection, plan.name, plan.maximum)
    sent = sent_scores.load(folder, plan.name, column.url)
    steps = plan.to_send
    for step in steps:
        before = step.there.share if step.there is not None else None
        sent.begin(step.grade.learner, step.grade.share, step.grade.digest, before)
    if steps:
        sent.save()
    arrived, refused = 0, {}
    try:
        for step in steps:
            body = step.grade.body(connection.at.kind, datetime.now(UTC))
            if fault := _fault(connection, column, body):
                refused[step.grade.learner] = fault
                _check_run(steps, step, refused)
                continue
            sent.arrived(step.grade.learner)
            arrived += 1
            progress(arrived)
            if arrived % SAVED == 0:
                sent.save()
    finally:
        if steps:
            sent.save()
    notes = [f"{learner}: not taken by the platform ({fault})" for learner, fault in refused.items()]
    return notes + (_otherwise(plan, refused, columns.results(connection, column)) if arrived else [])


def _fault(connection: Connection, column: GradeColumn, body: dict[str, Any]) -> str:
    """Why a platform does not take this one score; "" where it does."""
    try:
        connection.ask("POST", column.below("scores"), content=SCORE, body=body)
    except NotTaken as error:
        return error.reason
    return ""


def _check_run(steps: list[SendStep], step: SendStep, refused: Mapping[str, str]) -> None:
    """CourseError where so many scores in a row were not taken that it is not their learners' fault."""
    last = steps[: steps.index(step) + 1][-IN_A_ROW:]
    if len(last) == IN_A_ROW and all(each.grade.learner in refused for each in last):
        raise CourseError(f"{IN_A_ROW} grades in a row were not taken, the last with {refused[step.grade.learner]}")


def _otherwise(plan: SendPlan, refused: Mapping[str, str], there: Mapping[str, PlatformResult] | None) -> list[str]:
    """The grades that a platform took and shows otherwise."""
    if there is None:
        return []
    notes = []
    for step in plan.to_send:
        grade, result = step.grade, there.get(step.grade.user)
        if not grade.waiting and grade.learner not in refused and not _is_there(grade, result):
            shown = "nothing" if result is None else _points(result)
            notes.append(
                f"{grade.learner}: {number(grade.points)} was sent, and the platform shows {shown}; send it again"
            )
    return notes


def _grades(
    folder: Path, plan: SendPlan, scores: list[AssignmentScore], users: Mapping[str, str], options: SendOptions
) -> Iterator[Grade]:
    """The grades that can be sent; notes on the others."""
    user_of = {learner: user for user, learner in users.items()}
    points, sentences = by_question(folder, plan.name), sentences_of(folder, plan.name)
    strangers, waiting = [], []
    for score in scores:
        who = score.person.id
        if not score.graded and not options.missing_as_zero:
            continue
        if who not in user_of:
            strangers.append(who)
        elif score.waiting and not options.partial:
            waiting.append(who)
        else:
            comment = _comment(score, points, sentences.get(who, {}))
            yield Grade(who, user_of[who], score.score, score.max_score, comment, score.submitted, bool(score.waiting))
    if strangers:
        plan.notes.append(
            f"not known in the platform, so not sent (`gpubook course lti roster`): {', '.join(strangers)}"
        )
    if waiting:
        plan.notes.append(
            f"answers are still to be graded by hand, so not sent (--partial sends): {', '.join(waiting)}"
        )


def _comment(score: AssignmentScore, points: QuestionPoints, sentences: Mapping[str, str]) -> str:
    """The points of each question with the sentence on it, the teacher's words, and what being late cost."""
    if not score.graded:
        return "Nothing was submitted."
    lines = [*question_lines(points, score.person.id, dict(sentences)), *score.comments]
    if score.late_penalty:
        lines.append(f"Late: {number(score.late_penalty)} of {number(score.raw)} points are taken off.")
    return "\n".join(lines)


def _step(grade: Grade, there: Mapping[str, PlatformResult] | None, last: Sent | None, replace: bool) -> SendStep:
    if there is None:  # the platform does not say: only what was sent is known
        is_same = last is not None and last.arrived and last.digest == grade.digest
        return SendStep(grade, SAME if is_same else CHANGED if last else NEW)
    result = there.get(grade.user)
    if result is None or result.share is None:
        waits_there = grade.waiting and last is not None and last.arrived and last.digest == grade.digest
        return SendStep(grade, SAME if waits_there else NEW, result)
    if not _is_there(grade, result):
        is_ours = last is not None and any(_near(share, result.share, grade.maximum) for share in last.shares)
        return SendStep(grade, CHANGED if is_ours or replace else KEPT, result)
    return SendStep(grade, SAME if _has_comment(grade, result, last) else COMMENT, result)


def _has_comment(grade: Grade, result: PlatformResult, last: Sent | None) -> bool:
    """Whether the comment is there too: by what the platform says, or by what was sent and has arrived."""
    if last is not None and last.digest == grade.digest:
        came_since = last.before is None or not _near(last.before, result.share, grade.maximum)
        return last.arrived or came_since
    return result.comment is not None and result.comment.split() == grade.comment.split()


def _is_there(grade: Grade, result: PlatformResult | None) -> bool:
    return result is not None and _near(grade.share, result.share, grade.maximum)


def _near(ours: float, theirs: float | None, maximum: float) -> bool:
    return theirs is not None and abs(ours - theirs) * (maximum or 1.0) <= NEAR


def _points(result: PlatformResult) -> str:
    return "nothing" if result.points is None else f"{number(result.points)} of {number(result.maximum)}"


def shown(step: SendStep) -> str:
    """A line for the teacher."""
    grade = step.grade
    line = f"{grade.learner}: {number(grade.points)} of {number(grade.maximum)} ({step.kind}"
    if step.kind in (CHANGED, KEPT) and step.there is not None:
        line += f"; there {_points(step.there)}"
    return f"{line}; --replace sends it)" if step.kind == KEPT else f"{line})"


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")
