"""Arrays as text, as numpy prints them: one width for all elements, brackets for the axes."""

from __future__ import annotations

import math
from typing import Any

from hwlib.plain.arrays import flat, ndarray
from hwlib.plain.dtypes import BOOL, FLOAT64, INT64, dtype, shortest

DIGITS, WIDTH, MOST, EDGE = 8, 75, 1000, 3  # numpy's own settings


def array_repr(x: ndarray) -> str:
    """`array([1., 2.], dtype=float32)`."""
    body = _nested(x, "array(", ", ") if x.size else "[" * max(1, x.ndim) + "]" * max(1, x.ndim)
    details = [] if x.dtype in (BOOL, INT64, FLOAT64) and x.size else [f"dtype={x.dtype.name}"]
    if not x.size and x.shape != (0,):
        body, details = "[]", [f"shape={x.shape}", *details]
    return f"array({', '.join([body, *details])})"


def array_str(x: ndarray) -> str:
    """`[1. 2.]`."""
    return _nested(x, "", " ") if x.size else "[]"


def _nested(x: ndarray, before: str, separator: str) -> str:
    short = x.size > MOST
    shown = x
    if short:
        for axis in range(x.ndim):
            if x.shape[axis] > 2 * EDGE:
                at = [*range(EDGE), *range(x.shape[axis] - EDGE, x.shape[axis])]
                shown = shown[(*(slice(None),) * axis, at)]
    words = iter(_words(flat(shown), x.dtype))
    return _brackets(shown.shape, x.shape, short, words, len(before) + 1, separator, WIDTH - max(1, x.ndim))


def _brackets(
    shape: tuple[int, ...], whole: tuple[int, ...], short: bool, words: Any, indent: int, separator: str, width: int
) -> str:
    if not shape:
        return next(words)
    parts = [_brackets(shape[1:], whole[1:], short, words, indent + 1, separator, width) for _ in range(shape[0])]
    if short and shape[0] < whole[0]:
        parts.insert(EDGE, "...")
    if len(shape) > 1:
        gap = separator.rstrip() + "\n" * (len(shape) - 1) + " " * indent
        return f"[{gap.join(parts)}]"
    lines, line = [], ""
    for part in parts:
        longer = f"{line}{separator}{part}" if line else part
        if line and indent + len(longer) > width:
            lines.append(line)
            longer = part
        line = longer
    return "[" + (separator.rstrip() + "\n" + " " * indent).join([*lines, line]) + "]"


def _words(values: list[Any], kind: dtype) -> list[str]:
    """The elements, all as wide."""
    if kind.kind == "U":
        return list(map(repr, values))
    words = _floats(values, kind) if kind.kind == "f" else list(map(str, values))
    wide = max(map(len, words), default=0)
    return [word.rjust(wide) for word in words]


def _floats(values: list[float], kind: dtype) -> list[str]:
    sizes = [abs(one) for one in values if math.isfinite(one) and one != 0]
    exponent = bool(sizes) and (max(sizes) >= 1e8 or min(sizes) < 1e-4 or max(sizes) / min(sizes) > 1000)
    if exponent and any(math.isfinite(one) for one in values):
        return _scientific(values, kind)
    texts = [_fixed(one, kind) if math.isfinite(one) else str(one) for one in values]
    after = max((len(word.partition(".")[2]) for word in texts), default=0)
    return [word + " " * (after - len(word.partition(".")[2])) if "." in word else word + " " * 0 for word in texts]


def _fixed(one: float, kind: dtype) -> str:
    exact = shortest(one, kind)
    digits = f"{float(exact):.17f}".rstrip("0") if "e" in exact else exact
    whole, _, part = digits.partition(".")
    if len(part) > DIGITS:
        whole, _, part = f"{one:.{DIGITS}f}".partition(".")
    return f"{whole}.{part.rstrip('0')}"


def _scientific(values: list[float], kind: dtype) -> list[str]:
    mantissas: list[tuple[str, str]] = []
    for number in values:
        if not math.isfinite(number):
            continue
        digits = len(f"{float(shortest(number, kind)):.16e}".partition("e")[0].partition(".")[2].rstrip("0"))
        for places in range(min(digits, DIGITS) + 1):
            if places == DIGITS or float(f"{number:.{places}e}") == float(shortest(number, kind)):
                break
        mantissas.append((f"{number:.{places}e}".partition("e")[0].partition(".")[2], ""))
    places = max((len(part.rstrip("0")) for part, _ in mantissas), default=0)
    words = []
    for number in values:
        if not math.isfinite(number):
            words.append(str(number))
            continue
        head, _, power = f"{number:.{places}e}".partition("e")
        words.append(f"{head if places else head + '.'}e{power}")
    return words
