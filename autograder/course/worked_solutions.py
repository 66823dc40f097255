"""Worked solutions for feedback: of each exercise of an assignment, its key's solution as Markdown."""

from __future__ import annotations

import inspect
from typing import Any

from ..book.notebook import solution_of
from ..declaration.answer import JudgedBy
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
    """One exercise's solution: what the instructor's cell holds, the answer, and why it is so."""
    answer, given = exercise.answer, exercise.variant(owner)
    source = cell_source if answer.judged_by is JudgedBy.TEACHER else _code(exercise, cell_source)
    parts = (f"**{answer.solution_title}**", answer.worked(exercise, source, given, with_prompt=False))
    return "\n\n".join(part for part in (*parts, exercise.fill(exercise.explain, given)) if part)


def _code(exercise: Exercise, cell_source: str) -> str:
    """The code of the instructor's cell, or, where an assignment of chosen exercises only points to it, a function's
    of the declaration."""
    code = solution_of(cell_source)
    if any(line.strip() and not line.lstrip().startswith("#") for line in code.splitlines()):
        return code
    if exercise.answer.judged_by not in (JudgedBy.CALLS, JudgedBy.RANKS):
        return ""
    try:
        return inspect.cleandoc("\n" + inspect.getsource(exercise.solution))
    except (OSError, TypeError):
        return ""
