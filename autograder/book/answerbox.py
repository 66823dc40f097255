"""Answer boxes that work in a static page: digests of the right answer and of the common wrong ones.

A number is digested as its cell on a logarithmic grid two tolerances wide. The grid's offset is public and
puts the value in the middle of its cell, so the cell is exactly what the tolerance accepts. Zero and integers
are digested as themselves, a negative number with its sign. This hides an answer from a glance, not from
someone who reads the script; docs/_static/answerbox.js computes the same digests.
"""

from __future__ import annotations

import hashlib
import json
import math
from functools import cache
from typing import Any

from markupsafe import Markup

from ..declaration.answer import Box
from ..declaration.exercise import Exercise
from ..declaration.verdict import NOT_YET
from ..values import slips
from ..values.inline_html import inline_html
from ..values.numbers import rounded, two_digits
from .render import render


def payload(exercise: Exercise) -> dict[str, Any] | None:
    """What the page's script needs to judge an answer, for the book's numbers; None where the page cannot.

    `read` and `digest` say how a text is read and which part of it is hashed. `entries` are tried in order: the right
    answer, the mistakes, the slips, what is close; each has its digest, its grid, and its sentence as HTML, as the
    judge itself says it.
    """
    box = exercise.answer.box(exercise)
    return None if box is None else _payload(exercise, box)


def _payload(exercise: Exercise, box: Box) -> dict[str, Any]:
    salt = hashlib.sha256(f"gpubook answer box {exercise.id}".encode()).hexdigest()[:12]
    entries: list[dict[str, Any]] = []

    def add(value: Any, right: bool, say: str, tolerances: float = 1, **more: bool) -> None:
        told = {"right": right, "say": inline_html(led_on(exercise, say))}
        entry = told | more | ({} if more else _grid(box, value, tolerances))
        entries.append(entry | {"digest": digest(salt, len(entries), what(box.digest, value, entry))})

    for number, value in enumerate(box.candidates):
        verdict, right = exercise.judge(value), number == 0
        if not right and verdict.kind not in ("mistake", "slip", "predicted", "wrong"):
            continue
        # the judge says more to an absurd one, and what is close has an entry of its own
        if verdict.kind == "wrong" and (verdict.say.endswith(box.otherwise) or verdict.say == box.close):
            continue
        add(value, right, verdict.say, slips.NARROWER if verdict.reason in slips.NARROW else 1)
    for value in _rounded(box):
        verdict = exercise.judge(value)
        if verdict.kind in ("mistake", "slip", "predicted") and verdict.say not in (box.otherwise, box.close):
            add(value, False, verdict.say, rounded=True)
    if box.close:
        add(box.candidates[0], False, box.close, box.reach)
    return {
        "id": exercise.id,
        "input": "radio" if box.options else "text",
        "read": box.read,
        "digest": box.digest,
        "unit": box.unit,
        "count": box.count,
        **({"nouns": list(box.nouns)} if box.nouns else {}),
        "predict": exercise.predict,
        "salt": salt,
        "otherwise": inline_html(led_on(exercise, box.otherwise)),
        "entries": entries,
    }


def led_on(exercise: Exercise, say: str) -> str:
    """The sentence, and where the page has the hints if it says no more than that the answer is wrong."""
    if not exercise.hints or not say.endswith(NOT_YET):
        return say
    return f"{say} " + ("A hint is" if len(exercise.hints) == 1 else "Hints are") + " folded below."


def what(way: str, value: Any, entry: dict[str, Any]) -> str:
    """What of a value is digested in the `way` of its box: zero, or sign and cell on the entry's grid, or the two
    digits of a rounded number; else all."""
    if way != "grid":
        return f"{way}:{value}"
    if entry.get("rounded"):
        return f"rounded:{two_digits(value)}"
    if value == 0:
        return "zero"
    return f"{'-' if value < 0 else '+'}{math.floor((math.log(abs(value)) - entry['offset']) / entry['width'])}"


def _rounded(box: Box) -> list[float]:
    """What the wrong candidates become when they are typed with two digits."""
    if box.digest != "grid":
        return []
    return list(dict.fromkeys(x for value in box.candidates[1:] for x in rounded(value)))


def digest(salt: str, n: int, text: str) -> str:
    """The digest of the n-th entry of a box; 80 bits are enough for a page."""
    return hashlib.sha256(f"{salt}:{n}:{text}".encode()).hexdigest()[:20]


@cache
def units_js() -> str:
    """The script with every unit that `hwlib.units` reads: its size in SI, its powers of the base units."""
    from hwlib.units import known_units

    return f"window.GPUBOOK_UNITS = {json.dumps(known_units(), ensure_ascii=False, separators=(',', ':'))};\n"


def form(exercise: Exercise) -> Markup:
    """The answer box as HTML: labelled, usable from the keyboard, its verdict announced; "" where none."""
    box = exercise.answer.box(exercise)
    if box is None:
        return Markup()
    return render(
        "box.html.j2",
        id=exercise.id,
        options={str(key): inline_html(str(text)) for key, text in box.options.items()},
        ask=box.ask if not box.options or not exercise.predict else "Your prediction",
        count=box.count,
        verb="Predict" if exercise.predict else "Check",
        data=script_json(_payload(exercise, box)),
    )


def script_json(data: Any) -> Markup:
    """JSON that can stand inside a script element, on one line."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def _grid(box: Box, value: Any, tolerances: float) -> dict[str, Any]:
    if box.digest != "grid":
        return {}
    rtol = min(tolerances * max(box.rtol, 1e-12), 0.5)
    width = math.log1p(rtol) - math.log1p(-rtol)
    offset = math.fmod(math.log(abs(value)) + math.log1p(-rtol), width) if value else 0.0
    return {"width": width, "offset": offset}
