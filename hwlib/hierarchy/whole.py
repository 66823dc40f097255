"""Arguments that count something: a whole number in a range, as an int."""

from math import inf
from typing import Any


def whole(who: str, name: str, value: Any, low: int = 1, high: float = inf) -> int:
    """`value` as an int: whole floats too, as the tables hold bytes. Raises ValueError, which names `name`."""
    try:
        good = not isinstance(value, bool | str) and low <= value <= high and int(value) == value
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        span = f"at least {low}" if high == inf else f"from {low} to {high}"
        raise ValueError(f"{who}: {name} is a whole number, {span}, got {value!r}")
    return int(value)
