"""Numbers that note how a function combines them, and with which a step of it is done otherwise.

A traced number is a float or an int; the functions of a declaration take it for one. What `math` makes of it is a plain
number again: the steps behind it are noted as far as others of its numbers take part.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..declaration.given import call_with

MOST = 80  # steps of a calculation that is looked at
MOST_ALTERED = 1000  # and of one that a change makes longer
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}
ROUNDED: dict[str, Callable[[Any], Any]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "trunc": math.trunc,
    "round": round,
    "abs": abs,
    "neg": operator.neg,
}
METHODS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow"}

Change = Callable[[Any, Any], Any]


class TooLong(Exception):
    """The calculation has more steps than are looked at."""


class Side(NamedTuple):
    """What a step takes: its value, the letters that it is made of, and whether it is one of them itself."""

    value: Any
    letters: tuple[str, ...] = ()
    is_letter: bool = False


class TracedStep(NamedTuple):
    """Two numbers combined, of which one at least is made of letters."""

    kind: str
    left: Side
    right: Side
    result: Any


@dataclass
class TracedCalculation:
    """The steps of a function as they are done."""

    steps: list[TracedStep] = field(default_factory=list)

    def number(self, value: Any, letters: tuple[str, ...], *, is_letter: bool = False) -> Any:
        """A value that notes what is done with it; one that is no number as it is."""
        if type(value) not in (int, float):
            return value
        traced = (_Whole if type(value) is int else _Real)(value)
        traced.calculation, traced.plain, traced.side = self, value, Side(value, letters, is_letter)
        return traced

    def combined(self, kind: str, left: Any, right: Any) -> Any:
        """What a step gives."""
        sides = side_of(left), side_of(right)
        if len(self.steps) >= MOST:
            raise TooLong
        value = BINARY[kind](sides[0].value, sides[1].value)
        self.steps.append(TracedStep(kind, *sides, value))
        return self.number(value, tuple(dict.fromkeys((*sides[0].letters, *sides[1].letters))))

    def rounded(self, number: Any, value: Any) -> Any:
        """What a function of one number gives."""
        return self.number(value, number.side.letters)


@dataclass
class Altered:
    """The same steps, some of them done otherwise, by their places."""

    changes: Mapping[int, Change]
    place: int = 0

    def number(self, value: Any) -> Any:
        """A value whose steps are counted, until the last that is changed."""
        if self.place > max(self.changes, default=-1) or type(value) not in (int, float):
            return value
        traced = (_Whole if type(value) is int else _Real)(value)
        traced.calculation, traced.plain = self, value
        return traced

    def combined(self, kind: str, left: Any, right: Any) -> Any:
        """What a step gives."""
        how = self.changes.get(self.place) or BINARY[kind]
        self.place += 1
        if self.place > MOST_ALTERED:
            raise TooLong
        return self.number(how(getattr(left, "plain", left), getattr(right, "plain", right)))

    def rounded(self, _number: Any, value: Any) -> Any:
        """What a function of one number gives."""
        return self.number(value)


def side_of(value: Any) -> Side:
    """What a step takes, of a traced number or a plain one."""
    return value.side if isinstance(value, (_Whole, _Real)) else Side(value)


def _binary(kind: str, *, turned: bool) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, (int, float)) or isinstance(other, bool):
            return NotImplemented
        return self.calculation.combined(kind, *((other, self) if turned else (self, other)))

    return method


def _unary(plain: Callable[[Any], Any]) -> Callable[..., Any]:
    def method(self: Any, *digits: int) -> Any:
        return self.calculation.rounded(self, plain(self.plain, *digits))

    return method


def _methods() -> dict[str, Any]:
    made: dict[str, Any] = {}
    for kind, name in METHODS.items():
        made[f"__{name}__"], made[f"__r{name}__"] = _binary(kind, turned=False), _binary(kind, turned=True)
    return made | {f"__{name}__": _unary(plain) for name, plain in ROUNDED.items()}


_Whole: Any = type("_Whole", (int,), _methods())
_Real: Any = type("_Real", (float,), _methods())


def calculated(function: Any, given: Mapping[str, Any]) -> list[TracedStep]:
    """The steps of a function with these numbers. Whatever the function raises is raised, and TooLong."""
    calculation = TracedCalculation()
    numbers = {name: calculation.number(value, (name,), is_letter=True) for name, value in given.items()}
    call_with(function, numbers)
    return calculation.steps


def altered(function: Any, given: Mapping[str, Any], changes: Mapping[int, Change]) -> float:
    """What a function gives if some of its steps are done otherwise; nan where it fails, or gives no number."""
    calculation = Altered(changes)
    try:
        value = call_with(function, {name: calculation.number(value) for name, value in given.items()})
        return float(value) if isinstance(value, (int, float)) else math.nan
    except (ArithmeticError, ValueError, TypeError, LookupError, TooLong):
        return math.nan
