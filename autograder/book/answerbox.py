"""Answer boxes that work in a static page: digests of the right answer and of the common wrong ones.

A number is digested as its cell on a logarithmic grid two tolerances wide. The grid's offset is public and
puts the value in the middle of its cell, so the cell is exactly what the tolerance accepts. Zero and integers
are digested as themselves, a negative number with its sign. This hides an answer from a glance, not from
someone who reads the script; docs/_static/answerbox.js computes the same digests.
"""

from __future__ import annotations

import hashlib
import html
import json
import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from hwlib.units import COUNTS

from ..answers.quantity import CLOSE
from ..declaration.exercise import Exercise
from ..declaration.given import call_with
from ..values.slips import SLIPS

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

KINDS = ("Quantity", "Count", "Choice")
# Far from every slip's ratio: what the judge says to these, it says to any wrong number.
ELSEWHERE = (math.pi**3, 1 / math.pi**3, math.e**7, math.e**-7)


def payload(exercise: Exercise) -> dict[str, Any] | None:
    """What the page's script needs to judge an answer, for the book's numbers; None for other kinds.

    `entries` are tried in order: the right answer, the mistakes, the slips, what is close; each has its digest,
    its grid, and its sentence as HTML, as the judge itself says it.
    """
    if exercise.kind not in KINDS:
        return None
    salt = hashlib.sha256(f"gpubook answer box {exercise.id}".encode()).hexdigest()[:12]
    public = exercise.public()
    box: dict[str, Any] = {
        "id": exercise.id,
        "kind": exercise.kind.lower(),
        "unit": _unit(public.get("unit")),
        "predict": exercise.predict,
        "salt": salt,
        "otherwise": "",
        "entries": [],
    }
    want = exercise.expected(exercise.variant())
    otherwise = _otherwise(exercise, want)
    for value in _values(exercise, want):
        verdict = exercise.judge(value)
        right = value == want
        if not right and verdict.kind not in ("mistake", "slip", "predicted", "wrong"):
            continue
        if verdict.kind == "wrong" and verdict.say.endswith(otherwise):  # an absurd one is told more, by the judge
            continue
        entry = {"right": right, "say": inline_html(verdict.say)} | _grid(exercise, value)
        entry["digest"] = digest(salt, len(box["entries"]), what(value, entry))
        box["entries"].append(entry)
    if exercise.kind == "Quantity" and want and (say := _close(exercise, want)):
        entry = {"right": False, "say": inline_html(say)} | _grid(exercise, want, CLOSE)
        entry["digest"] = digest(salt, len(box["entries"]), what(want, entry))
        box["entries"].append(entry)
    box["otherwise"] = inline_html(otherwise)
    return box


def what(value: Any, entry: dict[str, Any]) -> str:
    """What of a value is digested: an option, an integer, zero, or sign and cell on the entry's grid."""
    if isinstance(value, str):
        return f"option:{value}"
    if not entry.get("width"):
        return f"int:{value}"
    if value == 0:
        return "zero"
    return f"{'-' if value < 0 else '+'}{math.floor((math.log(abs(value)) - entry['offset']) / entry['width'])}"


def digest(salt: str, n: int, text: str) -> str:
    """The digest of the n-th entry of a box; 80 bits are enough for a page."""
    return hashlib.sha256(f"{salt}:{n}:{text}".encode()).hexdigest()[:20]


@cache
def units_js() -> str:
    """The script with every unit that `hwlib.units` reads: its size in SI, its powers of the base units."""
    from hwlib import units

    atoms: dict[str, tuple[float, dict[str, int]]] = {}
    words = [*units._BASES, *units._WORDS, *units._PLURALS]
    prefixes = {p for base in units._BASES.values() for p in base.prefixes}
    for name in sorted({p + w for p in ("", *prefixes) for w in words}):
        try:
            atoms[name] = (units.scale(name), units.dimension(name) | units.labels(name))
        except units.UnitError:
            continue
    return f"window.GPUBOOK_UNITS = {json.dumps(atoms, ensure_ascii=False, separators=(',', ':'))};\n"


