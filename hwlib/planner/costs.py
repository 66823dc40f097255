"""The costs of plans: one plan in full, and columns of many with their bytes and seconds."""

from dataclasses import dataclass, fields
from typing import Any

from hwlib.footprint import Footprint, unchecked_footprint
from hwlib.planner.task import Task
from hwlib.steptime import StepTime, step_time
from hwlib.strategy import Strategy
from hwlib.training import model_utilization, run_cost, token_rate
from hwlib.transformer import step_flops
from hwlib.units import plural


@dataclass(frozen=True, repr=False)
class Plan:
    """One way to train: a strategy, seconds of a step by their cause, bytes of the fullest GPU, and derived values.

    `m` microbatches of `strategy.micro` sequences a replica; `mfu` by the dense rate of the dtype; `cost` in dollars a
    step, 0 if GPUs have no price.
    """

    strategy: Strategy
    m: int
    time: StepTime
    memory: Footprint
    mfu: float
    token_rate: float
    cost: float = 0.0

    @property
    def gpus(self) -> int:
        """All GPUs."""
        return int(self.strategy.gpus)

    @property
    def seconds(self) -> float:
        """Time of a step."""
        return float(self.time.total)

    def __str__(self) -> str:
        size = plural(self.strategy.micro, "sequence")
        return self.strategy.described(f"{plural(self.m, 'microbatch')} of {size}")

    def __repr__(self) -> str:
        return f"<Plan: {self}; {self.seconds:.3g} s, MFU {self.mfu:.1%}, {self.memory.total / 1e9:.1f} GB>"


@dataclass(frozen=True, eq=False)
class Costed:
    """Every valid plan, as columns; bytes of the fullest GPU; seconds of a step, NaN for plans that do not fit."""

    strategy: Strategy
    m: Any
    memory: Any
    seconds: Any

    def fastest(self, among: Any) -> int:
        """The quickest plan where `among` is true; of equally quick ones that with the least memory; -1 for none."""
        import numpy as np

        at = np.flatnonzero(among & ~np.isnan(self.seconds))
        if not at.size:
            return -1
        best = self.seconds[at].min()
        close = at[self.seconds[at] <= best * (1 + 1e-9)]
        return int(close[self.memory[close].argmin()])


def costed_plan(task: Task, strategy: Strategy, m: float) -> Plan:
    """One plan with all its costs."""
    time = step_time(task, strategy)
    seconds, flops = float(time.total), step_flops(task.model, task.B, task.T, mtp=bool(task.software.mtp))
    if task.trained:
        flops = flops - task.trained.spared_flops(task.model, task.B)
    return Plan(
        strategy,
        int(m),
        time=time,
        memory=unchecked_footprint(task, strategy, m=m),
        mfu=float(model_utilization(flops, seconds, task.gpus, task.machine.chip.flops(task.software.dtype))),
        token_rate=float(token_rate(task.B, seconds)),
        cost=float(run_cost(task.gpus, task.price, seconds)) if task.price else 0.0,
    )


def parts(time: StepTime) -> dict[str, float]:
    """The seconds of a step by their cause."""
    return {f.name: float(getattr(time, f.name)) + 0.0 for f in fields(time)}  # of -0.0 too it makes 0.0
