"""What a rank begins with: one array, its x, or several arrays by name, each of a shape of its own.

A value by name is an array, a list of arrays, or a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def each(given: Any, change: Callable[[Any], Any]) -> Any:
    """What a rank is given, with every array changed."""
    if type(given) is dict:
        return {name: each(value, change) for name, value in given.items()}
    if type(given) in (list, tuple):
        return [each(value, change) for value in given]
    return change(given) if hasattr(given, "shape") else given


def copied(given: Any) -> Any:
    """A copy of it whose arrays are contiguous."""
    import numpy as np

    return each(given, lambda array: np.array(array, order="C"))


def positional(given: Any) -> list[Any]:
    """The arguments of a rank's function, after rank and n."""
    return list(given.values()) if type(given) is dict else [given]


def arrays(arguments: Any) -> Iterator[Any]:
    """Every array in it."""
    if type(arguments) is dict:
        arguments = list(arguments.values())
    if type(arguments) in (list, tuple):
        for value in arguments:
            yield from arrays(value)
    elif hasattr(arguments, "shape"):
        yield arguments


def numbers(given: Any) -> list[bytes]:
    """What its arrays hold."""
    return [array.tobytes() for array in arrays(given)]


def size_of(given: Any) -> int:
    """Bytes of its arrays."""
    return sum(array.nbytes for array in arrays(given))
