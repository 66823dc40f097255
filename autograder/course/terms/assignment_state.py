"""What a teacher has decided about an assignment: what it is made of, other points, omissions, and which exercises
count for nobody or for everybody in full.

It is kept in the course's `assignments.json` until it is taken back, however often the assignment is made anew.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from .course_file import read_rows, write_rows
from .course_lock import alone

FILE = "assignments.json"
EXPECTED = "decisions by assignment, {...}, were"
REMEDY = "mend it or restore it from a backup; without it, points, omissions, drops and full marks are as never given"
PARTS = ("made_of", "without", "points", "dropped", "full")


@dataclass(frozen=True)
class MadeOf:
    """What an assignment is made of, as it was given: a chapter, exercises by name, the file of a text."""

    chapter: str = ""
    exercises: tuple[str, ...] | None = None
    text: str = ""

    def as_plain(self) -> dict[str, Any]:
        """As the file has it."""
        parts = {"chapter": self.chapter, "exercises": self.exercises and list(self.exercises), "text": self.text}
        return {key: part for key, part in parts.items() if part}

    def __str__(self) -> str:
        parts = [f"the text {self.text}"] if self.text else []
        parts += [f"chapter {self.chapter}"] if self.chapter else []
        parts += [f"exercises {', '.join(self.exercises)}"] if self.exercises else []
        return ", ".join(parts)


@dataclass
class AssignmentState:
    """What holds for one assignment: exercises of its chapter that are left out, other points by exercise, those that
    were dropped, and those of which everybody gets all points. `known`: whether the file has it."""

    made_of: MadeOf | None = None
    without: list[str] = field(default_factory=list)
    points: dict[str, float] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    full: list[str] = field(default_factory=list)
    known: bool = False

    def decided(self, asked: Collection[str]) -> dict[str, bool]:
        """By exercise that is asked and was decided about, whether everybody gets all points (or else it counts for
        nobody)."""
        every = dict.fromkeys(self.dropped, False) | dict.fromkeys(self.full, True)
        return {exercise: full for exercise, full in every.items() if exercise in asked}

    def decide(self, exercise: str, full: bool) -> None:
        """Drop an exercise, or give all its points to everybody; either takes the place of the other."""
        self.undecide(exercise)
        (self.full if full else self.dropped).append(exercise)

    def undecide(self, exercise: str) -> None:
        """The exercise counts as it is answered."""
        for exercises in (self.dropped, self.full):
            if exercise in exercises:
                exercises.remove(exercise)

    @property
    def sentence(self) -> str:
        """What was decided, in words; "" for nothing."""
        points = [f"{exercise} {value:g}" for exercise, value in sorted(self.points.items())]
        parts = {"left out": self.without, "points": points, "dropped": self.dropped, "full marks for all": self.full}
        return "; ".join(f"{what}: {', '.join(texts)}" for what, texts in parts.items() if texts)

    def as_plain(self) -> dict[str, Any]:
        """As the file has it."""
        made = self.made_of.as_plain() if self.made_of is not None else {}
        parts = {"made_of": made, "without": self.without, "points": dict(sorted(self.points.items()))}
        parts |= {"dropped": sorted(self.dropped), "full": sorted(self.full)}
        return {name: part for name, part in parts.items() if part}


def read(folder: Path, name: str) -> AssignmentState:
    """What holds for the assignment `name`; CourseError where the file was changed by hand and cannot be read."""
    every = read_rows(folder / FILE, EXPECTED, REMEDY)
    return _state(folder / FILE, name, every[name]) if name in every else AssignmentState()


@contextmanager
def changing(folder: Path, name: str) -> Iterator[AssignmentState]:
    """What holds for an assignment, which is written at the end of the block unless it fails; one at a time."""
    with alone(folder, "assignments.lock"):
        state = read(folder, name)
        yield state
        every = read_rows(folder / FILE, EXPECTED, REMEDY) | {name: state.as_plain()}
        write_rows(folder / FILE, every)


def _state(path: Path, name: str, plain: Any) -> AssignmentState:
    try:
        if unknown := sorted(set(plain) - set(PARTS)):
            raise ValueError(f"{unknown[0]!r} is none of {', '.join(PARTS)}")
        lists = {part: _ids(plain.get(part, [])) for part in ("without", "dropped", "full")}
        if both := sorted(set(lists["dropped"]) & set(lists["full"])):
            raise ValueError(f"{both[0]!r} is dropped, and everybody gets its points")
        made = _made_of(plain["made_of"]) if "made_of" in plain else None
        return AssignmentState(made, points=_points(plain.get("points", {})), **lists, known=True)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CourseError(f"{path}: what holds for {name!r} cannot be read ({error}); {REMEDY}") from None


def _made_of(plain: Mapping[str, Any]) -> MadeOf:
    texts = [plain.get(part, "") for part in ("chapter", "text")]
    if set(plain) - {"chapter", "exercises", "text"} or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{dict(plain)} is not what an assignment is made of")
    return MadeOf(texts[0], tuple(_ids(plain["exercises"])) if "exercises" in plain else None, texts[1])


def _ids(plain: Any) -> list[str]:
    if not isinstance(plain, list) or not all(isinstance(exercise, str) for exercise in plain):
        raise ValueError(f"{plain!r} is not a list of exercises")
    return list(dict.fromkeys(plain))


def _points(plain: Mapping[str, Any]) -> dict[str, float]:
    for exercise, points in plain.items():
        if type(points) not in (int, float) or not 0 < points < math.inf:
            raise ValueError(f"{points!r} points for {exercise!r}; a number above 0 was expected")
    return {exercise: float(points) for exercise, points in plain.items()}
