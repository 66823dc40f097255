"""The functions that a formula may call: one name each, for numbers, numpy arrays and sympy expressions.

Plain numbers use `math`, so a number of steps comes back as an exact int and numpy is not loaded.
"""

import math
from collections.abc import Callable, Iterable
from functools import reduce
from operator import add
from typing import Any

from hwlib.units import UnitError, scale


def _apply(xs: tuple, plain: Callable, array: str, symbolic: Callable) -> Any:
    """The version for these values: sympy's if one is symbolic, else numpy's if one is an array."""
    if any(hasattr(x, "free_symbols") for x in xs):
        import sympy

        return symbolic(sympy, *xs)
    if any(hasattr(x, "ndim") for x in xs):  # the small numpy of a page has no __array__
        import numpy as np

        return getattr(np, array)(*xs)
    return plain(*xs)


def ceil(x: Any) -> Any:
    """The smallest integer not below x."""
    return _apply((x,), _whole(math.ceil), "ceil", lambda sympy, x: sympy.ceiling(x))


def floor(x: Any) -> Any:
    """The largest integer not above x."""
    return _apply((x,), _whole(math.floor), "floor", lambda sympy, x: sympy.floor(x))


def _whole(rounding: Callable) -> Callable:
    return lambda x: rounding(x) if math.isfinite(x) else x


def log2(x: Any) -> Any:
    """The logarithm to base two: exact at powers of two, which `log(x)/log(2)` is not."""
    return _apply((x,), math.log2, "log2", lambda sympy, x: sympy.log(x, 2))


def ln(x: Any) -> Any:
    """The natural logarithm."""
    return _apply((x,), math.log, "log", lambda sympy, x: sympy.log(x))


def sqrt(x: Any) -> Any:
    """The square root."""
    return _apply((x,), math.sqrt, "sqrt", lambda sympy, x: sympy.sqrt(x))


def minimum(a: Any, b: Any, *more: Any) -> Any:
    """The smallest of two or more, element by element."""
    least = _apply((a, b), min, "minimum", lambda sympy, a, b: sympy.Min(a, b))
    return minimum(least, *more) if more else least


def maximum(a: Any, b: Any, *more: Any) -> Any:
    """The largest of two or more, element by element."""
    greatest = _apply((a, b), max, "maximum", lambda sympy, a, b: sympy.Max(a, b))
    return maximum(greatest, *more) if more else greatest


def where(condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition (`<`, `<=`, `>` or `>=`) holds, `b` elsewhere. Both are always evaluated."""
    return _apply(
        (condition, a, b),
        lambda condition, a, b: a if condition else b,
        "where",
        lambda sympy, condition, a, b: sympy.Piecewise((a, condition), (b, True)),
    )


def sum_of(terms: Iterable) -> Any:
    """The sum over a sequence: `sum_of(S_i/W for S_i in S)` prints as Σ over i of S_i/W."""
    terms = list(terms)
    return reduce(add, terms) if terms else 0


def max_of(terms: Iterable) -> Any:
    """The maximum over a sequence that is not empty: `max_of(S_i/W for S_i in S)`."""
    terms = list(terms)
    if not terms:
        raise ValueError("max_of needs at least one term")
    return reduce(maximum, terms)


def const(value: float, unit: str) -> float:
    """A number with a unit of the SI base: `const(16, "B")` has the value 16, and `.dim` reads it as bytes."""
    if scale(unit) != 1:
        raise UnitError(f"const takes a unit of the SI base, such as B, s or B/s, not {unit!r}")
    return value


OPS: dict[str, Callable] = {
    op.__name__: op for op in (ceil, floor, log2, ln, sqrt, minimum, maximum, where, sum_of, max_of, const)
}
