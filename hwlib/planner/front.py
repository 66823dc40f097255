"""Pareto fronts: the plans that no other plan dominates."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hwlib.planner.costs import Costed, Plan
from hwlib.planner.explain import front_explanation
from hwlib.planner.tables import Columns, front_table, sure_record
from hwlib.planner.task import Task

CRITERIA: Mapping[str, Callable[[Plan], float]] = {
    "time": lambda plan: plan.seconds,
    "memory": lambda plan: float(plan.memory.total),
    "gpus": lambda plan: float(plan.gpus),
    "cost": lambda plan: plan.cost or plan.gpus * plan.seconds,
}
"""What may be small: seconds of a step, bytes of the fullest GPU, GPUs, and dollars of a step (GPU seconds, where GPUs
have no price)."""

BEATEN = "dominated by a plan on another number of GPUs"


def time_memory_front(costed: Costed) -> list[int]:
    """Positions of the Pareto-optimal plans in time and memory, fastest first."""
    import numpy as np

    there = np.flatnonzero(~np.isnan(costed.seconds))
    order = there[np.lexsort((costed.memory[there], costed.seconds[there]))]
    memory = costed.memory[order]
    least = np.minimum.accumulate(memory)
    front = np.r_[True, memory[1:] < least[:-1]] if order.size else np.zeros(0, bool)
    return [int(i) for i in order[front]]


class ParetoFront(tuple[Plan, ...]):
    """The plans of a front, fastest first; `skipped` gives the reason for each number of GPUs without a plan, `tasks`
    the task for each of the others.
    """

    tasks: Mapping[int, Task]
    skipped: Mapping[int, str]

    def __new__(cls, plans: Iterable[Plan], tasks: Mapping[int, Task], skipped: Mapping[int, str]) -> "ParetoFront":
        """The plans, what they are for, and why there are no others."""
        made = super().__new__(cls, plans)
        made.tasks, made.skipped = tasks, skipped
        return made

    def __getnewargs__(self) -> tuple[tuple[Plan, ...], Mapping[int, Task], Mapping[int, str]]:
        """What a copy is made of."""
        return tuple(self), self.tasks, self.skipped

    @property
    def task(self) -> Task:
        """The task for one of the numbers."""
        return [*self.tasks.values()][-1]

    def explain(self) -> str:
        """How sure the time of the first plan is."""
        return front_explanation(self[0], self.tasks[self[0].gpus])

    def json(self) -> list[dict[str, Any]]:
        """The plans as JSON data, each with its expected error."""
        return [sure_record(self.tasks[plan.gpus], plan) for plan in self]

    def table(self, more: Columns = ()) -> str:
        """The plans as a text table, with `more` columns."""
        return front_table(self, self.task, self.skipped, more)


def undominated(plans: Sequence[Plan], names: Sequence[str]) -> tuple[Plan, ...]:
    """The plans that no other plan dominates in the criteria, fastest first."""
    points = [(tuple(CRITERIA[name](plan) for name in names), plan) for plan in plans]
    points.sort(key=lambda point: (point[0], point[1].seconds))
    front: list[tuple[tuple[float, ...], Plan]] = []
    for values, plan in points:  # whoever beats a point comes before it
        if not any(_no_worse(other, values) for other, _ in front):
            front.append((values, plan))
    return tuple(plan for _, plan in sorted(front, key=lambda point: point[1].seconds))


def _no_worse(values: tuple[float, ...], others: tuple[float, ...]) -> bool:
    return all(value <= other for value, other in zip(values, others, strict=True))
