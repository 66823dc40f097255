"""The numbers that an exercise is given, and what of them a function takes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import lru_cache
from types import FunctionType
from typing import Any

Given = Mapping[str, Any]
MOST_KEPT = 4096  # functions whose parameters are kept: more than a book declares


class Drawn(dict[str, Any]):
    """Numbers that were drawn for one learner, beside whom others have others: also where they are the book's."""


def call_with(function: Any, given: Given) -> Any:
    """`function` of those of the given numbers that it has parameters for, or itself where it is a plain
    value."""
    if not callable(function):
        return function
    names = getattr(function, "args", None)
    if not isinstance(names, tuple):
        names = _parameters_again(function) if type(function) is FunctionType else _parameters(function)
    if names is None:
        return function(**given)
    return function(**{name: given[name] for name in names if name in given})


def _parameters(function: Any) -> tuple[str, ...] | None:
    """The names of a function's parameters; None where it takes any."""
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return tuple(parameter.name for parameter in parameters)


@lru_cache(MOST_KEPT)
def _parameters_again(function: FunctionType) -> tuple[str, ...] | None:
    """The same, remembered: a verdict asks for those of the same functions again and again."""
    return _parameters(function)