def form(exercise: Exercise) -> str:
    """The answer box as HTML: labelled, usable from the keyboard, its verdict announced; "" where none."""
    box = payload(exercise)
    if box is None:
        return ""
    name = html.escape(exercise.id)
    if exercise.kind == "Choice":
        field = _radios(exercise)
    else:
        unit = exercise.public().get("unit") or "1"
        plural = unit + "s" if unit in COUNTS and unit.islower() else unit
        ask = "Your answer" + (
            ", an integer" if exercise.kind == "Count" else "" if unit == "1" else f", in {plural} or with a unit"
        )
        field = (
            f'<label for="box-{name}">{html.escape(ask)}</label>\n'
            f'<input type="text" id="box-{name}" autocomplete="off" autocapitalize="off" spellcheck="false" '
            f'aria-describedby="verdict-{name}">'
        )
    verb = "Predict" if exercise.predict else "Check"
    return (
        f'<form class="answer-box" novalidate data-exercise="{name}">\n{field}\n'
        f'<button type="submit">{verb}<span class="visually-hidden"> exercise {name}</span></button>\n'
        f'<p class="verdict" id="verdict-{name}" role="status"></p>\n'
        f'<script type="application/json">{script_json(box)}</script>\n</form>'
    )


def script_json(data: Any) -> str:
    """JSON that can stand inside a script element, on one line."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def inline_html(markdown: str) -> str:
    """A sentence in Markdown as HTML, with its formulas as MathJax reads them."""
    return _markdown()(markdown).strip()


@cache
def _markdown() -> Callable[[str], str]:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def math_html(text: str, options: dict[str, Any]) -> str:
        left, right = (r"\[", r"\]") if options.get("display_mode") else (r"\(", r"\)")
        return f"{left}{html.escape(text.strip(), quote=False)}{right}"

    reader: MarkdownIt = MarkdownIt("commonmark").use(dollarmath_plugin, renderer=math_html)
    return reader.renderInline


def _values(exercise: Exercise, want: Any) -> Iterator[Any]:
    """The right answer, the mistakes' values and, for numbers, the slips', for the book's numbers."""
    given, seen = exercise.variant(), []
    candidates = [want]
    if exercise.kind == "Choice":
        options = exercise.public()["options"]
        candidates += list(options)
    else:
        wrong = [call_with(m.value, given) for m in exercise.mistakes]
        if exercise.kind == "Count":  # what is no integer is typed rounded
            wrong += [side(x) for x in wrong if math.isfinite(x) for side in (math.floor, math.ceil)]
        candidates += wrong
        candidates += [want * r for s in SLIPS for r in (float(s.ratio), 1 / float(s.ratio))]
    for value in candidates:
        if not isinstance(value, str):
            if not isinstance(value, (int, float)) or not math.isfinite(value):
                continue
            if exercise.kind == "Count":
                if not float(value).is_integer():
                    continue
                value = int(value)
        if value not in seen:
            seen.append(value)
            yield value


def _close(exercise: Exercise, want: float) -> str:
    """What the judge says to an answer just outside the tolerance, where no mistake lies; else ""."""
    rtol = exercise.public()["rtol"]
    verdicts = (exercise.judge(want * (1 + k * rtol)) for k in (2, -2, 3, -3, 4, -4))
    return next((v.say for v in verdicts if v.kind in ("wrong", "predicted")), "")


def _grid(exercise: Exercise, value: Any, tolerances: float = 1) -> dict[str, Any]:
    if exercise.kind != "Quantity":
        return {}
    rtol = min(tolerances * max(float(getattr(exercise.answer, "rtol", 0.0)), 1e-12), 0.5)
    width = math.log1p(rtol) - math.log1p(-rtol)
    offset = math.fmod(math.log(abs(value)) + math.log1p(-rtol), width) if value else 0.0
    return {"width": width, "offset": offset}


def _unit(unit: str | None) -> str:
    from hwlib.units import parse

    return "1" if unit in (None, "", "1") else parse(f"1 {unit}").unit


def _otherwise(exercise: Exercise, want: Any) -> str:
    if exercise.kind == "Choice":
        return "That is none of the options."
    for factor in ELSEWHERE:
        value = (want or 1) * factor if exercise.kind == "Quantity" else int((want or 1) * factor * 100) + 1
        verdict = exercise.judge(value)
        if verdict.kind in ("wrong", "predicted"):
            return verdict.say
    return "Not yet."


def _radios(exercise: Exercise) -> str:
    options = exercise.public()["options"]
    pairs = options.items() if isinstance(options, dict) else ((o, o) for o in options)
    rows = [
        f'<label><input type="radio" name="box-{html.escape(exercise.id)}" value="{html.escape(str(key))}"> '
        f"<span>{inline_html(str(text))}</span></label>"
        for key, text in pairs
    ]
    ask = "Your prediction" if exercise.predict else "Your answer"
    return f"<fieldset><legend>{ask}</legend>\n" + "\n".join(rows) + "\n</fieldset>"
