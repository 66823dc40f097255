"""Argument checks of plain functions; formulas have the domains of `hwlib.notation` instead."""

from math import inf
from typing import Any


def is_number(value: Any) -> bool:
    """Whether this is a number, of any library; bool does not count."""
    return hasattr(value, "__float__") and not isinstance(value, bool)


def as_int(what: str, value: Any, low: int = 1, high: float = inf) -> int:
    """`value` as an int if it is a whole number; floats are accepted, because the tables store bytes as floats.

    `what` names the function, the argument and its meaning. Raises ValueError.

    >>> as_int("ring: n (ranks)", 0)
    Traceback (most recent call last):
    ValueError: ring: n (ranks) is a whole number, at least 1, got 0
    """
    try:
        good = is_number(value) and low <= value <= high and int(value) == value
    except (TypeError, ValueError, OverflowError):  # an array; infinity
        good = False
    if not good:
        span = f"at least {low}" if high == inf else f"from {low} to {high}"
        raise ValueError(f"{what} is a whole number, {span}, got {value!r}")
    return int(value)
