"""What cannot be, said: degrees that divide nothing, batches that no plan divides, models that fit nowhere."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from hwlib.planner.space import MOST_CHUNKS, UNEVEN, Axes, axes_of, divisors, short, space
from hwlib.planner.task import Machine, PlanError, Task, many
from hwlib.specs import Level
from hwlib.transformer import parameter_count
from hwlib.units import show

if TYPE_CHECKING:
    from hwlib.planner.plans import Plans

MOST_CHIPS = 2**17


def check_axes(task: Task, axes: Axes, given: Mapping[str, Any]) -> None:
    """Refuse what was given and can never be, whatever the other degrees are. Raises PlanError."""
    model, chips, T = task.model, task.chips, task.T
    asked = {name for name, x in given.items() if x is not None}
    if "tp" in asked:
        could = (n for n in divisors(model.heads) if n <= chips)
        sentence = f"tp {{}} does not divide the {model.heads} heads of {model.name}"
        _some(axes.tp, lambda n: model.heads % n == 0, sentence, could)
    if "pp" in asked:
        sentence = f"pp {{}}: {model.name} has {model.layers} layers, and a stage at least one"
        _some(axes.pp, lambda n: n <= model.layers, sentence)
    if "v" in asked:
        if not axes.forms:
            raise PlanError("v: only 1f1b can be interleaved")
        pp = min((n for n in axes.pp if n > 1), default=2)
        chunks = sorted({v for _, v in axes.forms})
        sentence = f"v {{}}: with pp {pp} or more that is more chunks than the {model.layers} layers of {model.name}"
        _some(chunks, lambda n: n * pp <= model.layers, sentence)
        pipes = [n for n in axes.pp if n > 1]
        if not pipes:
            raise PlanError(f"v {_either(chunks)}: chunks of a stage want a pipeline, and pp is 1")
        even = lambda n: any(short(model.layers, n * p) <= UNEVEN for p in pipes)
        stages = f"pp {pipes[0]}" if len(pipes) == 1 else f"any pp that divides {chips:,} GPUs"
        sentence = f"v {{}} does not cut the {model.layers} layers of {model.name} into equal chunks, with {stages}"
        _some(chunks, even, sentence, (n for n in range(1, MOST_CHUNKS + 1) if even(n)))
    if "cp" in asked:
        sentence = f"cp {{}} does not cut {T:,} tokens into 2*cp equal pieces"
        _some(axes.cp, lambda n: n == 1 or T % (2 * n) == 0, sentence)
    if "ep" in asked:
        what = f"the {model.experts} experts" if model.moe else "the one MLP of a dense model: ep is for experts"
        _some(axes.ep, lambda n: model.experts % n == 0, f"ep {{}} does not divide {what}")
    for name in ("tp", "pp", "cp"):
        if name in asked:
            _some(getattr(axes, name), lambda n: chips % n == 0, f"{name} {{}} does not divide {chips:,} GPUs")
    if len(together := [name for name in ("tp", "pp", "cp") if name in asked]) > 1:
        products = sorted({prod(degrees) for degrees in product(*(getattr(axes, name) for name in together))})
        _some(products, lambda n: chips % n == 0, f"{'*'.join(together)} = {{}} does not divide {chips:,} GPUs")
    if "micro" in asked:
        sentence = f"micro {{}} does not divide the {many(task.sequences)} of the batch"
        _some(axes.micro, lambda n: task.sequences % n == 0, sentence)


def _some(values: Any, good: Any, sentence: str, could: Any = ()) -> None:
    """Refuse if none of the values is good."""
    if not any(good(n) for n in values):
        bad = _either(values)
        would = ", ".join(map(str, could))
        raise PlanError(sentence.format(bad) + (f"; {would} would" if would else ""))


def _either(values: Any) -> str:
    return " or ".join(map(str, values))


def no_plan(task: Task, axes: Axes, refused: Mapping[str, int]) -> PlanError:
    """Nothing of the grid can be: the rule that took the last plans, and what would pass it."""
    last = list(refused)[-1]
    found = None
    if last == "dp does not divide the batch":  # what if any batch would be divided?
        found = space(replace(task, B=task.T * task.chips * prod(axes.micro)), axes)
        last = last if found.size else list(found.refused)[-1]
    if found and found.size:
        dp = int(found.columns["dp"].min())
        below, above = task.sequences // dp * dp, -(-task.sequences // dp) * dp
        would = " or ".join(f"{n:,} ({n * task.T:,} tokens)" for n in sorted({below, above}) if n)
        return PlanError(
            f"batch: {many(task.sequences)} cannot be divided among the replicas of {task.chips:,} GPUs, of which "
            f"there are {dp:,} at least; {would} would be"
        )
    if last == "tp*cp*pp does not divide the GPUs":
        return PlanError(f"no product tp*cp*pp of what may be chosen divides {task.chips:,} GPUs")
    if last == "a group cuts a node into unequal parts":
        node, nodes = task.machine.node, task.chips // task.machine.node
        each = 2 ** (node.bit_length() - 1)
        would = f"; {each} of each, {each * nodes:,} in all, may do" if each < node else ""
        return PlanError(f"all groups cut the nodes of {node} GPUs into unequal parts, whatever the degrees{would}")
    return PlanError(f"no plan can be for {task}: of {sum(refused.values()):,} none is left; the last ones: {last}")


def nothing_fits(task: Task, given: Mapping[str, Any], found: "Plans") -> PlanError:
    """The plan that needs least, what it needs, and the smallest number of such GPUs on which one fits."""
    least = int(found.costed.memory.argmin())
    room = show(task.memory, "B")
    chip = task.machine.chip.name
    takes = show(float(found.costed.memory[least]), "B")
    text = (
        f"{task.model.name} does not fit on {task.chips:,} x {chip}: the leanest plan "
        f"({lean(found.costed.row(least))}) takes {takes} of a GPU, and {room} may be taken"
    )
    if holding := smallest(task, given):
        n, row, need = holding
        with_ = f"{lean(row)} ({show(need, 'B')} of a GPU)"
        return PlanError(f"{text}. Smallest cluster that holds it: {n:,} x {chip}, with {with_}")
    more = "a longer cp, a shorter sequence, a larger batch or more memory could"
    return PlanError(f"{text}. No cluster of up to {MOST_CHIPS:,} of them holds it with this batch; {more}")


def lean(row: Mapping[str, Any]) -> str:
    """The degrees of a plan that its memory follows from."""
    mesh = [f"{name} {row[name]}" for name in ("tp", "cp", "ep", "pp", "dp") if row[name] > 1] or ["one GPU"]
    words = [f"ZeRO-{row['zero']}"] if row["zero"] else []
    words += [f"{row['recompute']} recomputation"] if row["recompute"] != "none" else []
    return ", ".join([" ".join(mesh), *words])


def smallest(task: Task, given: Mapping[str, Any]) -> tuple[int, dict[str, Any], float] | None:
    """The smallest number of such GPUs, whole nodes or a part of one, on which some plan fits: with its degrees and
    bytes. Beyond 256 nodes steps are a 256th of what there is.
    """
    node = task.machine.whole
    least = parameter_count(task.model) * sum(task.states) / task.memory
    n = 1
    while n <= MOST_CHIPS:
        if n >= least and (held := _leanest(replace(task, machine=_of(task.machine, n)), given)):
            return (n, *held)
        n = min(2 * n, node) if n < node else n + node * max(1, n // (256 * node))
    return None


def _leanest(task: Task, given: Mapping[str, Any]) -> tuple[dict[str, Any], float] | None:
    """Of what can be on these GPUs the plan that needs least, if it fits."""
    import numpy as np

    from hwlib.planner.plans import Costed, footprints

    try:
        axes = axes_of(task, given)
        check_axes(task, axes, given)
    except PlanError:
        return None
    found = space(task, axes._replace(micro=axes.micro[:1], forms=axes.forms[:1]))  # more of either only needs more
    if not found.size:
        return None
    memory = np.broadcast_to(footprints(task, found.columns).total, (found.size,))
    i = int(memory.argmin())
    return (Costed(found.columns, memory, memory).row(i), float(memory[i])) if memory[i] <= task.memory else None


def _of(machine: Machine, chips: int) -> Machine:
    """So many GPUs of this kind, in nodes; what joins the nodes does not matter to memory."""
    level, node = machine.levels[0], machine.whole
    levels = [Level("node", min(node, chips), level.bandwidth)]
    if chips > node:
        levels.append(Level("network", chips // node, level.bandwidth))
    return machine._replace(levels=tuple(levels))
