"""What stays of learners who were removed: how many, and by question the points and the kinds of their answers.

`.gpubook/removed.json` has sums over all of them, without an id, a time or an answer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.own_file import json_of
from ...values.own_folder import own
from .class_result import load
from .stored_results import results_path

FILE, ENDING = "removed.json", ".results.json"
REMEDY = "move it away; it has counts of learners who were removed, and nothing that is needed"


@dataclass
class RemovedLearners:
    """Of one assignment: how many were removed, and by question how often there were so many points, and such a kind of
    answer."""

    learners: int = 0
    points: dict[str, Counter[str]] = field(default_factory=dict)
    kinds: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """Their mean score, without penalties."""
        sums = [float(points) * count for row in self.points.values() for points, count in row.items()]
        return sum(sums) / self.learners if self.learners else 0.0

    def sentence(self, others: Collection[float]) -> str:
        """What the report says of them beside the scores of the `others`; empty where nobody was removed."""
        if not self.learners:
            return ""
        mean = fmean([*others, *[self.mean] * self.learners])
        were = "learner was" if self.learners == 1 else "learners were"
        return f"{self.learners} {were} removed from the course; with their points the mean is {mean:.3g}."


def read(folder: Path) -> dict[str, RemovedLearners]:
    """By assignment, what stays of them."""
    path = own(folder, FILE)
    return json_of(path, REMEDY, _removed, CourseError) if path.exists() else {}


def _removed(plain: dict[str, Any]) -> dict[str, RemovedLearners]:
    return {name: _of(row) for name, row in plain.items()}


def _of(row: dict[str, Any]) -> RemovedLearners:
    points, kinds = (_counters(row[part]) for part in ("points", "kinds"))
    return RemovedLearners(int(row["learners"]), points, kinds)


def _counters(plain: dict[str, dict[str, int]]) -> dict[str, Counter[str]]:
    return {exercise: Counter(row) for exercise, row in plain.items()}


def add(folder: Path, learner: str) -> None:
    """Add what a learner who is about to be removed has in each assignment's results."""
    every, changed = read(folder), False
    for path in sorted(own(folder).glob(f"*{ENDING}")):
        name = path.name.removesuffix(ENDING)
        graded = [row for row in load(results_path(folder, name)).learners if row.name == learner and row.results]
        for row in graded:
            changed, counts = True, every.setdefault(name, RemovedLearners())
            counts.learners += 1
            for result in row.results:
                counts.points.setdefault(result.exercise, Counter())[f"{result.points:g}"] += 1
                counts.kinds.setdefault(result.exercise, Counter())[result.kind] += 1
    if changed:
        plain = {
            name: {"learners": row.learners, "points": row.points, "kinds": row.kinds} for name, row in every.items()
        }
        write_whole(own(folder, FILE), json.dumps(plain, indent=1, sort_keys=True) + "\n")
