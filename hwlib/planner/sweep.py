"""The best plans over several numbers of GPUs."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from hwlib.arguments import is_number
from hwlib.planner.allowed import Allowed
from hwlib.planner.costs import Plan
from hwlib.planner.fits import surely
from hwlib.planner.front import BEATEN, CRITERIA, ParetoFront, undominated
from hwlib.planner.keywords import records_of
from hwlib.planner.plan_error import PlanError
from hwlib.planner.plans import Plans
from hwlib.planner.search import plan
from hwlib.planner.software_settings import SoftwareSettings
from hwlib.planner.task import Task, machine_of, model_of
from hwlib.specs import Model, Release, stack_for
from hwlib.specs.cluster import Place


def pareto(
    model: Model | str, cluster: Place | str, *, B: int, gpus: int | Iterable[int],
    of: str | Iterable[str] = ("time", "memory", "gpus", "cost"), T: int | None = None, allowed: Allowed | None = None,
    software: SoftwareSettings | None = None, memory: float | None = None, price: float | None = None, **keywords: Any,
) -> ParetoFront:  # fmt: skip
    """The plans, over one or several numbers of GPUs, that no other one dominates in what `of` names, fastest first.

    Plans that may not fit stand behind those that do, and dominate none of them.

    The other arguments are those of `plan`. A number of GPUs without a valid plan that fits is skipped, and `skipped`
    of the result says why; if all are skipped, the error is raised. Raises PlanError.

    >>> front = pareto("llama3-70b", "superpod-h100-1su", B=2**22, gpus=[8, 256])
    >>> front[0].gpus, front.skipped[8][:44]
    (256, 'memory: Llama 3.1 70B does not fit on 8 x H1')
    """
    names = tuple(of) if isinstance(of, Iterable) and not isinstance(of, str) else (of,)
    for name in names:
        if name not in CRITERIA:
            raise PlanError("of", f"expected some of {', '.join(CRITERIA)}, got {name!r}")
    most = machine_of(cluster).gpus
    numbers = tuple(gpus) if isinstance(gpus, Iterable) else (gpus,)
    if not all(map(is_number, numbers)):
        raise PlanError("gpus", f"expected a number of GPUs, or several, got {gpus!r}")
    for n in numbers:
        if not 1 <= n <= most or n != int(n):
            machine_of(cluster, n)  # says so
    allowed, software = records_of(allowed, software, keywords)
    plan_of = partial(plan, model, cluster, B=B, T=T, allowed=allowed, memory=memory, price=price)
    usual = _comparable(model, cluster, software) if len({*numbers}) > 1 else software
    plans: list[Plan] = []
    tasks: dict[int, Task] = {}
    failures: dict[int, PlanError] = {}
    for n in dict.fromkeys(numbers):
        try:
            result = plan_of(gpus=n, software=usual if n == 1 else software)
            tasks[n] = result.task
            plans += _candidates(result, names)
        except PlanError as error:
            failures[n] = error
    if not plans:
        raise next(iter(failures.values())) if failures else PlanError("gpus", "expected at least one number of GPUs")
    sure, beside = undominated([one for one in plans if _fits(result, one)], names), undominated(plans, names)
    front = (*sure, *(one for one in beside if not _fits(result, one)))
    there = {best.gpus for best in front}
    why = {n: str(failures.get(n, BEATEN)) for n in numbers if n not in there}
    return ParetoFront(front, tasks, why)


def _comparable(model: Model | str, cluster: Place | str, software: SoftwareSettings | None) -> SoftwareSettings:
    """The software of one GPU beside larger numbers: theirs, so that one software times them all."""
    software = software or SoftwareSettings()
    if software.stack is not None:
        return software
    release = software.release if isinstance(software.release, Release) else None
    chip, moe = machine_of(cluster).chip, model_of(model).moe
    return replace(software, stack=stack_for(chip, moe=moe, dtype=software.dtype, release=release))


def _fits(found: Plans, one: Plan) -> bool:
    return bool(surely(found.task, one.memory.total))


def _candidates(found: Plans, names: Sequence[str]) -> tuple[Plan, ...]:
    return found.pareto() if "memory" in names else found[:1]
