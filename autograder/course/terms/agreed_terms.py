"""What is agreed with learners about an assignment: extensions, and groups with one submission for all.

It is kept in the course's `terms.json`, whatever has been submitted: nbgrader keeps an extension with a submission, and
so has no place for one before there is a submission, which is when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from .course_file import read_rows, write_rows
from .course_lock import alone
from .deadline_time import read_time, shown

FILE = "terms.json"
EXPECTED = "terms by assignment, {...}, were"
MOST_DAYS = 3650
MOST_MINUTES = 1440
PARTS = frozenset({"extensions", "groups", "released", "exam"})
REMEDY = "mend it or restore it from a backup; without it, nobody has an extension or a group"


@dataclass(frozen=True)
class Extension:
    """More time for one learner: some days, or until a time in UTC whatever the deadline is."""

    days: float = 0.0
    until: datetime | None = None

    def __post_init__(self):
        if self.until is None and not 0 < self.days <= MOST_DAYS:
            raise CourseError(f"an extension of {self.days:g} days; more than 0 and at most {MOST_DAYS} were expected")

    def beyond(self, due: datetime) -> timedelta:
        """How long it goes beyond a deadline; to the second, as a gradebook keeps it."""
        if self.until is not None:
            return max(self.until - due, timedelta())
        return timedelta(seconds=round(self.days * 86400))

    def __str__(self) -> str:
        days = f"{self.days:g} day" + ("" if self.days == 1 else "s")
        return days if self.until is None else f"until {shown(self.until)}"


@dataclass(frozen=True)
class ExamRule:
    """An exam: how many minutes a learner has from the first opening on, and from when on it can be opened (UTC). Its
    window ends with the assignment's deadline."""

    minutes: float
    opens: datetime | None = None

    def __post_init__(self):
        if not 0 < self.minutes <= MOST_MINUTES:
            raise CourseError(f"an exam of {self.minutes:g} minutes; more than 0 and at most {MOST_MINUTES} expected")


@dataclass
class Terms:
    """What is agreed for one assignment: extensions by learner, the learners of each group by its name, when it was
    first released (UTC), and how long it takes, if it is an exam."""

    extensions: dict[str, Extension] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    released: datetime | None = None
    exam: ExamRule | None = None

    def group_of(self, learner: str) -> str | None:
        """The name of a learner's group."""
        return next((name for name, members in self.groups.items() if learner in members), None)

    def as_plain(self) -> dict[str, Any]:
        """As the file has it."""
        extensions = {
            who: {"days": one.days} if one.until is None else {"until": shown(one.until)}
            for who, one in sorted(self.extensions.items())
        }
        parts = {"extensions": extensions, "groups": self.groups, "exam": _plain_exam(self.exam)}
        parts["released"] = shown(self.released) if self.released else {}
        return {name: part for name, part in parts.items() if part}


def read(folder: Path, name: str) -> Terms:
    """The terms of the assignment `name`; CourseError where the file was changed by hand and cannot be read."""
    return _terms(folder / FILE, name, read_rows(folder / FILE, EXPECTED, REMEDY).get(name, {}))


@contextmanager
def changing(folder: Path, name: str) -> Iterator[Terms]:
    """The terms of an assignment, which are written at the end of the block unless it fails; one at a time."""
    with alone(folder, "terms.lock"):
        terms = read(folder, name)
        yield terms
        every = read_rows(folder / FILE, EXPECTED, REMEDY) | {name: terms.as_plain()}
        write_rows(folder / FILE, {assignment: part for assignment, part in every.items() if part})


def _terms(path: Path, name: str, said: Any) -> Terms:
    try:
        if unknown := sorted(set(said) - PARTS):
            raise ValueError(f"{unknown[0]!r} is none of {', '.join(sorted(PARTS))}")
        extensions = {who: _extension(one) for who, one in said.get("extensions", {}).items()}
        groups = {group: _members(members) for group, members in said.get("groups", {}).items()}
        released = read_time(said["released"]).utc if "released" in said else None
        exam = _exam(said["exam"]) if "exam" in said else None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CourseError(
            f"{path}: the terms of {name!r} cannot be read ({error}); an extension is {{'days': 2}} or "
            "{'until': '2027-02-01 22:00 UTC'}, a group a list of learners"
        ) from None
    return Terms(extensions, groups, released, exam)


def _plain_exam(exam: ExamRule | None) -> dict[str, Any]:
    if exam is None:
        return {}
    return {"minutes": exam.minutes} | ({"opens": shown(exam.opens)} if exam.opens else {})


def _exam(plain: Mapping[str, Any]) -> ExamRule:
    if unknown := sorted(set(plain) - {"minutes", "opens"}):
        raise ValueError(f"{unknown[0]!r} is neither minutes nor opens")
    if isinstance(plain["minutes"], bool):
        raise ValueError(f"{dict(plain)} is not an exam")
    return ExamRule(float(plain["minutes"]), read_time(plain["opens"]).utc if "opens" in plain else None)


def _extension(said: Mapping[str, Any]) -> Extension:
    if set(said) == {"until"}:
        return Extension(until=read_time(said["until"]).utc)
    if set(said) != {"days"} or isinstance(said["days"], bool):
        raise ValueError(f"{dict(said)} is not an extension")
    return Extension(days=float(said["days"]))


def _members(said: Any) -> list[str]:
    if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
        raise ValueError(f"{said!r} is not a list of learners")
    return [checked_learner(one) for one in said]


def checked_learner(name: str) -> str:
    """The id of a learner, which is a folder's name in a course: never a path."""
    if not name or name.startswith(".") or any(c in "/\\\0" for c in name):
        raise CourseError(f"{name!r} is not a learner's id: the name of a folder in submitted/ was expected")
    return name
