"""The dimension of a learner's function, found by calling it with the same inputs in other units.

Were the byte half as large, every number of bytes would be twice what it is, and a result in B/s too; a result in
seconds would stay. So a function whose arguments have units can be tried without looking into it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hwlib.units import DIMENSIONS, dimension, spell

from ..values.finding import Finding

FACTOR = 2.0  # a power of two: scaling costs no precision
Dimension = dict[str, int]


def scaled(arguments: Sequence[Any], units: Sequence[str], base: str) -> tuple[Any, ...]:
    """The arguments as they would be written if `base` ("B", "s", ...) were half as large."""

    def one(value: Any, unit: str) -> Any:
        power = dimension(unit).get(base, 0)
        if not power or isinstance(value, bool) or not isinstance(value, (int, float)):
            return value
        return value * FACTOR**power

    return tuple(one(value, unit) for value, unit in zip(arguments, units, strict=True))


def dimension_of(call: Callable[[tuple], Any], arguments: Sequence[Any], units: Sequence[str]) -> Dimension | None:
    """The dimension of `call(arguments)`; None where it has none, as a sum of bytes and seconds has none.

    `call` takes the tuple of arguments; `units` are those of the arguments. Raises ValueError if a result is not a
    number, or 0, which is 0 in every unit.
    """
    first = _size(call(tuple(arguments)))
    powers: Dimension = {}
    for base in DIMENSIONS:
        if not any(base in dimension(unit) for unit in units):
            continue
        size = _size(call(scaled(arguments, units, base)))
        power = math.log2(size / first)
        if abs(power - round(power)) > 1e-6:
            return None
        if round(power):
            powers[base] = round(power)
    return powers


def wrong_dimension(
    call: Callable[[tuple], Any], arguments: Sequence[Any], units: Mapping[str, str], unit: str
) -> Finding | None:
    """What is wrong where the function's dimension is not that of `unit`: other-unit, plain-number, mixed-units. None
    where it is that, or cannot be told."""
    try:
        actual = dimension_of(call, arguments, list(units.values()))
    except (ValueError, OverflowError):
        return None
    say = f"the answer is in {unit}, "
    if actual is None:
        return Finding(
            f"{say}and yours adds or compares different units, or has a number that hides one", "mixed-units"
        )
    if actual == dimension(unit):
        return None
    if not actual:
        return Finding(f"{say}yours is a plain number", "plain-number")
    return Finding(f"{say}yours is in {spell(actual)}", "other-unit")


def _size(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value or not math.isfinite(value):
        raise ValueError(f"{value!r} has no dimension to find; a number other than 0 was expected")
    return abs(float(value))
