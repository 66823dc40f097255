"""The plans of a search, the best first, with their tables and explanations."""

from dataclasses import dataclass
from typing import Any

from hwlib.planner.costs import Plan
from hwlib.planner.explain import explanation
from hwlib.planner.front import time_memory_front
from hwlib.planner.result import SearchResult
from hwlib.planner.tables import Columns, record, table


@dataclass(frozen=True, repr=False, eq=False)
class Plans(SearchResult):
    """The best plans for a task, each the best of its degrees; `plans[0]` is the best of all."""

    def pareto(self) -> tuple[Plan, ...]:
        """The Pareto-optimal plans in time and memory, fastest first."""
        return tuple(self.plan(i) for i in time_memory_front(self.costed))

    def explain(self) -> str:
        """Why the best plan is the best: where its time goes, and what the next plans and other choices would cost."""
        return explanation(self)

    def table(self, more: Columns = ()) -> str:
        """The plans as a text table, with `more` columns."""
        return table(self, more)

    def json(self) -> dict[str, Any]:
        """The result as JSON data."""
        return record(self)

    def __repr__(self) -> str:
        return self.table()
