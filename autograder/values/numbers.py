"""Reading numbers from plain data, and naming values that are not numbers in messages."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from . import encoding
from .finding import Explained
from .texts import quoted


class Unreadable(Explained, ValueError):
    """An answer that cannot be read; the message is for the learner. `kind` is the verdict's.

    Reasons: truth-value, not-finite, complex, several-numbers, function; or not-a-number. Each answer kind has more.
    """

    reason = "not-a-number"

    def __init__(self, say: str, kind: str = "unreadable", reason: str = ""):
        super().__init__(say, reason)
        self.kind = kind


def number(value: Any) -> Fraction:
    """A number of plain data, exactly. Raises Unreadable for anything else, and for nan and infinity."""
    kind = type(value)
    if kind is bool:
        raise Unreadable(f"{value} is a truth value; a number was expected", reason="truth-value")
    if kind in (int, Fraction):
        return Fraction(value)
    if kind is float:
        if not math.isfinite(value):
            raise Unreadable(f"{value} is not a number to compare; a finite one was expected", reason="not-finite")
        return Fraction(value)
    if kind is complex:
        if value.imag:
            raise Unreadable("a complex number; a real one was expected", reason="complex")
        return number(value.real)
    if kind.__name__ == "ndarray" and kind.__module__ == "numpy":
        if value.size != 1:
            raise Unreadable(f"an array of {value.size} numbers; one number was expected", reason="several-numbers")
        return number(value.reshape(-1)[0].item())
    if kind.__name__ == "Tree":
        from .evaluation import constant
        from .trees import TreeError

        try:
            return constant(value)
        except TreeError as error:
            raise Unreadable(str(error), reason=error.reason) from None
    if kind is encoding.Callable:
        say = f"{quoted(value.name)} is a function; a number was expected (was it called?)"
        raise Unreadable(say, reason="function")
    raise Unreadable(f"{described(value)}; a number was expected")


NAMES = {
    "int": "a number",
    "float": "a number",
    "Fraction": "a number",
    "complex": "a complex number",
    "str": "a text",
    "bool": "a truth value",
    "NoneType": "nothing (None)",
    "ndarray": "an array",
    "Tree": "an expression",
    "Callable": "a function",
    "ellipsis": "no answer (...)",
}


def named(value: Any) -> str:
    """The kind of a value of plain data, for a message: "a number", "a list"."""
    name = encoding.type_name(value)
    return NAMES.get(name, f"a {name}")


def described(value: Any) -> str:
    """`named`, with a text quoted: "a list", "a text `...`"."""
    return f"{named(value)} {quoted(value)}" if type(value) is str else named(value)


def as_float(value: Fraction) -> float:
    """The nearest float; infinite if the number is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def two_digits(value: float) -> str:
    """A number of at most two digits as one writes it by hand, "3.8e-3"; "" for one of more, and for zero."""
    if not value or not math.isfinite(value):
        return ""
    text = f"{value:.1e}"
    digits, _, power = text.partition("e")
    return f"{digits}e{int(power)}" if math.isclose(float(text), value, rel_tol=1e-9) else ""


def rounded(value: float) -> list[float]:
    """What `value` may be rounded to with two digits: one number, or both neighbours of one in the middle.

    >>> rounded(3.85e-3), rounded(412.0)
    ([0.0038, 0.0039], [410.0])
    """
    if not value or not math.isfinite(value):
        return []
    step = 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    sides = {float(f"{side(value / step) * step:.1e}") for side in (math.floor, math.ceil)}
    return sorted(x for x in sides if abs(x - value) <= 0.5 * step * (1 + 1e-9))
