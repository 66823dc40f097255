"""What a notebook calls. Each verb returns something that shows itself; none raises because of an answer."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..declaration.exercise import Exercise
from ..declaration.verdict import Verdict
from ..values import encoding
from ..values.numbers import Unreadable
from ..values.texts import fill
from . import cell_errors, cell_history, guidance, recording
from .attempt import SavedAttempt, as_typed, has_key, judged, predicted
from .card import NotebookCard
from .lookup import LocatedExercise, NotFound, find, kind_for_learner, numbers_of
from .points import in_words
from .progress import Progress

_graded: list[tuple[str, Any]] = []  # the object graded last in this kernel, with the exercise it first came for


def exercise(exercise_id: str) -> NotebookCard:
    """The prompt of an exercise, with your numbers where the course has variants."""
    located = find(exercise_id)
    try:
        numbers = numbers_of(located)
    except NotFound as nobody:
        return NotebookCard(f"{str(nobody)[0].upper()}{str(nobody)[1:]}.")
    title = f"**{located.public['title']}**" if located.public.get("title") else ""
    parts = (title, prompt(located, numbers), kind_for_learner(located).asked_of(numbers))
    return NotebookCard("\n\n".join(part for part in parts if part))


def prompt(found: LocatedExercise, numbers: Mapping[str, Any]) -> str:
    """The question of an exercise with these numbers, in Markdown."""
    return fill(found.public["template"], numbers) if found.public.get("variants") else found.public["prompt"]


def given(exercise_id: str) -> dict[str, Any]:
    """The numbers of an exercise: the book's, or your own where the course has variants."""
    return dict(numbers_of(find(exercise_id)))


def symbols(exercise_id: str) -> Any:
    """The symbols of an Expression exercise, sympy's, in the order of its prompt; one alone where there is one."""
    from ..answers import domains_from
    from ..declaration.verdict import DeclarationError

    located = find(exercise_id)
    if "symbols" not in located.public:
        raise DeclarationError(f"{exercise_id} is a {located.public['kind']} exercise; it has no symbols")
    made = tuple(domain.symbol(name) for name, domain in domains_from(located.public["symbols"]).items())
    return made[0] if len(made) == 1 else made


def hint(exercise_id: str) -> NotebookCard:
    """The next hint; each call shows one more."""
    return guidance.next_hint(find(exercise_id))


def solution(exercise_id: str, *, anyway: bool = False) -> NotebookCard:
    """The worked solution and its derivation, once the hints are used up, or `anyway`; never within a course."""
    return guidance.solution(find(exercise_id), anyway)


def how_to_answer() -> NotebookCard:
    """How answers are read: tolerances, units and notations, attempts, hints; the book's page on it."""
    return guidance.page("answers.md")


def check(exercise_id: str, answer: Any = ...) -> Verdict:
    """The verdict on an answer, with a sentence that leads on; without a key, what was understood."""
    located = find(exercise_id)
    name = located.public["answer_name"]
    if located.public.get("predict"):
        verdict = predicted(located, answer, as_typed(located, cell_history.source(name, answer), answer))
    else:
        verdict = guidance.led_on(located, judged(located, answer)[0])
        if has_key(located, verdict):
            written = as_typed(located, cell_history.source(name, answer), answer)
            recording.remember(located.public, verdict, written)
        verdict = _with_record(located, verdict)
    return verdict


def _with_record(found: LocatedExercise, verdict: Verdict) -> Verdict:
    """The verdict on an empty cell, with a word on an answer that the record has from elsewhere, such as a page."""
    if verdict.kind != "empty" or found.declared is None:
        return verdict
    try:
        best = Progress.here().entry(found.public["id"]).get("best", {}).get("score", 0)
    except OSError:
        return verdict
    if not best:
        return verdict
    name, points = found.public["id"], found.public["points"]
    say = (
        f'{verdict.say} Your record has {best * points:g} of {points:g} points here: `card("{name}")` shows the answer.'
    )
    return replace(verdict, say=say)


def grade(exercise_id: str, answer: Any = ...) -> float:
    """Show the verdict and return the points, a builtin float between 0 and the exercise's points; 0.0
    without a key. A notebook shows it in words."""
    located = find(exercise_id)
    verdict = _unless_stale(exercise_id, answer, check(exercise_id, answer))
    _show(verdict)
    points = float(located.public["points"])
    if not has_key(located, verdict):
        return in_words(0.0, verdict, None)
    return in_words(round(min(max(float(verdict.score), 0.0), 1.0) * points, 9), verdict, points)


def _unless_stale(exercise_id: str, answer: Any, verdict: Verdict) -> Verdict:
    """The verdict, with a question where it is a wrong one on the very object that another exercise was
    graded on first: a cell that failed, or that sets no `answer`, leaves the one before it."""
    if not any(value is answer for _, value in _graded):
        _graded[:] = [(exercise_id, answer)]
    for other, _ in _graded:
        if other != exercise_id and verdict.score == 0 and verdict.kind != "empty":
            say = f"{verdict.say} (`answer` is still that of {other}: does the cell above set it?)"
            return replace(verdict, say=say)
    return verdict


def reveal(exercise_id: str, result: Any = None) -> NotebookCard:
    """Your prediction beside what comes out: `result` (computed or measured), or the exercise's own
    solution."""
    located = find(exercise_id)
    public = located.public
    if not public.get("predict"):
        return NotebookCard(f"*{exercise_id} asks for no prediction: `check` says whether an answer is right.*")
    try:
        recorded = Progress.here().prediction(exercise_id)
    except OSError:
        recorded = None
    if recorded is None:
        return NotebookCard(
            f"*First predict: set `{public['answer_name']}` in the cell above, run it and the one below it, "
            "then this one.*"
        )
    mine = SavedAttempt(located, recorded.answer).shown()
    lines = [f"You predicted **{mine}** ({recorded.time[:19].replace('T', ' ')} UTC)."]
    if result is not None:
        try:
            lines.append(f"It comes out as **{SavedAttempt(located, encoding.encode(result)).shown()}**.")
        except encoding.NotEncodable:
            lines.append(f"It comes out as **{encoding.type_name(result)}**.")
    if located.declared is not None:
        numbers = given(exercise_id)
        if compared := _compared(located.declared, recorded.answer, numbers):
            lines.append(compared)
        elif result is None:
            solution = SavedAttempt(located, encoding.encode(located.declared.expected(numbers)))
            lines.append(f"It comes out as **{solution.shown()}**.")
        lines.append(located.declared.judge_message(recorded.answer, numbers).say)
    return NotebookCard("\n\n".join(lines))


def _compared(declared: Exercise, message: Any, numbers: dict[str, Any]) -> str:
    """A prediction beside what came out, where its kind has more to show than a value."""
    try:
        value = encoding.decode(message)
        declared.answer.readable(value)
    except (Unreadable, encoding.BadMessage):
        value = None
    return declared.answer.compared(declared, value, numbers)


def _show(verdict: Verdict) -> None:
    """Display in a notebook; silent elsewhere."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        from IPython.display import display

        display(verdict)


cell_errors.explain_errors()
