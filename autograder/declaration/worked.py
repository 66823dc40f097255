"""How an exercise is solved, as Markdown: out of the instructor's cell and of the declaration."""

from __future__ import annotations

from .answer import JudgedBy
from .exercise import Exercise
from .source_text import definition

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def solution_of(cell_source: str) -> str:
    """The text between the solution markers of an answer cell."""
    _, _, rest = cell_source.partition(BEGIN)
    return rest.partition(END)[0].strip("\n")


def worked(exercise: Exercise, cell_source: str, owner: str | None = None) -> str:
    """One exercise's solution: what the instructor's cell holds, the answer for the numbers of `owner` (None: the
    book's), and why it is so. Where an assignment of chosen exercises only points to the declaration, that says how."""
    answer, numbers = exercise.answer, exercise.variant(owner)
    source = cell_source if answer.judged_by is JudgedBy.TEACHER else solution_code(exercise, cell_source)
    derived = "" if source else answer.derived(exercise, numbers)
    shown = answer.worked(exercise, source, numbers, with_prompt=False)
    parts = (f"**{answer.solution_title}**", derived, shown, exercise.fill(exercise.explain, numbers))
    return "\n\n".join(part for part in parts if part)


def solution_code(exercise: Exercise, cell_source: str) -> str:
    """The code of the instructor's cell, or, where an assignment of chosen exercises only points to it, a function's
    of the declaration."""
    code = solution_of(cell_source)
    if any(line.strip() and not line.lstrip().startswith("#") for line in code.splitlines()):
        return code
    calls = exercise.answer.judged_by in (JudgedBy.CALLS, JudgedBy.RANKS)
    return definition(exercise.solution, exercise.answer.answer_name) if calls else ""
