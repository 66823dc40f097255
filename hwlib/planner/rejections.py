"""Errors for tasks without a plan: batches that no plan divides, models that do not fit, and what would work."""

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

from hwlib.constraints import BATCH, GPUS, WHOLE_NODES, refusal
from hwlib.planner.allowed import WHOLE, Allowed, Axes, axes_of
from hwlib.planner.costs import footprints
from hwlib.planner.result import SearchResult
from hwlib.planner.space import space
from hwlib.planner.task import Machine, PlanError, Task, plural
from hwlib.specs import Level
from hwlib.strategy import Strategy
from hwlib.transformer import parameter_count
from hwlib.units import show

MOST_GPUS = 2**17


def no_plan(task: Task, axes: Axes, rejected: Mapping[str, int]) -> PlanError:
    """No plan of the grid is valid: names the rule that rejected the last plans, and values that would pass it."""
    last = list(rejected)[-1]
    found = None
    if last == BATCH.reason:  # what if any batch would be divided?
        found = space(replace(task, B=task.T * task.gpus * prod(axes.micro)), axes)
        last = last if found.size else list(found.rejected)[-1]
    if found and found.size:
        dp = int(found.strategy.dp.min())
        below, above = task.sequences // dp * dp, -(-task.sequences // dp) * dp
        would = " or ".join(f"{n:,} ({n * task.T:,} tokens)" for n in sorted({below, above}) if n)
        return PlanError(
            "batch",
            f"{plural(task.sequences, 'sequence')} cannot be divided among the replicas, of which {task.gpus:,} GPUs "
            f"have at least {dp:,}; {would} can",
        )
    if last == GPUS.reason:
        return PlanError("gpus", f"no allowed product tp*cp*pp divides {task.gpus:,}")
    if last == WHOLE_NODES.reason:
        node, nodes = task.machine.node, task.gpus // task.machine.node
        each = 2 ** (node.bit_length() - 1)
        would = f"; {each} GPUs of each, {each * nodes:,} in all, may work" if each < node else ""
        return PlanError("gpus", f"all allowed degrees split the nodes of {node} GPUs unevenly{would}")
    if why := _only_plan(task, axes):
        return PlanError("allowed", f"no valid plan for {task}: {why}")
    return PlanError(
        "allowed",
        f"no valid plan for {task}: all {sum(rejected.values()):,} were rejected, the last ones because: {last}",
    )


def _only_plan(task: Task, axes: Axes) -> str:
    """The rule that the one plan of the grid breaks, in words; empty where the grid has several."""
    if any(len(values) > 1 for values in axes):
        return ""
    schedule, v = axes.forms[0]
    degrees: dict[str, Any] = {name: getattr(axes, name)[0] for name in ("tp", "pp", "cp", "ep", "micro", "zero", "sp")}
    folded = {name: None if getattr(axes, name) == (WHOLE,) else getattr(axes, name)[0] for name in ("shards", "etp")}
    dp = task.gpus // (degrees["tp"] * degrees["pp"] * degrees["cp"])
    strategy = Strategy(dp=dp, schedule=schedule, v=v, recompute=axes.recompute[0], **degrees, **folded)
    return str(refusal(task.setting, strategy) or "")


def nothing_fits(task: Task, allowed: Allowed, found: SearchResult) -> PlanError:
    """No plan fits: names the plan with the smallest memory, its bytes, and the smallest number of GPUs on which a plan
    fits."""
    least = int(found.costed.memory.argmin())
    room = show(task.memory, "B")
    chip = task.machine.chip.name
    takes = show(float(found.costed.memory[least]), "B")
    text = (
        f"{task.model.name} does not fit on {task.gpus:,} x {chip}: the plan with the smallest memory "
        f"({found.costed.strategy[least]}) needs {takes} per GPU, and the budget is {room}"
    )
    if holding := smallest(task, allowed):
        n, one, need = holding
        with_ = f"{one} ({show(need, 'B')} per GPU)"
        return PlanError("memory", f"{text}. Smallest cluster that holds it: {n:,} x {chip}, with {with_}")
    more = "a larger cp, a shorter sequence, a larger batch or more memory could"
    return PlanError("memory", f"{text}. No cluster of up to {MOST_GPUS:,} such GPUs holds it with this batch; {more}")


def smallest(task: Task, allowed: Allowed) -> tuple[int, Strategy, float] | None:
    """The smallest number of such GPUs, whole nodes or a part of one, on which some plan fits: with its strategy and
    bytes. Beyond 256 nodes steps are a 256th of what there is.
    """
    node = task.machine.full_node
    least = parameter_count(task.model) * sum(task.states) / task.memory
    n = 1
    while n <= MOST_GPUS:
        if n >= least and (held := _smallest_memory(replace(task, machine=_of(task.machine, n)), allowed)):
            return (n, *held)
        n = min(2 * n, node) if n < node else n + node * max(1, n // (256 * node))
    return None


def _smallest_memory(task: Task, allowed: Allowed) -> tuple[Strategy, float] | None:
    """Of what can be on these GPUs the plan that needs least, if it fits."""
    import numpy as np

    try:
        axes = axes_of(task, allowed)
    except PlanError:
        return None
    has = task.features
    forms = [form for form in axes.forms if not has or form[0] in has.schedules] or axes.forms
    least = axes._replace(micro=axes.micro[:1], forms=tuple(forms[:1]), shards=axes.shards[:1])  # more only needs more
    found = space(task, least)
    if not found.size:
        return None
    memory = np.broadcast_to(footprints(task, found.strategy, found.m).total, (found.size,))
    i = int(memory.argmin())
    return (found.strategy[i], float(memory[i])) if memory[i] <= task.memory else None


def _of(machine: Machine, gpus: int) -> Machine:
    """A number of GPUs of this kind, in nodes; the network does not matter for memory."""
    level, node = machine.levels[0], machine.full_node
    levels = [Level("node", min(node, gpus), level.bandwidth)]
    if gpus > node:
        levels.append(Level("network", gpus // node, level.bandwidth))
    return machine._replace(levels=tuple(levels))
