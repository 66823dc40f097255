"""When each learner opened an exam: the first opening counts, and stays (`.gpubook/exams/NAME/starts.json`, UTC)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.own_file import json_of
from ...values.own_folder import own
from .course_lock import alone

REMEDY = "restore it from a backup; moved away, nobody has opened the exam, and its window alone counts"


def read(folder: Path, name: str) -> dict[str, datetime]:
    """When each learner opened the exam `name` (UTC); CourseError where the file cannot be read."""
    path = own(folder, "exams", name, "starts.json")
    try:
        return json_of(path, REMEDY, _times, CourseError)
    except FileNotFoundError:
        return {}


def first(folder: Path, name: str, learner: str, now: datetime) -> datetime:
    """When this learner opened the exam: `now`, if not before; on the disk when this returns."""
    with alone(folder, f"exams/{name}/starts.lock"):
        starts = read(folder, name)
        if learner not in starts:
            _write(folder, name, starts | {learner: now.replace(microsecond=0)})
        return starts.get(learner, now.replace(microsecond=0))


def enter(folder: Path, name: str, starts: Mapping[str, datetime]) -> None:
    """Enter when these learners began, in place of what stood there: a teacher's word counts."""
    with alone(folder, f"exams/{name}/starts.lock"):
        _write(folder, name, read(folder, name) | {who: when.replace(microsecond=0) for who, when in starts.items()})


def _write(folder: Path, name: str, starts: Mapping[str, datetime]) -> None:
    plain = {learner: when.isoformat() for learner, when in sorted(starts.items())}
    write_whole(own(folder, "exams", name, "starts.json"), json.dumps(plain, indent=1, ensure_ascii=False) + "\n")


def _times(plain: Mapping[str, Any]) -> dict[str, datetime]:
    return {learner: datetime.fromisoformat(when) for learner, when in plain.items()}
