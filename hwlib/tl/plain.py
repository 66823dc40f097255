"""What the memory and the judge of a kernel use of numpy, in plain Python, for a page that has no numpy.

An `Array` has its values in one flat list, rounded to its type. Names, results and types are numpy's, float32 sums
apart: these are rounded once. It is a thousand times slower, which small arrays bear.
"""

from __future__ import annotations

import builtins
import math
import operator
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import compress, product
from random import Random
from struct import pack, unpack
from typing import Any

from hwlib.tl.tile import broadcast, size_of


@dataclass(frozen=True)
class Kind:
    """A type of elements; `kind` is numpy's letter."""

    name: str
    kind: str
    itemsize: int


bool_, int32, int64 = Kind("bool", "b", 1), Kind("int32", "i", 4), Kind("int64", "i", 8)
float16, float32, float64 = Kind("float16", "f", 2), Kind("float32", "f", 4), Kind("float64", "f", 8)
KINDS = {one.name: one for one in (bool_, int32, int64, float16, float32, float64)}
OF_PYTHON = {bool: bool_, int: int64, float: float64}


def _kind(given: Any) -> Kind:
    return given if isinstance(given, Kind) else OF_PYTHON[given] if isinstance(given, type) else KINDS[given]


def _half(value: float) -> float:
    try:
        (rounded,) = unpack("e", pack("e", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def _rounded(values: Sequence[Any], kind: Kind) -> list[Any]:
    if kind is float32:
        return array("f", values).tolist()
    convert: Callable[[Any], Any] = {"b": bool, "i": int, "f": _half if kind is float16 else float}[kind.kind]
    return [convert(one) for one in values]


def _total(values: list[Any]) -> Any:
    """The sum, rounded once where that can be."""
    try:
        return math.fsum(values) if values and type(values[0]) is float else builtins.sum(values)
    except (ValueError, OverflowError):  # of infinities
        return builtins.sum(values)


class Array:
    """An array of any shape; its methods do what numpy's do."""

    def __init__(self, flat: Sequence[Any], shape: Sequence[int], kind: Kind):
        self.flat, self.shape, self.dtype = _rounded(flat, kind), tuple(shape), kind
        self.size, self.ndim, self.itemsize = len(self.flat), len(self.shape), kind.itemsize
        self.nbytes = self.size * self.itemsize
        if self.size != size_of(self.shape):
            raise ValueError(f"{self.size} elements do not have the shape {self.shape}")

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.flat)

    def __bool__(self) -> bool:
        (one,) = self.flat
        return bool(one)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, int):
            return self.flat[at]
        chosen = list(compress(self.flat, at.flat)) if at.dtype is bool_ else [self.flat[i] for i in at.flat]
        return Array(chosen, (len(chosen),), self.dtype)

    def __setitem__(self, at: Array, values: Any) -> None:
        places = list(compress(range(self.size), at.flat)) if at.dtype is bool_ else at.flat
        for place, value in zip(places, _rounded(broadcast_to(values, (len(places),)).flat, self.dtype), strict=True):
            self.flat[place] = value

    def reshape(self, shape: Any) -> Array:
        return Array(self.flat, (self.size,) if shape == -1 else shape, self.dtype)

    def astype(self, kind: Any) -> Array:
        return Array(self.flat, self.shape, _kind(kind))

    def copy(self) -> Array:
        return Array(self.flat, self.shape, self.dtype)

    def tolist(self) -> list[Any]:
        return list(self.flat)

    def any(self) -> bool:
        return any(self.flat)

    def __float__(self) -> float:
        (one,) = self.flat
        return float(one)

    def argmax(self) -> int:
        return self.flat.index(builtins.max(self.flat))

    def max(self) -> Any:
        return builtins.max(self.flat)

    @property
    def T(self) -> Array:
        if self.ndim < 2:
            return self
        rows, columns = self.shape
        return Array(
            [self.flat[i * columns + j] for j in range(columns) for i in range(rows)], (columns, rows), self.dtype
        )

    def __matmul__(self, other: Array) -> Array:
        (rows, inner), (_, columns) = self.shape, other.shape
        across = [other.flat[j::columns] for j in range(columns)]
        down = [self.flat[i * inner : (i + 1) * inner] for i in range(rows)]
        sums = [_total(list(map(operator.mul, a, b))) for a in down for b in across]
        return Array(sums, (rows, columns), self.dtype)


