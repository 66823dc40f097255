"""A measured server beside the predicted one: its rates and times, and a request's seconds taken apart.

The seconds are those of a place in the server: of a request from its arrival to its last token, and where the client
keeps so many at once also the time in which a place stands empty. Parts are the model's; what is beyond them is
unknown, and the log tells at most in which of its tokens it lies.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from hwlib.run_logs.facts import Facts
from hwlib.run_logs.gap import Gap, GapPart
from hwlib.run_logs.records import RunLog
from hwlib.run_logs.served_facts import request_seconds
from hwlib.run_logs.served_model import ModelledServer
from hwlib.serving_planner.anatomy import token_parts

LEAST = 0.002  # of the whole: parts below it are not listed


class Comparison(NamedTuple):
    """A quantity as the benchmark measured it (None where it does not say) and as the model has it, in SI."""

    name: str
    measured: float | None
    predicted: float
    unit: str


def comparisons(log: RunLog, model: ModelledServer) -> tuple[Comparison, ...]:
    """Rates and times side by side."""
    numbers, times = log.benchmark, model.times
    rows = (
        Comparison("requests a second", numbers.get("request_rate"), times.requests, "requests/s"),
        Comparison("output tokens a second", numbers.get("output_rate"), model.tokens_per_second, "tokens/s"),
        Comparison("first token (mean TTFT)", numbers.get("mean_ttft"), times.ttft, "s"),
        Comparison("each further token (mean TPOT)", numbers.get("mean_tpot"), times.tpot, "s"),
        Comparison("whole request", numbers.get("mean_latency"), model.seconds, "s"),
    )
    return rows if model.question.workload.output > 1 else (*rows[:3], rows[4])


def served_gap(log: RunLog, facts: Facts, model: ModelledServer) -> Gap | None:
    """A request's seconds in parts; None where the log has neither its times nor a rate under a known load."""
    request = request_seconds(log, facts)
    place = _place_seconds(log, model)
    whole = place or request
    if not whole:
        return None
    parts = [*_model_parts(model)]
    empty = max(place - request, 0.0) if place and request else 0.0
    if empty > LEAST * whole:
        parts.append(GapPart("places that stand empty", empty, "log"))
    unknown = whole - sum(part.seconds for part in parts)
    low, high = model.low * model.seconds, model.high * model.seconds
    explained = low <= whole - empty <= high
    within = () if explained else tuple(_within(log, model))
    return Gap(whole, model.seconds, low, high, tuple(parts), unknown, explained, within)


def _place_seconds(log: RunLog, model: ModelledServer) -> float | None:
    """Seconds of a place of a closed load for a request, in the whole benchmark."""
    rate, load = log.benchmark.get("request_rate"), model.load
    return load.users / rate if rate and model.times.closed else None


def _model_parts(model: ModelledServer) -> Iterator[GapPart]:
    """The model's parts: the wait for a place, the first token, and what the further ones take."""
    times, further = model.times, max(model.question.workload.output - 1, 0)
    if times.wait:
        yield GapPart("waiting for a place", times.wait, "model")
    yield GapPart("first token", times.ttft - times.wait, "model")
    tokens = further * times.tpot
    if not tokens:
        return
    parts = {"further tokens": 1.0}
    with suppress(ValueError):  # a load whose steps read more than the planner's
        parts = token_parts(model.question, model.point)
    whole = sum(parts.values())
    for name, seconds in parts.items():
        if whole and seconds > LEAST * whole:
            yield GapPart(name, tokens * seconds / whole, "model")


def _within(log: RunLog, model: ModelledServer) -> Iterator[GapPart]:
    """Where the log shows that a request took longer, or less long, than by the model."""
    numbers, times, further = log.benchmark, model.times, max(model.question.workload.output - 1, 0)
    if "mean_ttft" in numbers:
        yield GapPart("in the first token", numbers["mean_ttft"] - times.ttft, "log")
    if "mean_tpot" not in numbers:
        return
    step = numbers.get("median_itl")
    if not step or step > numbers["mean_tpot"]:
        yield GapPart("in the further tokens", further * (numbers["mean_tpot"] - times.tpot), "log")
        return
    yield GapPart("in steps without prompts", further * (step - times.decode), "log")
    beside = numbers["mean_tpot"] - step - (times.tpot - times.decode)
    yield GapPart("in steps that read prompts", further * beside, "log")
