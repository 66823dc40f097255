"""The result of a search, as data; `hwlib.planner.plans` adds its presentation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from hwlib.planner.advice import advised
from hwlib.planner.costs import Costed, Plan, costed_plan
from hwlib.planner.task import Task


@dataclass(frozen=True, repr=False, eq=False)
class SearchResult(Sequence[Plan]):
    """The best plans for a task, each the best of its degrees; the first is the best of all.

    `considered` points of the grid; `rejected` of them for each reason; `costed` holds the others.
    """

    task: Task
    best: tuple[Plan, ...]
    considered: int
    rejected: Mapping[str, int]
    costed: Costed = field(repr=False)

    @overload
    def __getitem__(self, i: int) -> Plan: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Plan, ...]: ...
    def __getitem__(self, i: int | slice) -> Plan | tuple[Plan, ...]:
        """One plan, or some."""
        return self.best[i]

    def __len__(self) -> int:
        return len(self.best)

    def __iter__(self) -> Iterator[Plan]:
        return iter(self.best)

    @property
    def advised(self) -> Plan:
        """The plan to take: simple, within half the model's error of the best, one that rests on no typed constant."""
        return self.plan(advised(self.task, self.costed))

    @property
    def fitting(self) -> int:
        """Plans that fit in memory."""
        import numpy as np

        return int(np.count_nonzero(~np.isnan(self.costed.seconds)))

    def plan(self, i: int) -> Plan:
        """Plan number i of the costed ones."""
        return costed_plan(self.task, self.costed.strategy[i], self.costed.m[i])
