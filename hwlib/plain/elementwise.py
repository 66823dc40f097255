"""The functions of numpy that go element by element: arithmetic, comparisons, logarithms."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from itertools import compress, repeat
from typing import Any

from hwlib.plain.arrays import asarray, flat, lists_of, made, ndarray
from hwlib.plain.dtypes import BOOL, INT64, cast
from hwlib.plain.strided import strides_of
from hwlib.plain.ufuncs import (
    _operands,
    counting,
    no_truths,
    quotient,
    real,
    same,
    truth,
    ufunc,
    whole,
)

nan, inf = math.nan, math.inf


def _of(function: Callable[..., Any]) -> Callable[..., list[Any]]:
    return lambda *lists: list(map(function, *lists))


def _divided_by_zero(x: float, y: float) -> float:
    return nan if x == 0 or x != x or y != 0 else math.copysign(inf, x) * math.copysign(1, y)


def _remainder_by_zero(x: float, _: float) -> float:
    return nan if type(x) is float else 0


def _floor_by_zero(x: float, y: float) -> float:
    return _divided_by_zero(x, y) if type(x) is float else 0


def _powers(x: Any, y: Any) -> list[Any]:
    powers = [a**b for a, b in zip(x, y, strict=False)]
    if {complex, float} & set(map(type, powers)) and any(
        type(one) is not type(a) for one, a in zip(powers, x, strict=False)
    ):
        raise ValueError
    return powers


def _power(x: float, y: float) -> Any:
    if type(x) is int and y < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    try:
        power = x**y
    except OverflowError:
        return -inf if x < 0 and y % 2 == 1 else inf
    except ZeroDivisionError:
        return math.copysign(inf, x) if y % 2 == 1 else inf
    return nan if type(power) is complex else power


def _larger(x: Any, y: Any) -> list[Any]:
    return [a if a > b or a != a else b for a, b in zip(x, y, strict=False)]


def _smaller(x: Any, y: Any) -> list[Any]:
    return [a if a < b or a != a else b for a, b in zip(x, y, strict=False)]


def _rounded_to_even(one: float) -> float:
    return math.copysign(builtins.round(one), one) if math.isfinite(one) else one


def _floats(function: Callable[[float], float]) -> Callable[..., list[Any]]:
    """A function that leaves whole numbers, and what is not finite, as they are."""
    return lambda x: [
        math.copysign(function(one), one) if type(one) is float and math.isfinite(one) else one for one in x
    ]


def _domain(x: float) -> float:
    return nan if x != x or x < 0 else -inf


add = ufunc("add", _of(operator.add), same, of_truths=_of(operator.or_), identity=0)
subtract = ufunc("subtract", _of(operator.sub), no_truths)
multiply = ufunc("multiply", _of(operator.mul), same, of_truths=_of(operator.and_), identity=1)
divide = true_divide = ufunc("divide", _of(operator.truediv), quotient, _divided_by_zero)
floor_divide = ufunc("floor_divide", _of(operator.floordiv), counting, _floor_by_zero)
remainder = mod = ufunc("remainder", _of(operator.mod), counting, _remainder_by_zero)
fmod = ufunc(
    "fmod", lambda x, y: [type(a)(math.fmod(a, b)) for a, b in zip(x, y, strict=False)], counting, _remainder_by_zero
)
power = ufunc("power", _powers, counting, _power)
maximum = ufunc("maximum", _larger, same, exact=True)
minimum = ufunc("minimum", _smaller, same, exact=True)
fmax = ufunc("fmax", lambda x, y: [a if a >= b or b != b else b for a, b in zip(x, y, strict=False)], same, exact=True)
fmin = ufunc("fmin", lambda x, y: [a if a <= b or b != b else b for a, b in zip(x, y, strict=False)], same, exact=True)
hypot = ufunc("hypot", _of(math.hypot), real)
arctan2 = ufunc("arctan2", _of(math.atan2), real)
copysign = ufunc("copysign", _of(math.copysign), real, exact=True)
gcd = ufunc("gcd", _of(math.gcd), whole, exact=True)
lcm = ufunc("lcm", _of(math.lcm), whole)
less, less_equal = ufunc("less", _of(operator.lt), truth), ufunc("less_equal", _of(operator.le), truth)
greater, greater_equal = ufunc("greater", _of(operator.gt), truth), ufunc("greater_equal", _of(operator.ge), truth)
equal, not_equal = ufunc("equal", _of(operator.eq), truth), ufunc("not_equal", _of(operator.ne), truth)
bitwise_and = ufunc("bitwise_and", _of(operator.and_), whole, exact=True, identity=-1)
bitwise_or = ufunc("bitwise_or", _of(operator.or_), whole, exact=True, identity=0)
bitwise_xor = ufunc("bitwise_xor", _of(operator.xor), whole, exact=True, identity=0)
left_shift = ufunc("left_shift", _of(operator.lshift), whole)
right_shift = ufunc("right_shift", _of(operator.rshift), whole, exact=True)
logical_and = ufunc(
    "logical_and", lambda x, y: [bool(a and b) for a, b in zip(x, y, strict=False)], truth, identity=True
)
logical_or = ufunc("logical_or", lambda x, y: [bool(a or b) for a, b in zip(x, y, strict=False)], truth, identity=False)
logical_xor = ufunc(
    "logical_xor", lambda x, y: [bool(a) != bool(b) for a, b in zip(x, y, strict=False)], truth, identity=False
)


def _unary(name: str, lists: Any, rule: Any, instead: Any = None, **more: Any) -> ufunc:
    return ufunc(name, lists, rule, instead, nin=1, **more)


negative = _unary("negative", _of(operator.neg), no_truths)
positive = _unary("positive", _of(operator.pos), no_truths, exact=True)
absolute = _unary("absolute", _of(builtins.abs), same, of_truths=list)
fabs = _unary("fabs", _of(math.fabs), real, exact=True)
invert = bitwise_not = _unary("invert", _of(operator.invert), whole, of_truths=_of(operator.not_))
logical_not = _unary("logical_not", _of(operator.not_), truth)
isnan = _unary("isnan", lambda x: [one != one for one in x], truth)
isfinite = _unary("isfinite", _of(math.isfinite), truth)
isinf = _unary("isinf", _of(math.isinf), truth)
signbit = _unary("signbit", lambda x: [math.copysign(1, one) < 0 for one in x], truth)
sign = _unary("sign", lambda x: [one if one != one else type(one)((one > 0) - (one < 0)) for one in x], no_truths)
square = _unary("square", lambda x: [one * one for one in x], counting)
reciprocal = _unary(
    "reciprocal",
    lambda x: [1 / one if type(one) is float else int(1 / one) for one in x],
    counting,
    lambda one: math.copysign(inf, one) if type(one) is float else 0,
)
exp = _unary("exp", _of(math.exp), real, lambda _: inf)
exp2 = _unary("exp2", lambda x: [2.0**one for one in x], real, lambda _: inf)
expm1 = _unary("expm1", _of(math.expm1), real, lambda _: inf)
log, log2 = _unary("log", _of(math.log), real, _domain), _unary("log2", _of(math.log2), real, _domain)
log10 = _unary("log10", _of(math.log10), real, _domain)
log1p = _unary("log1p", _of(math.log1p), real, lambda x: -inf if x == -1 else nan)
sqrt = _unary("sqrt", _of(math.sqrt), real, lambda _: nan)
cbrt = _unary("cbrt", _of(math.cbrt), real)
floor, ceil = (
    _unary("floor", _floats(math.floor), same, exact=True),
    _unary("ceil", _floats(math.ceil), same, exact=True),
)
trunc = _unary("trunc", _floats(math.trunc), same, exact=True)
rint = _unary("rint", _of(_rounded_to_even), real, exact=True)
sin, cos, tan, arcsin, arccos, arctan, sinh, cosh, tanh, arcsinh, arccosh, arctanh, degrees, radians = (
    _unary(
        name,
        _of(getattr(math, name.replace("arc", "a"))),
        real,
        lambda x, name=name: math.copysign(inf, x) if name in ("sinh", "cosh", "arctanh") and x == x else nan,
    )
    for name in (
        "sin",
        "cos",
        "tan",
        "arcsin",
        "arccos",
        "arctan",
        "sinh",
        "cosh",
        "tanh",
        "arcsinh",
        "arccosh",
        "arctanh",
        "degrees",
        "radians",
    )
)
rad2deg, deg2rad = degrees, radians
pow, abs = power, absolute


def where(condition: Any, *either: Any) -> Any:
    """The first of two where the condition is true, else the second; of none, the places where it is."""
    if not either:
        return nonzero(condition)
    if len(either) != 2:
        raise ValueError("either both or neither of x and y should be given")
    operands, kind = _operands(either, None)
    arrays = [asarray(one) for one in (condition, *operands)]
    shape, (of, x, y) = lists_of(*arrays)
    x, y = (_cast(one, array.dtype, kind) for array, one in zip(arrays[1:], (x, y), strict=True))
    return made([a if chosen else b for chosen, a, b in zip(of, x, y, strict=False)], shape, kind)


def nonzero(x: Any) -> tuple[ndarray, ...]:
    """The places of what is not zero, along each axis."""
    of = asarray(x)
    flat_places = list(compress(range(of.size), flat(of)))
    return tuple(
        made([one // by % size for one in flat_places] if of.ndim > 1 else flat_places, (len(flat_places),), INT64)
        for size, by in zip(of.shape, strides_of(of.shape), strict=True)
    )


def _cast(values: Any, of: Any, to: Any) -> Any:
    return cast(values, of, to) if type(values) is list else repeat(cast([next(values)], of, to)[0])


def clip(values: Any, least: Any = None, most: Any = None, out: Any = None) -> Any:
    """The values, brought within two bounds."""
    if least is not None:
        values = maximum(values, least)
    clipped = values if most is None else minimum(values, most)
    if out is None:
        return clipped
    out[...] = clipped
    return out


def round(given: Any, decimals: int = 0, out: Any = None) -> Any:
    """Rounded to so many decimals, halves to even."""
    x = asarray(given)
    if x.dtype.kind == "f" or x.dtype is BOOL:
        there, back = (multiply, divide) if decimals > 0 else (divide, multiply)
        by = 10.0 ** builtins.abs(decimals)
        x = asarray(back(rint(there(x, by)), by) if decimals else rint(x))
    elif decimals < 0:
        by = 10**-decimals
        x = asarray(multiply(rint(divide(x, by)), by)).astype(x.dtype)
    if out is None:
        return x if x.shape else x[()]
    out[...] = x
    return out


around = round


def nan_to_num(given: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Any:
    """The values, with numbers in place of what is not finite."""
    x = asarray(given)
    top = 1.7976931348623157e308 if posinf is None else posinf
    bottom = -1.7976931348623157e308 if neginf is None else neginf
    x = where(isnan(x), nan, x)
    return where(equal(x, inf), top, where(equal(x, -inf), bottom, x))


def divmod(x: Any, y: Any) -> tuple[Any, Any]:
    """Quotient, rounded down, and remainder."""
    return floor_divide(x, y), remainder(x, y)


def isclose(x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Where |x - y| is at most atol + rtol |y|."""
    left, other = asarray(x), asarray(y)
    shape, lists = lists_of(left, other)
    size = math.fabs
    close = list(map(operator.eq, *lists))
    close = (
        close
        if builtins.all(close)
        else [
            a == b
            or (size(a - b) <= atol + rtol * size(b) if size(b) != inf else False)
            or (equal_nan and a != a and b != b)
            for a, b in zip(*lists, strict=False)
        ]
    )
    return made(close, shape, BOOL) if shape else BOOL.type(close[0])


def allclose(x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all of x are close to y."""
    return builtins.all(asarray(isclose(x, y, rtol, atol, equal_nan)).reshape(-1).tolist())
