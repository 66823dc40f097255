"""What comes into a step time: the plan's numbers and words, checked."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hwlib.footprint import RECOMPUTE, SCHEDULES
from hwlib.footprint.inputs import code, number
from hwlib.formula import ceil

WHO = "step_time"
DEGREES = ("dp", "tp", "pp", "cp", "ep", "v", "micro")


class Plan(NamedTuple):
    """The numbers of a plan, floats or arrays of them; words as their positions in RECOMPUTE and SCHEDULES."""

    B: Any
    T: Any
    dp: Any
    tp: Any
    pp: Any
    cp: Any
    ep: Any
    v: Any
    zero: Any
    sp: Any
    micro: Any
    recompute: Any
    schedule: Any
    shards: Any
    imbalance: Any
    m: Any
    """Microbatches of a step."""


def is_one(x: Any) -> bool:
    """Whether a degree is 1 for all plans, so that its transfers need not be computed."""
    return isinstance(x, float) and x == 1


def _single(x: Any) -> Any:
    """An array whose elements are all the same as that number: less to compute."""
    if not getattr(x, "ndim", 0) or not x.size or x.flat[0] != x.flat[-1] or x.min() != x.max():
        return x
    return x.flat[0].item()


def checked(given: Mapping[str, Any]) -> Plan:
    """A plan of numbers that can be. Raises ValueError, naming what cannot."""
    plan = dict(given)
    for name in (*DEGREES, "B", "T", "imbalance"):
        plan[name] = number(name, plan[name], 1, who=WHO)
    plan["sp"] = number("sp", plan["sp"], 0, 1, WHO)
    for name, words in (("zero", "0123"), ("recompute", RECOMPUTE), ("schedule", SCHEDULES)):
        plan[name] = code(name, plan[name], words, WHO)
    if plan["shards"] is not None:
        plan["shards"] = number("shards", plan["shards"], 1, who=WHO)
    plan = {name: _single(x) for name, x in plan.items()}
    m = plan["B"] / (plan["T"] * plan["dp"] * plan["micro"])
    whole = m == ceil(m)
    if not (whole.all() if getattr(whole, "ndim", 0) else whole):
        raise ValueError(f"{WHO}: B is a whole number of microbatches, T*dp*micro tokens each")
    return Plan(**plan, m=m)
