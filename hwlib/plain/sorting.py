"""Order and membership: sorted values and their places, sets, counts, bins."""

from __future__ import annotations

import builtins
from bisect import bisect_left, bisect_right
from collections import Counter
from typing import Any

from hwlib.plain.arrays import asarray, flat, made, ndarray, strides
from hwlib.plain.creation import linspace
from hwlib.plain.dtypes import BOOL, FLOAT64, INT64, dtype, promoted
from hwlib.plain.elementwise import nonzero
from hwlib.plain.reductions import along
from hwlib.plain.strided import read, strides_of


def _numbers_first(one: Any) -> tuple[bool, Any]:
    return (one != one, one)


def _sorted(line: list[Any]) -> list[Any]:
    return sorted(line) if all(one == one for one in line) else sorted(line, key=_numbers_first)


def sort(x: Any, axis: int | None = -1, kind: Any = None) -> ndarray:  # noqa: ARG001
    """The values along an axis, ascending, what is not a number last."""
    return along(x, axis, _sorted)


def argsort(x: Any, axis: int | None = -1, kind: Any = None, stable: bool | None = None) -> ndarray:  # noqa: ARG001
    """The places of the values in ascending order; equal ones as they stand."""
    return along(x, axis, lambda line: sorted(range(len(line)), key=lambda i: _numbers_first(line[i])), INT64)


def partition(x: Any, kth: int, axis: int = -1) -> ndarray:  # noqa: ARG001
    """The values, of which the k-th is where it would be if all were sorted, which they are."""
    return sort(x, axis)


def argpartition(x: Any, kth: int, axis: int = -1) -> ndarray:  # noqa: ARG001
    """The places of the values so partitioned."""
    return argsort(x, axis)


def lexsort(keys: Any) -> ndarray:
    """The places in the order of the last key, among equals of the one before, and so on."""
    lists = [flat(asarray(key)) for key in keys]
    lists.reverse()
    order = sorted(range(len(lists[0])), key=lambda i: [_numbers_first(one[i]) for one in lists])
    return made(order, (len(order),), INT64)


def unique(
    x: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
) -> Any:
    """The values, ascending, each once; where each is first, which of them each element is, and how often each is
    there. With an axis, the same of the parts along it."""
    of = asarray(x)
    if axis is None:
        values: list[Any] = flat(of)
    else:
        moved = of.transpose([axis % of.ndim, *(i for i in range(of.ndim) if i != axis % of.ndim)])
        size = moved.size // builtins.max(1, moved.shape[0])
        held = flat(moved)
        values = [tuple(held[i * size : (i + 1) * size]) for i in range(moved.shape[0])]
    distinct = _once(values)
    if axis is None:
        once = made(distinct, (len(distinct),), of.dtype)
    else:
        once = made([one for row in distinct for one in row], (len(distinct), *moved.shape[1:]), of.dtype)
        once = once.transpose([*range(1, axis % of.ndim + 1), 0, *range(axis % of.ndim + 1, of.ndim)])
    if not (return_index or return_inverse or return_counts):
        return once
    results: list[Any] = [once]
    if return_index:
        first = dict(zip(reversed(values), range(len(values) - 1, -1, -1), strict=True))
        results.append(made([first[one] for one in distinct], (len(distinct),), INT64))
    if return_inverse:
        place = {one: i for i, one in enumerate(distinct)}
        results.append(made([place[one] for one in values], of.shape if axis is None else (len(values),), INT64))
    if return_counts:
        counts = Counter(values)
        results.append(made([counts[one] for one in distinct], (len(distinct),), INT64))
    return tuple(results)


def _once(values: list[Any]) -> list[Any]:
    distinct = _sorted(list(set(values))) if values and type(values[0]) is not tuple else sorted(set(values))
    nans = [one for one in distinct if one != one]
    return distinct[: len(distinct) - len(nans) + 1] if nans else distinct


def _flat_set(x: Any, values: list[Any]) -> ndarray:
    return made(values, (len(values),), asarray(x).dtype)


def setdiff1d(x: Any, y: Any, assume_unique: bool = False) -> ndarray:  # noqa: ARG001
    """The values of x that y lacks, ascending."""
    return _flat_set(x, sorted(set(flat(asarray(x))) - set(flat(asarray(y)))))


def intersect1d(x: Any, y: Any) -> ndarray:
    """The values of both, ascending."""
    return _flat_set(x, sorted(set(flat(asarray(x))) & set(flat(asarray(y)))))


def union1d(x: Any, y: Any) -> ndarray:
    """The values of either, ascending."""
    return _flat_set(x, sorted(set(flat(asarray(x))) | set(flat(asarray(y)))))


