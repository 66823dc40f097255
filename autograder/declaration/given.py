"""The numbers that an exercise is given, and what of them a function takes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

Given = Mapping[str, Any]


class Drawn(dict[str, Any]):
    """Numbers that were drawn for one learner, beside whom others have others: also where they are the book's."""


def call_with(function: Any, given: Given) -> Any:
    """`function` of those of the given numbers that it has parameters for, or itself where it is a plain
    value."""
    if not callable(function):
        return function
    names = getattr(function, "args", None)
    if not isinstance(names, tuple):
        parameters = inspect.signature(function).parameters.values()
        if any(p.kind is p.VAR_KEYWORD for p in parameters):
            return function(**given)
        names = tuple(p.name for p in parameters)
    return function(**{name: given[name] for name in names if name in given})
