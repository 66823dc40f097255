"""Written answers: a model answer, a rubric, and a teacher who grades; nothing here decides."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..declaration.answer import Answer, Call, JudgedBy
from ..declaration.verdict import EMPTY, DeclarationError, Verdict
from ..values.numbers import Unreadable, described

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise
    from ..declaration.given import Given

STUB = "*Your answer*"  # in place of nbgrader's "YOUR ANSWER HERE": what nobody has touched waits for nobody
WAITS = "Your answer waits for the teacher."
# What there is to say outside a course, and where nobody can tell whether this is one.
NOBODY = (
    'Nobody grades an answer in words here: compare yours with the model answer, which `solution("{id}")` shows. '
    "In a course a teacher reads it."
)
BLANK = "\u115f\u1160\u2800\u3164\uffa0"  # letters and signs without ink


@dataclass(frozen=True)
class Written(Answer):
    """A text of at most about `words` words, graded by hand: `rubric` has criteria, each a sentence with its points.

    An exercise's points are the rubric's sum, and its solution is a model answer in Markdown. Learners see the
    criteria unless `criteria` is False.
    """

    rubric: Sequence[tuple[str, float]]
    words: int = 150
    criteria: bool = True
    judged_by: ClassVar[JudgedBy] = JudgedBy.TEACHER
    in_a_chapter: ClassVar[tuple[int, int | None]] = (1, 2)
    elsewhere: ClassVar[str] = "People read words, and no page judges them."
    solution_title: ClassVar[str] = "A model answer"

    @property
    def how(self) -> str:
        """A text, and about how many words."""
        return f"write into the cell below, at most about {self.words} words"

    def asked_with(self) -> str:
        """The criteria, where learners see them."""
        return asked_for(self.public()["rubric"])

    def graded_by(self) -> tuple[tuple[str, float], ...]:
        """The rubric."""
        return tuple((criterion, float(points)) for criterion, points in self.rubric)

    def declare(self, exercise: Exercise) -> None:
        """The rubric must be one, and the points of an exercise that names them its sum."""
        rows = self.rubric if isinstance(self.rubric, (list, tuple)) else ()
        if not rows or not all(_is_row(row) for row in rows):
            raise DeclarationError(
                f"{exercise.id}: rubric is {self.rubric!r}; pairs were expected, ((a criterion, its points), ...)"
            )
        if not isinstance(self.words, int) or self.words < 1:
            raise DeclarationError(f"{exercise.id}: words is {self.words!r}; a number of words was expected")
        if exercise.points not in (1, self.total):  # 1 is what an exercise has that says nothing
            raise DeclarationError(f"{exercise.id}: points is {exercise.points}; the rubric's sum is {self.total:g}")

    @property
    def total(self) -> float:
        """The points of all criteria."""
        total = math.fsum(points for _, points in self.rubric)
        return int(total) if total == int(total) else total

    def worth(self, exercise: Exercise) -> float:
        """The rubric's sum."""
        return self.total

    def public(self) -> dict[str, Any]:
        """The length, and the criteria where learners see them."""
        shown = [[criterion, points] for criterion, points in self.rubric] if self.criteria else []
        return {"words": self.words, "rubric": shown}

    def stub(self, exercise: Exercise) -> str:
        """What stands in the learner's cell before an answer."""
        return STUB

    def readable(self, value: Any) -> str:
        """How many words it has."""
        if type(value) is not str:
            raise Unreadable(f"{described(value)}; a text was expected")
        return f"{count_words(value)} words"

    def expected(self, exercise: Exercise, given: Given) -> str:
        """The model answer."""
        return exercise.fill(str(exercise.solution), given).strip()

    def shown(self, exercise: Exercise, value: Any, given: Given) -> str:
        """Nothing: it is its own text."""
        return ""

    def worked(self, exercise: Exercise, source: str, given: Given, *, with_prompt: bool) -> str:
        """The model answer, and the rubric where the prompt has not shown it."""
        if with_prompt and self.criteria:
            return source.strip()
        return f"{source.strip()}\n\n**Points are for**\n\n{rubric_markdown(self.rubric)}"

    def problems(self, exercise: Exercise) -> list[str]:
        """What is wrong with the model answer and the rubric."""
        return problems(exercise)

    def judge(self, exercise: Exercise, value: Any, given: Given, call: Call | None = None) -> Verdict:
        """That no program reads it: this is what a `check` says, as the grader never asks."""
        return Verdict(0.0, NOBODY.format(id=exercise.id), "waiting")


def _is_row(row: Any) -> bool:
    if not isinstance(row, (list, tuple)) or len(row) != 2:
        return False
    criterion, points = row
    number = isinstance(points, (int, float)) and not isinstance(points, bool) and 0 < points < math.inf
    return number and isinstance(criterion, str) and bool(criterion.strip())


def count_words(text: str) -> int:
    """How many words a text has; a formula counts as it is typed."""
    return sum(1 for word in text.split() if any(c.isalnum() for c in word))


def untouched(text: str) -> bool:
    """Whether there is nothing to be seen in a cell but what the release put there."""
    seen = "".join(" " if c in BLANK else c for c in text if unicodedata.category(c) != "Cf")
    return " ".join(seen.split()) in ("", STUB)


def rubric_markdown(rubric: Sequence[Sequence[Any]]) -> str:
    """The criteria as a list, each with its points."""
    worth = {criterion: f"{points:g} point{'' if points == 1 else 's'}" for criterion, points in rubric}
    return "\n".join(f"- {criterion} ({points})" for criterion, points in worth.items())


def asked_for(rubric: Sequence[Sequence[Any]]) -> str:
    """The criteria as a prompt has them; "" where it shows none."""
    head = "In a course it is graded by hand, with points for what it does:"
    return f"{head}\n\n{rubric_markdown(rubric)}" if rubric else ""


def problems(exercise: Exercise) -> list[str]:
    """What is wrong with a written exercise, as sentences."""
    answer: Any = exercise.answer
    model = answer.expected(exercise, exercise.variant()) if isinstance(exercise.solution, str) else ""
    if not model:
        return [f"the solution is {exercise.solution!r}; a model answer in Markdown was expected"]
    faults = []
    if (words := count_words(model)) > answer.words:
        faults.append(f"the model answer has {words} words, more than the {answer.words} it asks for")
    if exercise.points != math.fsum(points for _, points in answer.rubric):
        faults.append(f"the rubric does not sum to its {exercise.points:g} points")
    if len({criterion for criterion, _ in answer.rubric}) < len(answer.rubric):
        faults.append("two criteria are the same")
    if json.dumps(model, ensure_ascii=False)[1:-1] in json.dumps(exercise.public(variants=True), ensure_ascii=False):
        faults.append("the model answer stands in the learner's edition")
    return faults


__all__ = [
    "EMPTY",
    "NOBODY",
    "STUB",
    "WAITS",
    "Written",
    "asked_for",
    "count_words",
    "problems",
    "rubric_markdown",
    "untouched",
]
