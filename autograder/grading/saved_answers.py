"""Answers as a run took them: plain data of bounded size, kept so that a changed key needs no second run.

Only a value is kept. A function, a generator or a rank is asked anew for each case that it is judged by.
"""

import json
from typing import Any

from ..declaration.answer import JudgedBy
from ..declaration.exercise import Exercise
from . import fingerprints

MAX_TEXT = 20_000  # characters of an answer's JSON; a longer one is taken anew
MAX_DEPTH = 200  # and one that is nested deeper: `encoding.encode` stays below, and a journal cannot write a thousand
TEXTS = {"prompt", "title", "hints", "lines", "points", "template"}  # what of a question no answer depends on


def taken(exercise: Exercise, variants: bool, message: Any) -> dict[str, Any] | None:
    """What to keep of an answer, `message` being as `encoding.encode` wrote it; None where it has to be taken anew."""
    if exercise.answer.judged_by is not JudgedBy.VALUE or _deep(message) or len(json.dumps(message)) > MAX_TEXT:
        return None
    return {"message": message, "terms": terms(exercise, variants)}


def _deep(message: Any) -> bool:
    """Whether JSON data is nested too deep to be kept; a learner's process may send what no encoder wrote."""
    level = [message]
    for _ in range(MAX_DEPTH):
        inner = [value for value in level if isinstance(value, (dict, list))]
        if not inner:
            return False
        level = [part for value in inner for part in (value.values() if isinstance(value, dict) else value)]
    return True


def fits(answer: dict[str, Any] | None, exercise: Exercise, variants: bool) -> bool:
    """Whether a run would give the same answer again: the question still hands out and asks for the same."""
    if answer is None or exercise.answer.judged_by is not JudgedBy.VALUE:
        return False
    return bool(answer["terms"] == terms(exercise, variants))


def terms(exercise: Exercise, variants: bool) -> str:
    """A digest of all that a learner's code can see of an exercise, and of what it is to give."""
    seen = {key: value for key, value in exercise.public(variants).items() if key not in TEXTS}
    return fingerprints.digest(json.dumps(seen, sort_keys=True, default=str))
