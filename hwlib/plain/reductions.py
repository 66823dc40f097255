"""What is made of all elements, or of those along an axis: sums, extremes, means, quantiles; and running ones."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from hwlib.plain.arrays import asarray, broadcast_to, flat, made, ndarray
from hwlib.plain.dtypes import BOOL, FLOAT64, INT64, cast, dtype, rounded
from hwlib.plain.elementwise import isnan, multiply, where
from hwlib.plain.strided import axis_of

Axis = int | Sequence[int] | None
inf, nan = math.inf, math.nan


def total(values: Sequence[Any]) -> Any:
    """The sum of numbers, rounded once where that can be."""
    try:
        return math.fsum(values) if values and type(values[0]) is float else builtins.sum(values)
    except (ValueError, OverflowError):  # of infinities
        return builtins.sum(values)


def largest(values: Sequence[Any]) -> Any:
    """The maximum, or nan where one is."""
    maximum = builtins.max(values)
    return maximum if type(maximum) is not float or not any_nan(values) else nan


def smallest(values: Sequence[Any]) -> Any:
    """The minimum, or nan where one is."""
    minimum = builtins.min(values)
    return minimum if type(minimum) is not float or not any_nan(values) else nan


def any_nan(values: Sequence[Any]) -> bool:
    """Whether one is not a number: then their sum is none, which infinities of both signs may make, too."""
    return (total := builtins.sum(values)) != total and builtins.any(one != one for one in values)


def lines(x: ndarray, axis: Axis) -> tuple[list[list[Any]], tuple[int, ...], tuple[int, ...]]:
    """The elements along the axes, a list for each place of the rest; the shape of the rest, and the axes."""
    values = flat(x)
    if axis is None or (axis in (0, -1) and not x.shape):
        return [values], (), tuple(range(x.ndim))
    axes = tuple(axis_of(one, x.ndim) for one in ((axis,) if isinstance(axis, int) else axis))
    if len(axes) == 1:
        (at,) = axes
        rest = x.shape[:at] + x.shape[at + 1 :]
        after, before = math.prod(x.shape[at + 1 :]), math.prod(x.shape[:at])
        length = x.shape[at] * after
        return (
            [values[i * length + j : (i + 1) * length : after] for i in range(before) for j in range(after)],
            rest,
            axes,
        )
    order = [*(i for i in range(x.ndim) if i not in axes), *axes]
    moved = x.transpose(order)
    rest = moved.shape[: x.ndim - len(axes)]
    size = math.prod(moved.shape[len(rest) :])
    values = flat(moved)
    return [values[i * size : (i + 1) * size] for i in range(math.prod(rest))], rest, axes


def _shaped(
    values: list[Any], rest: tuple[int, ...], x: ndarray, axes: tuple[int, ...], kind: dtype, keepdims: bool, out: Any
) -> Any:
    if keepdims:
        rest = tuple(1 if i in axes else size for i, size in enumerate(x.shape))
    if out is not None:
        out[...] = made(values, rest, kind)
        return out
    return made(values, rest, kind) if rest else kind.type(values[0])


def _wide(kind: dtype) -> dtype:
    """The type of a sum."""
    return dtype("uint64") if kind.kind == "u" else INT64 if kind.kind in "bi" else kind


def _reduction(
    name: str, reduce: Callable[[Sequence[Any]], Any], wide: Callable[[dtype], dtype], nothing: Any = None
) -> Callable[..., Any]:
    """A function of numpy's that reduces lines; `nothing` is what it makes of an empty one."""

    def apply(
        given: Any,
        axis: Axis = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        x = asarray(given)
        kind = wide(x.dtype) if dtype is None else _dtype(dtype)
        if where is not None:
            mask = flat(broadcast_to(where, x.shape))
            if axis is not None:
                raise NotImplementedError(f"the page's small numpy has no {name} along an axis with `where`")
            chosen = [one for one, there in zip(flat(x), mask, strict=True) if there]
            x = made(chosen, (len(chosen),), x.dtype)
        if (kind.kind == "f" and kind is not x.dtype) or dtype is not None:
            x = x.astype(kind)
        of, rest, axes = lines(x, axis)
        if initial is not None:
            of = [[*line, initial] for line in of]
        if nothing is not None:
            reduced = [reduce(line) if line else nothing for line in of]
        elif not builtins.all(of):
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        else:
            reduced = list(map(reduce, of))
        reduced = cast(reduced, FLOAT64, kind) if kind.kind == "f" else rounded(reduced, kind)
        return _shaped(reduced, rest, x, axes, kind, keepdims, out)

    apply.__name__ = name
    return apply


_dtype = dtype
sum = _reduction("sum", total, _wide, 0)
prod = _reduction("prod", math.prod, _wide, 1)
max = amax = _reduction("maximum", largest, lambda kind: kind)
min = amin = _reduction("minimum", smallest, lambda kind: kind)
any = _reduction("any", lambda line: builtins.any(line), lambda _: BOOL, False)
all = _reduction("all", lambda line: builtins.all(line), lambda _: BOOL, True)
count_nonzero = _reduction("count_nonzero", lambda line: builtins.sum(map(bool, line)), lambda _: INT64, 0)


def _real(kind: dtype) -> dtype:
    return kind if kind.kind == "f" else FLOAT64


def _mean(line: Sequence[Any]) -> float:
    return total(line) / len(line)


def _quantile(q: float) -> Callable[[Sequence[Any]], float]:
    def of(line: Sequence[Any]) -> float:
        if builtins.any(one != one for one in line):
            return nan
        values, at = sorted(line), q * (len(line) - 1)
        low = values[math.floor(at)]
        high, part = values[math.ceil(at)], at - math.floor(at)
        return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)

    return of


