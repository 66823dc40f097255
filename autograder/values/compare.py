"""Whether a learner's function returned the expected value: comparison of plain data, type by type."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from . import slips
from .finding import Finding
from .numbers import Unreadable, named, number

Path = tuple[Any, ...]  # where in a value an element is: indices and keys, outermost first
EDGE = Fraction(1, 10**12)  # as far from zero as rounding leaves what should be zero
SINGLE = 1e-6  # the tolerance of an array of float32, which cannot be more exact


def equal(got: Any, want: Any, rtol: float) -> bool:
    """Whether two values of plain data are the same: numbers within `rtol`, lists, tuples and arrays alike and element
    by element, all else exactly."""
    return difference(got, want, rtol) is None


def difference(got: Any, want: Any, rtol: float, edge: Fraction = EDGE) -> Path | None:
    """Where two values differ first: () if as a whole, as two lengths do; None if they are the same.

    >>> difference((0.5, 4e11), (2e-6, 4e11), 1e-9), difference([1, [2, 3]], [1, [2, 4]], 0.0), difference(1, 1, 0.0)
    ((0,), (1, 1), None)

    Where zero is expected, a number is at most `edge` away from it.
    """
    if is_array(want):  # its elements are of one kind, and what cancels leaves a rest of the largest one's size
        edge = EDGE * max(Fraction(1), _largest(want))
    if any(is_array(one) and one.dtype.name == "float32" for one in (got, want)):
        rtol = max(rtol, SINGLE)
    got, want = listed(got), listed(want)
    if is_sequence(want):
        if not is_sequence(got) or len(got) != len(want):
            return ()
        return _first(((i, g, w) for i, (g, w) in enumerate(zip(got, want, strict=True))), rtol, edge)
    if type(want) is dict:
        if type(got) is not dict or got.keys() != want.keys():
            return ()
        return _first(((key, got[key], want[key]) for key in want), rtol, edge)
    return None if _same(got, want, rtol, edge) else ()


def place(got: Any, want: Any, rtol: float) -> Path:
    """Where two values differ first, as `difference` has it, and in two lists or texts of other lengths the first place
    that is not the same."""
    path = difference(got, want, rtol) or ()
    mine, right = listed(at(got, path)), listed(at(want, path))
    common = min(len(mine), len(right)) if _both_long(mine, right) else None
    if common is None:
        return path
    same = (i for i in range(common) if difference(mine[i], right[i], rtol) is not None)
    return (*path, next(same, common))


def _both_long(mine: Any, right: Any) -> bool:
    return (is_sequence(mine) and is_sequence(right)) or (type(mine) is type(right) is str)


def at(value: Any, path: Path) -> Any:
    """The element at `path`."""
    for key in path:
        value = listed(value)[key]
    return value


def _first(elements: Iterable[tuple[Any, Any, Any]], rtol: float, edge: Fraction) -> Path | None:
    for key, got, want in elements:
        inner = difference(got, want, rtol, edge)
        if inner is not None:
            return (key, *inner)
    return None


def _same(got: Any, want: Any, rtol: float, edge: Fraction) -> bool:
    if type(want) is bool or want is None or type(want) is str:
        return type(got) is type(want) and got == want
    if type(got) is type(want) and got == want:  # as most elements are: exact arithmetic takes longer
        return True
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
    return slips.close(mine, right, rtol) if right else abs(mine) <= edge


def is_array(value: Any) -> bool:
    """Whether it is a numpy array, without loading numpy."""
    return type(value).__name__ == "ndarray" and type(value).__module__ == "numpy"


def is_sequence(value: Any) -> bool:
    """Whether it is a list or a tuple."""
    return type(value) in (list, tuple)


def listed(value: Any) -> Any:
    """An array as nested lists, or as a number where it is one; all else as it is."""
    return value.tolist() if is_array(value) else value


def _largest(array: Any) -> Fraction:
    import numpy as np

    sizes = np.abs(array.astype(complex) if array.dtype.kind == "c" else array.astype(float))
    return Fraction(float(np.max(sizes, initial=0.0, where=np.isfinite(sizes))))


def kinds(got: Any, want: Any) -> Finding | None:
    """The mismatch between the kinds of two values (other-shape, other-length, other-type); None if they agree."""
    if is_array(want) and is_array(got) and got.shape != want.shape:
        return Finding(f"of shape {got.shape}; the shape is {want.shape}", "other-shape")
    mine, right = listed(got), listed(want)
    if is_sequence(right) and is_sequence(mine):
        if len(mine) != len(right):
            return Finding(f"of length {len(mine)}; the length is {len(right)}", "other-length")
        return None
    numbers = (int, float, Fraction)
    if type(got) not in (*numbers, type(want)) or (type(want) not in numbers and type(got) in numbers):
        return Finding(f"{named(got)}; {named(want)} was expected", "other-type")
    return None