def isin(x: Any, y: Any) -> ndarray:
    """Where the values of x are among those of y."""
    of, among = asarray(x), set(flat(asarray(list(y) if isinstance(y, (set, frozenset)) else y)))
    return made([one in among for one in flat(of)], of.shape, BOOL)


in1d = isin


def flatnonzero(x: Any) -> ndarray:
    """The places of what is not zero, among all elements."""
    return nonzero(asarray(x).reshape(-1))[0]


def argwhere(x: Any) -> ndarray:
    """The places of what is not zero, a row for each."""
    places = nonzero(x)
    return made([i for at in zip(*map(flat, places), strict=True) for i in at], (places[0].size, len(places)), INT64)


def searchsorted(x: Any, values: Any, side: str = "left") -> Any:
    """Where the values would be inserted to keep the order: before those that are equal, or after."""
    held, of = flat(asarray(x)), asarray(values)
    find = bisect_left if side == "left" else bisect_right
    places = [find(held, one) for one in flat(of)]
    return made(places, of.shape, INT64) if of.shape else INT64.type(places[0])


def digitize(values: Any, bins: Any, right: bool = False) -> Any:
    """The bin of each value, of ascending bins."""
    return searchsorted(bins, values, "left" if right else "right")


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> ndarray:
    """How often 0, 1, 2, ... are there, or the sum of their weights."""
    values = flat(asarray(x))
    if values and builtins.min(values) < 0:
        raise ValueError("'list' argument must have no negative elements")
    if values and type(values[0]) is float:
        raise TypeError("Cannot cast array data from dtype('float64') to dtype('int64') according to the rule 'safe'")
    size = builtins.max(minlength, builtins.max(values, default=-1) + 1)
    if weights is None:
        counts = Counter(values)
        return made([counts[i] for i in range(size)], (size,), INT64)
    sums = [0.0] * size
    for number, weight in zip(values, flat(asarray(weights)), strict=True):
        sums[number] += weight
    return made(sums, (size,), FLOAT64)


def histogram(x: Any, bins: Any = 10, range: tuple[float, float] | None = None) -> tuple[ndarray, ndarray]:
    """How many values each bin holds, and where the bins end."""
    values = flat(asarray(x))
    if isinstance(bins, int):
        low, high = range or ((builtins.min(values), builtins.max(values)) if values else (0.0, 1.0))
        bins = linspace(low, high, bins + 1) if low < high else linspace(low - 0.5, high + 0.5, bins + 1)
    ends = flat(asarray(bins, float))
    counts = [0] * (len(ends) - 1)
    for number in values:
        if ends[0] <= number <= ends[-1]:
            counts[builtins.min(bisect_right(ends, number) - 1, len(counts) - 1)] += 1
    return made(counts, (len(counts),), INT64), asarray(bins, float)


def interp(x: Any, xp: Any, fp: Any) -> Any:
    """The values between known points, on straight lines."""
    of, at, known = asarray(x, float), flat(asarray(xp, float)), flat(asarray(fp, float))

    def value(one: float) -> float:
        if one != one or one <= at[0] or one >= at[-1]:
            return one if one != one else known[0] if one <= at[0] else known[-1]
        i = bisect_right(at, one) - 1
        return known[i] + (known[i + 1] - known[i]) / (at[i + 1] - at[i]) * (one - at[i])

    interpolated = list(map(value, flat(of)))
    return made(interpolated, of.shape, FLOAT64) if of.shape else FLOAT64.type(interpolated[0])


def unravel_index(at: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """The places along each axis of elements counted through."""
    of = asarray(at)
    axes = []
    for size, by in zip(shape, strides_of(tuple(shape)), strict=True):
        places = [one // by % size for one in flat(of)]
        axes.append(made(places, of.shape, INT64) if of.shape else INT64.type(places[0]))
    return tuple(axes)


def array_equal(x: Any, y: Any, equal_nan: bool = False) -> bool:
    """Whether two arrays have one shape and one content."""
    left, other = asarray(x), asarray(y)
    if left.shape != other.shape:
        return False
    pairs = zip(flat(left), flat(other), strict=True)
    return builtins.all(a == b or (equal_nan and a != a and b != b) for a, b in pairs)


def shares_memory(x: ndarray, y: ndarray, max_work: int | None = None) -> bool:  # noqa: ARG001
    """Whether two arrays have an element in common."""
    return x._data is y._data and bool(set(_memory(x)) & set(_memory(y)))


may_share_memory = shares_memory


def _memory(x: ndarray) -> list[int]:
    return read(range(len(x._data)), x._offset, x.shape, strides(x))


def can_cast(of: Any, to: Any) -> bool:
    """Whether a type holds all numbers of another."""
    return promoted(dtype(of), dtype(to)) is dtype(to)
