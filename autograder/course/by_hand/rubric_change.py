"""A rubric that was changed midway: earlier grades follow where their points are known, the others are listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from . import marks
from .answers import HandGradedAnswer, answers, write
from .questions import WrittenQuestion


@dataclass(frozen=True)
class FollowedGrade:
    """What becomes of one grade: its points before and after (None: it waits for another look, for the reason
    `why`)."""

    learner: str
    before: float | None
    after: float | None
    given: tuple[float | None, ...]
    why: str = ""


def preview(folder: Path, question: WrittenQuestion, same: Mapping[int, int] | None = None) -> list[FollowedGrade]:
    """What `follow` would do; nothing is changed."""
    return [_followed(answer, question, same or {}) for answer in _concerned(folder, question)]


def follow(folder: Path, question: WrittenQuestion, same: Mapping[int, int] | None = None) -> list[FollowedGrade]:
    """Have the grades that were given by an earlier rubric follow the question's rubric as it is now.

    Points by criterion are carried over (`marks.carried`) and added up anew; a grade with a criterion that nobody has
    decided keeps its points, as a draft, and waits for another look. So does one that was given without criteria.
    `same`: by number, which old criterion a new one is in other words.
    """
    with marks.alone(folder, question.assignment, question.exercise):
        known = marks.load(folder, question.assignment, question.exercise)
        concerned = _concerned(folder, question)
        made = {answer.learner: _followed(answer, question, same or {}) for answer in concerned}

        def change(answer: HandGradedAnswer, grade: Any, _comment: Any) -> None:
            followed = made[answer.learner]
            if followed.after is not None:
                grade.manual_score = followed.after
            elif answer.score is not None and answer.state in ("rubric", "graded"):
                grade.needs_manual_grade = True

        write(folder, question, concerned, change)
        for learner, followed in made.items():
            if learner in known and followed.given:
                scale = question.scale
                known[learner] = replace(
                    known[learner], given=followed.given, rubric=question.rubric, points=followed.after, scale=scale
                )
        marks.save(folder, question.assignment, question.exercise, known)
        return list(made.values())


def checked_same(pairs: Mapping[int, int], question: WrittenQuestion, folder: Path) -> dict[int, int]:
    """Pairs of a new criterion and the old one that it is, by number; CourseError where there is none such."""
    known = marks.load(folder, question.assignment, question.exercise).values()
    old = max((len(mark.rubric) for mark in known), default=0)
    for new, earlier in pairs.items():
        if not (1 <= new <= len(question.rubric) and 1 <= earlier <= old):
            raise CourseError(
                f"{new}={earlier}: a criterion from 1 to {len(question.rubric)} and an earlier one from 1 to {old} "
                "were expected"
            )
    return dict(pairs)


def _concerned(folder: Path, question: WrittenQuestion) -> list[HandGradedAnswer]:
    """The answers with points by an earlier rubric; where there are any, those graded without criteria too, of which
    nobody knows by which rubric they were."""
    every = answers(folder, question)
    if not any(answer.earlier for answer in every):
        return []
    return [answer for answer in every if answer.earlier or (answer.state == "graded" and answer.given is None)]


def _followed(answer: HandGradedAnswer, question: WrittenQuestion, same: Mapping[int, int]) -> FollowedGrade:
    mark = answer.mark
    if mark is None or not answer.counts:
        return FollowedGrade(answer.learner, answer.score, None, (), "graded without criteria")
    here = {new: old for new, old in same.items() if old <= len(mark.rubric)}
    points_now = marks.carried(mark, question.rubric, here)
    open_criteria = [number for number, points in enumerate(points_now, start=1) if points is None]
    if not mark.decided:
        return FollowedGrade(answer.learner, answer.score, None, points_now, "a draft")
    if open_criteria:
        numbers = ", ".join(map(str, open_criteria))
        return FollowedGrade(answer.learner, answer.score, None, points_now, f"criterion {numbers} is not decided")
    return FollowedGrade(answer.learner, answer.score, marks.total(points_now, question.scale), points_now)
