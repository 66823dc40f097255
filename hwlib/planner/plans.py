"""A plan: its degrees and what they cost; and the plans of a search, the best first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, overload

from hwlib.footprint import Footprint
from hwlib.planner.task import Task
from hwlib.specs import Stack
from hwlib.steptime import StepTime
from hwlib.strategy import RECOMPUTE, SCHEDULES, Strategy
from hwlib.training import model_utilization, run_cost, token_rate
from hwlib.transformer import step_flops

MESH = ("tp", "cp", "ep", "pp", "dp")
"""The degrees that say which GPU holds what; the rest says how it goes about it."""
NOISE = 0.02
"""Of a step: plans that differ by less are too close to call, for the same run measured twice differs by more."""
CHOICES = ("v", "micro", "zero", "sp", "recompute", "schedule")


@dataclass(frozen=True, repr=False)
class Plan:
    """One way to train: degrees, seconds of a step by their cause, bytes of the fullest GPU, and what follows.

    `m` microbatches of `micro` sequences a replica; `v` chunks a pipeline rank; `mfu` by the dense rate of the dtype;
    `cost` in dollars a step, 0 if GPUs have no price.
    """

    dp: int
    tp: int
    pp: int
    cp: int
    ep: int
    v: int
    micro: int
    m: int
    zero: int
    sp: bool
    recompute: str
    schedule: str
    time: StepTime
    memory: Footprint
    chips: int
    mfu: float
    token_rate: float
    cost: float = 0.0

    @property
    def degrees(self) -> dict[str, Any]:
        """All that was chosen, by name: the arguments of `step_time` and `footprint`."""
        return {name: getattr(self, name) for name in (*MESH, *CHOICES)}

    @property
    def seconds(self) -> float:
        """Time of a step."""
        return float(self.time.total)

    @property
    def form(self) -> str:
        """The pipeline's schedule as one says it; empty without a pipeline."""
        if self.pp == 1:
            return ""
        return f"1f1b v{self.v}" if self.schedule == "1f1b" and self.v > 1 else self.schedule

    def __str__(self) -> str:
        mesh = [f"{name} {getattr(self, name)}" for name in MESH if getattr(self, name) > 1] or ["one GPU"]
        rest = [f"{self.m} x {self.micro} sequences", self.form, f"ZeRO-{self.zero}" if self.zero else ""]
        rest.append("" if self.recompute == "none" else f"{self.recompute} recomputation")
        return ", ".join([" ".join(mesh), *(word for word in rest if word)])

    def __repr__(self) -> str:
        return f"<Plan: {self}; {self.seconds:.3g} s, MFU {self.mfu:.1%}, {self.memory.total / 1e9:.1f} GB>"


@dataclass(frozen=True, eq=False)
class Costed:
    """Every plan that can be, as columns; bytes of the fullest GPU; seconds of a step, NaN for what does not fit."""

    columns: Mapping[str, Any]
    memory: Any
    seconds: Any

    def row(self, i: int) -> dict[str, Any]:
        """The degrees of one plan, as words and whole numbers."""
        found: dict[str, Any] = {name: int(column[i]) for name, column in self.columns.items()}
        words = {"recompute": RECOMPUTE[found["recompute"]], "schedule": SCHEDULES[found["schedule"]]}
        return {**found, **words, "sp": bool(found["sp"])}

    def fastest(self, among: Any) -> int:
        """The quickest plan where `among` is true; of equally quick ones that with the least memory; -1 for none."""
        import numpy as np

        at = np.flatnonzero(among & ~np.isnan(self.seconds))
        if not at.size:
            return -1
        best = self.seconds[at].min()
        close = at[self.seconds[at] <= best * (1 + 1e-9)]
        return int(close[self.memory[close].argmin()])


