"""The planner's page: the best plans of a training run, and why."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from hwlib.goodput import ExpectedRun
from hwlib.planner import Allowed, ParetoFront, PlanError, Plans, machine_of, pareto, plan
from hwlib.planner.costs import Plan
from hwlib.planner.explain import advice_words, alternatives, difference, memory_words, versus, where_time_goes
from hwlib.planner.guide import rule_of_thumb
from hwlib.planner.run import CANDIDATES
from hwlib.planner.run_query import RunQuery
from hwlib.planner.run_words import columns as run_columns
from hwlib.planner.run_words import run_text
from hwlib.planner.tables import columns, counted, front_task, rejected
from hwlib.units import plural

from .forms import FORMS
from .markup import Markup, address, command, lines, link, paragraph, table
from .task import arguments, cluster_read, memory_bars, rests, step_bars

COUNT = 5
LIMITS = ("tp", "cp", "ep", "etp", "pp", "v", "micro", "zero", "shards", "sp", "schedule", "recompute")
ASKED = (
    "model", "config", "cluster", "described", "gpus", "batch", "sequence", "dtype", "features", "memory", "price",
    "stack", "release", "states", "offload", "fused", "dedup_dispatch", "mtp",
)  # that both ask  # fmt: skip
MEANING = {
    "": "to its footprint",
    "tp": "share a layer's matrices", "cp": "share a sequence", "ep": "share the experts", "pp": "share the layers",
    "dp": "share the batch", "schedule": "of the pipeline", "microbatches": "a replica, per step",
    "micro size": "sequences", "ZeRO": "stage", "recompute": "in the backward pass", "step": "time",
    "MFU": "of the peak rate", "memory": "of the fullest GPU", "bubble": "of the step",
    "comm": "of the step, not hidden", "$/step": "at that price", "etp": "share an expert's matrices",
    "GPUs": "all of them", "run": "expected time", "tokens": "in so many days", "goodput": "of the time",
    "spares": "nodes kept aside", "$ run": "at that price", "GPU hours": "spares included",
}  # fmt: skip


class Found(NamedTuple):
    """What was searched: the plans, or the front of several numbers of GPUs; their runs, where they are asked for; and
    the values of the page's fields.
    """

    plans: Plans | ParetoFront
    runs: tuple[ExpectedRun, ...]
    values: dict[str, Any]


def _allowed(values: Mapping[str, Any]) -> Allowed:
    """The degrees that the fields leave to the search."""
    return Allowed(**{name: values[name] for name in LIMITS if name in values})


@lru_cache(4)
def _found(asked: tuple[tuple[str, str], ...]) -> Found:
    values = FORMS["plan"].read(dict(asked))
    given = arguments(values) | {"allowed": _allowed(values)}
    run, several, count = RunQuery.of(values), isinstance(given["gpus"], tuple), values.get("count", COUNT)
    if several and "count" in values:
        raise PlanError("count", "plans are listed for one number of GPUs only")
    plans: Plans | ParetoFront
    if several:
        plans = pareto(given.pop("model"), given.pop("cluster"), of=("time", "gpus", "cost"), **given)
    else:
        most = max(count, CANDIDATES) if run else count
        plans = plan(given.pop("model"), given.pop("cluster"), count=most, **given)
    if not run:
        return Found(plans, (), values)
    return Found(*run.answered(plans, count), values)


def search(asked: Mapping[str, str]) -> Found:
    """The plans that a page asks for; kept for what else is asked of them."""
    return _found(tuple(sorted((name, text) for name, text in asked.items() if str(text).strip())))


def answer(asked: Mapping[str, str]) -> Markup:
    """The best plans, where the time and the memory of the best go, what may be as good, and the whole run."""
    found = search(asked)
    plans, values, task, best = found.plans, found.values, found.plans.task, found.plans[0]
    told: list[Markup]
    if isinstance(plans, Plans):
        which, named = "The best plan of each mesh of degrees, the quickest first", f"The best plan: {best}."
        told = [paragraph(f"{task.title}: {counted(plans)}.")]
        said = f"{named} {where_time_goes(best)} {memory_words(plans, best)}"
    else:
        told = [paragraph(f"{front_task(plans, task, plans.skipped)}. Plans must fit in {task.terms}. {task.caveat}")]
        which = "The plans that no other beats in time, GPUs and cost, the quickest first"
        said = f"The quickest, on {plural(best.gpus, 'GPU')}: {best}. {where_time_goes(best)}"
    return Markup("").join([
        cluster_read(machine_of(values["cluster"]), values["cluster"], bool(task.software.offload)),
        *told,
        _table(which, asked, found),
        paragraph(said, "planned-best"),
        *_whole_run(found),
        step_bars(best), memory_bars(best, task.memory),
        *(_beside(plans) if isinstance(plans, Plans) else [_skipped(plans)]),
        command("plan", asked, values, {"dtype": "bf16"}),
    ])  # fmt: skip


def _table(caption: str, asked: Mapping[str, str], found: Found) -> Markup:
    heads = columns(found.plans)
    if found.runs:
        heads += run_columns(found.runs, found.plans.task, "days" in found.values)
    cells = list(zip(*(column for _, column in heads), strict=True))
    rows = [
        (link(f"plan {number}", _footprint_of(asked, one)), *rest)
        for one, (number, *rest) in zip(found.plans, cells, strict=True)
    ]
    return table(caption, [(head or "plan", MEANING.get(head, "")) for head, _ in heads], rows)


def _whole_run(found: Found) -> list[Markup]:
    """What the run of the best plan takes, and the constants that this rests on."""
    if not found.runs:
        return []
    whole = machine_of(found.values["cluster"]).gpus
    (title, *words), constants = run_text(found.runs[0], found.plans.task, whole)
    return [lines(title.rstrip(":"), map(str.strip, words)), lines("The constants of the run", constants)]


def _beside(found: Plans) -> list[Markup]:
    """What may be as good as the best plan, and what the numbers rest on."""
    best, advised = found[0], found.advised
    near = (
        [f"{advice_words(found, advised)}: {advised}: {difference(best, advised)}."]
        if advised.strategy != best.strategy
        else []
    )
    others = [f"{i}. {versus(best, other)}" for i, other in enumerate(found[1:], 2)]
    return [lines("The plan to take", near), lines("The next plans, compared with the best", others),
            rests(found, best)]  # fmt: skip


def _skipped(found: ParetoFront) -> Markup:
    why_not = [f"{plural(n, 'GPU')}: {said}." for n, said in found.skipped.items()]
    return lines("Numbers of GPUs without a plan in the table", why_not)


def why(asked: Mapping[str, str]) -> Markup:
    """What other choices cost, why configurations were rejected, and the rule of thumb."""
    found, _, values = search(asked)
    if not isinstance(found, Plans):
        raise PlanError("gpus", "choices are compared for one number of GPUs only, and several are given")
    thumb = rule_of_thumb(found.task, _allowed(values))
    return Markup("").join([
        lines("The best plan for each other choice", alternatives(found)),
        lines("Rejected configurations", [" ".join(line.split()) for line in rejected(found)]),
        lines("Rule of thumb, from closed-form bounds, without the search", [thumb] if thumb else []),
    ])  # fmt: skip


def _footprint_of(asked: Mapping[str, str], one: Plan) -> str:
    s = one.strategy
    degrees = {name: getattr(s, name) for name in ("tp", "cp", "ep", "pp", "micro", "zero", "schedule", "recompute")}
    chunks = {"v": s.v} if s.v > 1 and s.schedule == "1f1b" else {}
    shards = {} if s.shards is None else {"shards": s.shards}
    same = {name: asked[name] for name in ASKED if asked.get(name)} | ({"gpus": one.gpus} if asked.get("gpus") else {})
    experts = {} if s.etp is None else {"etp": s.etp}
    sp = {"sp": asked["sp"]} if asked.get("sp") else {}
    return address("fill", {**same, **degrees, **chunks, **shards, **experts, **sp})
