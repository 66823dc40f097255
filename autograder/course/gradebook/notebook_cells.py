"""What the cells of a learner's notebook say that a gradebook has grades for."""

from __future__ import annotations

import json
from pathlib import Path

from ...grading.attachments import text_with_pictures


def cell_texts(path: Path) -> dict[str, str]:
    """The text of each cell that nbgrader knows, with its pictures, in a notebook that may not be there."""
    if not path.is_file():
        return {}
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    known = [(cell["metadata"].get("nbgrader", {}).get("grade_id"), cell) for cell in cells]
    return {name: text_with_pictures("".join(cell["source"]), cell.get("attachments")) for name, cell in known if name}
