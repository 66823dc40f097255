"""Who has a submission that another learner of the same group submitted, and what of its grades was passed on.

`.gpubook/NAME.shared.json`, so that the next run knows which rows of the gradebook it made itself.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.own_file import json_of
from ...values.own_folder import own
from .agreed_terms import checked_learner
from .lateness import Lateness
from .page_basis import PageBasis

REMEDY = (
    "restore it from a backup; without it, `gpubook grade` takes what a group's members have for grades of their own"
)
Given = tuple[float | None, float | None, str]  # by hand: points, extra credit, comment


@dataclass(frozen=True)
class GroupShare:
    """A learner's part in a submission: `by` whom it is, which executed notebook was entered, by cell what a teacher's
    grades were when they were last passed on, how late it counts for this learner, and what their page shows."""

    by: str
    notebook: str = ""
    given: dict[str, Given] = field(default_factory=dict)
    lateness: Lateness | None = None
    basis: PageBasis | None = None


def read(folder: Path, name: str) -> dict[str, GroupShare]:
    """The shares of an assignment, by the learners who did not submit themselves."""
    path = _path(folder, name)
    if not path.exists():
        return {}
    return json_of(path, REMEDY, _shares, CourseError)


def _shares(plain: dict[str, Any]) -> dict[str, GroupShare]:
    return {checked_learner(who): _share(row) for who, row in plain.items()}


def _share(plain: dict[str, Any]) -> GroupShare:
    grades = {cell: tuple(row) for cell, row in plain["given"].items()}
    late, basis = Lateness.of(plain.get("lateness")), PageBasis.of(plain.get("basis"))
    return GroupShare(checked_learner(plain["by"]), plain["notebook"], grades, late, basis)


def submitters(folder: Path, name: str) -> dict[str, str]:
    """Who submitted for each of these learners."""
    return {who: one.by for who, one in read(folder, name).items()}


def mates(folder: Path, name: str, learner: str) -> list[str]:
    """The learner, and all others with the same submission."""
    by = submitters(folder, name)
    first = by.get(learner, learner)
    return list(dict.fromkeys([learner, first, *(who for who, one in by.items() if one == first)]))


def write(folder: Path, name: str, shares: dict[str, GroupShare]) -> None:
    """Keep them; without any, there is no file."""
    path = _path(folder, name)
    if shares:
        text = json.dumps({who: asdict(one) for who, one in sorted(shares.items())}, indent=1, ensure_ascii=False)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_whole(path, text + "\n")
    else:
        path.unlink(missing_ok=True)


def _path(folder: Path, name: str) -> Path:
    return own(folder, f"{name}.shared.json")
