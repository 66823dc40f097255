"""Pareto fronts: the plans that no other plan beats in everything."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hwlib.arguments import is_number
from hwlib.planner.plans import Costed, Plan, Plans
from hwlib.planner.search import plan
from hwlib.planner.task import PlanError, machine_of

CRITERIA: Mapping[str, Callable[[Plan], float]] = {
    "time": lambda plan: plan.seconds,
    "memory": lambda plan: float(plan.memory.total),
    "chips": lambda plan: float(plan.chips),
    "cost": lambda plan: plan.cost or plan.chips * plan.seconds,
}
"""What may be small: seconds of a step, bytes of the fullest GPU, GPUs, and dollars of a step (GPU seconds, where GPUs
have no price)."""


def quick_or_small(costed: Costed) -> list[int]:
    """Positions of the plans than which none is both quicker and smaller, quickest first."""
    import numpy as np

    there = np.flatnonzero(~np.isnan(costed.seconds))
    order = there[np.lexsort((costed.memory[there], costed.seconds[there]))]
    memory = costed.memory[order]
    least = np.minimum.accumulate(memory)
    front = np.r_[True, memory[1:] < least[:-1]] if order.size else np.zeros(0, bool)
    return [int(i) for i in order[front]]


def pareto(
    model: Any, cluster: Any, *, chips: Sequence[int], of: Iterable[str] = ("time", "memory", "chips", "cost"),
    **others: Any,
) -> tuple[Plan, ...]:  # fmt: skip
    """The plans, over several numbers of GPUs, that none beats in everything `of` names, quickest first.

    The other arguments are those of `plan`. A number of GPUs on which nothing can be or fits is passed over, unless
    that is so for all of them. Raises PlanError.
    """
    names = tuple(of)
    for name in names:
        if name not in CRITERIA:
            raise PlanError(f"pareto: of {', '.join(CRITERIA)}, got {name!r}")
    most = machine_of(cluster).chips
    for n in chips:
        if not (is_number(n) and 1 <= n <= most):
            machine_of(cluster, n)  # says so
    plans: list[Plan] = []
    failures: list[PlanError] = []
    for n in chips:
        try:
            plans += _candidates(plan(model, cluster, chips=n, **others), names)
        except PlanError as error:
            failures.append(error)
    if not plans:
        raise failures[0] if failures else PlanError("pareto: no number of GPUs was given")
    return undominated(plans, names)


def _candidates(found: Plans, names: Sequence[str]) -> tuple[Plan, ...]:
    return found.pareto() if "memory" in names else found[:1]


def undominated(plans: Sequence[Plan], names: Sequence[str]) -> tuple[Plan, ...]:
    """The plans that none beats in one of the criteria and equals or beats in all others, quickest first."""
    points = [(tuple(CRITERIA[name](one) for name in names), one) for one in plans]
    points.sort(key=lambda point: (point[0], point[1].seconds))
    kept: list[tuple[tuple[float, ...], Plan]] = []
    for values, one in points:  # whoever beats a point comes before it
        if not any(all(a <= b for a, b in zip(other, values, strict=True)) for other, _ in kept):
            kept.append((values, one))
    return tuple(one for _, one in sorted(kept, key=lambda point: point[1].seconds))
