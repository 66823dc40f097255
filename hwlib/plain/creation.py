"""Arrays of nothing before: of one value, of steps, of lists, of bytes."""

from __future__ import annotations

import math
from array import array as memory
from collections.abc import Callable, Iterable
from typing import Any

from hwlib.plain.arrays import asarray, broadcast_to, flat, from_nested, made, ndarray
from hwlib.plain.dtypes import FLOAT64, INT64, cast, dtype, of_numbers

Size = int | Iterable[int]


def shape_of(given: Any) -> tuple[int, ...]:
    """A shape of a number or of numbers."""
    shape = (int(given),) if hasattr(given, "__index__") else tuple(int(one) for one in given)
    if min(shape, default=0) < 0:
        raise ValueError("negative dimensions are not allowed")
    return shape


def array(given: Any, dtype: Any = None, copy: bool | None = True, order: str = "C", ndmin: int = 0) -> ndarray:  # noqa: ARG001
    """An array of a number, of nested lists or of an array: a copy, unless `copy` is false."""
    x = from_nested(given, None if dtype is None else _dtype(dtype)) if copy else asarray(given, dtype)
    return x.reshape((1,) * (ndmin - x.ndim) + x.shape) if ndmin > x.ndim else x


_dtype = dtype


def ascontiguousarray(given: Any, dtype: Any = None) -> ndarray:
    """The array, or a copy whose elements lie one after another; of one dimension at least."""
    x = asarray(given, dtype)
    x = x if x._whole else x.copy()
    return x if x.shape else x.reshape(1)


def full(shape: Size, value: Any, dtype: Any = None) -> ndarray:
    """An array of one value, or of values that stretch to the shape."""
    to = shape_of(shape)
    of = asarray(value)
    new = zeros(to, of.dtype if dtype is None else dtype)
    new[...] = value if type(value) in (bool, int, float) else of
    return new


def zeros(shape: Size, dtype: Any = float) -> ndarray:
    """An array of zeros."""
    to, kind = shape_of(shape), _dtype(dtype)
    zero: Any = {"f": 0.0, "b": False, "U": ""}.get(kind.kind, 0)
    return made([zero] * math.prod(to), to, kind)


empty = zeros


def ones(shape: Size, dtype: Any = float) -> ndarray:
    """An array of ones."""
    return full(shape, 1, dtype)


def zeros_like(x: Any, dtype: Any = None) -> ndarray:
    """Zeros of the shape and type of another array."""
    return zeros(asarray(x).shape, dtype or asarray(x).dtype)


empty_like = zeros_like


def ones_like(x: Any, dtype: Any = None) -> ndarray:
    """Ones of the shape and type of another array."""
    return ones(asarray(x).shape, dtype or asarray(x).dtype)


def full_like(x: Any, value: Any, dtype: Any = None) -> ndarray:
    """One value in the shape and type of another array."""
    return full(asarray(x).shape, value, dtype or asarray(x).dtype)


def arange(*ends: Any, dtype: Any = None, step: Any = None) -> ndarray:
    """From the first to below the second, in steps of the third; from 0 where only an end is given."""
    start, stop, by = (0, ends[0], 1) if len(ends) == 1 else (*ends, 1)[:3]
    by = by if step is None else step
    kind = of_numbers([start, stop, by]) if dtype is None else _dtype(dtype)
    if all(isinstance(one, int) for one in (start, stop, by)):
        values: list[Any] = list(range(int(start), int(stop), int(by)))
        return made(cast(values, INT64, kind), (len(values),), kind)
    count = max(0, math.ceil((float(stop) - float(start)) / float(by)))
    second = float(start) + float(by)
    values = [float(start) + i * (second - float(start)) for i in range(count)]
    return made(cast(values, FLOAT64, kind), (count,), kind)