@dataclass(frozen=True, repr=False, eq=False)
class Plans(Sequence[Plan]):
    """The best plans for a task, each the best of its degrees; `plans[0]` is the best of all.

    `considered` points of the grid; `refused` of them for each reason; `costed` holds the others.
    """

    task: Task
    best: tuple[Plan, ...]
    considered: int
    refused: Mapping[str, int]
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
        """Of all plans that are too close to the quickest to call, the simplest."""
        import numpy as np

        costed = self.costed
        at = np.flatnonzero(~np.isnan(costed.seconds))
        columns = [costed.columns[name][at] for name in ("m", "v", "pp")]
        return self.plan(int(at[simplest(costed.seconds[at], columns[0] * columns[1], columns[2], self.task.stack)]))

    @property
    def fitting(self) -> int:
        """Plans that fit in memory."""
        import numpy as np

        return int(np.count_nonzero(~np.isnan(self.costed.seconds)))

    def plan(self, i: int) -> Plan:
        """Plan number i of the costed ones."""
        return costed_plan(self.task, self.costed.row(i))

    def pareto(self) -> tuple[Plan, ...]:
        """The plans than which none is both quicker and smaller, quickest first."""
        from hwlib.planner.front import quick_or_small

        return tuple(self.plan(i) for i in quick_or_small(self.costed))

    def explain(self) -> str:
        """Why the best plan is the best: where its time goes, what each next plan pays, what other choices would."""
        from hwlib.planner.explain import explanation

        return explanation(self)

    def table(self) -> str:
        """The plans as a table to read."""
        from hwlib.planner.text import table

        return table(self)

    def json(self) -> dict[str, Any]:
        """All of it as numbers and words."""
        from hwlib.planner.text import record

        return record(self)

    def __repr__(self) -> str:
        return self.table()


def tolerance(stack: Stack) -> float:
    """The share of a step within which plans are too close to call: the error of the stack's step times, or noise.

    That is wide, for a part of the error is shared by all plans and does not change their order.
    """
    return max(NOISE, stack.error)


def simplest(seconds: Any, pieces: Any, pp: Any, stack: Stack) -> int:
    """Position of the plan to take: of those too close to the quickest to call, that with the fewest stages, then the
    fewest microbatches and chunks, then the quickest. Uneven stages, messages, waits and launches are what the model
    knows least.
    """
    import numpy as np

    close = np.flatnonzero(seconds <= (1 + tolerance(stack)) * np.min(seconds))
    return int(close[np.lexsort((seconds[close], pieces[close], pp[close]))[0]])


def costed_plan(task: Task, row: Mapping[str, Any]) -> Plan:
    """One plan with all that it costs; `row` has its degrees."""
    degrees = {name: row[name] for name in (*MESH, *CHOICES)}
    time = step_times(task, degrees)
    seconds, flops = float(time.total), step_flops(task.model, task.B, task.T)
    return Plan(
        **row,
        time=time,
        memory=footprints(task, {**degrees, "m": row["m"]}),
        chips=task.chips,
        mfu=float(model_utilization(flops, seconds, task.chips, task.machine.chip.flops(task.dtype))),
        token_rate=float(token_rate(task.B, seconds)),
        cost=float(run_cost(task.chips, task.price, seconds)) if task.price else 0.0,
    )


def step_times(task: Task, columns: Mapping[str, Any]) -> StepTime:
    """The time of a step for one plan or for columns of them."""
    from hwlib.steptime import step_time

    used = {name: x for name, x in columns.items() if name != "m"}
    return step_time(
        task.model, task.stack, task.machine.levels, Strategy(**used), B=task.B, T=task.T, fused=task.fused,
        dtype=task.dtype, expert_imbalance=task.imbalance, dedup_dispatch=task.merge,
    )  # fmt: skip


def footprints(task: Task, columns: Mapping[str, Any]) -> Footprint:
    """The bytes of the fullest GPU for one plan or for columns of them."""
    from hwlib.footprint import footprint

    strategy = Strategy(**{name: x for name, x in columns.items() if name != "m"})
    return footprint(task.model, strategy, T=task.T, m=columns["m"], states=task.states, fused=task.fused)


def parts(time: StepTime) -> dict[str, float]:
    """The seconds of a step by their cause."""
    return {f.name: float(getattr(time, f.name)) + 0.0 for f in fields(time)}  # of -0.0 too it makes 0.0
