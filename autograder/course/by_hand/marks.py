"""Points by criterion, beside the gradebook: `.gpubook/by_hand/NAME/EXERCISE.json`.

The gradebook has one number for an answer, which formgrader, penalties and exports share. What it is made of stands
here: a mark is true while its sum is the gradebook's number, and shown to nobody once that was changed elsewhere.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.file_lock import locked
from ...values.own_file import json_of
from ...values.own_folder import own
from .questions import Rubric

REMEDY = "move it away to go on without points by criterion; the points themselves are in the gradebook"
PLACES = 4  # decimals of the points that are kept: a half of a third of a point and no noise


@dataclass(frozen=True)
class Mark:
    """What a teacher gave for each criterion of `rubric`; None: not decided yet. `points` is what went into the
    gradebook, None as long as nothing did; `scale` what a point of the rubric was worth; `by` and `at` say who did it
    and when (UTC)."""

    given: tuple[float | None, ...]
    rubric: Rubric
    points: float | None = None
    by: str = ""
    at: str = ""
    scale: float = 1.0

    @property
    def decided(self) -> bool:
        """Whether every criterion has its points."""
        return all(one is not None for one in self.given)

    def stands(self, score: float | None) -> bool:
        """Whether the gradebook's manual score is still what the criteria add up to."""
        same = score is not None and self.points is not None and math.isclose(score, self.points, abs_tol=1e-6)
        return same and self.decided


def total(given: Sequence[float | None], scale: float = 1.0) -> float:
    """The points of all criteria together, in points of the assignment."""
    return round(math.fsum(one or 0.0 for one in given) * scale, PLACES)


def carried(mark: Mark, rubric: Rubric, same: Mapping[int, int] | None = None) -> tuple[float | None, ...]:
    """The points of a mark in another rubric, where they can be known.

    A criterion with the same text keeps its points, or the same share of them where it is worth something else; so does
    one that `same` (by number, from 1: the new one, the old one) says to be an old one in other words. A new criterion
    is not decided.
    """
    by_text = {_plain(text): number for number, (text, _) in enumerate(mark.rubric)}
    points: list[float | None] = []
    for number, (text, most) in enumerate(rubric, start=1):
        at = same[number] - 1 if same and number in same else by_text.get(_plain(text))
        before = None if at is None else mark.given[at]
        points.append(None if at is None or before is None else round(before * most / mark.rubric[at][1], PLACES))
    return tuple(points)


def _plain(text: str) -> str:
    return " ".join(text.split())


def checked(given: Any, rubric: Rubric) -> tuple[float | None, ...]:
    """Points by criterion as they come from a page or a file; CourseError unless each is None or within its range."""
    if not isinstance(given, (list, tuple)) or len(given) != len(rubric):
        raise CourseError(f"points for the criteria are {given!r}; a list of {len(rubric)} was expected")
    for value, (criterion, most) in zip(given, rubric, strict=True):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if value is not None and not (number and 0 <= value <= most):
            raise CourseError(f"{value!r} points for {criterion!r}; between 0 and {most:g} were expected")
    return tuple(None if value is None else round(float(value), PLACES) for value in given)


def _path(folder: Path, name: str, exercise: str, ending: str = "json") -> Path:
    return own(folder, "by_hand", name, f"{exercise}.{ending}")


def load(folder: Path, name: str, exercise: str) -> dict[str, Mark]:
    """The marks of one question, by learner; CourseError where the file is not ours."""
    path = _path(folder, name, exercise)
    if not path.exists():
        return {}
    about = path.stat()
    return dict(_loaded(path, about.st_ino, about.st_mtime_ns, about.st_size))


@lru_cache(16)  # the feedback of a class asks for each learner
def _loaded(path: Path, *_: int) -> dict[str, Mark]:
    return json_of(path, REMEDY, _marks, CourseError)


def _marks(plain: Any) -> dict[str, Mark]:
    return {learner: as_mark(mark) for learner, mark in plain["answers"].items()}


def as_mark(mark: Mapping[str, Any]) -> Mark:
    """A mark as a file has it."""
    rubric = tuple((str(criterion), float(points)) for criterion, points in mark["rubric"])
    return Mark(checked(mark["given"], rubric), rubric, mark["points"], str(mark["by"]), str(mark["at"]), mark["scale"])


def save(folder: Path, name: str, exercise: str, marks: Mapping[str, Mark]) -> None:
    """Write the marks of one question whole; call it inside `alone`."""
    answers = {learner: asdict(mark) for learner, mark in sorted(marks.items())}
    text = json.dumps({"version": 1, "answers": answers}, indent=1, ensure_ascii=False)
    write_whole(_path(folder, name, exercise), text + "\n")


@contextmanager
def alone(folder: Path, name: str, exercise: str) -> Iterator[None]:
    """Nobody else of ours changes a grade of this question until the block ends; a second grader waits."""
    with locked(_path(folder, name, exercise, "lock")):
        yield


def exercises(folder: Path, name: str) -> list[str]:
    """The exercises of an assignment of which something is kept."""
    return sorted(path.stem for path in own(folder, "by_hand", name).glob("*.json"))


SIGNS = {"full": "✓", "none": "✗", "part": "◐"}


def sign(given: float, most: float) -> str:
    """How much of a criterion was reached, in a sign."""
    return SIGNS["full" if given >= most else "part" if given else "none"]


def as_markdown(mark: Mark, texts: Sequence[str | None]) -> str:
    """The criteria with the points given for each: `texts` has None for what the learner may not read."""
    rows = []
    for number, (reached_points, (_, most), text) in enumerate(
        zip(mark.given, mark.rubric, texts, strict=True), start=1
    ):
        criterion = " ".join((text or f"Criterion {number}").split())
        reached, of = (round(points * mark.scale, PLACES) for points in (reached_points or 0.0, most))
        rows.append(f"- {sign(reached, of)} {criterion} — {reached:g} of {of:g}")
    return "**Points by criterion**\n\n" + "\n".join(rows)
