"""The arguments of the planner's functions, from the values of options by name."""

from collections.abc import Mapping
from typing import Any

from hwlib.options import DEGREES, SOFTWARE, TRAINING, of_group
from hwlib.planner.allowed import Allowed
from hwlib.planner.plan_error import PlanError
from hwlib.planner.software_settings import SoftwareSettings
from hwlib.planner.task import SECONDS_AN_HOUR

DEGREE_NAMES = tuple(option.name for option in of_group(TRAINING, DEGREES))
SOFTWARE_NAMES = tuple(option.name for option in of_group(TRAINING, SOFTWARE))


def task_arguments(values: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments of `task_of`, for one number of GPUs or several. Raises PlanError for a batch in place of
    a sequence's length, and for two lengths.

    >>> task_arguments({"batch": (2**20, 4096), "gpus": (8,), "price": 3600.0})["gpus"]
    8
    """
    B, length = values["batch"]
    T, of_batch = values.get("sequence") or (None, None)
    gpus, price = values.get("gpus"), values.get("price")
    if T and of_batch:
        raise PlanError("sequence", f"{T // of_batch}x{of_batch} is a batch, not a length")
    if T and length and length != T:
        raise PlanError("sequence", f"the batch has sequences of {length:,} tokens, not {T:,}")
    return {
        "B": B,
        "T": T or length,
        "gpus": gpus[0] if isinstance(gpus, tuple) and len(gpus) == 1 else gpus,
        "software": SoftwareSettings(**_given(values, SOFTWARE_NAMES)),
        "memory": values.get("memory"),
        "price": None if price is None else price / SECONDS_AN_HOUR,
    }


def allowed_of(values: Mapping[str, Any]) -> Allowed:
    """The degrees that are left to the search. Raises StrategyError."""
    return Allowed(**_given(values, DEGREE_NAMES))


def _given(values: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: values[name] for name in names if values.get(name) is not None}
