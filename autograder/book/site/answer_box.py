"""The answer boxes of a page, as HTML: what is entered there docs/_static/card.js hands to the page's Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from ...declaration import answer_form

if TYPE_CHECKING:
    from ...declaration.exercise import Exercise


def form(exercise: Exercise, chapter: str) -> Markup:
    """The answer box of an exercise; "" where the page cannot judge it."""
    box = exercise.answer.box(exercise)
    if box is None:
        return Markup()
    stub = exercise.stub()
    return answer_form.form(
        box, exercise=exercise.id, chapter=chapter, predict=exercise.predict, hints=len(exercise.hints), stub=stub
    )
