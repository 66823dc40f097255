"""The arguments of `plan_serving`, from the values of options by name."""

from collections.abc import Mapping
from typing import Any

from hwlib.options import SERVING, of_group
from hwlib.options.serving import DEGREES, LIMITS
from hwlib.planner.plan_error import PlanError
from hwlib.planner.task import SECONDS_AN_HOUR

_LIMIT_NAMES = tuple(option.name for option in of_group(SERVING, LIMITS))
_DEGREE_NAMES = tuple(option.name for option in of_group(SERVING, DEGREES))


def serving_arguments(values: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments of `plan_serving`. Raises PlanError for a batch in place of a length.

    >>> serving_arguments({"prompt": (2048, None), "output": (512, None), "tp": (8,), "price": 3600.0})
    {'fixed': {'tp': (8,)}, 'prompt': 2048, 'output': 512, 'price': 1.0}
    """
    asked_for = {name: value for name, value in values.items() if value is not None}
    arguments: dict[str, Any] = {"fixed": {name: asked_for[name] for name in _DEGREE_NAMES if name in asked_for}}
    for name in ("prompt", "output"):
        if name in asked_for:
            arguments[name] = _length(name, *asked_for[name])
    if "price" in asked_for:
        arguments["price"] = asked_for["price"] / SECONDS_AN_HOUR
    return arguments | {name: asked_for[name] for name in ("trace", *_LIMIT_NAMES) if name in asked_for}


def _length(name: str, tokens: int, of_sequence: int | None) -> int:
    if of_sequence:
        raise PlanError(name, f"{tokens // of_sequence}x{of_sequence} is a batch, not a length")
    return tokens
