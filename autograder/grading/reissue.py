"""An assignment that was released anew with other prompts or points, such as one with an exercise dropped: executed
notebooks and results follow, and no cell runs."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from .found_cells import FoundCells
from .restore import grade_cell, grade_id
from .results import Result, settled, verdict_outputs, written_result


def reissued(executed: Any, release: Any, results: Sequence[Result]) -> list[Result]:
    """The results under `release`, which `executed` was graded under but for prompts and points; its locked cells and
    its verdicts are brought up to date in place."""
    originals = {name: cell for cell in release.cells if (name := grade_id(cell))}
    stands, now = {result.exercise: result for result in results}, []
    for cell in executed.cells:
        if (name := grade_id(cell)) not in originals:
            continue
        cell.metadata = copy.deepcopy(originals[name].metadata)
        if not cell.metadata["nbgrader"].get("solution"):
            cell.source = originals[name].source
        role = grade_cell(cell)
        if role is not None and role.part == "written":
            now.append(written_result(cell, role, FoundCells.of(executed)))
        elif role is not None and role.part == "grade":
            now.append(settled(stands[role.exercise], role))
            cell.outputs = verdict_outputs(now[-1])
            cell.outputs[-1].execution_count = cell.execution_count
    return now
