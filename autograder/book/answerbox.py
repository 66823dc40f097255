"""The answer boxes of a page, as HTML: what is entered there docs/_static/card.js hands to the page's Python."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ..declaration import answer_form
from ..values.inline_html import inline_html

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise


def form(exercise: Exercise, chapter: str) -> Markup:
    """The answer box of an exercise; "" where the page cannot judge it."""
    box = exercise.answer.box(exercise)
    if box is None:
        return Markup()
    stub = exercise.stub()
    return answer_form.form(
        box, exercise=exercise.id, chapter=chapter, predict=exercise.predict, hints=len(exercise.hints), stub=stub
    )


def script_json(data: Any) -> Markup:
    """JSON that can stand inside a script element, on one line."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


__all__ = ["form", "inline_html", "script_json"]
