"""What a notebook calls. Each verb returns something that shows itself; none raises because of an answer."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..declaration.exercise import draw
from ..declaration.verdict import Verdict, unreadable
from ..values import encoding
from ..values.numbers import Unreadable
from ..values.texts import fill
from . import cell_history
from .lookup import Found, NotFound, find, owner
from .progress import Progress

if TYPE_CHECKING:
    from ..declaration.answer import Answer


@dataclass(frozen=True)
class Card:
    """Markdown that a notebook shows."""

    text: str

    def _repr_markdown_(self) -> str:
        return self.text

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


_graded: list[tuple[str, Any]] = []  # the object graded last in this kernel, with the exercise it first came for


def exercise(exercise_id: str) -> Card:
    """The prompt of an exercise, with your numbers where the course has variants."""
    found = find(exercise_id)
    public = found.public
    prompt = public["prompt"]
    if public.get("variants"):
        try:
            prompt = fill(public["template"], given(exercise_id))
        except NotFound as nobody:
            return Card(f"{str(nobody)[0].upper()}{str(nobody)[1:]}.")
    title = f"**{public['title']}**" if public.get("title") else ""
    return Card("\n\n".join(part for part in (title, prompt, _kind(found).asked_with()) if part))


def given(exercise_id: str) -> dict[str, Any]:
    """The numbers of an exercise: the book's, or your own where the course has variants."""
    public = find(exercise_id).public
    if public.get("variants"):
        return draw(exercise_id, owner(), public["variants"])
    return dict(public["given"])


def symbols(exercise_id: str) -> Any:
    """The letters of an Expression exercise as sympy symbols, in the order of its prompt; one alone where
    there is one. A cell that fails on them says what to write instead."""
    from ..answers import domains_from
    from ..answers.symbol_errors import explain_errors
    from ..declaration.verdict import DeclarationError

    explain_errors()
    found = find(exercise_id)
    if "symbols" not in found.public:
        raise DeclarationError(f"{exercise_id} is a {found.public['kind']} exercise; it has no symbols")
    letters = tuple(domain.symbol(name) for name, domain in domains_from(found.public["symbols"]).items())
    return letters[0] if len(letters) == 1 else letters


def hint(exercise_id: str) -> Card:
    """The next hint; each call shows one more."""
    hints = find(exercise_id).public.get("hints") or []
    if not hints:
        return Card("There is no hint for this one.")
    try:
        shown = Progress.here().next_hint(exercise_id, len(hints))
    except OSError:
        shown = len(hints)
    lines = [f"{i}. {text}" for i, text in enumerate(hints[:shown], start=1)]
    more = len(hints) - shown
    tail = f"{more} more: run the cell again." if more else "That was the last hint."
    return Card("\n".join(lines) + f"\n\n*{tail}*")


def check(exercise_id: str, answer: Any = ...) -> Verdict:
    """The verdict on an answer, with a sentence that leads on; without a key, what was understood."""
    found = find(exercise_id)
    name = found.public["answer_name"]
    return cell_history.with_doubt(name, answer, cell_history.stub(name, answer) or _verdict(found, answer))


def _verdict(found: Found, answer: Any) -> Verdict:
    try:
        message = encoding.encode(answer)
    except encoding.NotPlain as error:
        return unreadable(str(error))
    declared, public = found.declared, found.public
    if public.get("predict"):
        return _predict(found, message)
    if declared is not None:
        call = declared.answer.local_call(answer, declared.withholds)
        return declared.judge_message(message, given(public["id"]), call)
    return _kind(found).recorded(message)


def grade(exercise_id: str, answer: Any = ...) -> float:
    """Show the verdict and return the points, a builtin float between 0 and the exercise's points; 0.0
    without a key."""
    found = find(exercise_id)
    verdict = _unless_stale(exercise_id, answer, check(exercise_id, answer))
    _show(verdict)
    points = float(found.public["points"])
    if found.declared is None:
        return 0.0
    return min(max(float(verdict.score), 0.0), 1.0) * points


def _unless_stale(exercise_id: str, answer: Any, verdict: Verdict) -> Verdict:
    """The verdict, with a question where it is a wrong one on the very object that another exercise was
    graded on first: a cell that failed, or that sets no `answer`, leaves the one before it."""
    if not any(value is answer for _, value in _graded):
        _graded[:] = [(exercise_id, answer)]
    for other, _ in _graded:
        if other != exercise_id and verdict.score == 0 and verdict.kind != "empty":
            say = f"{verdict.say} (`answer` is still that of {other}: does the cell above set it?)"
            return Verdict(verdict.score, say, verdict.kind)
    return verdict


def reveal(exercise_id: str, result: Any = None) -> Card:
    """Your prediction beside what comes out: `result` (computed or measured), or the exercise's own
    solution."""
    found = find(exercise_id)
    public = found.public
    if not public.get("predict"):
        return Card(f"*{exercise_id} asks for no prediction: `check` says whether an answer is right.*")
    try:
        recorded = Progress.here().prediction(exercise_id)
    except OSError:
        recorded = None
    if recorded is None:
        return Card(
            f"*First predict: set `{public['answer_name']}` in the cell above, run it and the one below it, "
            "then this one.*"
        )
    mine = _shown(found, recorded.answer)
    lines = [f"You predicted **{mine}** ({recorded.time.replace('T', ' ').replace('+00:00', ' UTC')})."]
    if result is not None:
        try:
            lines.append(f"It comes out as **{_shown(found, encoding.encode(result))}**.")
        except encoding.NotPlain:
            lines.append(f"It comes out as **{encoding.type_name(result)}**.")
    if found.declared is not None:
        numbers = given(exercise_id)
        if result is None:
            lines.append(f"It comes out as **{_shown(found, encoding.encode(found.declared.expected(numbers)))}**.")
        lines.append(found.declared.judge_message(recorded.answer, numbers).say)
    return Card("\n\n".join(lines))


def _predict(found: Found, message: Any) -> Verdict:
    """Record a readable prediction and say so; what comes out is for `reveal`."""
    verdict = _kind(found).recorded(message)
    if verdict.kind != "recorded":
        return verdict
    name, score = found.public["id"], 1.0 if found.declared is not None else 0.0
    try:
        recorded = Progress.here().predict(name, json.loads(json.dumps(message)))
    except OSError as error:
        return Verdict(
            score,
            f"Your prediction counts, but it could not be written down ({error.strerror or error}).",
            "recorded",
        )
    if recorded.first or recorded.answer == json.loads(json.dumps(message)):
        return Verdict(
            score,
            f"Predicted: {_shown(found, message)}. Run the next cell to see what comes out.",
            "recorded",
        )
    first = _shown(found, recorded.answer)
    return Verdict(
        score, f"Your first prediction is kept: {first}. Run the next cell to see what comes out.", "recorded"
    )


def _kind(found: Found) -> Answer:
    """The answer kind, as far as it is known here."""
    from ..answers import answer_from

    return answer_from(found.public) if found.declared is None else found.declared.answer


def _shown(found: Found, message: Any) -> str:
    try:
        return _kind(found).readable(encoding.decode(message))
    except (Unreadable, encoding.BadMessage):
        return "something that cannot be read"


def _show(verdict: Verdict) -> None:
    """Display in a notebook; silent elsewhere."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        from IPython.display import display

        display(verdict)
