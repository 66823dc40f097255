"""All plans of a published run's task as a cloud of time against memory, beside what was measured.

The task is that of the run: its model, batch, GPUs, network and software. A figure needs fewer points than a search
has plans, so these are thinned: plans that take more than `SLOWEST` times as long as the quickest are left out, and of
those of one tensor degree in one cell of a grid, whose sides are `CELL` of the quickest time and of the memory, the
quickest stays. Those on the front of time and memory stay too.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, NamedTuple

from hwlib.footprint import unchecked_footprint
from hwlib.options import TRAINING
from hwlib.planner.advice import closeness
from hwlib.planner.allowed import Allowed
from hwlib.planner.costs import Costed, parts
from hwlib.planner.front import time_memory_front
from hwlib.planner.search import search
from hwlib.planner.software_settings import SoftwareSettings
from hwlib.planner.task import Machine, Task, memory_of
from hwlib.specs import MeasuredPlan, accelerators, measured_plans
from hwlib.steptime import StepTime, predicted_step, published_strategy, published_time, step_time
from hwlib.strategy import MESH, Strategy
from hwlib.units import plural

SLOWEST = 2.0
CELL = 0.03
CLOUDS = {
    "llama3-70b": ("Llama 3.1 70B on 64 H100, fp8", "mbridge-02165"),
    "llama3-405b": ("Llama 3.1 405B on 256 GB300, fp8", "mbridge-02206"),
    "bloom": ("BLOOM's trial of 72 layers on 384 A100", "bloom-060"),
}
"""The clouds that figures draw: their names, and a run of each."""
_ASKED = {option.name: option.words for option in TRAINING}
COLOURED = {name: _ASKED.get(name, "replicas") for name in ("tp", "pp", "dp", "cp", "zero")}
"""The degrees by which figures colour plans, in the words of the options; replicas follow from the others."""


class CloudPoint(NamedTuple):
    """A plan: its degrees, seconds of a step in all and by their cause, bytes of the fullest GPU, and words. `measured`
    is what was printed of it, 0 of a plan that nobody has published; then `run` is the id of the row, and `memory` the
    printed bytes or, where `modelled`, those of the model."""

    degrees: dict[str, int]
    seconds: float
    memory: float
    terms: dict[str, float]
    words: str
    measured: float = 0.0
    run: str = ""
    modelled: bool = True


@dataclass(frozen=True)
class PlanCloud:
    """The plans of one task that fit, the quickest first; the published runs of the same task; those plans on the front
    of time and memory, by their positions; and the share within which two plans are too close to call, `error`, by the
    planner's own rule (`hwlib.planner.advice.closeness`). Of all plans `fitting` fit, and `close` are within that share
    of the quickest."""

    key: str
    name: str
    task: Task
    plans: tuple[CloudPoint, ...]
    runs: tuple[CloudPoint, ...]
    front: tuple[int, ...]
    fitting: int
    close: int
    error: float


@cache
def plan_cloud(key: str) -> PlanCloud:
    """One of `CLOUDS`. Raises KeyError for another."""
    if key not in CLOUDS:
        raise KeyError(f"no cloud of plans {key!r}; known: {', '.join(CLOUDS)}")
    name, run_id = CLOUDS[key]
    measured = next(run for run in measured_plans() if run.key == run_id)
    runs = [run for run in measured_plans() if _same_task(run, measured)]
    task = task_of_run(runs[0])
    costed = search(task, Allowed()).costed
    chosen = _thinned(costed, task.memory)
    plans = tuple(_points(task, costed, chosen))
    place = {number: position for position, number in enumerate(chosen)}
    front = tuple(place[number] for number in time_memory_front(costed) if number in place)
    error = closeness(task, costed.strategy[costed.fastest(costed.seconds > 0)])
    published = tuple(map(_published, runs))
    close = int((costed.seconds <= (1 + error) * plans[0].seconds).sum())
    return PlanCloud(key, name, task, plans, published, front, int((costed.seconds > 0).sum()), close, error)


def task_of_run(run: MeasuredPlan) -> Task:
    """The task of a published run: all its plan does not say."""
    chip = accelerators[run.chip]
    software = SoftwareSettings(stack=run.stack, dtype=run.dtype, fused=run.fused).on(chip, run.shape)
    machine = Machine(plural(run.gpus, "GPU"), chip, run.levels, run.domain)
    return Task(run.shape, machine, run.B, run.T, software, memory_of(chip, None))


def _same_task(run: MeasuredPlan, other: MeasuredPlan) -> bool:
    """Whether two runs differ in their plans alone; those that readers are asked for are nobody's to see."""
    task = lambda r: (r.stack, r.shape.layers, r.shape.width, r.shape.heads, r.gpus, r.B, r.T, r.dtype, r.network)
    return not run.asked and task(run) == task(other)


def _thinned(costed: Costed, room: float) -> list[int]:
    """Positions of the plans that are drawn, the quickest first."""
    import numpy as np

    there = np.flatnonzero(costed.seconds <= SLOWEST * np.nanmin(costed.seconds))
    order = there[np.lexsort((costed.memory[there], costed.seconds[there]))]
    best = costed.seconds[order[0]]
    cells = np.stack(
        [
            np.floor(costed.seconds[order] / (CELL * best)),
            np.floor(costed.memory[order] / (CELL * room)),
            np.broadcast_to(costed.strategy.tp, costed.seconds.shape)[order],
        ]
    )
    _, first = np.unique(cells, axis=1, return_index=True)
    front = [i for i in time_memory_front(costed) if costed.seconds[i] <= SLOWEST * best]
    return sorted({*order[first].tolist(), *front}, key=lambda i: (costed.seconds[i], i))


def _points(task: Task, costed: Costed, chosen: list[int]) -> Iterator[CloudPoint]:
    times = step_time(task, costed.strategy[chosen])
    for place, number in enumerate(chosen):
        strategy, m = costed.strategy[number], int(costed.m[number])
        time = StepTime(**{f.name: _at(getattr(times, f.name), place) for f in fields(StepTime)})
        yield CloudPoint(
            _degrees(strategy),
            float(costed.seconds[number]),
            float(costed.memory[number]),
            parts(time),
            _words(strategy, m),
        )


def _at(column: Any, place: int) -> float:
    return float(column[place]) if getattr(column, "ndim", 0) else float(column)


def _published(run: MeasuredPlan) -> CloudPoint:
    """A published run, with its memory by the model where none was printed."""
    strategy, step, task = published_strategy(run), predicted_step(run), task_of_run(run)
    held = unchecked_footprint(task, strategy, m=run.m)
    return CloudPoint(
        _degrees(strategy),
        float(step.total),
        run.memory or float(held.total),
        parts(step),
        _words(strategy, run.m),
        published_time(run),
        run.key,
        not run.memory,
    )


def _degrees(strategy: Strategy) -> dict[str, int]:
    return {name: int(getattr(strategy, name)) for name in MESH} | {"zero": int(strategy.zero)}


def _words(strategy: Strategy, m: int) -> str:
    return strategy.described(f"{plural(m, 'microbatch')} of {plural(int(strategy.micro), 'sequence')}")
