"""What comes into a step time: the machine's levels, and the plan's numbers and words, checked."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hwlib.footprint import RECOMPUTE, SCHEDULES
from hwlib.footprint.inputs import code, number
from hwlib.formula import ceil
from hwlib.specs import Cluster, Level, Node, clusters, nodes
from hwlib.specs.table import unknown

WHO = "step_time"
DEGREES = ("dp", "tp", "pp", "cp", "ep", "v", "micro")


def levels_of(where: Any) -> tuple[Level, ...]:
    """The levels of a cluster, a node or the key of one; of a topology; or levels as they are.

    Raises KeyError for an unknown key, and ValueError for a torus and for what has no levels.

    >>> [level.size for level in levels_of("superpod-h100-4su")]
    [8, 32, 4]
    """
    if isinstance(where, str):
        if where not in clusters and where not in nodes:
            raise KeyError(unknown("cluster or node", where, [*clusters, *nodes]))
        where = clusters[where] if where in clusters else nodes[where]
    if isinstance(where, Node):
        return (Level("node", where.chips, where.scaleup_bandwidth),)
    if isinstance(where, Cluster) and where.torus:
        raise ValueError(f"levels: {where.key} is a torus, and a step time needs the levels of a tree")
    levels = getattr(where, "levels", where)
    if isinstance(levels, str) or not isinstance(levels, Sequence) or not levels:
        raise ValueError(f"levels: a cluster, a node, their key, a topology with levels or levels, got {where!r}")
    return tuple(Level(*level) for level in levels)


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
