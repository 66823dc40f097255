"""Worked solutions for feedback: of each exercise of an assignment, what its key says, as Markdown."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ..book.notebook import solution_of
from ..book.page import graded_for, value_markdown
from ..declaration.bank import Bank
from ..declaration.exercise import Exercise


def solutions(source: Any, bank: Bank, owner: str | None) -> dict[str, str]:
    """The solution of each exercise that the instructor's notebook asks and `bank` declares, by id.

    `owner`: whose numbers its answer is for (None: the book's).
    """
    found = {}
    for cell in source.cells:
        own = cell.metadata.get("gpubook", {})
        if own.get("part") == "answer" and own.get("exercise") in bank:
            found[own["exercise"]] = worked(bank[own["exercise"]], cell.source, owner)
    return found


def worked(exercise: Exercise, cell_source: str, owner: str | None = None) -> str:
    """One exercise's solution: the code of the instructor's cell, the answer, and why it is so."""
    if exercise.kind == "Written":
        return f"**A model answer**\n\n{cell_source.strip()}\n\n{graded_for(exercise)}"
    given: Mapping[str, Any] = exercise.variant(owner)
    code = solution_of(cell_source)
    if all(line.lstrip().startswith("#") or not line.strip() for line in code.splitlines()):
        code = _declared(exercise)  # an assignment of chosen exercises only points to the declaration
    shown = f"```python\n{code}\n```" if code else ""
    parts = ("**Worked solution**", shown, value_markdown(exercise, given), exercise.fill(exercise.explain, given))
    return "\n\n".join(part for part in parts if part)


def _declared(exercise: Exercise) -> str:
    """The text of a solution that is a function, where one is asked for."""
    if exercise.kind != "Function" and not exercise.answer.in_ranks:
        return ""
    try:
        return inspect.cleandoc("\n" + inspect.getsource(exercise.solution))
    except (OSError, TypeError):
        return ""
