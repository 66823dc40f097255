"""A function of numbers as one of arrays, element by element: which type it computes in, and what it rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from math import prod
from typing import Any

from hwlib.plain.arrays import SEQUENCES, asarray, broadcast_to, flat, lists_of, made, ndarray
from hwlib.plain.dtypes import (
    BOOL,
    FLOAT64,
    OF_KIND,
    as_float,
    cast,
    dtype,
    fitting,
    generic,
    promoted,
    rounded,
    with_weak,
)
from hwlib.plain.strided import axis_of, broadcast_shapes

FAMILY = {"b": "b", "i": "i", "u": "i", "f": "f", "U": "U"}  # whose numbers Python keeps in one class
ORDER = "buif"
Lists = Callable[..., list[Any]]
Rule = Callable[[dtype], tuple[dtype, dtype]]  # from the operands' common type to that computed in, and the result's


def same(kind: dtype) -> tuple[dtype, dtype]:
    """The result has the operands' type."""
    return kind, kind


def truth(kind: dtype) -> tuple[dtype, dtype]:
    """The result is a truth value."""
    return kind, BOOL


def real(kind: dtype) -> tuple[dtype, dtype]:
    """A float that is as wide as the operands."""
    return (wide := as_float(kind)), wide


def quotient(kind: dtype) -> tuple[dtype, dtype]:
    """A float64 of whole numbers."""
    return (wide := kind if kind.kind == "f" else FLOAT64), wide


def counting(kind: dtype) -> tuple[dtype, dtype]:
    """Truth values are counted as whole numbers."""
    return (wide := dtype("int8") if kind is BOOL else kind), wide


def no_truths(kind: dtype) -> tuple[dtype, dtype]:
    """TypeError for truth values."""
    if kind is BOOL:
        raise TypeError("numpy boolean subtract and negative are not supported; use logical_xor or logical_not")
    return kind, kind


def whole(kind: dtype) -> tuple[dtype, dtype]:
    """TypeError for floats."""
    if kind.kind not in "biu":
        raise TypeError("ufunc not supported for floats, and they could not be safely coerced to integers")
    return kind, kind


