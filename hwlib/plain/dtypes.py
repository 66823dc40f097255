"""The types of elements and of single numbers, which type a result has, and how numbers are made to fit one.

A number of a type is kept as Python's bool, int, float or str, and always as one that the type holds exactly.
"""

from __future__ import annotations

import builtins
import math
from array import array
from collections.abc import Callable, Iterable
from functools import cache
from struct import calcsize, pack, unpack
from typing import Any, ClassVar

Values = list[Any]


class dtype:
    """A type of elements: one object a type, as `float32` or `dtype("float32")`."""

    __slots__ = ("char", "itemsize", "kind", "name", "type")
    known: ClassVar[dict[Any, dtype]] = {}

    name: str
    kind: str
    itemsize: int
    char: str
    type: Any

    def __new__(cls, given: Any = None) -> dtype:
        """The type of this name, class or type; TypeError for one that is not here."""
        if type(given) is cls:
            return given
        try:
            return cls.known[given]
        except (KeyError, TypeError):
            pass
        if isinstance(given, str) and given[:1] in "<>=|" and (known := cls.known.get(given[1:])):
            return known
        if isinstance(given, str) and given.lstrip("<>=|")[:1] == "U":
            return cls.known["str"]
        known = getattr(given, "dtype", None)
        if type(known) is cls:
            return known
        raise TypeError(f"data type {given!r} not understood by the page's small numpy; open the notebook for it")

    def newbyteorder(self, order: str = "S") -> dtype:  # noqa: ARG002
        """Itself: numbers have no bytes here until `tobytes` writes them, the lowest first."""
        return self

    @property
    def str(self) -> builtins.str:
        """The name with the order of its bytes: `<f4`."""
        return ("<" if self.itemsize > 1 else "|") + self.kind + builtins.str(self.itemsize)

    def __eq__(self, other: object) -> bool:
        try:
            return self is dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> builtins.str:
        return f"dtype('{self.name}')"

    def __str__(self) -> builtins.str:
        return self.name

    def __reduce__(self) -> tuple:
        return dtype, (self.name,)


class generic:
    """A single number with a type, as an element of an array is."""

    __slots__ = ()
    dtype: ClassVar[Any]
    shape, ndim, size = (), 0, 1

    @property
    def itemsize(self) -> int:
        """Bytes of it."""
        return self.dtype.itemsize

    nbytes = itemsize

    def item(self) -> Any:
        """The number as one of Python's."""
        return OF_KIND[self.dtype.kind](self)

    tolist = item

    def __repr__(self) -> str:
        return f"np.{self.dtype.name}({self})"

    def __str__(self) -> str:
        return shortest(self.item(), self.dtype)

    def __reduce__(self) -> tuple:
        return type(self), (self.item(),)


class number(generic):
    """A number, not a truth value."""

    __slots__ = ()


class integer(number):
    """A whole number."""

    __slots__ = ()

    def __new__(cls, value: Any = 0) -> Any:
        """The number; OverflowError where the type does not hold it."""
        return super().__new__(cls, fitting(int(value), cls.dtype))  # type: ignore[call-arg]


class signedinteger(integer):
    """A whole number with a sign."""

    __slots__ = ()


class unsignedinteger(integer):
    """A whole number without a sign."""

    __slots__ = ()


class inexact(number):
    """A number that is rounded."""

    __slots__ = ()


class floating(inexact):
    """A number with a point."""

    __slots__ = ()

    def __new__(cls, value: Any = 0.0) -> Any:
        """The number, rounded to the type."""
        return super().__new__(cls, rounded([float(value)], cls.dtype)[0])  # type: ignore[call-arg]


class bool_(generic, int):
    """A truth value."""

    __slots__ = ()

    def __new__(cls, value: Any = False) -> Any:
        return super().__new__(cls, builtins.bool(value))

    def __repr__(self) -> str:
        return f"np.{self.item()}_"


