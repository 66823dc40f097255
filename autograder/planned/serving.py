"""The server's page: the best ways to serve a model within limits of latency, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from hwlib.planner import PlanError
from hwlib.serving_planner import Point, ServingPlans, plan_serving
from hwlib.serving_planner.anatomy import memory_parts, token_parts
from hwlib.serving_planner.arguments import serving_arguments
from hwlib.serving_planner.certainty import interval_words, nearest_words
from hwlib.serving_planner.drafting_gain import gain_words
from hwlib.serving_planner.explain import basis_words, binding, limit_words, point_words, versus
from hwlib.serving_planner.prefix import prefix_words
from hwlib.serving_planner.words import columns, given_words, plan_words
from hwlib.units import plural, show

from .forms import FORMS
from .markup import Bar, Markup, bars, command, lines, paragraph, table
from .task import cluster_read

COUNT = 5
TIME, MEMORY = ("cause", "time", "share"), ("what", "memory", "share of the budget")
MEANING = {
    "prefill": "servers that read prompts",
    "servers": "that generate",
    "batch": "requests at once on each",
    "chunk": "tokens of prompts in a step",
    "tokens/s/GPU": "generated",
    "first token": "time, queue included",
    "per token": "time, mean",
    "longest": "step",
    "$/M tokens": "generated, prompts included",
}


@lru_cache(4)
def _found(asked: tuple[tuple[str, str], ...]) -> tuple[ServingPlans, dict[str, Any]]:
    values = FORMS["serve"].read(dict(asked))
    for name in ("model", "cluster", *(() if "trace" in values else ("prompt", "output"))):
        if name not in values:
            raise PlanError(name, "expected a value, got an empty field")
    arguments = serving_arguments(values)
    count = values.get("count", COUNT)
    return plan_serving(values["model"], values["cluster"], count=count, **arguments), values


def search(asked: Mapping[str, str]) -> tuple[ServingPlans, dict[str, Any]]:
    """The plans that a page asks for, and the values of its fields; kept for what else is asked of them."""
    return _found(tuple(sorted((name, text) for name, text in asked.items() if str(text).strip())))


def answer(asked: Mapping[str, str]) -> Markup:
    """The best plans, where a token's time and a GPU's memory go, what the limits cost, and what may be as good."""
    plans, values = search(asked)
    q, best, advised = plans.question, plans[0], plans.advised
    room = show(q.memory, "B", 3)
    terms = f"{plural(len(plans.found.kept), 'configuration')} {plans.keeping}"
    simplest = f"Simplest plan within half the expected error ({plans.closeness:.0%}): {plan_words(advised)}."
    near = [] if advised is best else [f"{simplest} {given_words(advised)}"]
    others = [f"{i}. {versus(q, best, other)}" for i, other in enumerate(plans[1:], 2)]
    plan, rates, *_, busy = point_words(q, best)
    sure = interval_words(q, best)
    limit = [said for said in (binding(q, best), limit_words(q, best, plans.free)) if said]
    return Markup("").join(
        [
            cluster_read(q.machine, values["cluster"]),
            paragraph(f"{q}. {terms}; stack {q.stack.key}, {q.dtype}, cache in {q.cache}. {q.caveat}".rstrip()),
            paragraph(sure) if sure else Markup(""),
            _table("The best plan of each division of the GPUs, the most tokens first", plans),
            paragraph(f"The best plan: {plan}. {rates} {busy}", "planned-best"),
            _bars(f"Where the {show(best.tpot, 's', 3)} between two tokens go", TIME, token_parts(q, best), "s"),
            _bars(f"What a GPU that generates holds, of {room}", MEMORY, memory_parts(q, best), "B", q.memory),
            lines("What drafts give", gain_words(q, best)),
            lines("What is reused of prompts", prefix_words(q.model, q.prefix)),
            lines("What keeps it from more", limit),
            lines("The plan to take", near),
            lines("The next plans, compared with the best", others),
            lines("What these numbers rest on", [*nearest_words(q, best), basis_words(q)]),
            command("serve", asked, values, {}),
        ]
    )


def why(asked: Mapping[str, str]) -> Markup:
    """The front of latency and throughput, and why configurations were rejected."""
    plans, _ = search(asked)
    return Markup("").join(
        [
            _table("The front of the time of a token and tokens a GPU, the quickest first", plans.front()),
            lines("Rejected configurations", [" ".join(line.split()) for line in plans.rejected()]),
        ]
    )


def _table(caption: str, points: Iterable[Point]) -> Markup:
    table_columns = columns(list(points))
    heads = [(head or "plan", MEANING.get(head, "")) for head, _ in table_columns]
    return table(caption, heads, zip(*(cells for _, cells in table_columns), strict=True))


def _bars(
    caption: str, heads: tuple[str, str, str], parts: Mapping[str, float], unit: str, whole: float = 0.0
) -> Markup:
    whole = whole or sum(parts.values())
    most = sorted(parts.items(), key=lambda item: -item[1])
    return bars(caption, heads, [Bar(name, show(x, unit, 3), x / whole) for name, x in most if x > 0])
