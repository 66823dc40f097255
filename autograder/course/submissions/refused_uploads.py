"""What `gpubook collect` refused, by learner, until something of theirs is taken: who has handed in what cannot be read
has not handed in nothing."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.own_file import json_of
from ...values.own_folder import own

REMEDY = "move it away; the next `gpubook collect` writes anew whom it refuses"


def load(folder: Path, name: str) -> dict[str, str]:
    """By learner, which files of the assignment `name` were refused, and why."""
    path = _path(folder, name)
    return json_of(path, REMEDY, _texts, CourseError) if path.exists() else {}


def save(folder: Path, name: str, refused: Mapping[str, str]) -> None:
    """Replace what is known of the assignment; of nobody, there is no file."""
    path = _path(folder, name)
    if not refused:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_whole(path, json.dumps(dict(sorted(refused.items())), indent=1, ensure_ascii=False) + "\n")


def _texts(plain: Any) -> dict[str, str]:
    if {type(text) for text in plain.values()} - {str}:
        raise TypeError("more than texts")
    return dict(plain)


def _path(folder: Path, name: str) -> Path:
    return own(folder, f"{name}.refused.json")