class str_(generic, str):
    """A text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"np.str_({self.item()!r})"


bool_.__name__ = bool_.__qualname__ = "bool"
OF_KIND: dict[str, Callable[[Any], Any]] = {"b": bool, "i": int, "u": int, "f": float, "U": str}


def _declare(name: str, kind: str, code: str, base: Any, *also: Any) -> Any:
    made = object.__new__(dtype)
    made.name, made.kind, made.char, made.itemsize = name, kind, code, calcsize(code)
    of_python = {"i": int, "u": int, "f": float}.get(kind)
    made.type = type(name, (base, of_python), {"__slots__": ()}) if of_python else base
    made.type.dtype = made
    for key in (name, made.type, f"{kind}{made.itemsize}", code if kind != "b" else "?", *also):
        dtype.known[key] = made
    return made.type


_declare("bool", "b", "?", bool_, bool)
int8, int16, int32 = (_declare(f"int{8 * n}", "i", code, signedinteger) for n, code in ((1, "b"), (2, "h"), (4, "i")))
int64 = _declare("int64", "i", "q", signedinteger, int, "int", "intp", "l")
uint8, uint16, uint32, uint64 = (
    _declare(f"uint{8 * calcsize(code)}", "u", code, unsignedinteger) for code in ("B", "H", "I", "Q")
)
float16, float32 = _declare("float16", "f", "e", floating), _declare("float32", "f", "f", floating)
float64 = _declare("float64", "f", "d", floating, float, "float", None, "double")
_declare("str", "U", "I", str_, str, "U")
intp = int_ = int64
uint = uint64
double = float_ = float64
half, single = float16, float32
for _one in (
    dtype,
    generic,
    number,
    integer,
    signedinteger,
    unsignedinteger,
    inexact,
    floating,
    *(known.type for known in dtype.known.values()),
):
    _one.__module__ = "numpy"  # as those that ask what a value is expect

BOOL, INT64, FLOAT64, TEXT = (dtype(one) for one in (bool, int, float, str))
FLOATS = [dtype(one) for one in (float16, float32, float64)]


@cache
def limits(kind: dtype) -> tuple[int, int]:
    """The least and the largest whole number of a type."""
    bits = 8 * kind.itemsize
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if kind.kind == "i" else (0, (1 << bits) - 1)


@cache
def promoted(one: dtype, other: dtype) -> dtype:
    """The smallest type that holds the numbers of both, as numpy chooses it."""
    if one is other or other.kind == "b":
        return one
    if one.kind == "b":
        return other
    if "U" in (one.kind, other.kind):
        raise TypeError("texts and numbers have no common type")
    if one.kind == other.kind:
        return max(one, other, key=lambda kind: kind.itemsize)
    if "f" in (one.kind, other.kind):
        return max(as_float(one), as_float(other), key=lambda kind: kind.itemsize)
    signed, unsigned = (one, other) if one.kind == "i" else (other, one)
    if signed.itemsize > unsigned.itemsize:
        return signed
    return FLOAT64 if unsigned.itemsize == 8 else dtype(f"i{2 * unsigned.itemsize}")


@cache
def as_float(kind: dtype) -> dtype:
    """The type in which functions of numbers of this type are computed."""
    return kind if kind.kind == "f" else FLOATS[min(kind.itemsize.bit_length() - 1, 2)]


def of_numbers(values: Iterable[Any]) -> dtype:
    """The type of Python's and numpy's numbers in a list."""
    common: dtype | None = None
    for kind in set(map(type, values)):
        try:
            here = dtype.known[kind]
        except KeyError:
            base = next((base for base in (float, int, str) if issubclass(kind, base)), None)
            if base is None:
                raise TypeError(
                    f"an array of {kind.__name__}: the page's small numpy has truth values, numbers and texts only"
                ) from None
            here = dtype.known[base]
        common = here if common is None else promoted(common, here)
    return common or FLOAT64


def with_weak(strong: dtype, weak: type) -> dtype:
    """The type of an array of `strong` with one of Python's numbers, which does not widen it."""
    if weak is float and strong.kind != "f":
        return FLOAT64
    return INT64 if weak is int and strong.kind == "b" else strong


def fitting(value: int, kind: dtype) -> int:
    """The number; OverflowError where the type does not hold it."""
    low, high = limits(kind)
    if not low <= value <= high:
        raise OverflowError(f"Python integer {value} out of bounds for {kind.name}")
    return value


def rounded(values: Values, kind: dtype) -> Values:
    """Computed numbers as the type holds them: floats rounded, whole numbers without what runs over."""
    if kind is FLOAT64 or not values:
        return values
    if kind.char == "f":
        return array("f", values).tolist()
    if kind.char == "e":
        return _halves(values)
    if kind.kind in "iu":
        try:
            array(kind.char, values)
        except OverflowError:
            low, high = limits(kind)
            return [((one - low) & (high - low)) + low for one in values]
    return values


def _halves(values: Values) -> Values:
    code = f"{len(values)}e"
    try:
        return list(unpack(code, pack(code, *values)))
    except OverflowError:
        return [math.copysign(math.inf, one) if abs(one) >= 65520 else _halves([one])[0] for one in values]


def cast(values: Values, of: dtype, to: dtype) -> Values:
    """Numbers of one type in another; the list itself where nothing changes."""
    if of is to:
        return values
    if to.kind == "f":
        if of.kind != "f":
            values = list(map(float, values))
        return values if of.kind == "f" and of.itemsize < to.itemsize else rounded(values, to)
    if to.kind in "bU":
        return list(map(OF_KIND[to.kind], values))
    if of.kind == "b":
        return list(map(int, values))
    return rounded(values if of.kind in "iu" else _whole(values), to)


def _whole(values: Values) -> Values:
    try:
        return list(map(int, values))
    except (ValueError, OverflowError):  # of what is not finite
        return [int(one) if type(one) is str or math.isfinite(one) else -(1 << 63) for one in values]


def shortest(value: Any, kind: dtype) -> str:
    """The fewest digits that tell a number from its neighbours of the type."""
    if kind.kind != "f" or kind is FLOAT64 or not math.isfinite(value):
        return str(value)
    for digits in range(1, 10):
        if rounded([float(text := f"{value:.{digits}g}")], kind)[0] == value:
            return repr(float(text))
    return repr(value)
