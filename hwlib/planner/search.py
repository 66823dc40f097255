"""The search: every plan of the grid that can be, its memory, the time of those that fit, and the best of each mesh."""

from collections.abc import Mapping
from math import inf, log
from typing import Any

from hwlib.arguments import is_number
from hwlib.footprint import MEGATRON_ADAM, States
from hwlib.planner.plans import MESH, Costed, Plan, Plans, costed_plan, footprints, step_times
from hwlib.planner.refusals import check_axes, no_plan, nothing_fits
from hwlib.planner.space import axes_of, divisors, space, usual_tp
from hwlib.planner.task import PlanError, Task, batch_of, machine_of, memory_of, model_of, truth
from hwlib.specs import Accelerator, Cluster, Model, Node, Stack, stacks
from hwlib.specs.stack import stack_for

NO_ROOM = "it does not fit in memory"


def plan(
    model: Model | str, cluster: Cluster | Node | str, *, B: Any, T: Any = None, chips: int | None = None,
    stack: Stack | str | None = None, dtype: str = "bf16", memory: float | None = None, states: States = MEGATRON_ADAM,
    fused: bool = True, imbalance: float = 1.0, merge: bool = False, price: float = 0.0, count: int = 5,
    tp: Any = None, pp: Any = None, cp: Any = None, ep: Any = None, v: Any = None, micro: Any = None,
    zero: Any = None, sp: Any = None, recompute: Any = None, schedule: Any = None,
) -> Plans:  # fmt: skip
    """The quickest plans that train `model` with batches of B tokens on all GPUs of a cluster, or on `chips` of them.

    A degree that is given, one value or several, is kept; the others are searched: tp within a node (where
    that fits, only as long as a rank keeps 768 columns of an expert), pp up to the layers, cp from long sequences on,
    ep up to the experts, 1F1B plain and interleaved and ZB-H1, ZeRO 0, 1 and 3, recomputation where it helps. dp is
    what the GPUs leave. `memory` are the bytes that a plan may take of a GPU, by default 95 % of the data sheet's;
    `states` what a parameter costs, by default as in `footprint` with gradients in 32 bits; `stack` the constants of
    `hwlib.steptime`, and `fused`, `imbalance` and `merge` as there; `price` dollars a second and GPU. Of each
    mesh (tp, cp, ep, pp, dp) the best plan is listed, `count` at most. Raises PlanError, which names what cannot be,
    and, where nothing fits, what would hold it.

    >>> found = plan("llama3-8b", "dgx-h100", B=2**20)
    >>> found[0].chips, found[0].memory.total < found.task.memory
    (8, True)
    """
    given = {
        "tp": tp, "pp": pp, "cp": cp, "ep": ep, "v": v, "micro": micro, "zero": zero, "sp": sp,
        "recompute": recompute, "schedule": schedule,
    }  # fmt: skip
    if not is_number(count) or not 1 <= count < inf or count != int(count):
        raise PlanError(f"count: a whole number of plans, at least 1, was expected, got {count!r}")
    task = task_of(
        model, cluster, B=B, T=T, chips=chips, stack=stack, dtype=dtype, memory=memory, states=states, fused=fused,
        imbalance=imbalance, merge=merge, price=price,
    )  # fmt: skip
    found = search(task, given)
    whole = task.machine.whole
    if tp is None and not found.fitting and usual_tp(task.model, whole) != divisors(whole):
        given["tp"] = divisors(whole)  # experts cut narrow, rather than no plan
        found = search(task, given)
    if not found.costed.memory.size:
        raise no_plan(task, axes_of(task, given), found.refused)
    if not found.fitting:
        raise nothing_fits(task, given, found)
    return _ranked(found, count)


def task_of(
    model: Model | str, cluster: Cluster | Node | str, *, B: Any, T: Any = None, chips: int | None = None,
    stack: Stack | str | None = None, dtype: str = "bf16", memory: float | None = None, states: States = MEGATRON_ADAM,
    fused: bool = True, imbalance: float = 1.0, merge: bool = False, price: float = 0.0,
) -> Task:  # fmt: skip
    """What is asked, checked. Raises PlanError."""
    model, machine = model_of(model), machine_of(cluster, chips)
    B, T = batch_of(model, B, T)
    try:
        machine.chip.flops(dtype)
    except ValueError as error:
        raise PlanError(f"dtype: {error}") from None
    if dtype == "int8":
        raise PlanError("dtype: whole numbers are for inference; a step of training is in bf16, fp16, fp32, fp8 or fp4")
    if not (is_number(price) and 0 <= price < inf):
        raise PlanError(f"price: dollars of at least 0 were expected, got {price!r}")
    if not (is_number(imbalance) and 1 <= imbalance < inf):
        raise PlanError(f"imbalance: the busiest expert over the mean, so at least 1, was expected, got {imbalance!r}")
    fused, merge, room = truth("fused", fused), truth("merge", merge), memory_of(machine.chip, memory)
    return Task(
        model, machine, B, T, stack_of(machine.chip, stack), dtype, states, fused, imbalance, merge, room, price
    )


def stack_of(chip: Accelerator, stack: Stack | str | None) -> Stack:
    """The constants to use: those given, or what the chip has by default. Raises PlanError."""
    try:
        found = stack_for(chip) if stack is None else stacks.of(stack)
    except (KeyError, TypeError) as error:
        raise PlanError(error.args[0]) from None
    if found.chip != chip.key:
        raise PlanError(f"stack: {found.key} is of {found.accelerator.name}, and the cluster is of {chip.name}")
    return found


def search(task: Task, given: Mapping[str, Any]) -> Plans:
    """All plans that can be, costed, not yet ranked."""
    import numpy as np

    axes = axes_of(task, given)
    check_axes(task, axes, given)
    found = space(task, axes)
    memory, seconds = np.empty(0), np.empty(0)
    refused = dict(found.refused)
    if found.size:
        memory = np.broadcast_to(footprints(task, found.columns).total, (found.size,))
        fits = memory <= task.memory
        seconds = np.full(found.size, np.nan)
        if fits.any():
            fitting = {name: column[fits] for name, column in found.columns.items()}
            seconds[fits] = step_times(task, fitting).total
        if lost := int(found.size - fits.sum()):
            refused[NO_ROOM] = lost
    return Plans(task, (), found.considered, refused, Costed(found.columns, memory, seconds))


def _ranked(found: Plans, count: int) -> Plans:
    """The same with its best plans: of each mesh one, as many as asked for. One that costs just what a listed one
    costs is left out.
    """
    import numpy as np

    costed = found.costed
    there = np.flatnonzero(~np.isnan(costed.seconds))
    keys = [costed.columns[name][there] for name in ("micro", "ep", "cp")]  # of equals, the simplest
    order = there[np.lexsort((*keys, costed.memory[there], np.round(np.log(costed.seconds[there]), 9)))]
    mesh = np.stack([costed.columns[name][order] for name in MESH])
    _, first = np.unique(mesh, axis=1, return_index=True)
    best: list[Plan] = []
    seen: set[tuple[float, float]] = set()
    for i in order[np.sort(first)]:
        cost = round(log(costed.seconds[i]), 4), round(log(costed.memory[i]), 4)
        if cost not in seen and len(best) < count:
            best.append(costed_plan(found.task, costed.row(i)))
        seen.add(cost)
    return Plans(found.task, tuple(best), found.considered, found.refused, costed)
