"""Accommodations of single learners for the whole term: a factor on their time, kept in `accommodations.json`.

A factor of 1.5 gives 90 minutes of an exam of 60, and moves a deadline by half of the time from the day on which an
assignment was released to that deadline.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values.own_file import broken
from .course_file import read_rows, write_rows

FILE = "accommodations.json"
EXPECTED = 'a factor by learner, {"ann": {"time": 1.5}}, was'
MOST = 10.0
REMEDY = "mend it or restore it from a backup; without it, everybody has the same time"


def read(folder: Path) -> dict[str, float]:
    """By learner, the factor on time; CourseError where the file cannot be read."""
    path = folder / FILE
    rows = read_rows(path, EXPECTED, REMEDY)
    return {learner: _factor_in(path, learner, about) for learner, about in rows.items()}


def checked_factor(factor: float) -> float:
    """A factor on time; CourseError for one that gives less, nothing more, or over ten times as much."""
    if not (math.isfinite(factor) and 1 < factor <= MOST):
        raise CourseError(f"a factor on time of {factor:g}; more than 1 and at most {MOST:g} was expected")
    return float(factor)


def grant(folder: Path, learners: Sequence[str], factor: float) -> None:
    """Give these learners `factor` times as much time as the others, in place of what they had."""
    _write(folder, read(folder) | dict.fromkeys(learners, checked_factor(factor)))


def remove(folder: Path, learners: Sequence[str]) -> None:
    """Give these learners as much time as the others; CourseError where one of them had no factor."""
    factors = read(folder)
    if unknown := [learner for learner in learners if learner not in factors]:
        has = f"there is one for {', '.join(sorted(factors))}" if factors else "nobody has one"
        raise CourseError(f"{', '.join(unknown)}: no factor on time; {has}")
    _write(folder, {learner: factor for learner, factor in factors.items() if learner not in learners})


def longer(factor: float, released: datetime | None, due: datetime) -> timedelta:
    """How much later than `due` the deadline of a learner is, to the second; nothing where nobody knows when the
    assignment was released, or it was released after its deadline."""
    if released is None or released >= due:
        return timedelta()
    return timedelta(seconds=round((factor - 1) * (due - released).total_seconds()))


def _write(folder: Path, factors: Mapping[str, float]) -> None:
    write_rows(folder / FILE, {learner: {"time": factor} for learner, factor in factors.items()})


def _factor_in(path: Path, learner: str, about: Any) -> float:
    factor = about.get("time") if isinstance(about, dict) else None
    if isinstance(factor, bool) or not isinstance(factor, int | float):
        raise broken(path, f"{learner!r} has {about!r}, where {{'time': 1.5}} was expected", REMEDY, CourseError)
    return checked_factor(factor)
