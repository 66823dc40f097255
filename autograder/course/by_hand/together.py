"""One decision for several answers, and its undoing: `.gpubook/by_hand/NAME/together/EXERCISE.json`.

What each answer had before is kept, so that the decision can be taken back; an answer that was changed since keeps what
it has.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.own_file import json_of
from ...values.own_folder import own
from . import marks
from .answers import Conflict, HandGradedAnswer, answers, conflict, record, write
from .questions import WrittenQuestion

MOST_DECISIONS = 50  # of a question that can be undone
REMEDY = "move it away; the grades stay, and earlier decisions cannot be undone any more"


@dataclass(frozen=True)
class EarlierGrade:
    """What an answer had before a decision, and its revision after it."""

    score: float | None
    waits: bool
    comment: str
    mark: Mapping[str, Any] | None
    after: str


@dataclass(frozen=True)
class SharedDecision:
    """The same points and comment for several answers, by whom and when (UTC), and what each of them had before."""

    number: int
    by: str
    at: str
    before: Mapping[str, EarlierGrade]


@dataclass(frozen=True)
class DecisionOutcome:
    """What became of a decision: the answers as they are now, and those that were changed meanwhile."""

    number: int
    now: list[HandGradedAnswer]
    refused: list[Conflict]


def decisions(folder: Path, question: WrittenQuestion) -> list[SharedDecision]:
    """Those that can be undone, the first one first; CourseError where the file is not ours."""
    path = _path(folder, question)
    return json_of(path, REMEDY, _decisions, CourseError) if path.exists() else []


def decide(
    folder: Path, question: WrittenQuestion, revisions: Mapping[str, str], given: Any, comment: str, by: str = ""
) -> DecisionOutcome:
    """Give the same points and comment to the answers of several learners, each still as in its revision."""
    points_given = marks.checked(given, question.rubric)
    if None in points_given:
        raise CourseError("points for all criteria were expected where several answers are graded together")
    with marks.alone(folder, question.assignment, question.exercise):
        every = {answer.learner: answer for answer in answers(folder, question)}
        if unknown := sorted(set(revisions) - set(every)):
            raise CourseError(f"{unknown[0]!r} has no graded submission of {question.assignment}")
        asked_for = [every[learner] for learner in revisions]
        same = [answer for answer in asked_for if answer.revision == revisions[answer.learner]]
        refused = [conflict(answer) for answer in asked_for if answer.revision != revisions[answer.learner]]
        earlier = decisions(folder, question)
        number = 1 + max((decision.number for decision in earlier), default=0)
        if not same:
            return DecisionOutcome(0, [], refused)
        record(folder, question, same, points_given, comment, by)
        now = [answer for answer in answers(folder, question) if answer.learner in revisions]
        changed = {answer.learner for answer in same}
        after = {answer.learner: answer.revision for answer in now}
        before = {answer.learner: _earlier(answer, after[answer.learner]) for answer in same}
        at = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
        _save(folder, question, [*earlier, SharedDecision(number, by, at, before)])
        return DecisionOutcome(number, [answer for answer in now if answer.learner in changed], refused)


def undo(folder: Path, question: WrittenQuestion, number: int) -> DecisionOutcome:
    """Give each answer of a decision back what it had before, unless it was changed since."""
    with marks.alone(folder, question.assignment, question.exercise):
        earlier = decisions(folder, question)
        decision = next((one for one in earlier if one.number == number), None)
        if decision is None:
            known = ", ".join(str(one.number) for one in earlier) or "none"
            raise CourseError(f"no decision {number} over {question.exercise} can be undone; there is {known}")
        every = {answer.learner: answer for answer in answers(folder, question)}
        there = [every[learner] for learner in decision.before if learner in every]
        same = [answer for answer in there if answer.revision == decision.before[answer.learner].after]
        refused = [conflict(answer) for answer in there if answer.revision != decision.before[answer.learner].after]

        def change(answer: HandGradedAnswer, grade: Any, comment: Any) -> None:
            before = decision.before[answer.learner]
            grade.manual_score, grade.needs_manual_grade = before.score, before.waits
            comment.manual_comment = before.comment or None

        write(folder, question, same, change)
        known_marks = marks.load(folder, question.assignment, question.exercise)
        for answer in same:
            known_marks.pop(answer.learner, None)
            if (mark := decision.before[answer.learner].mark) is not None:
                known_marks[answer.learner] = marks.as_mark(mark)
        marks.save(folder, question.assignment, question.exercise, known_marks)
        _save(folder, question, [one for one in earlier if one.number != number])
        changed = {answer.learner for answer in same}
        return DecisionOutcome(number, [one for one in answers(folder, question) if one.learner in changed], refused)


def _earlier(answer: HandGradedAnswer, after: str) -> EarlierGrade:
    mark = None if answer.mark is None else asdict(answer.mark)
    return EarlierGrade(answer.score, answer.waits, answer.comment, mark, after)


def _path(folder: Path, question: WrittenQuestion) -> Path:
    return own(folder, "by_hand", question.assignment, "together", f"{question.exercise}.json")


def _save(folder: Path, question: WrittenQuestion, every: list[SharedDecision]) -> None:
    path = _path(folder, question)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    plain = {"version": 1, "decisions": [asdict(decision) for decision in every[-MOST_DECISIONS:]]}
    write_whole(path, json.dumps(plain, indent=1, ensure_ascii=False) + "\n")


def _decisions(plain: Any) -> list[SharedDecision]:
    return [_decision(row) for row in plain["decisions"]]


def _decision(row: Mapping[str, Any]) -> SharedDecision:
    before = {learner: EarlierGrade(**grade) for learner, grade in row["before"].items()}
    return SharedDecision(int(row["number"]), str(row["by"]), str(row["at"]), before)
