"""The operators and methods of arrays, and of single numbers, that are functions of the modules below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hwlib.plain import elementwise as e
from hwlib.plain import joining, products, reductions, sorting, text
from hwlib.plain.arrays import asarray, ndarray
from hwlib.plain.dtypes import bool_, dtype, floating, generic, integer, number, str_
from hwlib.plain.ufuncs import takes

OPERATORS: dict[str, Callable[..., Any]] = {
    "add": e.add,
    "sub": e.subtract,
    "mul": e.multiply,
    "truediv": e.divide,
    "floordiv": e.floor_divide,
    "mod": e.remainder,
    "pow": e.power,
    "and": e.bitwise_and,
    "or": e.bitwise_or,
    "xor": e.bitwise_xor,
    "lshift": e.left_shift,
    "rshift": e.right_shift,
    "matmul": products.matmul,
    "divmod": e.divmod,
}
COMPARISONS = {
    "lt": e.less,
    "le": e.less_equal,
    "gt": e.greater,
    "ge": e.greater_equal,
    "eq": e.equal,
    "ne": e.not_equal,
}
UNARY = {"neg": e.negative, "pos": e.positive, "abs": e.absolute, "invert": e.invert}
METHODS: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(reductions, name)
        for name in (
            "sum",
            "prod",
            "max",
            "min",
            "any",
            "all",
            "mean",
            "var",
            "std",
            "argmax",
            "argmin",
            "cumsum",
            "cumprod",
            "ptp",
        )
    },
    **{name: getattr(sorting, name) for name in ("argsort", "searchsorted", "argpartition")},
    **{name: getattr(joining, name) for name in ("repeat", "take", "trace")},
    "dot": products.dot,
    "clip": e.clip,
    "round": e.round,
    "nonzero": e.nonzero,
}


def _operator(function: Callable[..., Any], reverse: bool = False) -> Callable[..., Any]:
    def apply(self: Any, other: Any, *_: Any) -> Any:
        if not takes(other):
            return NotImplemented
        return function(other, self) if reverse else function(self, other)

    return apply


def _of_number(function: Callable[..., Any], reverse: bool = False) -> Callable[..., Any]:
    def apply(self: Any, other: Any, *_: Any) -> Any:
        if not isinstance(other, (generic, bool, int, float)):
            return NotImplemented
        return function(other, self) if reverse else function(self, other)

    return apply


def _in_place(function: Any) -> Callable[..., Any]:
    def apply(self: ndarray, other: Any) -> Any:
        return function.into(self, other) if takes(other) else NotImplemented

    return apply


def _matmul_in_place(self: ndarray, other: Any) -> ndarray:
    self[...] = products.matmul(self, other)
    return self


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *given, **named: function(self, *given, **named)


def _of_array(name: str) -> Callable[..., Any]:
    return lambda self, *given, **named: getattr(asarray(self), name)(*given, **named)


def _sort(self: ndarray, axis: int = -1, kind: Any = None) -> None:  # noqa: ARG001
    self[...] = sorting.sort(self, axis)


def _contains(self: ndarray, one: Any) -> bool:
    return bool(e.equal(self, one).any())


def _format(self: ndarray, spec: str) -> str:
    return format(self.item(), spec) if spec and self.size == 1 else format(str(self), spec)


def _cast(self: Any, kind: Any, copy: bool = True) -> Any:  # noqa: ARG001
    return dtype(kind).type(self)


for _name, _function in OPERATORS.items():
    setattr(ndarray, f"__{_name}__", _operator(_function))
    setattr(ndarray, f"__r{_name}__", _operator(_function, reverse=True))
    for _class in (number, bool_) if _name != "matmul" else ():
        setattr(_class, f"__{_name}__", _of_number(_function))
        setattr(_class, f"__r{_name}__", _of_number(_function, reverse=True))
    if _name not in ("matmul", "divmod"):
        setattr(ndarray, f"__i{_name}__", _in_place(_function))
ndarray.__imatmul__ = _matmul_in_place  # type: ignore[attr-defined]
for _name, _function in COMPARISONS.items():
    setattr(ndarray, f"__{_name}__", _operator(_function))
    for _class in (number, bool_):
        setattr(_class, f"__{_name}__", _of_number(_function))
for _name, _function in UNARY.items():
    setattr(ndarray, f"__{_name}__", lambda self, function=_function: function(self))
    for _class in (number, bool_):
        setattr(_class, f"__{_name}__", lambda self, function=_function: function(self))
for _name, _function in METHODS.items():
    setattr(ndarray, _name, _method(_function))
for _name in (*METHODS, "reshape", "ravel", "flatten", "tobytes", "squeeze", "copy"):
    setattr(generic, _name, _of_array(_name))
for _name, _function in {
    "sort": _sort,
    "__contains__": _contains,
    "__format__": _format,
    "__repr__": text.array_repr,
    "__str__": text.array_str,
    "__class_getitem__": classmethod(lambda cls, _: cls),
}.items():
    setattr(ndarray, _name, _function)
generic.astype = _cast  # type: ignore[attr-defined]
for _class, _python in ((integer, int), (floating, float), (bool_, int)):
    _class.__hash__ = lambda self, python=_python: python.__hash__(self)  # type: ignore[method-assign, misc]
    _class.__round__ = lambda self, *digits, python=_python: python(self).__round__(*digits)  # type: ignore
bool_.__bool__ = lambda self: int.__bool__(self)  # type: ignore[method-assign]
str_.__hash__ = str.__hash__  # type: ignore[method-assign]
