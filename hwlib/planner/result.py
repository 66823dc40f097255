"""The result of a search, as data; `hwlib.planner.plans` adds its presentation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from hwlib.planner.advice import advised
from hwlib.planner.costs import Costed, Plan, costed_plan
from hwlib.planner.fits import surely
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
        """The plan to take: simple, within half the model's error of the best, with headroom, on no typed constant."""
        return self.plan(advised(self.task, self.costed))

    @property
    def timed(self) -> int:
        """Plans whose predicted bytes are within the budget."""
        import numpy as np

        return int(np.count_nonzero(~np.isnan(self.costed.seconds)))

    @property
    def fitting(self) -> int:
        """Plans that fit in memory, with the margin that its error asks for."""
        import numpy as np

        return int(np.count_nonzero(surely(self.task, self.costed.memory)))

    @property
    def quicker_unsure(self) -> Plan | None:
        """The quickest of the plans that may not fit, where it is quicker than all that do; else None."""
        i = self.costed.fastest(~surely(self.task, self.costed.memory)) if self.fitting else -1
        return self.plan(i) if i >= 0 and self.costed.seconds[i] < self.best[0].seconds else None

    def plan(self, i: int) -> Plan:
        """Plan number i of the costed ones."""
        return costed_plan(self.task, self.costed.strategy[i], self.costed.m[i])
