"""What both pages of training read of their fields: a task, and what its numbers rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hwlib.planner import Machine, PlanError, Task
from hwlib.planner.advice import NOISE, closeness, typed
from hwlib.planner.arguments import task_arguments
from hwlib.planner.certainty import interval_words, nearest_words
from hwlib.planner.costs import Plan, parts
from hwlib.planner.explain import ABOUT, WORDS, rests_words
from hwlib.planner.result import SearchResult
from hwlib.specs import OwnCluster, described
from hwlib.units import show

from .markup import Bar, Markup, bars, lines, paragraph

HELD = {
    "weights": ("weights", "as the layers use them"),
    "gradients": ("gradients", "of this rank's parameters"),
    "optimizer": ("optimizer", "copy and moments of this rank's share"),
    "activations": ("activations", "kept for the backward pass, of all microbatches in flight"),
    "logits": ("logits", "of the output layer's loss"),
    "buffers": ("buffers", "what a layer needs while it works"),
    "overhead": ("allocator and context", "reserved and not used, context, NCCL"),
}


def arguments(values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `planner.plan` and of `task_of` that both pages ask for. Raises PlanError."""
    for name in ("model", "cluster", "batch"):
        if name not in values:
            raise PlanError(name, "expected a value, got an empty field")
    return {"model": values["model"], "cluster": values["cluster"], **task_arguments(values)}


def cluster_read(machine: Machine, cluster: OwnCluster | str, uses_host: bool = False) -> Markup:
    """What was read of a cluster of one's own, and what was assumed of it; nothing of one of the tables."""
    if isinstance(cluster, str) and not described(cluster):
        return Markup("")
    link = f"; {machine.to_host}" if uses_host else ""
    return paragraph(f"{machine.name}: {machine.joined}{link}.")


def step_bars(plan: Plan) -> Markup:
    """The seconds of a step by their cause, the longest first."""
    shares = sorted(parts(plan.time).items(), key=lambda item: -item[1])
    rows = [Bar(WORDS[name], show(t, "s", 3), t / plan.seconds, ABOUT[name]) for name, t in shares if t > 0]
    return bars(f"Where a step of {show(plan.seconds, 's', 4)} goes", ("cause", "time", "share of the step"), rows)


def memory_bars(plan: Plan, room: float) -> Markup:
    """The bytes of the fullest GPU by what they are for."""
    held = [(*HELD[name], float(getattr(plan.memory, name))) for name in HELD]
    said = [Bar(name, show(x, "B", 3), x / room, about) for name, about, x in held if x > 0]
    caption = f"What the fullest GPU holds, of a budget of {show(room, 'B', 3)}"
    return bars(caption, ("what", "memory", "share of the budget"), said)


def interval(task: Task, plan: Plan) -> Markup:
    """How far the time of a plan may be off, which stands beside its time; nothing of an ideal stack."""
    words = interval_words(task, plan.strategy, plan.seconds)
    return paragraph(words) if words else Markup("")


def rests(found: SearchResult, plan: Plan) -> Markup:
    """What the numbers rest on: the stack of the times and measured steps, the framework of the bytes and its error."""
    on_typed = rests_words(found, plan)
    if not on_typed and typed(found.task.stack):
        on_typed = f"No typed constant, were it half as good, makes this plan's step longer by more than {NOISE:.0%}."
    said = [*_times(found.task, plan), on_typed, _bytes(found.task)]
    return lines("What these numbers rest on", filter(None, said))


def _times(task: Task, plan: Plan) -> list[str]:
    stack = task.stack
    if not stack.fitted:
        origin = stack.note or f"typed, those of {stack.like}"
        said = f"Times: the stack {stack.key}, of which no constant was fitted; {origin}."
    else:
        checked = f"; typed, and checked by published steps: {', '.join(stack.checked)}" if stack.checked else ""
        fitted = f"Fitted to published steps: {', '.join(stack.fitted)}{checked}; the others are typed."
        said = f"Times: the stack {stack.key} ({stack.name}). {fitted}"
    close = f"Plans that differ by less than {closeness(task, plan.strategy):.1%} are too close to call."
    return [said, *nearest_words(task, plan.strategy), close]


def _bytes(task: Task) -> str:
    framework = task.framework
    if framework is None:
        return "Memory: what the formulas count, of all that the chip has."
    error = f"mean error of the figures that {', '.join(framework.fitted)} were fitted to: {framework.error:.1%}"
    return f"Memory: counted as {framework.name} holds it; {error if framework.fitted else 'no constant was fitted'}."


__all__ = ["arguments", "cluster_read", "interval", "memory_bars", "rests", "step_bars"]
