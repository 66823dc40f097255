"""Arrays put together, taken apart, repeated and turned."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

from hwlib.plain.arrays import asarray, broadcast_to, flat, made, ndarray
from hwlib.plain.creation import arange, tri, zeros
from hwlib.plain.dtypes import cast, promoted
from hwlib.plain.elementwise import add, logical_not, nonzero, where
from hwlib.plain.strided import axis_of, broadcast_shapes


def concatenate(parts: Sequence[Any], axis: int | None = 0, dtype: Any = None) -> ndarray:
    """Arrays one after another along an axis."""
    arrays = [asarray(part) for part in parts]
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        arrays, axis = [x.reshape(-1) for x in arrays], 0
    first = arrays[0]
    if not first.ndim:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = axis_of(axis, first.ndim)
    others = {x.shape[:axis] + x.shape[axis + 1 :] for x in arrays}
    if len(others) > 1 or any(x.ndim != first.ndim for x in arrays):
        raise ValueError(
            "all the input array dimensions except for the concatenation axis must match exactly, but arrays have the "
            f"shapes {', '.join(str(x.shape) for x in arrays)}"
        )
    kind = reduce(promoted, (x.dtype for x in arrays)) if dtype is None else zeros(0, dtype).dtype
    lists = [cast(flat(x), x.dtype, kind) for x in arrays]
    shape = (*first.shape[:axis], sum(x.shape[axis] for x in arrays), *first.shape[axis + 1 :])
    sizes = [math.prod(x.shape[axis:]) for x in arrays]
    values: list[Any] = []
    for row in range(math.prod(first.shape[:axis])):
        for elements, size in zip(lists, sizes, strict=True):
            values += elements[row * size : (row + 1) * size]
    return made(values, shape, kind)


def stack(parts: Sequence[Any], axis: int = 0) -> ndarray:
    """Arrays of one shape along a new axis."""
    arrays = [asarray(part) for part in parts]
    if not arrays:
        raise ValueError("need at least one array to stack")
    if len({x.shape for x in arrays}) > 1:
        raise ValueError("all input arrays must have the same shape")
    return concatenate([expand_dims(x, axis) for x in arrays], axis)


def vstack(parts: Sequence[Any]) -> ndarray:
    """Rows below one another."""
    return concatenate([atleast_2d(part) for part in parts], 0)


def hstack(parts: Sequence[Any]) -> ndarray:
    """Arrays beside one another."""
    arrays = [atleast_1d(part) for part in parts]
    return concatenate(arrays, 0 if arrays and arrays[0].ndim == 1 else 1)


def column_stack(parts: Sequence[Any]) -> ndarray:
    """Arrays of one dimension as columns."""
    arrays = [asarray(part) for part in parts]
    return concatenate([x.reshape(-1, 1) if x.ndim < 2 else x for x in arrays], 1)


def append(x: Any, more: Any, axis: int | None = None) -> ndarray:
    """A longer array; without an axis, of one dimension."""
    return concatenate(
        [x, more] if axis is not None else [asarray(x).reshape(-1), asarray(more).reshape(-1)], axis or 0
    )


def atleast_1d(x: Any) -> ndarray:
    """With one axis at least."""
    return asarray(x).reshape(-1) if not asarray(x).ndim else asarray(x)


def atleast_2d(x: Any) -> ndarray:
    """With two axes at least."""
    return asarray(x).reshape(1, -1) if asarray(x).ndim < 2 else asarray(x)


def expand_dims(x: Any, axis: int) -> ndarray:
    """With an axis of one element more."""
    of = asarray(x)
    at = axis + of.ndim + 1 if axis < 0 else axis
    return of[(*(slice(None),) * at, None)] if of.ndim or at else of.reshape(1)


def array_split(x: Any, parts: int | Sequence[int], axis: int = 0) -> list[ndarray]:
    """Views of so many parts whose sizes differ by one at most; or of those between the places."""
    of = asarray(x)
    size = of.shape[axis]
    if isinstance(parts, int):
        small, more = divmod(size, parts)
        ends = [0]
        for i in range(parts):
            ends.append(ends[-1] + small + (i < more))
    else:
        ends = [0, *map(int, parts), size]
    before = (slice(None),) * (axis % of.ndim)
    return [of[(*before, slice(start, end))] for start, end in pairwise(ends)]


def split(x: Any, parts: int | Sequence[int], axis: int = 0) -> list[ndarray]:
    """Views of so many equal parts, or of those between the places."""
    if isinstance(parts, int) and asarray(x).shape[axis] % parts:
        raise ValueError("array split does not result in an equal division")
    return array_split(x, parts, axis)


def tile(x: Any, times: int | Sequence[int]) -> ndarray:
    """The array repeated as a whole, along each axis so many times."""
    of = asarray(x)
    by = (times,) if isinstance(times, int) else tuple(times)
    axes = max(of.ndim, len(by))
    by, shape = (1,) * (axes - len(by)) + by, (1,) * (axes - of.ndim) + of.shape
    wide = [size for pair in zip(by, shape, strict=True) for size in pair]
    tall = [size for one in shape for size in (1, one)]
    whole = tuple(count * size for count, size in zip(by, shape, strict=True))
    return made(flat(broadcast_to(of.reshape(tall), wide))[:], whole, of.dtype)


def repeat(x: Any, times: Any, axis: int | None = None) -> ndarray:
    """Each element so many times, one after the other."""
    of = asarray(x)
    of, at = (of.reshape(-1), 0) if axis is None else (of, axis % of.ndim)
    counts = flat(broadcast_to(times, (of.shape[at],)))
    if of.ndim == 1:
        values = [one for one, count in zip(flat(of), counts, strict=True) for _ in range(count)]
        return made(values, (len(values),), of.dtype)
    places = [i for i, count in enumerate(counts) for _ in range(count)]
    return take(of, asarray(places, int), at)


def take(x: Any, places: Any, axis: int | None = None) -> Any:
    """The elements at these places of an axis, or of all elements."""
    of = asarray(x)
    if axis is None:
        return of.reshape(-1)[places]
    return of[(*(slice(None),) * (axis % of.ndim), places)]


def take_along_axis(x: Any, places: Any, axis: int) -> ndarray:
    """For each place of the rest, the elements at its own places of an axis."""
    of, at = asarray(x), asarray(places)
    where_ = [arange(size).reshape([-1 if i == j else 1 for j in range(of.ndim)]) for i, size in enumerate(of.shape)]
    where_[axis] = at
    return of[tuple(where_)]


def roll(x: Any, by: int, axis: int | None = None) -> ndarray:
    """The elements moved along an axis, round its end."""
    of = asarray(x)
    if axis is None:
        values = flat(of)
        by = by % len(values) if values else 0
        return made(values[len(values) - by :] + values[: len(values) - by], of.shape, of.dtype)
    size = of.shape[axis]
    return take(of, asarray([(i - by) % size for i in range(size)], int), axis)


def flip(x: Any, axis: int | None = None) -> ndarray:
    """A view that runs backwards along an axis, or along all."""
    of = asarray(x)
    back = slice(None, None, -1)
    return of[tuple(back if axis is None or i == axis % of.ndim else slice(None) for i in range(of.ndim))]


def flipud(x: Any) -> ndarray:
    """The first axis backwards."""
    return flip(x, 0)


def fliplr(x: Any) -> ndarray:
    """The second axis backwards."""
    return flip(x, 1)


def rot90(x: Any, k: int = 1) -> ndarray:
    """Turned by so many quarters."""
    of = asarray(x)
    for _ in range(k % 4):
        of = flip(of.T, 0)
    return of


def moveaxis(x: Any, source: int, to: int) -> ndarray:
    """A view with an axis at another place."""
    of = asarray(x)
    order = [i for i in range(of.ndim) if i != source % of.ndim]
    order.insert(to % of.ndim, source % of.ndim)
    return of.transpose(order)


def triu(x: Any, k: int = 0) -> ndarray:
    """What is on and above a diagonal; zeros below."""
    of = asarray(x)
    return where(tri(of.shape[-2], of.shape[-1], k - 1, bool), of.dtype.type(0), of)


def tril(x: Any, k: int = 0) -> ndarray:
    """What is on and below a diagonal; zeros above."""
    of = asarray(x)
    return where(tri(of.shape[-2], of.shape[-1], k, bool), of, of.dtype.type(0))


def triu_indices(n: int, k: int = 0) -> tuple[ndarray, ...]:
    """The places on and above a diagonal."""
    return nonzero(logical_not(tri(n, n, k - 1, bool)))


def tril_indices(n: int, k: int = 0) -> tuple[ndarray, ...]:
    """The places on and below a diagonal."""
    return nonzero(tri(n, n, k, bool))


def diag(x: Any, k: int = 0) -> ndarray:
    """The diagonal; or the square that has these numbers on it."""
    of = asarray(x)
    if of.ndim == 1:
        size = of.size + abs(k)
        new = zeros((size, size), of.dtype)
        for i, element in enumerate(flat(of)):
            new[i + max(-k, 0), i + max(k, 0)] = element
        return new
    rows, columns = of.shape
    at = [(i, i + k) for i in range(rows) if 0 <= i + k < columns]
    return of[[i for i, _ in at], [j for _, j in at]]


def trace(x: Any) -> Any:
    """The sum of the diagonal."""
    return add.reduce(diag(x))


def delete(x: Any, at: Any, axis: int | None = None) -> ndarray:
    """Without the elements at these places."""
    of = asarray(x).reshape(-1) if axis is None else asarray(x)
    size = of.shape[axis or 0]
    gone = {i % size for i in asarray(range(size))[at].reshape(-1).tolist()} if size else set()
    return take(of, asarray([i for i in range(size) if i not in gone], int), axis or 0)


def insert(x: Any, at: int, values: Any) -> ndarray:
    """With values before a place; of one dimension."""
    of = asarray(x).reshape(-1)
    return concatenate([of[:at], asarray(values).reshape(-1), of[at:]]).astype(of.dtype)


def pad(x: Any, widths: Any, mode: str = "constant", constant_values: Any = 0) -> ndarray:
    """The array with a margin of one value around it."""
    if mode != "constant":
        raise NotImplementedError(f"the page's small numpy has no pad mode {mode!r}; open the notebook for it")
    of = asarray(x)
    margins = flat(broadcast_to(widths, (of.ndim, 2)))
    around = list(zip(margins[::2], margins[1::2], strict=True))
    new = zeros([size + low + high for size, (low, high) in zip(of.shape, around, strict=True)], of.dtype)
    new[...] = constant_values
    new[tuple(slice(low, low + size) for size, (low, _) in zip(of.shape, around, strict=True))] = of
    return new


def apply_along_axis(function: Callable[[ndarray], Any], axis: int, x: Any) -> ndarray:
    """What a function makes of each line along an axis."""
    of = moveaxis(asarray(x), axis, -1)
    size = of.shape[-1]
    made_of = [asarray(function(line)) for line in of.reshape(-1, size)]
    new = stack(made_of).reshape(of.shape[:-1] + made_of[0].shape)
    return moveaxis(new, -1, axis) if made_of[0].ndim else new


def vectorize(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of numbers as one of arrays."""

    def apply(*given: Any) -> Any:
        arrays = broadcast_arrays(*given)
        results = asarray([function(*at) for at in zip(*(x.reshape(-1) for x in arrays), strict=True)])
        return results.reshape(arrays[0].shape)

    return apply


def broadcast_arrays(*given: Any) -> list[ndarray]:
    """Views of one shape."""
    shape = broadcast_shapes(*(asarray(one).shape for one in given))
    return [broadcast_to(one, shape) for one in given]


class _Rows:
    """`r_[1, 2, x]` and `c_[x, y]`."""

    def __init__(self, join: Callable[[Sequence[Any]], ndarray]):
        self._join = join

    def __getitem__(self, parts: Any) -> ndarray:
        parts = parts if isinstance(parts, tuple) else (parts,)
        whole = [
            arange(part.start or 0, part.stop, part.step or 1) if isinstance(part, slice) else atleast_1d(part)
            for part in parts
        ]
        return self._join(whole)


r_, c_ = _Rows(concatenate), _Rows(column_stack)
