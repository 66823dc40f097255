"""What to try on a measured server: the same load on another division, in another precision, with more at once."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from math import inf
from typing import Any

from hwlib.planner import PlanError
from hwlib.run_logs.changes import COUNT, LEAST, RunChange
from hwlib.run_logs.finding import LIKELY, POSSIBLE, SHOWN
from hwlib.run_logs.gap import Gap
from hwlib.run_logs.served_model import ModelledServer, changed
from hwlib.serving_planner.layouts import Layout, broken_rule, layouts
from hwlib.serving_planner.precision import precisions
from hwlib.serving_planner.speculation import drafting_of
from hwlib.specs import measured_drafts
from hwlib.units import show

WIDER = 4  # times as many requests at once are tried at most
NARROWER = ("fp8", "fp4")
WIDE = ("bf16", "fp16")
EMPTY = "places that stand empty"


def served_changes(model: ModelledServer, gap: Gap | None) -> tuple[RunChange, ...]:
    """The most useful changes, at most `COUNT`; of each kind the best."""
    explained = gap is None or gap.explained
    changes = [*_empty(gap)]
    for kind in (_divisions, _precisions, _caches, _drafts, _more_at_once):
        options = [*kind(model)]
        if options:
            words, other = max(options, key=lambda option: _gain(model, option[1]))
            changes += _worth(model, words, other, explained)
    changes.sort(key=lambda change: -change.gain)
    return tuple(changes[:COUNT])


Options = Iterator[tuple[str, ModelledServer]]


def _gain(model: ModelledServer, other: ModelledServer) -> float:
    """The share of the GPUs' time for a request that a change saves; where requests arrive at a rate that both keep up
    with, of a request's own time.
    """
    by_rate = 1 - model.times.requests / other.times.requests
    both_keep_up = model.load.rate < inf and not (model.times.closed or model.times.wait)
    return 1 - other.seconds / model.seconds if both_keep_up else by_rate


def _worth(model: ModelledServer, words: str, other: ModelledServer, explained: bool) -> Iterator[RunChange]:
    gain = _gain(model, other)
    if gain < LEAST:
        return
    low, high = 1 - (1 - gain) * (1 + other.error), 1 - (1 - gain) / (1 + other.error)
    times = f"the first token then takes {show(other.times.ttft, 's', 3)}"
    if model.question.workload.output > 1:
        times += f", each further one {show(other.times.tpot, 's', 3)}"
    sure = LIKELY if explained and gain > max(other.error, model.error) else POSSIBLE
    yield RunChange(f"{words} ({times})", gain, low, high, sure)


def _empty(gap: Gap | None) -> Iterator[RunChange]:
    for part in gap.parts if gap else ():
        if part.name == EMPTY and gap and (share := part.seconds / gap.measured) > 5 * LEAST:
            sentence = "measure more requests: places stand empty while the first ones come and the last ones end"
            yield RunChange(sentence, share, 0.0, share, SHOWN)


def _answered(answer: Callable[[], ModelledServer]) -> list[ModelledServer]:
    """The answer, or none where such a server cannot be."""
    with suppress(PlanError, ValueError, KeyError):
        return [answer()]
    return []


def _divisions(model: ModelledServer) -> Options:
    question = model.question
    for layout in layouts(question):
        replicas, rest = divmod(question.gpus, layout.gpus)
        if rest or layout == model.layout or broken_rule(question, layout):
            continue
        for other in _answered(lambda layout=layout, n=replicas: changed(model, layout=layout, replicas=n)):  # type: ignore[misc]
            yield f"divide the {question.gpus} GPUs anew: {_words(layout, replicas)}", other


def _words(layout: Layout, replicas: int) -> str:
    return f"{replicas} x {layout}" if replicas > 1 else str(layout)


def _precisions(model: ModelledServer) -> Options:
    question = model.question
    if question.dtype not in WIDE:
        return
    for dtype in NARROWER:
        for other in _answered(lambda dtype=dtype: _in(model, dtype=dtype, kv_dtype="fp8")):  # type: ignore[misc]
            yield f"weights and products in {dtype}, the cache in fp8 (if the answers stay good)", other


def _caches(model: ModelledServer) -> Options:
    if model.question.kv_dtype in WIDE:
        for other in _answered(lambda: _in(model, kv_dtype="fp8")):
            yield "the cache in fp8", other


def _in(model: ModelledServer, **dtypes: str) -> ModelledServer:
    question = replace(model.question, **dtypes)  # type: ignore[arg-type]
    precisions(question.model, question.chip, question.dtype, question.kv_dtype)
    return changed(model, **dtypes)


def _drafts(model: ModelledServer) -> Options:
    """Drafts, where the share of them that is accepted was measured for this model."""
    question = model.question
    chains = {(row.method, row.drafts) for row in measured_drafts() if row.target == question.model.key and row.drafts}
    for method, drafts in sorted(chains) if question.drafting is None else ():
        words = f"{method}:{drafts}"
        for other in _answered(lambda words=words: changed(model, drafting=drafting_of(question.model, words))):  # type: ignore[misc]
            yield f"check drafts, --speculate {words}", other


def _more_at_once(model: ModelledServer) -> Options:
    load = model.load
    if load.kind != "closed":
        return
    times = 2
    while times <= WIDER and times * load.users <= load.requests:
        more: Any = load._replace(users=times * load.users)
        for other in _answered(lambda more=more: changed(model, load=more)):  # type: ignore[misc]
            yield f"{times * load.users:,.0f} requests at once instead of {load.users:,.0f}", other
        times *= 2
