"""Errors for tasks without a plan: batches that no plan divides, models that do not fit, and what would work."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import prod
from typing import Any

from hwlib.constraints import BATCH, GPUS, MICROBATCH, WHOLE_NODES, refusal
from hwlib.footprint import BASES, BFLOAT16_ADAM, Adapters, unchecked_footprint
from hwlib.planner.allowed import Allowed, Axes, axes_of
from hwlib.planner.checked import offer, ways_out, widened
from hwlib.planner.fits import DOES_NOT_FIT, FITS, fit_of, surely
from hwlib.planner.plan_error import PlanError
from hwlib.planner.result import SearchResult
from hwlib.planner.space import Space, space
from hwlib.planner.task import Machine, Task, first_levels
from hwlib.specs import Level
from hwlib.strategy import Strategy
from hwlib.units import plural, show

MOST_GPUS = 2**17
MOST_BATCHES = 16  # sizes of a step of all replicas, of which batches that do are multiples
MOST_TRIED = 64  # smaller numbers of GPUs
RANK = 16  # of the adapters that are offered, as in the option's own example


def no_plan(task: Task, allowed: Allowed, rejected: Mapping[str, int]) -> PlanError:
    """No plan of the grid is valid: names the rule that rejected the last plans, and values that would pass it."""
    axes, last = axes_of(task, widened(task, allowed)), [*rejected][-1]
    if last in (BATCH.reason, MICROBATCH.reason, WHOLE_NODES.reason):
        possible = space(replace(task, B=task.T * task.gpus * prod(axes.micro)), axes)  # any batch would be divided
        batches = _batches(task, axes, possible) if possible.size else ""
        last = last if possible.size else [*possible.rejected][-1]
        if last == WHOLE_NODES.reason:
            return _split_nodes(task, allowed, batches)
        if possible.size:
            return _undivided(task, axes, possible, batches)
    if last == GPUS.reason:
        return PlanError("gpus", f"no allowed product tp*cp*pp divides {task.gpus:,}")
    field = "allowed" if len(allowed.given) != 1 else next(iter(allowed.given))
    if why := _only_plan(task, allowed, axes):
        return PlanError(field, f"no valid plan for {task}: {why}")
    return PlanError(
        field,
        f"no valid plan for {task}: all {sum(rejected.values()):,} were rejected, the last ones because: {last}"
        + ways_out(task, allowed, allowed.given),
    )


def _undivided(task: Task, axes: Axes, found: Space, batches: str) -> PlanError:
    """No plan divides the batch: names the fewest replicas that there can be, and batches near this that do."""
    least, micro = int(found.strategy.dp.min()), min(axes.micro)
    pieces = f", with microbatches of {micro}" if micro > 1 else ""
    holder = f"{plural(task.gpus, 'GPU')} {'has' if task.gpus == 1 else 'have'}"
    return PlanError(
        "batch",
        f"{plural(task.sequences, 'sequence')} cannot be divided among the replicas, of which {holder} "
        f"at least {least:,}{pieces}" + (f"; {batches} can" if batches else ""),
    )


def _split_nodes(task: Task, allowed: Allowed, batches: str) -> PlanError:
    """All plans that divide the batch split nodes unevenly: names fewer GPUs on which there is one, and batches, or
    degrees.
    """
    node = task.machine.node
    ways = [f"a batch of {batches}"] if batches else []
    if fewer := _fewer_gpus(task, allowed):
        nodes = -(-fewer.gpus // task.machine.full_node)
        each, fit = plural(fewer.gpus // nodes, "GPU"), _fit_on(fewer, widened(fewer, allowed))
        caveats = [f"{fewer.gpus:,} in all"] * (nodes > 1) + [f"which {fit}"] * (fit != FITS)
        ways.insert(0, f"{each} of {'each' if nodes > 1 else 'one'}" + (f" ({', '.join(caveats)})" if caveats else ""))
    would = f"; {' or '.join(ways)} would do" if ways else ways_out(task, allowed, allowed.given)
    degrees = "that divide the batch " if batches else ""
    return PlanError("gpus", f"all allowed degrees {degrees}split the nodes of {plural(node, 'GPU')} unevenly{would}")


def _batches(task: Task, axes: Axes, found: Space) -> str:
    """Batches near that of a task that some plan divides, of the plans that are found for any batch, in words."""
    have = task.sequences
    units = sorted(map(int, {*(found.strategy.dp * found.strategy.micro).tolist()}))[:MOST_BATCHES]
    near = {have // unit * unit for unit in units} | {-(-have // unit) * unit for unit in units}
    below = next(_divided(task, axes, sorted((n for n in near if 0 < n < have), reverse=True)), None)
    above = next(_divided(task, axes, sorted(n for n in near if n > have)), None)
    return " or ".join(f"{n:,} ({plural(n * task.T, 'token')})" for n in (below, above) if n)


def _divided(task: Task, axes: Axes, batches: Iterable[int]) -> Iterator[int]:
    """Those of these numbers of sequences that some plan divides."""
    return (n for n in batches if space(replace(task, B=task.T * n), axes).size)


def _fewer_gpus(task: Task, allowed: Allowed) -> Task | None:
    """The task on the most of these GPUs, of the fewest nodes, equally many of each, on which some plan can be; None if
    there are none among the first that are tried.
    """
    machine = task.machine
    levels = (machine.levels[0]._replace(size=machine.full_node), *machine.levels[1:])
    tried = 0
    for n in range(task.gpus - 1, 0, -1):
        if tried < MOST_TRIED and n % -(-n // machine.full_node) == 0:
            tried += 1
            fewer = replace(task, machine=machine._replace(levels=first_levels(levels, n)))
            if space(fewer, axes_of(fewer, widened(fewer, allowed))).size:
                return fewer
    return None


def _only_plan(task: Task, allowed: Allowed, axes: Axes) -> str:
    """The rule that the one plan of the grid breaks, in words, with what would do; empty where the grid has several."""
    if any(len(values) > 1 for values in axes.sides):
        return ""
    why = refusal(task.setting, axes.first(task.gpus))
    if why and why.would and why.rule.option in allowed.given:
        return why.sentence + offer(task, allowed, why.rule.option, why.would)
    return str(why or "")


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
    assumed = f"Assumed: {task.assumed}" + (f". {less}" if (less := less_words(task, allowed)) else "")
    if task.needs_one_gpu:
        return PlanError("memory", f"{text}; stack {task.stack.key} has constants for one GPU alone. {assumed}")
    if holding := smallest(task, allowed):
        n, strategy, need = holding
        with_ = f"{strategy} ({show(need, 'B')} per GPU)"
        return PlanError("memory", f"{text}. Smallest cluster that holds it: {n:,} x {chip}, with {with_}. {assumed}")
    more = f"a larger cp, a shorter sequence, a larger batch or more memory could. {assumed}"
    return PlanError("memory", f"{text}. No cluster of up to {MOST_GPUS:,} such GPUs holds it with this batch; {more}")


LESS: Mapping[str, dict[str, Any]] = {
    f"--states bf16 ({BFLOAT16_ADAM.total:g} bytes a parameter)": {"states": BFLOAT16_ADAM},
    f"--lora 16 ({BASES['bf16']:g}, adapters aside)": {"lora": Adapters(16)},
}
"""What can be asked for that takes less memory than the usual states."""


def less_words(task: Task, allowed: Allowed) -> str:
    """What takes less memory and fits, or may fit, each with the bytes of the smallest plan: a sentence; empty where
    something was asked for, or nothing is less.
    """
    if task.software.trained(task.states) or task.states.total <= BFLOAT16_ADAM.total:
        return ""
    ways = []
    for option, changed in LESS.items():
        other = replace(task, software=replace(task.software, **changed))
        least = _smallest_memory(other, allowed)
        if least and (fit := fit_of(other, least[1])) != DOES_NOT_FIT:
            ways.append(f"with {option} it {fit}: {show(least[1], 'B')} per GPU")
    text = "; ".join(ways)
    return text[:1].upper() + text[1:]


def _fit_on(task: Task, allowed: Allowed) -> str:
    """What the plan that needs least does."""
    least = _smallest_memory(task, allowed)
    return fit_of(task, least[1]) if least else DOES_NOT_FIT


def smallest(task: Task, allowed: Allowed) -> tuple[int, Strategy, float] | None:
    """The smallest number of such GPUs, whole nodes or a part of one, on which some plan fits: with its strategy and
    bytes. Beyond 256 nodes steps are a 256th of what there is.
    """
    node = task.machine.full_node
    least = task.state_bytes / task.memory
    n = 1
    while n <= MOST_GPUS:
        if n >= least and (holding := _fitting(task.moved(_of(task.machine, n)), allowed)):
            return (n, *holding)
        n = min(2 * n, node) if n < node else n + node * max(1, n // (256 * node))
    return None


def _fitting(task: Task, allowed: Allowed) -> tuple[Strategy, float] | None:
    """Of what can be on these GPUs the plan that needs least, if it fits."""
    least = _smallest_memory(task, allowed)
    return least if least and surely(task, least[1]) else None


def _smallest_memory(task: Task, allowed: Allowed) -> tuple[Strategy, float] | None:
    """Of what can be on these GPUs the plan that needs least, and its bytes."""
    import numpy as np

    least = axes_of(task, allowed).least(task.features)
    possible = space(task, least)
    if not possible.size:
        return None
    memory = np.broadcast_to(unchecked_footprint(task, possible.strategy, m=possible.m).total, (possible.size,))
    i = int(memory.argmin())
    return possible.strategy[i], float(memory[i])


def _of(machine: Machine, gpus: int) -> Machine:
    """A number of GPUs of this kind, in nodes; the network does not matter for memory."""
    level, node = machine.levels[0], machine.full_node
    levels = [Level("node", min(node, gpus), level.bandwidth)]
    if gpus > node:
        levels.append(Level("network", gpus // node, level.bandwidth))
    return machine._replace(levels=tuple(levels))
