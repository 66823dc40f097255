"""Who of the staff grades which answers: `.gpubook/graders.json`.

A share is where a grader begins, and not a fence: everybody can grade everything. The learners of an assignment are
dealt in an order that is kept, to which late ones are added: a late submission changes nobody's share.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.file_lock import locked
from ...values.own_file import json_of
from ...values.own_folder import own
from .answers import HandGradedAnswer
from .questions import WrittenQuestion

FILE = "graders.json"
REMEDY = "move it away; without it nobody has a share of the grading, and the grades stay"
WAYS = {
    "question": "each question to one of them",
    "learner": "each learner to one of them, in all questions",
    "evenly": "each question to all of them evenly, and each learner to another one in the next question",
}
MOST_WEIGHT = 20
AnsweredQuestion = tuple[WrittenQuestion, Sequence[HandGradedAnswer]]


@dataclass(frozen=True)
class GradingShares:
    """How the grading of an assignment is shared: in which of `WAYS`, and each grader's weight."""

    way: str
    weights: Mapping[str, int]

    def __post_init__(self):
        if self.way not in WAYS:
            raise CourseError(f"{self.way!r} is not a way to share; {', '.join(WAYS)} were expected")
        for grader, weight in self.weights.items():
            if not grader.strip() or not isinstance(weight, int) or not 0 < weight <= MOST_WEIGHT:
                raise CourseError(f"{grader!r}={weight!r}: a name and a weight from 1 to {MOST_WEIGHT} were expected")

    @property
    def graders(self) -> list[str]:
        return list(self.weights)

    @property
    def turns(self) -> list[str]:
        """The graders as they take turns: who has twice the weight has two of the turns, as far apart as can be."""
        slots = [(at / weight, grader) for grader, weight in self.weights.items() for at in range(weight)]
        order = {grader: number for number, grader in enumerate(self.weights)}
        return [grader for _, grader in sorted(slots, key=lambda slot: (slot[0], order[slot[1]]))]

    def grader_of(self, question: int, answer: int) -> str:
        """Who grades an answer: by the number of its question in the assignment and its own among the answers, both
        from 0."""
        turn = {"question": question, "learner": answer, "evenly": question + answer}[self.way]
        return self.turns[turn % len(self.turns)]


@dataclass
class GraderProgress:
    """How far a grader is: answers of the share, how many of them wait, and how many answers they graded anywhere."""

    grader: str
    answers: int = 0
    waiting: int = 0
    graded: int = 0


def of(folder: Path, name: str) -> GradingShares | None:
    """The shares of an assignment: its own, or else those of the course; None where there are none."""
    every, _ = _read(folder)
    return every.get(name) or every.get("")


def every_grader(folder: Path) -> set[str]:
    """The graders that have a share in any assignment."""
    every, _ = _read(folder)
    return {grader for each in every.values() for grader in each.weights}


def give(folder: Path, name: str, shares: GradingShares | None) -> None:
    """Set the shares of an assignment, or of the course where `name` is empty; None takes them back."""
    with locked(own(folder, "graders.lock")):
        every, orders = _read(folder)
        every.pop(name, None)
        if shares is not None and shares.weights:
            every[name] = shares
        _save(folder, every, orders)


def places(folder: Path, name: str, learners: Iterable[str]) -> dict[str, int]:
    """The place of each learner in the order of an assignment, from 0; those who are new to it come last."""
    order = _read(folder)[1].get(name, [])
    if new := sorted(set(learners) - set(order)):
        with locked(own(folder, "graders.lock")):
            every, orders = _read(folder)
            order = orders.get(name, [])
            order = [*order, *(learner for learner in new if learner not in order)]
            _save(folder, every, orders | {name: order})
    return {learner: place for place, learner in enumerate(order)}


def _read(folder: Path) -> tuple[dict[str, GradingShares], dict[str, list[str]]]:
    path = own(folder, FILE)
    return json_of(path, REMEDY, _shares, CourseError) if path.exists() else ({}, {})


def _shares(plain: Any) -> tuple[dict[str, GradingShares], dict[str, list[str]]]:
    every = {str(name): GradingShares(row["way"], dict(row["weights"])) for name, row in plain["shares"].items()}
    return every, {str(name): [str(learner) for learner in order] for name, order in plain["order"].items()}


def _save(folder: Path, every: Mapping[str, GradingShares], orders: Mapping[str, list[str]]) -> None:
    plain = {key: {"way": each.way, "weights": dict(each.weights)} for key, each in sorted(every.items())}
    content = {"version": 1, "shares": plain, "order": dict(orders)}
    write_whole(own(folder, FILE), json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def dealt(folder: Path, name: str, asked: Sequence[AnsweredQuestion]) -> list[dict[str, str]]:
    """For each question of an assignment, who grades each learner's answer; nobody where there are no shares."""
    shares = of(folder, name)
    if shares is None or not shares.weights:
        return [{} for _ in asked]
    place = places(folder, name, {answer.learner for _, every in asked for answer in every})
    return [
        {answer.learner: shares.grader_of(number, place[answer.learner]) for answer in every}
        for number, (_, every) in enumerate(asked)
    ]


def progress(folder: Path, name: str, asked: Sequence[AnsweredQuestion]) -> list[GraderProgress]:
    """How far each grader is, those too who have graded without a share; empty answers count for nobody."""
    shares = of(folder, name)
    graders_known = shares.graders if shares else []
    rows = {grader: GraderProgress(grader) for grader in graders_known}
    for (_, every), graders in zip(asked, dealt(folder, name, asked), strict=True):
        for answer in every:
            if answer.state == "empty":
                continue
            if answer.learner in graders:
                row = rows[graders[answer.learner]]
                row.answers += 1
                row.waiting += answer.waits
            if answer.mark is not None and answer.mark.by and answer.state in ("graded", "rubric"):
                rows.setdefault(answer.mark.by, GraderProgress(answer.mark.by)).graded += 1
    return list(rows.values())
