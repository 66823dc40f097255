"""How much longer, or shorter, than until the deadline each learner has: extensions, factors on time, and an exam's
minutes, which count from its first opening."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from . import accommodations, agreed_terms, exam_starts
from .agreed_terms import Terms
from .deadline_time import shown


@dataclass(frozen=True)
class GrantedTime:
    """What is added to the deadline for a learner (less than nothing where an exam ends before its window does), and
    why."""

    more: timedelta
    why: str


def granted(folder: Path, name: str, due: datetime | None) -> dict[str, GrantedTime]:
    """By learner, what is agreed for an assignment; nothing where there is no deadline."""
    if due is None:
        return {}
    terms, factors = agreed_terms.read(folder, name), accommodations.read(folder)
    window = {learner: _window(learner, terms, factors, due) for learner in terms.extensions.keys() | factors.keys()}
    starts = exam_starts.read(folder, name) if terms.exam else {}
    for learner, start in starts.items():
        end, why = sitting_end(terms, factors.get(learner, 1.0), start)
        latest = window.get(learner, GrantedTime(timedelta(), ""))
        if end - due < latest.more:
            window[learner] = GrantedTime(end - due, why)
    return {learner: time for learner, time in window.items() if time.more}


def granted_for(folder: Path, name: str, due: datetime | None) -> dict[str, timedelta]:
    """By learner, what is added to the deadline; nothing where there is no deadline."""
    return {learner: time.more for learner, time in granted(folder, name, due).items()}


def sitting_end(terms: Terms, factor: float, start: datetime) -> tuple[datetime, str]:
    """When the minutes of an exam are over that a learner began at `start`, whatever its window; and why."""
    minutes = (terms.exam.minutes if terms.exam else 0.0) * factor
    return start + timedelta(seconds=round(60 * minutes)), f"{minutes:g} minutes from {shown(start)}"


def _window(learner: str, terms: Terms, factors: Mapping[str, float], due: datetime) -> GrantedTime:
    """How much later than `due` a learner's deadline is, or the window of an exam: by an extension or by the factor on
    time, whichever gives more."""
    by_extension, by_factor = timedelta(), timedelta()
    if extension := terms.extensions.get(learner):
        by_extension = extension.beyond(due)
    if (factor := factors.get(learner, 1.0)) > 1:
        by_factor = accommodations.longer(factor, terms.released, due)
        if terms.exam:  # its window is for all; the minutes that are more still fit behind it
            by_factor = timedelta(seconds=round(60 * (factor - 1) * terms.exam.minutes))
    if by_factor > by_extension:
        return GrantedTime(by_factor, f"{factor:g} times the time")
    return GrantedTime(by_extension, str(extension or ""))
