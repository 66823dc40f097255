"""How a learner who is stuck is led on: to the hints, one by one and only when asked for, and then to the solution.

In a course no solution is shown, though the learner's own machine has those of the book: the release of an assignment
says in its exercises.json that it is one (see `lookup.assignment`).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..declaration.answer import JudgedBy
from ..declaration.exercise import Exercise
from ..declaration.verdict import Verdict
from ..declaration.worked import worked
from ..values.book_root import book_root
from .card import NotebookCard
from .lookup import LocatedExercise, assignment, owner
from .progress import Progress

NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
CELL = re.compile(r"^(`{3,})\{code-cell\}[^\n]*\n(.*?)^\1`*[ \t]*$", re.MULTILINE | re.DOTALL)  # of a chapter's source


def led_on(found: LocatedExercise, verdict: Verdict) -> Verdict:
    """The verdict; where little is known of what is wrong, with the call that leads on."""
    return verdict.with_more(_offer(found)) if verdict.wants_hint else verdict


def next_hint(found: LocatedExercise) -> NotebookCard:
    """One hint more than the last time."""
    name, hints = found.public["id"], hints_of(found)
    if not hints:
        return NotebookCard(f"There is no hint for this one.{_to_solution(found)}")
    try:
        shown = Progress.here().next_hint(name, len(hints))
    except OSError:
        shown = len(hints)
    lines = [f"{i}. {text}" for i, text in enumerate(hints[:shown], start=1)]
    left = len(hints) - shown
    tail = f"*{_counted(left).capitalize()} more: run the cell again.*" if left else "*That was the last hint.*"
    return NotebookCard("\n".join(lines) + f"\n\n{tail}{'' if left else _to_solution(found)}")


def solution(found: LocatedExercise, anyway: bool = False) -> NotebookCard:
    """The solution with its derivation, once the hints are used up, or `anyway`; in a course, who shows it and when."""
    name = found.public["id"]
    if (course := assignment()) is not None:
        return NotebookCard(_refused(course))
    if found.declared is None:
        return NotebookCard(f"No solution of `{name}` is at hand here: only its question is known.")
    progress = Progress.here()
    if found.public.get("predict") and _prediction(progress, name) is None:
        return NotebookCard(
            f'First predict: a prediction is worth its points whatever comes out. Then `reveal("{name}")`.'
        )
    left = len(hints_of(found)) - hints_shown(found)
    if left > 0 and not anyway and not solution_seen(found) and found.kind.judged_by is not JudgedBy.TEACHER:
        return NotebookCard(f'{_offer(found)} The solution all the same: `solution("{name}", anyway=True)`.')
    with contextlib.suppress(OSError):  # it is shown all the same
        progress.record_solution(name)
    learner = owner() if found.public.get("variants") else None
    return NotebookCard(worked(found.declared, _instructors_cell(found, found.declared), learner))


def page(name: str) -> NotebookCard:
    """A page of docs/, for a notebook."""
    try:
        return NotebookCard((book_root() / "docs" / name).read_text(encoding="utf-8"))
    except OSError:
        return NotebookCard("The book's pages are not at hand here.")


def hints_of(found: LocatedExercise) -> Sequence[str]:
    """The hints of an exercise, the first one first."""
    return found.public.get("hints") or []


def hints_shown(found: LocatedExercise) -> int:
    """How many of them were asked for; 0 where nothing could be written down."""
    try:
        return Progress.here().hints_shown(found.public["id"])
    except OSError:
        return 0


def solution_seen(found: LocatedExercise) -> bool:
    """Whether its solution was shown before."""
    try:
        return Progress.here().solution_seen(found.public["id"]) is not None
    except OSError:
        return False


def _offer(found: LocatedExercise) -> str:
    """What can be asked for next, as a sentence; "" for nothing."""
    shown = hints_shown(found)
    left = len(hints_of(found)) - shown
    if left <= 0:
        return _to_solution(found).strip()
    many = f"{_counted(left)} more" if shown else f"{_counted(left)} hint{'s' if left > 1 else ''}"
    return f'`hint("{found.public["id"]}")` has {many}.'


def _to_solution(found: LocatedExercise) -> str:
    if found.declared is None or found.public.get("predict") or assignment() is not None:
        return ""
    return f' `solution("{found.public["id"]}")` shows the answer and how one gets there.'


def _counted(number: int) -> str:
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


def _refused(course: Mapping[str, Any]) -> str:
    head = f"`{course['name']}` is an assignment of a course, so its solutions are not shown here."
    if course.get("shows_solutions") and course.get("due"):
        return f"{head} Your feedback has them once no work is taken any more, which is not before {course['due']}."
    return f"{head} Whether and when you see them is for your teacher to say."


def _prediction(progress: Progress, name: str) -> Any:
    try:
        return progress.prediction(name)
    except OSError:
        return None


def _instructors_cell(found: LocatedExercise, declared: Exercise) -> str:
    """The source of its answer cell in the chapter's text, or its model answer; "" where the text is not at hand."""
    if declared.answer.judged_by is JudgedBy.TEACHER:
        return str(declared.expected(declared.variant()))
    try:
        text = found.chapter.read_text(encoding="utf-8") if found.chapter else ""
    except (OSError, UnicodeDecodeError):
        return ""
    asks = re.compile(rf"^:?exercise:[ \t]*{re.escape(declared.id)}[ \t]*$", re.MULTILINE)
    return next((cell for _, cell in CELL.findall(text) if asks.search(cell)), "")
