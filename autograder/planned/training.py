"""The planner's page: the best plans of a training run, and why."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from hwlib.goodput import ExpectedRun
from hwlib.options import DEGREES, TRAINING, of_group
from hwlib.planner import ParetoFront, PlanError, Plans, machine_of, pareto, plan
from hwlib.planner.arguments import DEGREE_NAMES, allowed_of
from hwlib.planner.costs import Plan
from hwlib.planner.explain import (
    QUICKER_UNSURE,
    advice_words,
    alternatives,
    difference,
    memory_words,
    unsure_words,
    versus,
    where_time_goes,
)
from hwlib.planner.guide import rule_of_thumb
from hwlib.planner.run import CANDIDATES
from hwlib.planner.run_query import RunQuery
from hwlib.planner.run_words import columns as run_columns
from hwlib.planner.run_words import run_text
from hwlib.planner.tables import columns, counted, fit_column, front_task, rejected
from hwlib.units import plural

from .forms import FORMS
from .markup import Markup, address, command, lines, link, paragraph, table
from .task import arguments, cluster_read, interval, memory_bars, rests, step_bars

COUNT = 5
DEGREE_OPTIONS = of_group(TRAINING, DEGREES)
SHARED = tuple(field.name for field in FORMS["fill"].fields if field.name not in DEGREE_NAMES)
"""Fields of both pages of training."""
MEANING = {option.name: option.column for option in DEGREE_OPTIONS} | {
    "": "to its footprint", "dp": "share the batch", "microbatches": "a replica, per step",
    "micro size": "sequences", "ZeRO": "stage", "step": "time",
    "MFU": "of the peak rate", "memory": "of the fullest GPU", "bubble": "of the step",
    "comm": "of the step, not hidden", "$/step": "at that price",
    "GPUs": "all of them", "run": "expected time", "tokens": "in so many days", "goodput": "of the time",
    "spares": "nodes kept aside", "$ run": "at that price", "GPU hours": "spares included",
}  # fmt: skip
"""What the columns of the table mean."""


class SearchedPlans(NamedTuple):
    """What was searched: the plans, or the front of several numbers of GPUs; their runs, where they are asked for; and
    the values of the page's fields.
    """

    plans: Plans | ParetoFront
    runs: tuple[ExpectedRun, ...]
    values: dict[str, Any]


@lru_cache(4)
def _found(asked: tuple[tuple[str, str], ...]) -> SearchedPlans:
    values = FORMS["plan"].read(dict(asked))
    given = arguments(values) | {"allowed": allowed_of(values)}
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
        return SearchedPlans(plans, (), values)
    return SearchedPlans(*run.answered(plans, count), values)


def search(asked: Mapping[str, str]) -> SearchedPlans:
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
        sure = interval(task, best)
    else:
        sure = paragraph(plans.explain()) if plans.explain() else Markup("")
        told = [paragraph(f"{front_task(plans, task, plans.skipped)}. Plans must fit in {task.terms}. {task.caveat}")]
        which = "The plans that no other beats in time, GPUs and cost, the quickest first"
        said = f"The quickest, on {plural(best.gpus, 'GPU')}: {best}. {where_time_goes(best)}"
    return Markup("").join(
        [
            cluster_read(machine_of(values["cluster"]), values["cluster"], task.software.uses_host),
            *told,
            sure,
            _table(which, asked, found),
            paragraph(said, "planned-best"),
            *_whole_run(found),
            step_bars(best),
            memory_bars(best, task.memory),
            *(_beside(plans) if isinstance(plans, Plans) else [_skipped(plans)]),
            command("plan", asked, values, {"dtype": "bf16"}),
        ]
    )


def _table(caption: str, asked: Mapping[str, str], found: SearchedPlans) -> Markup:
    heads = [*columns(found.plans), *fit_column(found.plans.task, found.plans)]
    if found.runs:
        heads += run_columns(found.runs, found.plans.task, "days" in found.values)
    cells = list(zip(*(column for _, column in heads), strict=True))
    rows = [
        (link(f"plan {number}", _footprint_of(asked, one)), *rest)
        for one, (number, *rest) in zip(found.plans, cells, strict=True)
    ]
    return table(caption, [(head or "plan", MEANING.get(head, "")) for head, _ in heads], rows)


def _whole_run(found: SearchedPlans) -> list[Markup]:
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
    if unsure := unsure_words(found):
        near.append(f"{QUICKER_UNSURE}: {unsure}.")
    others = [f"{i}. {versus(best, other)}" for i, other in enumerate(found[1:], 2)]
    return [
        lines("The plan to take", near),
        lines("The next plans, compared with the best", others),
        rests(found, best),
    ]


def _skipped(found: ParetoFront) -> Markup:
    why_not = [f"{plural(n, 'GPU')}: {said}." for n, said in found.skipped.items()]
    return lines("Numbers of GPUs without a plan in the table", why_not)


def why(asked: Mapping[str, str]) -> Markup:
    """What other choices cost, why configurations were rejected, and the rule of thumb."""
    found, _, values = search(asked)
    if not isinstance(found, Plans):
        raise PlanError("gpus", "choices are compared for one number of GPUs only, and several are given")
    thumb = rule_of_thumb(found.task, allowed_of(values))
    return Markup("").join(
        [
            lines("The best plan for each other choice", alternatives(found)),
            lines("Rejected configurations", [" ".join(line.split()) for line in rejected(found)]),
            lines("Rule of thumb, from closed-form bounds, without the search", [thumb] if thumb else []),
        ]
    )


def _footprint_of(asked: Mapping[str, str], plan: Plan) -> str:
    """The address of a plan's footprint: what was asked, and the plan's degrees where they are not the usual ones."""
    same = {name: asked[name] for name in SHARED if asked.get(name)}
    gpus = {"gpus": plan.gpus} if asked.get("gpus") else {}
    degrees = {name: getattr(plan.strategy, name) for name in DEGREE_NAMES}
    if plan.strategy.v == 1 or plan.strategy.schedule != "1f1b":
        degrees["v"] = None
    degrees["sp"] = asked.get("sp") or None
    chosen = {name: value for name, value in degrees.items() if value is not None}
    return address("fill", {**same, **gpus, **chosen})