def _middle(line: Sequence[Any]) -> float:
    values = sorted(line)
    half = len(values) // 2
    return nan if any_nan(line) else values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


mean = _reduction("mean", _mean, _real, nan)
median = _reduction("median", _middle, _real, nan)


def var(given: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """The mean square of the distances from the mean; of `ddof` fewer."""

    def of(line: Sequence[Any]) -> float:
        centre = _mean(line)
        rest = len(line) - ddof
        squares = total([(one - centre) ** 2 for one in line])
        return squares / rest if rest > 0 else nan

    return _reduction("var", of, _real, nan)(given, axis, keepdims=keepdims)


def std(given: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """The root of the variance."""
    variance = var(given, axis, ddof, keepdims)
    return variance**0.5


def quantile(given: Any, q: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The values below which these shares of the elements lie, linear between neighbours."""
    shares = asarray(q)
    if not builtins.all(0 <= one <= 1 for one in flat(shares)):
        raise ValueError("Quantiles must be in the range [0, 1]")
    quantiles = [_reduction("quantile", _quantile(one), _real)(given, axis, keepdims=keepdims) for one in flat(shares)]
    if not shares.shape:
        return quantiles[0]
    parts = [asarray(one) for one in quantiles]
    return made([one for part in parts for one in flat(part)], (*shares.shape, *parts[0].shape), parts[0].dtype)


def percentile(given: Any, q: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The same, of percentages."""
    shares = asarray(q, float)
    return quantile(
        given,
        shares.dtype.type(shares.item() / 100) if not shares.shape else [one / 100 for one in flat(shares)],
        axis,
        keepdims,
    )


def average(given: Any, axis: Axis = None, weights: Any = None) -> Any:
    """The mean, of elements that weigh as much."""
    if weights is None:
        return mean(given, axis)
    x, by = asarray(given), asarray(weights)
    if by.shape != x.shape and isinstance(axis, int):
        by = broadcast_to(by.reshape([size if i == axis % x.ndim else 1 for i, size in enumerate(x.shape)]), x.shape)
    return sum(multiply(x, by), axis) / sum(by, axis)


def ptp(given: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The largest less the smallest."""
    return max(given, axis, keepdims=keepdims) - min(given, axis, keepdims=keepdims)


def _without_nan(reduce: Callable[..., Any], instead: Any) -> Callable[..., Any]:
    def apply(given: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        x = asarray(given)
        return reduce(where(isnan(x), x.dtype.type(instead), x) if x.dtype.kind == "f" else x, axis, keepdims=keepdims)

    return apply


nansum, nanprod = _without_nan(sum, 0), _without_nan(prod, 1)
nanmin, nanmax = _without_nan(min, inf), _without_nan(max, -inf)


def nanmean(given: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The mean of what is a number."""
    x = asarray(given, float)
    return nansum(x, axis, keepdims) / sum(~isnan(x), axis, keepdims=keepdims)


def _place(name: str, choose: Callable[[Sequence[Any]], Any]) -> Callable[..., Any]:
    def apply(given: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        x = asarray(given)
        of, rest, axes = lines(x, axis)
        if not builtins.all(of):
            raise ValueError(f"attempt to get {name} of an empty sequence")
        places = [
            next(i for i, one in enumerate(line) if one != one) if any_nan(line) else line.index(choose(line))
            for line in of
        ]
        return _shaped(places, rest, x, axes, INT64, keepdims, None)

    return apply


argmax, argmin = _place("argmax", builtins.max), _place("argmin", builtins.min)


def along(given: Any, axis: int | None, change: Callable[[list[Any]], list[Any]], kind: dtype | None = None) -> ndarray:
    """An array with each line along the axis changed; along all elements where the axis is None."""
    x = asarray(given)
    x, at = (x.reshape(-1), 0) if axis is None else (x, axis_of(axis, x.ndim))
    of, rest, _ = lines(x, at)
    changed = [change(line) for line in of]
    size = len(changed[0]) if changed else x.shape[at]
    moved = made([one for line in changed for one in line], (*rest, size), kind or x.dtype)
    return moved.transpose([*range(at), x.ndim - 1, *range(at, x.ndim - 1)])


def cumsum(given: Any, axis: int | None = None, dtype: Any = None) -> ndarray:
    """The sums so far."""
    return _running(given, axis, dtype, operator.add)


def cumprod(given: Any, axis: int | None = None, dtype: Any = None) -> ndarray:
    """The products so far."""
    return _running(given, axis, dtype, operator.mul)


def _running(given: Any, axis: int | None, kind: Any, function: Callable[[Any, Any], Any]) -> ndarray:
    x = asarray(given)
    to = _wide(x.dtype) if kind is None else dtype(kind)
    return along(x.astype(to), axis, lambda line: rounded(list(accumulate(line, function)), to), to)


def diff(given: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> ndarray:
    """The differences between neighbours, taken n times."""
    x = asarray(given)
    if prepend is not None or append is not None:
        if x.ndim != 1:
            raise NotImplementedError("the page's small numpy prepends and appends to one dimension only")
        ends = [[] if one is None else asarray(one).reshape(-1).tolist() for one in (prepend, append)]
        x = asarray([*ends[0], *x.tolist(), *ends[1]])
    for _ in range(n):
        before = [slice(None)] * x.ndim
        after = list(before)
        before[axis], after[axis] = slice(None, -1), slice(1, None)
        x = x[tuple(after)] != x[tuple(before)] if x.dtype is BOOL else x[tuple(after)] - x[tuple(before)]
    return x
