"""Plans as a text table, and as JSON data for other programs."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from hwlib.planner.advice import rests
from hwlib.planner.allowed import Allowed
from hwlib.planner.certainty import certainty_record
from hwlib.planner.costs import Plan, parts
from hwlib.planner.explain import WORDS
from hwlib.planner.fits import FITS, fit_of
from hwlib.planner.result import SearchResult
from hwlib.planner.task import Task
from hwlib.strategy import LAYOUT, MESH
from hwlib.transformer.checkpoint_words import model_record
from hwlib.units import plural, show

CHOICES = tuple(field.name for field in fields(Allowed) if field.name not in MESH)
"""What a plan chooses beside its mesh."""
ALWAYS = ("tp", "pp", "dp")  # columns that stand in every table


Columns = Sequence[tuple[str, list[str]]]
"""Columns of a table: what stands above each, and a cell for each plan."""


def table(found: SearchResult, more: Columns = ()) -> str:
    """The plans, one per line, below the task and the counts of the search; `more` columns stand last."""
    head = [found.task.title, counted(found), *_caveat(found.task)]
    return "\n".join([*head, "", *rows(found, [*fit_column(found.task, found), *more])])


def fit_column(task: Task, plans: Sequence[Plan]) -> Columns:
    """Whether each plan fits, a column; none where all do."""
    words = [fit_of(task, float(plan.memory.total)) for plan in plans]
    return () if set(words) == {FITS} else (("fit", words),)


def counted(found: SearchResult) -> str:
    """The second line of an answer: how many configurations there were, how many are left, and on which terms."""
    every = plural(found.considered, "configuration")
    good = f"{found.fitting:,} {'is valid and fits' if found.fitting == 1 else 'are valid and fit'}"
    unsure = found.timed - found.fitting
    good += f" ({unsure:,} more may not)" if unsure else ""
    return f"{every}, of which {good} in {found.task.terms}"


def front_table(plans: Sequence[Plan], task: Task, skipped: Iterable[int], more: Columns = ()) -> str:
    """The plans of a front, one per line, below the task; `more` columns stand last."""
    head = [front_task(plans, task, skipped), f"Pareto-optimal plans that fit in {task.terms}", *_caveat(task)]
    return "\n".join([*head, "", *rows(plans, [*fit_column(task, plans), *more])])


def front_task(plans: Sequence[Plan], task: Task, skipped: Iterable[int]) -> str:
    """The first line of a front: the task with all numbers of GPUs that were asked for."""
    *few, most = [f"{n:,}" for n in sorted({*skipped, *(plan.gpus for plan in plans)})]
    return task.titled(f"{', '.join(few)} or {most}" if few else most)


def _caveat(task: Task) -> list[str]:
    return [task.caveat] if task.caveat else []


def columns(plans: Sequence[Plan]) -> list[tuple[str, list[str]]]:
    """The columns of the table, each with its head, without those that say nothing."""
    heads: list[tuple[str, list[str]]] = [("", [str(i) for i in range(1, len(plans) + 1)])]
    if len({plan.gpus for plan in plans}) > 1:
        heads.append(("GPUs", [f"{plan.gpus:,}" for plan in plans]))
    degrees = (name for name in (*LAYOUT, "dp") if name in ALWAYS or any(plan.strategy.departs(name) for plan in plans))
    heads += [(name, _degrees(plans, name)) for name in degrees]
    heads += [
        ("schedule", [plan.strategy.schedule_name or "-" for plan in plans]),
        ("microbatches", [str(plan.m) for plan in plans]),
        ("micro size", [str(plan.strategy.micro) for plan in plans]),
        ("ZeRO", [plan.strategy.zero_name.removeprefix("ZeRO-") or "0" for plan in plans]),
    ]
    if any(plan.strategy.recompute != "none" for plan in plans):
        heads.append(("recompute", [plan.strategy.recompute for plan in plans]))
    heads += [
        ("step", [show(plan.seconds, "s", 3) for plan in plans]),
        ("MFU", [f"{plan.mfu:.1%}" for plan in plans]),
        ("memory", [show(float(plan.memory.total), "B", 3) for plan in plans]),
        ("bubble", [f"{plan.time.bubble / plan.seconds:.1%}" for plan in plans]),
        ("comm", [f"{waits(plan) / plan.seconds:.1%}" for plan in plans]),
    ]
    if any(plan.cost for plan in plans):
        heads.append(("$/step", [f"{plan.cost:,.2f}" for plan in plans]))
    return heads


def _degrees(plans: Sequence[Plan], name: str) -> list[str]:
    return [str(plan.strategy.degree(name)) for plan in plans]


def rows(plans: Sequence[Plan], more: Columns = ()) -> list[str]:
    """The lines of the table; `more` columns stand last."""
    table = [*columns(plans), *more]
    widths = [max(len(head), *map(len, cells)) for head, cells in table]
    lines = [[head for head, _ in table], *zip(*(cells for _, cells in table), strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]


def waits(plan: Plan) -> float:
    """Seconds of a step in which transfers are waited for."""
    return sum(t for name, t in parts(plan.time).items() if name in ("tp", "cp", "ep", "pp", "dp"))


def rejected(found: SearchResult) -> list[str]:
    """Why configurations were rejected, the most frequent reason first."""
    most = sorted(found.rejected.items(), key=lambda item: -item[1])
    return [f"{count:>12,}  {reason}" for reason, count in most]


def record(found: SearchResult) -> dict[str, Any]:
    """Plans as JSON data, in SI."""
    task = found.task
    return {
        "model": task.model.key, "chip": task.machine.chip.key, "cluster": task.machine.name, "gpus": task.gpus,
        "batch": task.B, "sequence": task.T, "stack": task.stack.key, "fitted": not task.caveat,
        "features": task.features.key if task.features else None, "dtype": task.dtype,
        "release": str(task.software.release) if task.software.release else None,
        "dedup_dispatch": task.software.dedup_dispatch if task.model.moe else None,
        "mtp": task.software.mtp if task.model.mtp_layers else None,
        "loss": task.software.loss,
        "quantised": task.model.replaced_precision(task.dtype) or None,
        "checkpoint": model_record(task.model),
        "memory": task.memory, "margin": task.margin, "considered": found.considered, "fitting": found.fitting,
        "may_not_fit": found.timed - found.fitting,
        "rejected": dict(found.rejected),
        "plans": [told(task, plan) for plan in found], "advised": told(task, found.advised),
        "quicker_unsure": None if (unsure := found.quicker_unsure) is None else told(task, unsure),
    }  # fmt: skip


def told(task: Task, plan: Plan) -> dict[str, Any]:
    """One plan, whether it fits, how far its time may be off, and by which share of its step each typed constant could
    make it longer.
    """
    typed = {rest.constant: rest.share for rest in rests(task, plan.strategy)}
    return sure_record(task, plan) | {"rests_on": typed}


def sure_record(task: Task, plan: Plan) -> dict[str, Any]:
    """One plan, whether it fits, and how far its time may be off."""
    return fitted_record(task, plan) | {"error": certainty_record(task, plan.strategy, plan.seconds)}


def fitted_record(task: Task, plan: Plan) -> dict[str, Any]:
    """One plan, and whether it fits."""
    return plan_record(plan) | {"fit": fit_of(task, float(plan.memory.total))}


def plan_record(plan: Plan) -> dict[str, Any]:
    """One plan: its degrees, the seconds and bytes by their cause; no cost where GPUs have no price."""
    degrees = {name: getattr(plan.strategy, name) for name in (*MESH, *CHOICES)}
    memory = ("weights", "gradients", "optimizer", "activations", "logits", "buffers", "overhead", "total")
    return {
        **degrees,
        "m": plan.m,
        "gpus": plan.gpus,
        "seconds": plan.seconds,
        "mfu": plan.mfu,
        "token_rate": plan.token_rate,
        "cost": plan.cost or None,
        "time": parts(plan.time),
        "bytes": {name: float(getattr(plan.memory, name)) for name in memory},
    }


__all__ = [
    "WORDS", "columns", "counted", "fit_column", "fitted_record",
    "front_table", "front_task", "plan_record", "record", "rejected", "rows", "table",
    "waits",
]  # fmt: skip
