"""What is asked about the whole run beside its plans: its tokens or days, and what is known of its interruptions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from hwlib.goodput import ExpectedRun, published
from hwlib.planner.front import ParetoFront
from hwlib.planner.plan_error import PlanError
from hwlib.planner.plans import Plans
from hwlib.planner.run import fastest_runs, undominated_runs

FIELDS = {
    "restart": "t_back",
    "checkpoint_every": "interval",
    "checkpoint_bandwidth": "storage",
    "blocking": "blocking",
    "repair": "t_repair",
    "spares": "spares",
    "spread": "spread",
}
"""What can be asked, and the fields of `hwlib.goodput.Reliability` that it gives."""
NAMES = ("tokens", "days", "mtbf", *FIELDS)


@dataclass(frozen=True)
class RunQuery:
    """The whole run's `tokens`, or its `days`; the mean time between interruptions of a node in seconds, or the row of
    measured_failures.csv that has it; and fields of `Reliability`.
    """

    tokens: float | None = None
    days: float | None = None
    mtbf: float | str | None = None
    given: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, options: Mapping[str, Any], named: Callable[[str], str] = str) -> Self | None:
        """What the values of NAMES ask for, if they ask for a run; an error has their names as `named`. Raises
        PlanError where they contradict each other.

        >>> RunQuery.of({"tokens": 15e12, "repair": 3600.0}).given
        {'t_repair': 3600.0}
        """
        mine = {name: options[name] for name in NAMES if options.get(name) is not None and options[name] is not False}
        if not mine:
            return None
        if ("tokens" in mine) == ("days" in mine):
            two, there = f"{named('tokens')} or {named('days')}", ", ".join(map(named, mine))
            raise PlanError("tokens", f"expected {two}, one of them, got {there}")
        constants = {FIELDS[name]: value for name, value in mine.items() if name in FIELDS}
        return cls(mine.get("tokens"), mine.get("days"), mine.get("mtbf"), constants)

    def asked(self, node: int) -> dict[str, Any]:
        """The arguments of `run_of`, on nodes of so many GPUs."""
        if isinstance(self.mtbf, str):
            base = published(self.mtbf)
        else:
            base = published() if self.mtbf is None else published().given(t_gpu=self.mtbf * node)
        return {"tokens": self.tokens, "days": self.days, "reliability": base.given(**self.given)}

    def answered(self, found: Plans | ParetoFront, count: int) -> tuple[Plans | ParetoFront, tuple[ExpectedRun, ...]]:
        """The plans, at most `count` of them, or the front of several numbers of GPUs, in the order of their runs, and
        the runs. Of one number of GPUs `found` should have `CANDIDATES` plans at least: the order of runs may differ
        from that of steps. Raises PlanError.
        """
        arguments = self.asked(found.task.machine.full_node)
        return (
            undominated_runs(found, **arguments)
            if isinstance(found, ParetoFront)
            else fastest_runs(found, count, **arguments)
        )
