"""How an exercise is solved, as Markdown: out of the instructor's cell and of the declaration."""

from __future__ import annotations

import inspect

from .answer import JudgedBy
from .exercise import Exercise

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def solution_of(cell_source: str) -> str:
    """The text between the solution markers of an answer cell."""
    _, _, rest = cell_source.partition(BEGIN)
    return rest.partition(END)[0].strip("\n")


def worked(exercise: Exercise, cell_source: str, owner: str | None = None) -> str:
    """One exercise's solution: what the instructor's cell holds, the answer for the numbers of `owner` (None: the
    book's), and why it is so."""
    answer, given = exercise.answer, exercise.variant(owner)
    source = cell_source if answer.judged_by is JudgedBy.TEACHER else solution_code(exercise, cell_source)
    parts = (f"**{answer.solution_title}**", answer.worked(exercise, source, given, with_prompt=False))
    return "\n\n".join(part for part in (*parts, exercise.fill(exercise.explain, given)) if part)


def solution_code(exercise: Exercise, cell_source: str) -> str:
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
