"""The statistics of each exercise, as test theory has them: difficulty and discrimination."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from .gathered_answers import OUTCOMES, Answered, Gathered

FEWEST = 5  # learners of whom a correlation is told


@dataclass(frozen=True)
class ItemStatistics:
    """One exercise: how many answers had which outcome, the mean share of its points, and the discrimination.

    The discrimination is the correlation of the score on this exercise with the rest score, which is the sum of all
    other exercises: the point-biserial correlation, where an answer is right or wrong, corrected for the item's own
    part in the sum (S. Henrysson, Correction of item-total correlations in item analysis, Psychometrika 28, 1963,
    211-218). Of a prediction, whose points are for predicting at all, it is that of having predicted right. None where
    it is not defined: fewer than FEWEST learners, or no differences between them. It
    and the mean are None too while answers are to be graded by hand.
    """

    number: int
    exercise: str
    title: str
    max_points: float
    outcomes: dict[str, int]
    mean: float | None
    discrimination: float | None

    @property
    def graded(self) -> int:
        """How many answers are decided, those of learners who gave none among them."""
        return sum(self.outcomes.values()) - self.outcomes.get("waiting", 0)

    @property
    def right(self) -> float | None:
        """The share of them that is right; None as long as some are to be graded by hand."""
        waits = self.outcomes.get("waiting", 0)
        return self.outcomes.get("right", 0) / self.graded if self.graded and not waits else None


def items(found: Gathered) -> list[ItemStatistics]:
    """Of every exercise of the assignment, in its order."""
    totals = {learner.name: learner.points for learner in found.result.learners if learner.results}
    return [
        _item(found, number, name, found.answers[name], totals)
        for number, name in enumerate(found.result.exercises, start=1)
    ]


def _item(
    found: Gathered, number: int, name: str, answers: Sequence[Answered], totals: dict[str, float]
) -> ItemStatistics:
    decided = [one for one in answers if one.outcome != "waiting"]
    points = found.result.exercises[name]
    counted = Counter(one.outcome for one in answers)
    shares = [one.result.points / points for one in decided] if points else []
    own = [float(one.right) if one.result.kind == "predicted" else one.result.points for one in decided]
    rest = [totals[one.learner] - one.result.points for one in decided]
    title = found.bank[name].title if name in found.bank else ""
    return ItemStatistics(
        number,
        name,
        title,
        points,
        {outcome: counted[outcome] for outcome in OUTCOMES if counted[outcome]},
        fmean(shares) if shares and not counted["waiting"] else None,
        correlation(own, rest) if not counted["waiting"] else None,
    )


def correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Pearson's correlation; None for fewer than FEWEST pairs, and where either does not vary."""
    if len(one) < FEWEST:
        return None
    a, b = fmean(one), fmean(other)
    spread = math.sqrt(math.fsum((x - a) ** 2 for x in one) * math.fsum((y - b) ** 2 for y in other))
    if spread < 1e-12:
        return None
    return math.fsum((x - a) * (y - b) for x, y in zip(one, other, strict=True)) / spread
