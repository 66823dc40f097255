"""What the cells of a learner's notebook say that a gradebook has grades for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...grading.attachments import text_with_pictures
from ...values.own_file import json_of


def cell_texts(path: Path) -> dict[str, str]:
    """The text of each cell that nbgrader knows, with its pictures, in a notebook that may not be there."""
    if not path.exists():
        return {}
    return json_of(path, "remove it, and grade this learner again, which writes it anew", _texts, CourseError)


def _texts(plain: Any) -> dict[str, str]:
    known = [(cell["metadata"].get("nbgrader", {}).get("grade_id"), cell) for cell in plain["cells"]]
    return {name: text_with_pictures("".join(cell["source"]), cell.get("attachments")) for name, cell in known if name}
