"""Plans as whole runs: their expected time and price, with interruptions, checkpoints, repairs and slow GPUs.

A step's time is that of `hwlib.steptime`; what a run loses beside its steps is `hwlib.goodput`'s.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from math import ceil
from typing import Any

from hwlib.arguments import is_number
from hwlib.goodput import ExpectedRun, Job, Reliability, expected_run, published, saved_state_bytes
from hwlib.planner.costs import Plan
from hwlib.planner.fits import surely
from hwlib.planner.front import BEATEN, ParetoFront
from hwlib.planner.plan_error import PlanError
from hwlib.planner.plans import Plans
from hwlib.planner.task import Task
from hwlib.specs import measured_plans, stacks
from hwlib.transformer import parameter_count, with_mtp
from hwlib.units import day

__all__ = ["CANDIDATES", "fastest_runs", "rests_of_run", "run_of", "undominated_runs"]

CANDIDATES = 12
"""Plans, the quickest of their meshes, whose runs are compared: a slow GPU makes arithmetic longer and not transfers,
so that the order of runs may differ from that of steps, though hardly by more than a place or two."""


def run_of(
    task: Task,
    plan: Plan,
    *,
    tokens: float | None = None,
    days: float | None = None,
    reliability: Reliability | None = None,
) -> ExpectedRun:
    """The run of a plan: with so many tokens in all, or as many whole steps as so many days are expected to hold.

    >>> from hwlib.planner import plan
    >>> found = plan("llama3-70b", "superpod-h100-1su", B=2**22)
    >>> run = run_of(found.task, found[0], tokens=15e12)
    >>> run.time > run.ideal == run.job.steps * found[0].seconds
    True

    Raises PlanError for tokens or days that are none, and where a run would never end.
    """
    if (tokens is None) == (days is None):
        raise PlanError("tokens", f"expected tokens or days, one of them, got {tokens!r} and {days!r}")
    for name, value in (("tokens", tokens), ("days", days)):
        if value is not None and not (is_number(value) and 0 < value < 1e30):
            raise PlanError(name, f"expected a number above 0, got {value!r}")
    r = published() if reliability is None else reliability
    try:
        if tokens is not None:
            return expected_run(_job(task, plan, ceil(tokens / task.B)), r)
        assert days is not None
        single = expected_run(_job(task, plan, 1), r)
        if not (steps := int(days * day / single.time)):
            raise PlanError("days", f"a step is expected to take {single.time:.3g} s, longer than {days!r} days")
        return expected_run(_job(task, plan, steps), r)
    except PlanError:
        raise
    except ValueError as error:
        raise PlanError("run", str(error)) from None


def _job(task: Task, plan: Plan, steps: int) -> Job:
    """A plan as a job. What waits for a slow GPU is arithmetic, and the bubble that other stages' arithmetic makes."""
    model = with_mtp(task.model) if task.software.mtp else task.model
    parameters = task.trained.parameters(model) if task.trained else parameter_count(model)
    state = float(saved_state_bytes(parameters, task.states.weight, task.states.optimizer))
    time = plan.time
    busy = float(time.compute + time.recomputed + time.bubble) / plan.seconds
    node = min(task.machine.full_node, plan.gpus)
    return Job(steps, plan.seconds, plan.gpus, node, state, min(busy, 1.0), fitted_gpus(task.stack.key), task.price)


@cache
def fitted_gpus(stack: str) -> float:
    """GPUs of the published steps, in the median, of a stack or of the first one that it is like: the slowest of so
    many is in its constants already. 1 where no published step is in the table.

    >>> fitted_gpus("megatron-core-h100")
    64.0
    """
    from statistics import median

    while stack:
        if gpus := [run.gpus for run in measured_plans() if run.stack == stack]:
            return float(median(gpus))
        stack = stacks[stack].like if stack in stacks else ""
    return 1.0


def fastest_runs(found: Plans, count: int, **asked: Any) -> tuple[Plans, tuple[ExpectedRun, ...]]:
    """The plans whose runs make most tokens a second, best first, and these runs; `asked` as in `run_of`."""
    runs = [(run_of(found.task, plan, **asked), plan) for plan in found]
    runs.sort(key=lambda pair: (not _fits(found.task, pair[1]), _pace(pair[0])))
    return replace(found, best=tuple(plan for _, plan in runs[:count])), tuple(run for run, _ in runs[:count])


def undominated_runs(front: ParetoFront, **asked: Any) -> tuple[ParetoFront, tuple[ExpectedRun, ...]]:
    """The plans of several numbers of GPUs whose runs no other one dominates in time, GPUs held and their cost, and
    these runs, fastest first. A number on which no run would end is skipped like one without a plan."""
    why: dict[int, str] = dict(front.skipped)
    runs: list[tuple[ExpectedRun, Plan]] = []
    for plan in front:
        try:
            runs.append((run_of(front.task, plan, **asked), plan))
        except PlanError as error:
            why[plan.gpus] = str(error)
            failed = error
    if not runs:
        raise failed
    best = [pair for pair in runs if not any(_beats(other, pair[0]) for other, _ in runs)]
    best.sort(key=lambda pair: (not _fits(front.task, pair[1]), _pace(pair[0])))
    there = {plan.gpus for _, plan in best}
    why |= {plan.gpus: BEATEN for _, plan in runs if plan.gpus not in there}
    return ParetoFront((plan for _, plan in best), front.tasks, why), tuple(run for run, _ in best)


def _fits(task: Task, plan: Plan) -> bool:
    return bool(surely(task, plan.memory.total))


def _pace(run: ExpectedRun) -> float:
    """Seconds of the run for each of its steps."""
    return run.time / run.job.steps


def _beats(one: ExpectedRun, other: ExpectedRun) -> bool:
    here, there = ((_pace(run), run.gpus, _pace(run) * run.gpus) for run in (one, other))
    return here != there and all(a <= b for a, b in zip(here, there, strict=True))


def rests_of_run(run: ExpectedRun) -> Mapping[str, float]:
    """For each number that nobody has published, the share by which the run, with as many spares, would be longer, were
    it twice as bad."""
    r = replace(run.reliability, spares=run.spares)
    worse: Iterable[tuple[str, Reliability]] = ((name, replace(r, **{name: 2 * getattr(r, name)})) for name in r.typed)
    return {name: expected_run(run.job, changed).time / run.time - 1 for name, changed in worse}
