"""The form of an answer box as HTML, for a page and for a notebook; docs/_static/card.js brings it to life."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from ..values.inline_html import inline_html
from ..values.templates import rendered
from .answer import Box

MOST_ROWS = 20  # of an editor, before anything is typed


def form(
    box: Box,
    *,
    exercise: str,
    chapter: str = "",
    predict: bool = False,
    hints: int = 0,
    stub: str = "",
    place: str = "",
    variable: str = "answer",
) -> Markup:
    """A form, labelled and usable from the keyboard.

    `place` tells it from another form of the same exercise in the document; `variable` is what an input of the kind
    "cell" reads in the notebook.
    """
    return rendered(
        Path(__file__).parent,
        "box.html.j2",
        id=exercise,
        at=place or exercise,
        chapter=chapter,
        box=box,
        ask=box.ask.replace("Your answer", "Your prediction", 1) if predict else box.ask,
        options={str(key): inline_html(str(text)) for key, text in box.options.items()},
        allowed={field.name: inline_html(field.allowed) for field in box.fields},
        stub=stub,
        variable=variable,
        rows=min(max(stub.count("\n") + 1 + box.lines, 3), MOST_ROWS),
        hints=hints,
        predict=predict,
        verb="Predict" if predict else "Check",
    )
