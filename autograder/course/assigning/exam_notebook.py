"""The part of an exam's notebook that opens it: a cell that calls `exam()`, and what that reads in `exercises.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...values.atomic_write import write_whole
from ...values.own_file import json_of
from ..terms.agreed_terms import ExamRule
from ..terms.deadline_time import shown

CELL = "exam"  # its id
SOURCE = "from autograder import exam\n\nexam()  # run this first: your time begins now, and is told here again"
ANEW = "assign again, which writes it"


def put(folder: Path, name: str, rule: ExamRule | None, url: str) -> None:
    """Have the instructor's notebook of an assignment open the exam first, at the service at `url` ("" without one);
    or not, where it is none (any more)."""
    import nbformat
    from nbformat.v4 import new_code_cell

    path = folder / "source" / name / f"{name}.ipynb"
    nb = nbformat.read(path, as_version=4)
    cells = [cell for cell in nb.cells if cell.get("id") != CELL]
    if rule is not None:
        first = next((at for at, cell in enumerate(cells) if cell.cell_type == "code"), 0)
        cells.insert(first, new_code_cell(SOURCE, id=CELL))
    nb.cells = cells
    nbformat.validate(nb)
    write_whole(path, nbformat.writes(nb, version=4) + "\n")
    beside = path.parent / "exercises.json"
    data: Any = json_of(beside, ANEW)
    data["assignment"].pop("exam", None)
    if rule is not None:
        about = {"minutes": rule.minutes, "opens": shown(rule.opens) if rule.opens else "", "url": url}
        data["assignment"]["exam"] = about
    write_whole(beside, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
