"""An answer to an exercise and what is said of it: to the verbs of a notebook, to its cards and to those of a page."""

from __future__ import annotations

import ast
import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..declaration.verdict import Verdict, unreadable
from ..values import encoding
from ..values.inline_html import inline_html
from ..values.numbers import Unreadable
from . import cell_history, check_service, recording
from .lookup import LocatedExercise, numbers_of
from .progress import Progress

UNREADABLE = "something that cannot be read"
THEN = "Run the next cell to see what comes out."


@dataclass(frozen=True)
class SavedAttempt:
    """An answer to an exercise, as `encoding.encode` wrote it."""

    found: LocatedExercise
    message: Any

    def shown(self) -> str:
        """What it says, or that it cannot be read."""
        try:
            return self.found.kind.readable(encoding.decode(self.message))
        except (Unreadable, encoding.BadMessage):
            return UNREADABLE


def judged(found: LocatedExercise, answer: Any, numbers: Mapping[str, Any] | None = None) -> tuple[Verdict, Any]:
    """The verdict by the key, on these numbers or else the learner's own, or by a course's check service, or without
    either what was understood; and the answer as a record keeps it. The object itself is what the key may call."""
    if nothing := _nothing(found, answer):
        return nothing, None
    try:
        message = encoding.encode(answer)
    except encoding.NotEncodable as error:
        return unreadable(str(error), error.reason), None
    if (service := check_service.of(found.public["id"])) is not None:
        return check_service.judged(service, found, answer, message), message
    declared = found.declared
    if declared is None:
        return found.kind.recorded(message), message
    call = declared.answer.local_call(answer, declared.withholds)
    return declared.judge_message(message, numbers_of(found) if numbers is None else numbers, call), message


def _nothing(found: LocatedExercise, answer: Any) -> Verdict | None:
    """The verdict on a variable that holds no answer: its cell failed, or is its stub still; else None."""
    name = found.public["answer_name"]
    return cell_history.failed(found.public["id"], name, answer) or cell_history.stub(name, answer)


def predicted(found: LocatedExercise, answer: Any, source: str, then: str = THEN) -> Verdict:
    """Write a readable prediction down, with what the learner wrote, and say so; what comes out is for `reveal`, as the
    sentence `then` says."""
    if nothing := cell_history.failed(found.public["id"], found.public["answer_name"], answer):
        return nothing
    try:
        message = encoding.encode(answer)
    except encoding.NotEncodable as error:
        return unreadable(str(error), error.reason)
    echoed = found.kind.recorded(message)
    if echoed.kind != "recorded":
        return echoed
    message = json.loads(json.dumps(message))  # as the progress file will give it back
    try:
        recorded = Progress.here().predict(found.public["id"], message, source)
    except OSError as error:
        say = f"Your prediction counts, but it could not be written down ({error.strerror or error})."
    else:
        unchanged = recorded.first or recorded.answer == message
        first = SavedAttempt(found, message if unchanged else recorded.answer).shown()
        sentence = f"Predicted: {first}." if unchanged else f"Your first prediction is kept: {first}."
        say = f"{sentence} {then}"
    return Verdict(1.0 if found.declared is not None else 0.0, say, "recorded")


def as_json(found: LocatedExercise, verdict: Verdict) -> dict[str, Any]:
    """A verdict as docs/_static/card.js shows it."""
    fields = recording.told(verdict, found.public["points"])
    return fields | {"text": verdict.say, "sign": verdict.sign, "wants_hint": verdict.wants_hint}


def echoed(found: LocatedExercise, entered: Any) -> dict[str, Any]:
    """How a text is read while it is typed into a card: as HTML, or why it cannot be."""
    try:
        return {"html": inline_html(found.kind.echo(entered))}
    except Unreadable as error:
        return {"error": inline_html(str(error))}


def as_typed(found: LocatedExercise, source: str, answer: Any) -> str:
    """What a learner wrote in a cell as it would be typed into a field of a card or of a page: the text or expression
    that the cell sets last, else the value, for a record each of its fields. The cell as it is where it defines a
    function, and where nothing of this can be read."""
    if is_code(found):
        return source
    if isinstance(answer, Mapping):
        fields = {str(name): _item(value) for name, value in answer.items()}
        return json.dumps(fields, ensure_ascii=False) if _reads(found, fields) else source
    for text in (source, _set_last(source), _value(answer)):
        if text and "\n" not in text and _reads(found, text):
            return text
    return source


def _reads(found: LocatedExercise, entered: Any) -> bool:
    try:
        found.kind.echo(entered)
    except Unreadable:
        return False
    return True


def _set_last(source: str) -> str:
    """What the last assignment of a cell sets, as it is written."""
    try:
        last = ast.parse(source).body[-1]
    except (SyntaxError, ValueError, IndexError):
        return ""
    return " ".join((ast.get_source_segment(source, last.value) or "").split()) if isinstance(last, ast.Assign) else ""


def _value(answer: Any) -> str:
    """A number or an expression as Python writes it; "" for anything else, and where that fails."""
    with contextlib.suppress(Exception):  # of a learner's own __str__
        if hasattr(answer, "free_symbols"):
            return str(answer)
        if isinstance(answer, int | float) or hasattr(answer, "dtype"):
            return repr(float(answer)).removesuffix(".0")
    return ""


def _item(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def has_key(found: LocatedExercise, verdict: Verdict) -> bool:
    """Whether a verdict is by a key, the one at hand or that of a course's check service."""
    return verdict.kind != "recorded" if check_service.of(found.public["id"]) else found.declared is not None


def is_code(found: LocatedExercise) -> bool:
    """Whether its cell defines a function; any other sets `answer`."""
    return found.public["answer_name"] != "answer"