class ufunc:
    """A function that is applied element by element to arrays that stretch to one shape."""

    def __init__(
        self,
        name: str,
        lists: Lists,
        rule: Rule,
        instead: Callable[..., Any] | None = None,
        *,
        nin: int = 2,
        exact: bool = False,
        of_truths: Lists | None = None,
        identity: Any = None,
    ):
        """`lists` makes the elements of the result of the operands'; `instead`, of single numbers, is used where it
        raises; `exact`: what it makes needs no rounding; `of_truths`: what it does of truth values."""
        self.__name__, self._lists, self._rule, self._instead, self.nin = name, lists, rule, instead, nin
        self._exact, self._of_truths, self.identity = exact, of_truths, identity

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __call__(self, *given: Any, out: Any = None, where: Any = True, dtype: Any = None) -> Any:
        if len(given) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} operands but {len(given)} were given")
        operands, kind = _operands(given, None if dtype is None else _dtype(dtype))
        loop, result = self._rule(kind)
        families = FAMILY[loop.kind] if result is not BOOL or loop is BOOL else ""
        if all(type(x) is not ndarray for x in operands):
            lists: list[Any] = [[_weak(x, loop, families)] for x in operands]
            shape: Any = ()
        else:
            arrays = [x for x in operands if type(x) is ndarray]
            shape, those = lists_of(*arrays)
            if families:
                those = [_as(x, one, families) for x, one in zip(arrays, those, strict=True)]
            rest = iter(those)
            lists = [next(rest) if type(x) is ndarray else repeat(_weak(x, loop, families)) for x in operands]
        values = self._made(self._of_truths if loop is BOOL and self._of_truths else self._lists, lists)
        if not self._exact and result is not FLOAT64 and result is not BOOL:
            values = rounded(values, result)
        if out is None and where is True:
            return made(values, shape, result) if shape else result.type(values[0])
        return self._into(out, made(values, shape, result), where)

    def _made(self, function: Lists, lists: list[Any]) -> list[Any]:
        if self._instead is None:
            return function(*lists)
        try:
            return function(*lists)
        except (ZeroDivisionError, ValueError, OverflowError):
            return [self._careful(function, one) for one in zip(*lists, strict=False)]

    def _careful(self, function: Lists, given: tuple) -> Any:
        try:
            return function(*([one] for one in given))[0]
        except (ZeroDivisionError, ValueError, OverflowError):
            assert self._instead
            return self._instead(*given)

    def _into(self, out: Any, found: ndarray, where: Any) -> Any:
        out = out[0] if isinstance(out, tuple) else out
        if out is None:
            out = made([0] * found.size, found.shape, found.dtype)
        self.check_cast(found.dtype, out.dtype)
        if found.shape != out.shape and broadcast_shapes(found.shape, out.shape) != out.shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {out.shape} doesn't match the broadcast shape "
                f"{broadcast_shapes(found.shape, out.shape)}".replace(", ", ",")
            )
        if where is True:
            out[...] = found
        else:
            mask = broadcast_to(where, out.shape)
            out[mask] = broadcast_to(found, out.shape)[mask]
        return out

    def check_cast(self, of: dtype, to: dtype) -> None:
        """TypeError where a result of one type must not be written into an array of the other."""
        if ORDER.find(of.kind) > ORDER.find(to.kind):
            raise TypeError(
                f"Cannot cast ufunc '{self.__name__}' output from {of!r} to {to!r} with casting rule 'same_kind'"
            )

    def into(self, x: ndarray, other: Any) -> ndarray:
        """`x += other` and the like."""
        result = asarray(self(x, other))
        self.check_cast(result.dtype, x.dtype)
        if result.shape != x.shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {x.shape} doesn't match the broadcast shape "
                f"{result.shape}".replace(", ", ",")
            )
        x[...] = result
        return x

    def reduce(self, given: Any, axis: int | None = 0, dtype: Any = None, initial: Any = None) -> Any:
        """The function over all elements along an axis, one after the other."""
        x = asarray(given, dtype)
        x = x.reshape(-1) if axis is None else x.transpose(_front(x.ndim, axis))
        if not len(x):
            if initial is None and self.identity is None:
                raise ValueError(f"zero-size array to reduction operation {self.__name__} which has no identity")
            start = self.identity if initial is None else initial
            return made([start] * prod(x.shape[1:]), x.shape[1:], x.dtype) if x.ndim > 1 else x.dtype.type(start)
        result = x[0] if initial is None else self(x[0], initial)
        if len(x) == 1 and self._rule(x.dtype)[1] is BOOL:
            result = asarray(result).astype(bool)[()]
        for i in range(1, len(x)):
            result = self(result, x[i])
        return result

    def accumulate(self, given: Any, axis: int = 0) -> Any:
        """The function over the elements along an axis so far, for each."""
        x = asarray(given)
        order = _front(x.ndim, axis)
        x = x.transpose(order)
        rows = [x[0]] if len(x) else []
        for i in range(1, len(x)):
            rows.append(self(rows[-1], x[i]))
        parts = [asarray(row) for row in rows]
        kind = parts[-1].dtype if parts else x.dtype
        stacked = made([one for part in parts for one in cast(flat(part), part.dtype, kind)], x.shape, kind)
        return stacked.transpose([order.index(i) for i in range(x.ndim)])

    def outer(self, one: Any, other: Any) -> Any:
        """The function of each element of one with each of the other."""
        x, y = asarray(one), asarray(other)
        return self(x.reshape((*x.shape, *(1,) * y.ndim)), y)

    def at(self, x: ndarray, index: Any, *other: Any) -> None:
        """The function in place, at each place of the index, also where one comes twice."""
        places = flat(asarray(index))
        rest = [flat(broadcast_to(one, (len(places),))) for one in other]
        for place, *more in zip(places, *rest, strict=True):
            x[place] = self(x[place], *more)


def _operands(given: Iterable[Any], kind: dtype | None) -> tuple[list[Any], dtype]:
    """Arrays, and Python's numbers as they are; and the type that they have in common."""
    operands: list[Any] = []
    strong: dtype | None = None
    weak: set[type] = set()
    for operand in given:
        of = type(operand)
        if of is ndarray:
            strong = operand.dtype if strong is None or strong is operand.dtype else promoted(strong, operand.dtype)
        elif of is float or of is int or of is bool:
            weak.add(of)
        else:
            operand = asarray(operand)
            strong = operand.dtype if strong is None else promoted(strong, operand.dtype)
        operands.append(operand)
    if kind is not None:
        return operands, kind
    if strong is None:
        for of in weak:
            strong = dtype.known[of] if strong is None else promoted(strong, dtype.known[of])
        assert strong is not None
    else:
        for of in weak:
            strong = with_weak(strong, of)
    return operands, strong


def _weak(one: Any, loop: dtype, families: str) -> Any:
    """An operand that is one number, as the type computed in has it."""
    if type(one) is ndarray:
        return _as(one, flat(one), families)[0] if families else flat(one)[0]
    if not families:
        return rounded([one], loop)[0] if type(one) is float and loop.kind == "f" else one
    if loop.kind == "f":
        return rounded([float(one)], loop)[0]
    return fitting(int(one), loop) if loop.kind in "iu" else OF_KIND[loop.kind](one)


def _as(x: ndarray, values: Any, family: str) -> Any:
    if FAMILY[x.dtype.kind] == family:
        return values
    change = OF_KIND[family]
    return repeat(change(next(values))) if type(values) is repeat else list(map(change, values))


def takes(one: Any) -> bool:
    """Whether an operator of arrays takes it as its other operand."""
    return isinstance(one, (ndarray, generic, bool, int, float, *SEQUENCES))


def _front(axes: int, axis: int) -> list[int]:
    axis = axis_of(axis, axes)
    return [axis, *(i for i in range(axes) if i != axis)]


_dtype = dtype
