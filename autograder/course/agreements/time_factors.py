"""Factors on a learner's time for the whole term: `gpubook course learners`, with all deadlines that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from .. import gradebook
from ..terms import accommodations
from ..terms.granted_time import granted_for
from . import extensions


def grant(folder: Path | str, learners: Sequence[str], factor: float) -> None:
    """Give these learners `factor` times the time in every assignment, past and future; late penalties follow at once.

    CourseError for a learner whom the course does not know, and for a factor that gives no more time.
    """
    folder = Path(folder).resolve()
    accommodations.checked_factor(factor)
    extensions.check_learners(folder, learners)
    before = _granted(folder)
    accommodations.grant(folder, learners, factor)
    _follow(folder, learners, before)


def remove(folder: Path | str, learners: Sequence[str]) -> None:
    """These learners have as much time as the others again; CourseError where one of them had no factor."""
    folder = Path(folder).resolve()
    before = _granted(folder)
    accommodations.remove(folder, learners)
    _follow(folder, learners, before)


def _granted(folder: Path) -> dict[str, dict[str, timedelta]]:
    """By assignment and learner, what is agreed now."""
    url = gradebook.url_of(folder)
    names = gradebook.names_with_deadline(url)
    return {name: granted_for(folder, name, gradebook.due_date(url, name)) for name in names}


def _follow(folder: Path, learners: Sequence[str], before: Mapping[str, Mapping[str, timedelta]]) -> None:
    for name, granted in before.items():
        extensions.take_back(folder, name, learners, granted)
