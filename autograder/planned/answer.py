"""The answer to what a page that plans asks: HTML, or the library's own sentence on what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from markupsafe import Markup

from . import filling, serving, training
from .forms import FORMS

PARTS: dict[str, dict[str, Callable[[Mapping[str, str]], Markup]]] = {
    "plan": {"answer": training.answer, "why": training.why},
    "fill": {"answer": filling.answer},
    "serve": {"answer": serving.answer, "why": serving.why},
}


def answered(page: str, asked: Mapping[str, str], part: str = "answer") -> dict[str, str]:
    """{"html": the answer}; or {"error": a sentence, "field": the name of the field at fault, or ""}.

    `asked` are the texts of the page's fields; empty ones may be left out. `part` is "answer", or one that the page
    unfolds.
    """
    from hwlib.planner import PlanError
    from hwlib.strategy import StrategyError

    try:
        return {"html": str(PARTS[page][part](asked))}
    except (PlanError, StrategyError) as error:
        field = error.field if error.field in {one.name for one in FORMS[page].fields} else ""
        return {"error": str(error), "field": field}
    except ValueError as error:  # values that the formulas reject
        return {"error": str(error), "field": ""}
