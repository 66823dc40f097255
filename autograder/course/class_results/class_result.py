"""The results of a class, as `gpubook grade` leaves them beside the gradebook: points and verdicts by learner."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...book.course_error import CourseError
from ...grading.found_cells import ALL_THERE, FoundCells
from ...grading.results import Result
from ...values.atomic_write import write_whole
from ...values.own_file import json_of
from ..terms.lateness import DIGITS

REMEDY = "move it away, and run `gpubook grade` again, which writes it anew; the grades are in the gradebook"


@dataclass
class Learner:
    """One learner: a result for each exercise, or the problem that kept the submission from being graded."""

    name: str
    results: list[Result] = field(default_factory=list)
    problem: str = ""
    feedback: str = ""  # the path of the feedback page
    submitted_by: str = ""  # who submitted for the group, where it was another
    cells: FoundCells = ALL_THERE  # which answer cells of the notebook had lost what marks them
    late_penalty: float | None = None  # the points lost, after the run; None in the results of earlier versions

    @property
    def points(self) -> float:
        """The sum of all exercises; nothing is subtracted here, late penalties are the gradebook's."""
        return sum(result.points for result in self.results)


@dataclass(frozen=True)
class Change:
    """A result that is not what it was in the run before, over the same submission or over another, and what else has
    changed that it follows from."""

    learner: str
    before: Result
    after: Result
    resubmitted: bool
    why: str = ""


@dataclass(frozen=True)
class LateChange:
    """A learner who loses other points for being late than after the run before, whether or not an answer changed."""

    learner: str
    before: float
    after: float
    why: str = field(default="", compare=False)


@dataclass(frozen=True)
class EntryChange:
    """What else is not as it was after the run before: the `subject`, a question's cell or files, and what of it."""

    learner: str
    subject: str
    what: str


@dataclass
class ClassResult:
    """One run over an assignment: its exercises with their points, its learners, and notes for the teacher."""

    assignment: str
    exercises: dict[str, float]
    learners: list[Learner] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)  # files of learners that were not collected, and why
    folder: str = ""
    gradebook: str = ""  # its file, or its URL without the password
    seconds: float = 0.0
    changes: list[Change] = field(default_factory=list)  # since the run before; told once, and not saved
    late_changes: list[LateChange] = field(default_factory=list)  # as these
    entry_changes: list[EntryChange] = field(default_factory=list)  # as these

    @property
    def max_points(self) -> float:
        """The full score."""
        return sum(self.exercises.values())

    def learner(self, name: str) -> Learner:
        """The learner of that name; KeyError lists the known ones."""
        for learner in self.learners:
            if learner.name == name:
                return learner
        known = ", ".join(sorted(learner.name for learner in self.learners)) or "nobody"
        raise KeyError(f"unknown learner {name!r} in the results of {self.assignment}; known: {known}")


def save(result: ClassResult, path: Path) -> None:
    """Write the results as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    plain = asdict(replace(result, changes=[], late_changes=[], entry_changes=[]))
    del plain["changes"], plain["late_changes"], plain["entry_changes"]
    write_whole(path, json.dumps(plain, indent=1, ensure_ascii=False) + "\n")


def enter_penalties(
    result: ClassResult, penalties: Mapping[str, float], path: Path, reasons: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Enter what everybody graded loses now for being late, and where that is not what it was in the run before, whose
    results are at `path`, that it has changed, for the `reasons` by learner."""
    before = {one.name: one.late_penalty for one in load(path).learners if one.results} if path.is_file() else {}
    for learner in result.learners:
        if not learner.results or learner.name not in penalties:
            continue
        was, now = before.get(learner.name), round(penalties[learner.name], DIGITS)
        learner.late_penalty = now
        if was is not None and was != now:
            result.late_changes.append(LateChange(learner.name, was, now, reasons.get(learner.name, "")))


def add(result: ClassResult, path: Path) -> None:
    """Write the results of some learners and keep those of the others."""
    renewed = {learner.name for learner in result.learners}
    before = load(path).learners if path.is_file() else []
    others = [learner for learner in before if learner.name not in renewed]
    save(replace(result, learners=sorted(others + result.learners, key=lambda learner: learner.name)), path)


def load(path: Path) -> ClassResult:
    """Read what `save` wrote; FileNotFoundError says how to produce results."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: no results yet; run `gpubook grade` on the course first")
    return json_of(path, REMEDY, _result, CourseError)


def _result(plain: dict[str, Any]) -> ClassResult:
    return ClassResult(**{**plain, "learners": [_learner(row) for row in plain["learners"]]})


def _learner(plain: dict[str, Any]) -> Learner:
    results, cells = [Result(**one) for one in plain["results"]], FoundCells.of_plain(plain.get("cells"))
    return Learner(**{**plain, "results": results, "cells": cells})