def linspace(
    start: float, stop: float, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None
) -> Any:
    """So many numbers in equal steps, the last of them `stop`, or one step before it."""
    first, last = float(start), float(stop)
    parts = num - 1 if endpoint else num
    step = (last - first) / parts if parts > 0 else math.nan
    values = [first + i * step if parts else first for i in range(num)] if parts else [first] * num
    if endpoint and num > 1:
        values[-1] = last
    kind = FLOAT64 if dtype is None else _dtype(dtype)
    if kind.kind in "iu":
        values = [math.floor(one) for one in values]
    x = made(cast(values, FLOAT64, kind), (num,), kind)
    return (x, step) if retstep else x


def logspace(start: float, stop: float, num: int = 50, endpoint: bool = True, base: float = 10.0) -> ndarray:
    """Powers of the base, in equal steps of the exponent."""
    return asarray([base**one for one in flat(linspace(start, stop, num, endpoint))])


def geomspace(start: float, stop: float, num: int = 50, endpoint: bool = True) -> ndarray:
    """So many numbers, each the same multiple of the one before."""
    if not float(start) or not float(stop) or (start < 0) != (stop < 0):
        raise ValueError("Geometric sequence cannot include zero")
    sign = -1.0 if start < 0 else 1.0
    low, high = math.log10(sign * start), math.log10(sign * stop)
    values = [sign * 10.0**one for one in flat(linspace(low, high, num, endpoint))]
    values[:1] = [float(start)] * min(num, 1)
    if endpoint and num > 1:
        values[-1] = float(stop)
    return asarray(values)


def eye(rows: int, columns: int | None = None, k: int = 0, dtype: Any = float) -> ndarray:
    """Ones on a diagonal, zeros beside it."""
    wide = rows if columns is None else columns
    return fromfunction(lambda i, j: j - i == k, (rows, wide), dtype)


def identity(n: int, dtype: Any = float) -> ndarray:
    """The square of ones on the diagonal."""
    return eye(n, dtype=dtype)


def fromfunction(function: Callable[..., Any], shape: tuple[int, ...], dtype: Any = float) -> ndarray:
    """The values of a function of the places, called for each."""
    places: list[tuple[int, ...]] = [()]
    for size in shape:
        places = [(*at, i) for at in places for i in range(size)]
    return asarray([function(*at) for at in places], dtype).reshape(shape)


def tri(rows: int, columns: int | None = None, k: int = 0, dtype: Any = float) -> ndarray:
    """Ones on and below a diagonal."""
    return fromfunction(lambda i, j: j - i <= k, (rows, rows if columns is None else columns), dtype)


def indices(shape: tuple[int, ...]) -> ndarray:
    """The places along each axis, as an array of the shape for each."""
    at = [fromfunction(lambda *place, axis=axis: place[axis], shape, int) for axis in range(len(shape))]
    return asarray([one for x in at for one in flat(x)], int).reshape((len(shape), *shape))


def meshgrid(*given: Any, indexing: str = "xy") -> list[ndarray]:
    """Arrays of one shape, each with one of these along an axis of its own."""
    lines = [asarray(one).reshape(-1) for one in given]
    order = list(range(len(lines)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = [1, 0]
    shape = tuple(lines[i].size for i in order)
    return [
        broadcast_to(x.reshape([x.size if axis == i else 1 for axis in order]), shape).copy()
        for i, x in enumerate(lines)
    ]


def frombuffer(raw: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> ndarray:
    """The numbers that bytes hold, each with its lowest byte first; they are not to be written."""
    kind = _dtype(dtype)
    data = bytes(raw)[offset:]
    if len(data) % kind.itemsize:
        raise ValueError("buffer size must be a multiple of element size")
    if kind.char == "e":
        from struct import unpack

        values: list[Any] = list(unpack(f"<{len(data) // 2}e", data))
    elif kind.kind == "b":
        values = list(map(bool, data))
    else:
        held = memory(kind.char)
        held.frombytes(data)
        values = held.tolist()
    values = values if count < 0 else values[:count]
    x = made(values, (len(values),), kind)
    x.setflags(write=False)
    return x


def fromiter(given: Iterable[Any], dtype: Any, count: int = -1) -> ndarray:
    """An array of what an iterator gives."""
    values = list(given)
    return asarray(values if count < 0 else values[:count], dtype)


def copy(x: Any) -> ndarray:
    """A copy."""
    return asarray(x).copy()
