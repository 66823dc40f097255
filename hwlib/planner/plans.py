"""The plans of a search, the best first, as a user gets them: to read, to print, to keep."""

from dataclasses import dataclass
from typing import Any

from hwlib.planner.costs import Plan
from hwlib.planner.explain import explanation
from hwlib.planner.front import time_memory_front
from hwlib.planner.result import SearchResult
from hwlib.planner.tables import record, table


@dataclass(frozen=True, repr=False, eq=False)
class Plans(SearchResult):
    """The best plans for a task, each the best of its degrees; `plans[0]` is the best of all."""

    def pareto(self) -> tuple[Plan, ...]:
        """The plans than which none is both quicker and smaller, quickest first."""
        return tuple(self.plan(i) for i in time_memory_front(self.costed))

    def explain(self) -> str:
        """Why the best plan is the best: where its time goes, what each next plan pays, what other choices would."""
        return explanation(self)

    def table(self) -> str:
        """The plans as a table to read."""
        return table(self)

    def json(self) -> dict[str, Any]:
        """All of it as numbers and words."""
        return record(self)

    def __repr__(self) -> str:
        return self.table()
