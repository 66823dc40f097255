"""The functions that a formula may call: one name each, for numbers, numpy arrays and sympy expressions.

Plain numbers use `math`, so a whole number of steps comes back as an exact int and numpy is not loaded.
"""

import math
from collections.abc import Callable, Iterable
from functools import reduce
from operator import add
from typing import Any

from hwlib.units import UnitError, scale


def _kind(*xs: Any) -> str:
    """Which library these values belong to; anything symbolic wins, then arrays."""
    if any(hasattr(x, "free_symbols") for x in xs):
        return "sympy"
    return "numpy" if any(hasattr(x, "__array__") for x in xs) else "math"


def _apply(xs: tuple, plain: Callable, array: str, symbolic: Callable) -> Any:
    match _kind(*xs):
        case "sympy":
            import sympy

            return symbolic(sympy, *xs)
        case "numpy":
            import numpy as np

            return getattr(np, array)(*xs)
        case _:
            return plain(*xs)


def ceil(x: Any) -> Any:
    """The least whole number that is not below x."""
    return _apply((x,), lambda x: math.ceil(x) if math.isfinite(x) else x, "ceil", lambda sp, x: sp.ceiling(x))


def floor(x: Any) -> Any:
    """The greatest whole number that is not above x."""
    return _apply((x,), lambda x: math.floor(x) if math.isfinite(x) else x, "floor", lambda sp, x: sp.floor(x))


def log2(x: Any) -> Any:
    """The logarithm to base two: exact at powers of two, which `log(x)/log(2)` is not."""
    return _apply((x,), math.log2, "log2", lambda sp, x: sp.log(x, 2))


def sqrt(x: Any) -> Any:
    """The square root."""
    return _apply((x,), math.sqrt, "sqrt", lambda sp, x: sp.sqrt(x))


def minimum(a: Any, b: Any, *more: Any) -> Any:
    """The least of two or more, element by element."""
    return reduce(lambda a, b: _apply((a, b), min, "minimum", lambda sp, a, b: sp.Min(a, b)), (a, b, *more))


def maximum(a: Any, b: Any, *more: Any) -> Any:
    """The greatest of two or more, element by element."""
    return reduce(lambda a, b: _apply((a, b), max, "maximum", lambda sp, a, b: sp.Max(a, b)), (a, b, *more))


def where(condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition (`<`, `<=`, `>` or `>=`) holds, `b` elsewhere; both are evaluated, so both be finite."""
    return _apply(
        (condition, a, b), lambda c, a, b: a if c else b, "where",
        lambda sp, c, a, b: sp.Piecewise((a, c), (b, True)),
    )  # fmt: skip


def sum_of(terms: Iterable) -> Any:
    """The sum over a sequence: `sum_of(S_i/W for S_i in S)` prints as Σ over i of S_i/W."""
    terms = list(terms)
    return reduce(add, terms) if terms else 0


def max_of(terms: Iterable) -> Any:
    """The greatest over a sequence: `max_of(S_i/W for S_i in S)`; there must be one."""
    terms = list(terms)
    if not terms:
        raise ValueError("max_of needs at least one term")
    return reduce(lambda a, b: maximum(a, b), terms)


def const(value: float, unit: str) -> float:
    """A number that has a unit: `const(16, "B")` is 16, and bytes to `.dim`. The unit is an SI base, such as "B/s"."""
    if scale(unit) != 1:
        raise UnitError(f"const takes a unit of the SI base, such as B, s or B/s, not {unit!r}")
    return value


OPS: dict[str, Callable] = {
    op.__name__: op for op in (ceil, floor, log2, sqrt, minimum, maximum, where, sum_of, max_of, const)
}
REDUCTIONS = ("sum_of", "max_of")
