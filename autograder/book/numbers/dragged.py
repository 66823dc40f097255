"""Quantities that a reader of the page drags: `{drag}` in a chapter's text.

    {drag}`rows = 10 in 1..4096 by *2 "token" -> log_B = log2(rows)`

A name that the chapter uses for nothing else, the book's value, the values that it may take, the unit in which it is
written, and the parameter of a live figure that follows it. The values are a list, `[2, 4, 8]`, or a span: `1..64` is
every whole number, `by 5` each fifth, `by *2` powers of two from the first value on, `by log` ten values a decade.
In the learner's notebook the role is the text of the book's value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import floor, isfinite, log10
from typing import Any

from hwlib.specs.reader import Record
from hwlib.units import UnitError, show

MOST = 256  # values of a quantity: a reader turns through them, and a page holds their texts
DECADE = 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8
SYNTAX = re.compile(
    r"\s*(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>.+?)\s+in\s+(?P<values>.+?)"
    r"(?:\s+by\s+(?P<by>\S+))?(?:\s+\"(?P<unit>[^\"]*)\")?"
    r"(?:\s+->\s+(?P<parameter>[A-Za-z_]\w*)(?:\s*=\s*(?P<moved>.+?))?)?\s*",
    re.S,
)
FORM = '`name = value in low..high by step "unit" -> parameter`'


class DragError(ValueError):
    """A text that does not say what can be dragged; the message says what was expected. `drag` is that text."""

    def __init__(self, message: str, drag: str = ""):
        super().__init__(message)
        self.drag = drag


@dataclass(frozen=True)
class Dragged:
    """A quantity that can be dragged: its values in order, of which the book's is that `at`, and their texts.

    `parameter` of a live figure is set to the expression `moved`; both are empty where no figure follows.
    """

    name: str
    values: tuple[Any, ...]
    at: int
    texts: tuple[str, ...]
    parameter: str = ""
    moved: str = ""

    @property
    def value(self) -> Any:
        """The book's value."""
        return self.values[self.at]

    @property
    def text(self) -> str:
        """The text of the book's value."""
        return self.texts[self.at]

    @property
    def label(self) -> str:
        """What the quantity is called to a reader who does not see it."""
        return self.name.replace("_", " ")


def dragged(text: str, namespace: Mapping[str, Any]) -> Dragged:
    """What one `{drag}` says. Raises DragError."""
    match = SYNTAX.fullmatch(text)
    if match is None:
        raise DragError(f"{FORM} was expected")
    name = match["name"]
    if name in namespace:
        raise DragError(f"{name!r} is a name of the chapter already; a name of its own was expected")
    value = _evaluated(match["value"], namespace)
    values = _values(match["values"], match["by"], namespace)
    if value not in values:
        if isinstance(value, str | Record) or not (match["by"] and min(values) < value < max(values)):
            raise DragError(f"{match['value']} is not one of the values; one of them was expected")
        values = sorted([*values, value])
    if not 2 <= len(values) <= MOST:
        raise DragError(f"{len(values)} values; 2 to {MOST} were expected, as with `by *2` or `by log`")
    if len({_shown(one, match["unit"]) for one in values}) < len(values):
        raise DragError("two of the values have the same text; values that can be told apart were expected")
    texts = tuple(_shown(one, match["unit"]) for one in values)
    parameter = match["parameter"] or ""
    return Dragged(name, tuple(values), values.index(value), texts, parameter, match["moved"] or name * bool(parameter))


def _evaluated(text: str, namespace: Mapping[str, Any]) -> Any:
    try:
        return eval(text, {**namespace})
    except Exception as error:
        raise DragError(f"`{text}` fails with {type(error).__name__}: {error}") from error


def _values(text: str, by: str | None, namespace: Mapping[str, Any]) -> list[Any]:
    if text.startswith("["):
        if by is not None:
            raise DragError(f"a list with a step, `by {by}`; one of the two was expected")
        return list(_evaluated(text, namespace))
    low, dots, high = text.partition("..")
    if not dots:
        raise DragError(f"`{text}` is neither a list, `[2, 4, 8]`, nor a span, `1..64`")
    first, last = _evaluated(low, namespace), _evaluated(high, namespace)
    if not all(isinstance(end, int | float) and isfinite(end) for end in (first, last)) or not first < last:
        raise DragError(f"`{text}` is not a span; a number and a larger one were expected")
    if by == "log":
        made = list(_decades(first, last))
    elif by and by.startswith("*"):
        factor, made = _evaluated(by[1:], namespace), [first]
        if not (factor > 1 and first > 0):
            raise DragError(f"`by {by}`: a factor above 1, from a value above 0, was expected")
        while made[-1] * factor <= last * (1 + 1e-12) and len(made) <= MOST:
            made.append(made[-1] * factor)
    else:
        step = _evaluated(by or "1", namespace)
        if not step > 0:
            raise DragError(f"`by {by}`: a step above 0 was expected")
        count = floor((last - first) / step * (1 + 1e-12)) + 1
        made = [first + i * step for i in range(min(count, MOST + 1))]
    whole = all(isinstance(one, int) for one in (first, last)) and all(float(one).is_integer() for one in made)
    return [int(one) if whole else float(f"{one:.12g}") for one in made]


def _decades(first: float, last: float) -> Iterator[float]:
    """Both ends, and the preferred numbers between them."""
    if first <= 0:
        raise DragError("`by log` from a value that is not above 0")
    whole = isinstance(first, int) and isinstance(last, int)
    between = (
        float(f"{one}e{power}") for power in range(floor(log10(first)), floor(log10(last)) + 1) for one in DECADE
    )
    yield first
    yield from (one for one in between if first < one < last and (not whole or one.is_integer()))
    yield last


def _shown(value: Any, unit: str | None) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Record):
        return value.name
    if unit is not None:
        try:
            return show(value, unit)
        except UnitError as error:
            raise DragError(str(error)) from error
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
