"""The search: every valid plan of the grid, its memory, the time of those that fit, and the best of each mesh."""

from dataclasses import replace
from math import inf, log
from typing import Any

from hwlib.arguments import is_number
from hwlib.footprint import unchecked_footprint
from hwlib.planner.allowed import Allowed, divisors, usual_tp
from hwlib.planner.checked import checked_axes, widened
from hwlib.planner.costs import Costed, Plan, costed_plan
from hwlib.planner.fits import surely
from hwlib.planner.keywords import records_of
from hwlib.planner.plan_error import PlanError
from hwlib.planner.plans import Plans
from hwlib.planner.rejections import no_plan, nothing_fits
from hwlib.planner.software_settings import SoftwareSettings
from hwlib.planner.space import space
from hwlib.planner.task import Task, task_of
from hwlib.specs import Model
from hwlib.specs.cluster import Place
from hwlib.steptime import step_time
from hwlib.strategy import MESH

NO_ROOM = "does not fit in memory"


def plan(
    model: Model | str, cluster: Place | str, *, B: int, T: int | None = None, gpus: int | None = None,
    allowed: Allowed | None = None, software: SoftwareSettings | None = None, memory: float | None = None,
    price: float | None = None, count: int = 5, **keywords: Any,
) -> Plans:  # fmt: skip
    """The fastest plans that train `model` on a cluster with batches of B tokens, the best first.

    A batch, a machine:

    >>> found = plan("llama3-8b", "dgx-h100", B=2**20)
    >>> found[0].strategy
    Strategy(dp=4, tp=2, zero=1)
    >>> found[0].gpus, found[0].memory.total < found.task.memory
    (8, True)

    Sequences of T tokens (the model's context, at most 8192), on some of the GPUs:

    >>> plan("llama3-8b", "dgx-h100", B=2**20, T=4096, gpus=4)[0].gpus
    4

    All degrees are searched unless `allowed` has values for them, one or several; dp is what the GPUs leave:

    >>> plan("llama3-8b", "dgx-h100", B=2**20, allowed=Allowed(tp=(2, 4), zero=1))[0].strategy.zero
    1

    `software` is what a strategy does not say: the dtype, what a parameter costs, and the stack whose constants the
    times have:

    >>> plan("llama3-8b", "dgx-h100", B=2**20, software=SoftwareSettings(dtype="fp8"))[0].seconds < found[0].seconds
    True

    Fields of both may be plain keywords, too:

    >>> plan("llama3-8b", "dgx-h100", B=2**20, tp=(2, 4), dtype="fp8")[0].strategy.tp
    2

    `memory` is what a plan may take of a GPU, in bytes (all that software sees of the chip's); `price` is in dollars a
    second and GPU, by default what the description of a cluster of one's own says. Of each mesh (tp, cp, ep, pp, dp)
    the best plan is listed, `count` at most.

    Raises PlanError, which names what cannot be and, where nothing fits, what would hold it; and StrategyError.
    """
    if not is_number(count) or not 1 <= count < inf or count != int(count):
        raise PlanError("count", f"expected a whole number of plans, at least 1, got {count!r}")
    allowed, software = records_of(allowed, software, keywords)
    task = task_of(model, cluster, B=B, T=T, gpus=gpus, software=software, memory=memory, price=price)
    first_allowed = allowed = allowed or Allowed()
    plans = search(task, allowed)
    node = task.machine.full_node
    if allowed.tp is None and not plans.fitting and usual_tp(task.model, node) != divisors(node):
        wider = widened(task, allowed)
        of_all = search(task, wider)
        if of_all.fitting or not plans.timed:
            allowed, plans = wider, of_all
    if not plans.costed.memory.size:
        raise no_plan(task, first_allowed, plans.rejected)
    if not plans.timed:
        raise nothing_fits(task, allowed, plans)
    return _ranked(plans, int(count))


def search(task: Task, allowed: Allowed) -> Plans:
    """All valid plans with their costs, not yet ranked."""
    import numpy as np

    possible = space(task, checked_axes(task, allowed))
    memory, seconds = np.empty(0), np.empty(0)
    rejected = dict(possible.rejected)
    if possible.size:
        memory = np.broadcast_to(unchecked_footprint(task, possible.strategy, m=possible.m).total, (possible.size,))
        fits = memory <= task.memory
        seconds = np.full(possible.size, np.nan)
        if fits.any():
            seconds[fits] = step_time(task, possible.strategy[fits]).total
        if lost := int(possible.size - fits.sum()):
            rejected[NO_ROOM] = lost
    return Plans(task, (), possible.considered, rejected, Costed(possible.strategy, possible.m, memory, seconds))


def _ranked(found: Plans, count: int) -> Plans:
    """The same with its best plans: of each mesh one, as many as asked for; those that may not fit stand last. One that
    costs just what a listed one costs is left out.
    """
    import numpy as np

    costed, strategy = found.costed, found.costed.strategy
    there = np.flatnonzero(~np.isnan(costed.seconds))
    keys = [getattr(strategy, name)[there] for name in ("micro", "ep", "cp")]  # of equals, the simplest
    behind = ~surely(found.task, costed.memory[there])
    order = there[np.lexsort((*keys, costed.memory[there], np.round(np.log(costed.seconds[there]), 9), behind))]
    mesh = np.stack([getattr(strategy, name)[order] for name in MESH])
    _, first = np.unique(mesh, axis=1, return_index=True)
    best: list[Plan] = []
    seen: set[tuple[float, float]] = set()
    for i in order[np.sort(first)]:
        cost = round(log(costed.seconds[i]), 4), round(log(costed.memory[i]), 4)
        if cost not in seen and len(best) < count:
            best.append(costed_plan(found.task, strategy[i], costed.m[i]))
        seen.add(cost)
    return replace(found, best=tuple(best))
