"""A file of a course that says something of each assignment or learner: one JSON object, by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.own_file import broken, json_of


def read_rows(path: Path, expected: str, remedy: str) -> dict[str, Any]:
    """What the file says, by name; nothing where there is none. CourseError with the remedy where it is no object:
    `expected` says what was."""
    if not path.exists():
        return {}
    rows: Any = json_of(path, remedy, error=CourseError)
    if not isinstance(rows, dict):
        raise broken(path, f"{expected} expected", remedy, CourseError)
    return rows


def write_rows(path: Path, rows: Mapping[str, Any]) -> None:
    """Write the file anew, in the order of its names."""
    write_whole(path, json.dumps(dict(sorted(rows.items())), indent=1, ensure_ascii=False) + "\n")