def asarray(given: Any, dtype: Any = None) -> Array:
    """An array of nested lists, of a number or of an array."""
    if not isinstance(given, Array):
        shape, flat = [], [given]
        while flat and isinstance(flat[0], (list, tuple)):
            shape.append(len(flat[0]))
            flat = [one for row in flat for one in row]
        kinds = {OF_PYTHON[type(one)] for one in flat}
        given = Array(flat, shape, builtins.max(kinds, key=list(KINDS.values()).index, default=float64))
    return given if dtype is None else given.astype(dtype)


def full(shape: Any, value: Any, dtype: Any = None) -> Array:
    """An array of one value."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return Array([value] * size_of(shape), shape, OF_PYTHON[type(value)] if dtype is None else _kind(dtype))


def zeros(shape: Any, dtype: Any) -> Array:
    """An array of zeros."""
    return full(shape, 0, dtype)


def ones(shape: Any, dtype: Any) -> Array:
    """An array of ones."""
    return full(shape, 1, dtype)


def arange(start: int, end: int) -> Array:
    """start, start + 1, ... end - 1."""
    return Array(range(start, end), (end - start,), int64)


def shape(given: Any) -> tuple[int, ...]:
    """The shape of an array or a number."""
    return given.shape if isinstance(given, Array) else ()


broadcast_shapes = broadcast


def broadcast_to(given: Any, shape: tuple[int, ...]) -> Array:
    """The elements of an array, repeated along axes of one element and along new ones."""
    one = asarray(given)
    if one.shape == shape:
        return one
    padded, step, steps = (1,) * (len(shape) - one.ndim) + one.shape, 1, []
    for size in reversed(padded):
        steps.append(0 if size == 1 else step)
        step *= size
    steps.reverse()
    places = product(*(range(0, size * by, by) if by else [0] * size for size, by in zip(shape, steps, strict=True)))
    return Array([one.flat[builtins.sum(at)] for at in places], shape, one.dtype)


def _common(*given: Any) -> Kind:
    """The type of a result; a Python number is as wide as the array beside it."""
    kinds = {one.dtype for one in given if isinstance(one, Array)}
    weak = [OF_PYTHON[type(one)] for one in given if not isinstance(one, Array)]
    kinds |= {one for one in weak if not kinds or all("bif".index(one.kind) > "bif".index(kind.kind) for kind in kinds)}
    kinds = kinds - {bool_} or kinds
    if len({kind.kind for kind in kinds}) > 1:
        return float64
    return builtins.max(kinds, key=lambda kind: kind.itemsize)


def _each(function: Callable[..., Any], kind: Kind | None = None) -> Callable[..., Array]:
    """A function of numbers as one of arrays, element by element."""

    def apply(*given: Any) -> Array:
        size = broadcast(*map(shape, given))
        return Array(
            list(map(function, *(broadcast_to(one, size).flat for one in given))), size, kind or _common(*given)
        )

    return apply


def _or(function: Callable[..., Any], instead: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*given: Any) -> Any:
        try:
            return function(*given)
        except (ZeroDivisionError, ValueError, OverflowError):
            return instead(*given)

    return apply


def _quotient_by_zero(x: float, y: float) -> float:
    return math.nan if x == 0 or x != x else math.copysign(math.inf, x) * math.copysign(1, y)


def _nan_or(choose: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: math.nan if any(one != one for one in given) else choose(given)


add, multiply = _each(operator.add), _each(operator.mul)
divide = _each(_or(operator.truediv, _quotient_by_zero))
maximum, minimum = _each(_nan_or(builtins.max)), _each(_nan_or(builtins.min))
exp = _each(_or(math.exp, lambda _: math.inf))
log = _each(_or(math.log, lambda x: -math.inf if x == 0 else math.nan))
sqrt = _each(_or(math.sqrt, lambda _: math.nan))
less, less_equal, greater, greater_equal, equal, not_equal = (
    _each(one, bool_) for one in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
)
bitwise_and, bitwise_or = _each(operator.and_), _each(operator.or_)
remainder, floor_divide = (_each(_or(one, lambda _x, _y: 0)) for one in (operator.mod, operator.floordiv))
abs, isfinite = _each(abs), _each(math.isfinite, bool_)


def subtract(x: Any, y: Any) -> Array:
    """x - y; TypeError for truth values."""
    if _common(x, y) is bool_:
        raise TypeError("truth values are not subtracted")
    return _each(operator.sub)(x, y)


def invert(x: Array) -> Array:
    """Not x."""
    return _each(operator.not_ if x.dtype is bool_ else operator.invert)(x)


def where(condition: Any, x: Any, y: Any) -> Array:
    """x where the condition is true, else y."""
    return _each(lambda c, a, b: a if c else b, _common(x, y))(condition, x, y)


_SIGNS: dict[str, Callable[..., Array]] = {
    "lt": less, "le": less_equal, "gt": greater, "ge": greater_equal, "eq": equal, "ne": not_equal, "and": bitwise_and,
    "or": bitwise_or, "mul": multiply, "add": add, "floordiv": floor_divide, "invert": invert,
}  # fmt: skip
for _sign, _function in _SIGNS.items():
    setattr(Array, f"__{_sign}__", _function)


def _reduction(reduce: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    def apply(x: Array, axis: int | None = None, initial: Any = None, where: Any = None, dtype: Any = None) -> Any:
        x = x if dtype is None else x.astype(dtype)
        if axis is None:
            kept = [
                *(compress(x.flat, where.flat) if where is not None else x.flat),
                *([] if initial is None else [initial]),
            ]
            return Array([reduce(kept)], (), x.dtype)
        after, before = size_of(x.shape[axis + 1 :]), size_of(x.shape[:axis])
        length = x.shape[axis] * after
        lines = (x.flat[i * length + j : (i + 1) * length : after] for i in range(before) for j in range(after))
        return Array([reduce(line) for line in lines], x.shape[:axis] + x.shape[axis + 1 :], x.dtype)

    return apply


sum, max, min = (
    _reduction(_total),
    _reduction(lambda line: _nan_or(builtins.max)(*line)), _reduction(lambda line: _nan_or(builtins.min)(*line)),
)  # fmt: skip


def unique(x: Array, return_counts: bool = False) -> Any:
    """The values, ascending, each once; and how often each is there."""
    counts = Counter(x.flat)
    found = sorted(counts)
    once = Array(found, (len(found),), x.dtype)
    return (once, Array([counts[one] for one in found], once.shape, int64)) if return_counts else once


def flatnonzero(x: Array) -> Array:
    """Where the values are not zero."""
    found = [at for at, one in enumerate(x.flat) if one]
    return Array(found, (len(found),), int64)


def setdiff1d(x: Array, y: Array) -> Array:
    """The values of x that y lacks, ascending."""
    return unique(Array(rest := [one for one in x.flat if one not in set(y.flat)], (len(rest),), x.dtype))


def isclose(x: Array, y: Array, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """Where |x - y| is at most atol + rtol |y|."""

    def close(a: float, b: float) -> bool:
        either = a != a or b != b
        return (equal_nan and a != a and b != b) if either else a == b or math.fabs(a - b) <= atol + rtol * math.fabs(b)

    return _each(close, bool_)(x, y)


def allclose(x: Array, y: Array, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all of x are close to y."""
    return all(isclose(x, y, rtol, atol, equal_nan))


def array_equal(x: Array, y: Array) -> bool:
    """Whether two arrays have one shape and one content."""
    return x.shape == y.shape and x.flat == y.flat


def errstate(**_: str) -> Any:
    """Nothing: no function here warns."""
    return nullcontext()


class Generator(Random):
    """Random numbers; not numpy's, for the same seed."""

    def standard_normal(self, shape: tuple[int, ...]) -> Array:
        return Array([self.gauss(0, 1) for _ in range(size_of(shape))], shape, float64)


class random:
    """What is used of numpy's module of that name."""

    default_rng = Generator
