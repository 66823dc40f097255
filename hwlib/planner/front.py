"""Pareto fronts: the plans that no other plan beats in everything."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hwlib.arguments import is_number
from hwlib.planner.plans import Costed, Plan, Plans
from hwlib.planner.search import plan
from hwlib.planner.task import PlanError, Task, machine_of

CRITERIA: Mapping[str, Callable[[Plan], float]] = {
    "time": lambda plan: plan.seconds,
    "memory": lambda plan: float(plan.memory.total),
    "chips": lambda plan: float(plan.chips),
    "cost": lambda plan: plan.cost or plan.chips * plan.seconds,
}
"""What may be small: seconds of a step, bytes of the fullest GPU, GPUs, and dollars of a step (GPU seconds, where GPUs
have no price)."""

BEATEN = "on another number a plan is at least as good in everything"


def quick_or_small(costed: Costed) -> list[int]:
    """Positions of the plans than which none is both quicker and smaller, quickest first."""
    import numpy as np

    there = np.flatnonzero(~np.isnan(costed.seconds))
    order = there[np.lexsort((costed.memory[there], costed.seconds[there]))]
    memory = costed.memory[order]
    least = np.minimum.accumulate(memory)
    front = np.r_[True, memory[1:] < least[:-1]] if order.size else np.zeros(0, bool)
    return [int(i) for i in order[front]]


class Front(tuple[Plan, ...]):
    """The plans of a front, quickest first; `passed_over` says of each number of GPUs without one why that is, `task`
    what was asked for, with one of the numbers.
    """

    task: Task
    passed_over: Mapping[int, str]

    def __new__(cls, plans: Iterable[Plan], task: Task, passed_over: Mapping[int, str]) -> "Front":
        """The plans, what they are for, and why there are no others."""
        made = super().__new__(cls, plans)
        made.task, made.passed_over = task, passed_over
        return made

    def __getnewargs__(self) -> tuple[tuple[Plan, ...], Task, Mapping[int, str]]:
        """What a copy is made of."""
        return tuple(self), self.task, self.passed_over

    def table(self) -> str:
        """The plans as a table to read."""
        from hwlib.planner.text import front_table

        return front_table(self)


def pareto(
    model: Any, cluster: Any, *, chips: int | Iterable[int],
    of: str | Iterable[str] = ("time", "memory", "chips", "cost"), **others: Any,
) -> Front:  # fmt: skip
    """The plans, over one or several numbers of GPUs, that none beats in everything `of` names, quickest first.

    The other arguments are those of `plan`. A number of GPUs on which nothing can be or fits is passed over, and
    `passed_over` of the result says why, unless that is so for all of them. Raises PlanError.

    >>> front = pareto("llama3-70b", "superpod-h100-1su", B=2**22, chips=[8, 256])
    >>> front[0].chips, front.passed_over[8][:36]
    (256, 'Llama 3.1 70B does not fit on 8 x H1')
    """
    names = tuple(of) if isinstance(of, Iterable) and not isinstance(of, str) else (of,)
    for name in names:
        if name not in CRITERIA:
            raise PlanError(f"pareto: of {', '.join(CRITERIA)}, got {name!r}")
    most = machine_of(cluster).chips
    numbers = tuple(chips) if isinstance(chips, Iterable) else (chips,)
    if not all(map(is_number, numbers)):
        raise PlanError(f"pareto: chips: a number of GPUs, or several, was expected, got {chips!r}")
    for n in numbers:
        if not 1 <= n <= most or n != int(n):
            machine_of(cluster, n)  # says so
    plans: list[Plan] = []
    failures: dict[int, PlanError] = {}
    for n in dict.fromkeys(numbers):
        try:
            found = plan(model, cluster, chips=n, **others)
            plans += _candidates(found, names)
        except PlanError as error:
            failures[n] = error
    if not plans:
        raise next(iter(failures.values())) if failures else PlanError("pareto: no number of GPUs was given")
    front = undominated(plans, names)
    there = {one.chips for one in front}
    why = {n: str(failures.get(n, BEATEN)) for n in numbers if n not in there}
    return Front(front, found.task, why)


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
