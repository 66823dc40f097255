"""A sample that is graded twice, and how far two graders agree: `.gpubook/by_hand/NAME/second/EXERCISE.json`.

The second grader does not see the first one's points. The grade that counts stays the first one: the second says how
reliable the grading is, and where to look again.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.digest import digest
from ...values.own_file import json_of
from ...values.own_folder import own
from . import marks
from .answers import HandGradedAnswer, answers, conflict
from .marks import Mark
from .questions import WrittenQuestion

REMEDY = "move it away; the grades that count stay, and the sample is drawn anew"


@dataclass(frozen=True)
class DoubleSample:
    """The learners whose answers to a question are graded twice, and the second marks that are there."""

    learners: tuple[str, ...] = ()
    marks: Mapping[str, Mark] = field(default_factory=dict)


@dataclass(frozen=True)
class TwiceGraded:
    """An answer with the points of both graders."""

    learner: str
    first: float
    second: float
    by: tuple[str, str]


@dataclass(frozen=True)
class GraderAgreement:
    """How far two graders agree on a question: of `asked_for` answers those that both have graded."""

    asked_for: int
    pairs: tuple[TwiceGraded, ...]

    @property
    def same(self) -> float:
        """The share of answers with the same points."""
        return sum(pair.first == pair.second for pair in self.pairs) / len(self.pairs) if self.pairs else math.nan

    @property
    def kappa(self) -> float:
        """Cohen's kappa: the agreement beyond that of two graders who give the same points as often by chance. Not a
        number where chance alone would agree always."""
        n = len(self.pairs)
        if not n:
            return math.nan
        first, second = Counter(p.first for p in self.pairs), Counter(p.second for p in self.pairs)
        chance = sum(first[points] * second[points] for points in first) / n**2
        return math.nan if math.isclose(chance, 1.0) else (self.same - chance) / (1 - chance)

    @property
    def difference(self) -> float:
        """The mean of the second grader's points less the first one's: below zero, the second is stricter."""
        return _mean([pair.second - pair.first for pair in self.pairs])

    @property
    def distance(self) -> float:
        """The mean of how far the points are apart."""
        return _mean([abs(pair.second - pair.first) for pair in self.pairs])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def load(folder: Path, question: WrittenQuestion) -> DoubleSample:
    """The sample of a question; an empty one where none was drawn."""
    path = _path(folder, question)
    return json_of(path, REMEDY, _sample, CourseError) if path.exists() else DoubleSample()


def _sample(plain: Any) -> DoubleSample:
    second = {learner: marks.as_mark(row) for learner, row in plain["marks"].items()}
    return DoubleSample(tuple(str(learner) for learner in plain["learners"]), second)


def draw(folder: Path, question: WrittenQuestion, count: int) -> DoubleSample:
    """Have `count` answers graded twice, the same ones whenever it is asked; more are added to those that are in the
    sample already, and none of those that have a second mark leaves it."""
    with marks.alone(folder, question.assignment, question.exercise):
        sample = load(folder, question)
        written = [answer.learner for answer in answers(folder, question) if answer.state != "empty"]
        order = sorted(written, key=lambda learner: digest(f"{question.assignment}/{question.exercise}/{learner}"))
        rest = [learner for learner in order if learner not in sample.marks]
        wanted = [*sample.marks, *rest][: max(count, len(sample.marks))]
        drawn = DoubleSample(tuple(wanted), sample.marks)
        _save(folder, question, drawn)
        return drawn


def second_answers(folder: Path, question: WrittenQuestion) -> list[HandGradedAnswer]:
    """The answers of the sample as the second grader sees them: with the second points alone."""
    sample = load(folder, question)
    chosen = [answer for answer in answers(folder, question) if answer.learner in sample.learners]
    return [_second(answer, sample.marks.get(answer.learner)) for answer in chosen]


def _second(answer: HandGradedAnswer, mark: Mark | None) -> HandGradedAnswer:
    points = None if mark is None else mark.points
    return replace(answer, score=points, waits=points is None, comment="", mark=mark)


def enter(
    folder: Path, question: WrittenQuestion, learner: str, given: Any, revision: str, by: str = ""
) -> HandGradedAnswer:
    """Keep a second grader's points for an answer of the sample that is still as in `revision`; none at all take them
    back. The gradebook is not changed. Raises Conflict where another second grader was quicker."""
    points_given = marks.checked(given, question.rubric)
    with marks.alone(folder, question.assignment, question.exercise):
        sample = load(folder, question)
        first = next((answer for answer in answers(folder, question, learner) if learner in sample.learners), None)
        if first is None:
            raise CourseError(f"the answer of {learner!r} is not in the sample that is graded twice")
        if by and first.mark is not None and first.mark.by == by:
            raise CourseError(f"{by} graded this answer first; another grader was expected for the second time")
        before = _second(first, sample.marks.get(learner))
        if before.revision != revision:
            raise conflict(before)
        second = {who: mark for who, mark in sample.marks.items() if who != learner}
        if any(points is not None for points in points_given):
            points = marks.total(points_given, question.scale) if None not in points_given else None
            now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
            second[learner] = Mark(points_given, question.rubric, points, by, now, question.scale)
        _save(folder, question, DoubleSample(sample.learners, second))
        return _second(first, second.get(learner))


def agreement(sample: DoubleSample, every: Sequence[HandGradedAnswer], question: WrittenQuestion) -> GraderAgreement:
    """How far the graders of a sample agree, by the rubric as it is now."""
    pairs = []
    for answer in every:
        second = sample.marks.get(answer.learner)
        if second is None or answer.mark is None or not answer.mark.decided or answer.state == "waiting":
            continue
        if answer.given is None or answer.earlier or second.rubric != question.rubric or not second.decided:
            continue
        points = marks.total(answer.given, question.scale), marks.total(second.given, question.scale)
        pairs.append(TwiceGraded(answer.learner, *points, (answer.mark.by, second.by)))
    return GraderAgreement(len(sample.learners), tuple(pairs))


def _path(folder: Path, question: WrittenQuestion) -> Path:
    return own(folder, "by_hand", question.assignment, "second", f"{question.exercise}.json")


def _save(folder: Path, question: WrittenQuestion, sample: DoubleSample) -> None:
    path = _path(folder, question)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    second = {learner: asdict(mark) for learner, mark in sorted(sample.marks.items())}
    plain = {"version": 1, "learners": list(sample.learners), "marks": second}
    write_whole(path, json.dumps(plain, indent=1, ensure_ascii=False) + "\n")
