"""The planner's page: the best plans of a training run, and why."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from hwlib.planner import Allowed, PlanError, Plans, decide, plan
from hwlib.planner.costs import Plan
from hwlib.planner.explain import advice_words, alternatives, difference, memory_words, versus, where_time_goes
from hwlib.planner.tables import columns, rejected

from .forms import FORMS
from .markup import Markup, address, command, lines, link, paragraph, table
from .task import arguments, memory_bars, rests, step_bars

COUNT = 5
LIMITS = ("tp", "cp", "ep", "pp", "v", "micro", "zero", "schedule", "recompute")
DECIDED = {"tp", "cp", "ep", "pp", "zero", "recompute"}  # that the rule of thumb chooses by itself
ASKED = (
    "model",
    "config",
    "cluster",
    "gpus",
    "batch",
    "sequence",
    "dtype",
    "features",
    "memory",
    "price",
)  # that both ask
MEANING = {
    "": "to its footprint",
    "tp": "share a layer's matrices", "cp": "share a sequence", "ep": "share the experts", "pp": "share the layers",
    "dp": "share the batch", "schedule": "of the pipeline", "microbatches": "a replica, per step",
    "micro size": "sequences", "ZeRO": "stage", "recompute": "in the backward pass", "step": "time",
    "MFU": "of the peak rate", "memory": "of the fullest GPU", "bubble": "of the step",
    "comm": "of the step, not hidden", "$/step": "at that price",
}  # fmt: skip


@lru_cache(4)
def _found(asked: tuple[tuple[str, str], ...]) -> tuple[Plans, dict[str, Any]]:
    values = FORMS["plan"].read(dict(asked))
    allowed = Allowed(**{name: values[name] for name in LIMITS if name in values})
    given = arguments(values)
    return plan(given.pop("model"), given.pop("cluster"), allowed=allowed, count=COUNT, **given), values


def search(asked: Mapping[str, str]) -> tuple[Plans, dict[str, Any]]:
    """The plans that a page asks for, and the values of its fields; kept for what else is asked of them."""
    return _found(tuple(sorted((name, text) for name, text in asked.items() if str(text).strip())))


def answer(asked: Mapping[str, str]) -> Markup:
    """The best plans, where the time and the memory of the best go, and what may be as good."""
    found, values = search(asked)
    best, task = found[0], found.task
    heads = columns(found)
    cells = list(zip(*(column for _, column in heads), strict=True))
    rows = [
        (link(f"plan {number}", _footprint_of(asked, one)), *rest)
        for one, (number, *rest) in zip(found, cells, strict=True)
    ]
    advised = found.advised
    near = (
        [f"{advice_words(found, advised)}: {advised}: {difference(best, advised)}."]
        if advised.strategy != best.strategy
        else []
    )
    others = [f"{i}. {versus(best, other)}" for i, other in enumerate(found[1:], 2)]
    counts = f"{found.considered:,} configurations, of which {found.fitting:,} are valid and fit in {task.terms}"
    named = [(head or "plan", MEANING.get(head, "")) for head, _ in heads]
    return Markup("").join([
        paragraph(f"{task}: {counts}."),
        table("The best plan of each mesh of degrees, the quickest first", named, rows),
        paragraph(f"The best plan: {best}. {where_time_goes(best)} {memory_words(found, best)}", "planned-best"),
        step_bars(best), memory_bars(best, task.memory),
        lines("The plan to take", near), lines("The next plans, compared with the best", others),
        rests(found, best), command("plan", asked, values, {"dtype": "bf16"}),
    ])  # fmt: skip


def why(asked: Mapping[str, str]) -> Markup:
    """What other choices cost, why configurations were rejected, and the rule of thumb."""
    found, values = search(asked)
    thumb = []
    if not DECIDED & values.keys():
        given = arguments(values)
        bounds = {name: given[name] for name in ("B", "T", "gpus", "memory")} | {"dtype": given["software"].dtype}
        with suppress(PlanError):  # the rule of thumb tries fewer plans than the search
            thumb = [str(decide(given["model"], given["cluster"], **bounds))]
    return Markup("").join([
        lines("The best plan for each other choice", alternatives(found)),
        lines("Rejected configurations", [" ".join(line.split()) for line in rejected(found)]),
        lines("Rule of thumb, from closed-form bounds, without the search", thumb),
    ])  # fmt: skip


def _footprint_of(asked: Mapping[str, str], one: Plan) -> str:
    s = one.strategy
    degrees = {name: getattr(s, name) for name in ("tp", "cp", "ep", "pp", "micro", "zero", "schedule", "recompute")}
    chunks = {"v": s.v} if s.v > 1 and s.schedule == "1f1b" else {}
    shards = {} if s.shards is None else {"shards": s.shards}
    same = {name: asked[name] for name in ASKED if asked.get(name)}
    return address("fill", {**same, **degrees, **chunks, **shards})
