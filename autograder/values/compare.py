"""Whether a learner's function returned the expected value: comparison of plain data, type by type."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from . import slips
from .finding import Finding
from .numbers import Unreadable, named, number


def equal(got: Any, want: Any, rtol: float) -> bool:
    """Whether two values of plain data are the same: numbers within `rtol`, lists and tuples alike, all else
    exactly."""
    if type(want) is bool or want is None or type(want) is str:
        return type(got) is type(want) and got == want
    if is_array(want) or is_array(got):
        return _equal_arrays(got, want, rtol)
    if type(want) in (list, tuple):
        return (
            type(got) in (list, tuple)
            and len(got) == len(want)
            and all(equal(g, w, rtol) for g, w in zip(got, want, strict=True))
        )
    if type(want) is dict:
        return type(got) is dict and got.keys() == want.keys() and all(equal(got[k], want[k], rtol) for k in want)
    if type(want) is float and not math.isfinite(want):
        return type(got) is float and (got == want or (math.isnan(got) and math.isnan(want)))
    if type(want) is complex or type(got) is complex:
        try:
            return type(got) in (int, float, complex) and abs(got - want) <= rtol * abs(want)
        except OverflowError:  # of the absolute value, or of an integer beyond every float
            return False
    try:
        mine, right = number(got), number(want)
    except Unreadable:
        return False
    if type(want) is int and type(got) is int:
        return got == want
    return slips.close(mine, right, rtol) if right else abs(mine) <= Fraction(1, 10**12)


def is_array(value: Any) -> bool:
    """Whether it is a numpy array, without loading numpy."""
    return type(value).__name__ == "ndarray" and type(value).__module__ == "numpy"


def _equal_arrays(got: Any, want: Any, rtol: float) -> bool:
    import numpy as np

    try:
        mine, right = np.asarray(got), np.asarray(want)
    except (ValueError, TypeError):
        return False
    if mine.shape != right.shape or mine.dtype.kind not in "biufc" or right.dtype.kind not in "biufc":
        return False
    if mine.dtype.kind in "bi" and right.dtype.kind in "bi":
        return bool(np.array_equal(mine, right))
    size = float(np.max(np.abs(right), initial=0.0, where=np.isfinite(right)))
    tolerance = max(rtol, 1e-6 if "float32" in (mine.dtype.name, right.dtype.name) else rtol)
    return bool(np.allclose(mine, right, rtol=tolerance, atol=tolerance * size, equal_nan=True))


def kinds(got: Any, want: Any) -> Finding | None:
    """The mismatch between the kinds of two values (other-shape, other-length, other-type); None if they agree."""
    if is_array(want) and is_array(got) and got.shape != want.shape:
        return Finding(f"of shape {got.shape}; the shape is {want.shape}", "other-shape")
    if type(want) in (list, tuple) and type(got) in (list, tuple) and len(got) != len(want):
        return Finding(f"of length {len(got)}; the length is {len(want)}", "other-length")
    numbers = (int, float, Fraction)
    if type(got) in (list, tuple) and type(want) in (list, tuple):
        return None
    if type(got) not in (*numbers, type(want)) or (type(want) not in numbers and type(got) in numbers):
        return Finding(f"{named(got)}; {named(want)} was expected", "other-type")
    return None
