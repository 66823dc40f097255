"""The answer boxes of a page, as HTML: what is entered there docs/_static/exercise.js hands to the page's Python."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ..values.inline_html import inline_html
from .render import render

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise

MOST_ROWS = 20  # of an editor, before anything is typed


def form(exercise: Exercise, chapter: str) -> Markup:
    """The answer box of an exercise, labelled and usable from the keyboard; "" where the page cannot judge it."""
    box = exercise.answer.box(exercise)
    if box is None:
        return Markup()
    stub = exercise.stub()
    return render(
        "box.html.j2",
        id=exercise.id,
        chapter=chapter,
        box=box,
        ask=box.ask.replace("Your answer", "Your prediction", 1) if exercise.predict else box.ask,
        options={str(key): inline_html(str(text)) for key, text in box.options.items()},
        allowed={field.name: inline_html(field.allowed) for field in box.fields},
        stub=stub,
        rows=min(max(stub.count("\n") + 1 + box.lines, 3), MOST_ROWS),
        hints=len(exercise.hints),
        predict=exercise.predict,
        verb="Predict" if exercise.predict else "Check",
    )


def script_json(data: Any) -> Markup:
    """JSON that can stand inside a script element, on one line."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


__all__ = ["form", "inline_html", "script_json"]
