"""Errors of questions without an answer: what is impossible, and what would be possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from hwlib.calibrated.serving import RESERVED
from hwlib.constraints import ALTERNATIVES
from hwlib.planner.plan_error import PlanError
from hwlib.serving_planner.layouts import (
    CACHE,
    WEIGHTS,
    WIDEST,
    Layout,
    broken_rule,
    divided,
    layouts,
    server_of,
    usable,
)
from hwlib.serving_planner.precision import precisions, usual_kv_dtype
from hwlib.serving_planner.question import Limits, Question
from hwlib.serving_planner.search import Found
from hwlib.serving_planner.words import plan_words
from hwlib.units import plural, show


def nothing_fits(question: Question, rejected: Mapping[str, int]) -> PlanError:
    """No layout fits, or none can be: with the bytes that are missing, and the fewest GPUs that hold the model."""
    if not {WEIGHTS, CACHE} & set(rejected):
        name, text = question.model.name, _broken_rules(question)
        if not rejected:
            degrees = " and ".join(f"{_option(option)} {_or(values)}" for option, values in question.fixed.items())
            text = f"none on {plural(question.gpus, 'GPU')} has {degrees}"
        return PlanError("allowed", f"no division of {name} can be: {text}{_would(question)}")
    least, layout = _least(question)
    name, chip = question.model.name, question.chip.name
    text = (
        f"{name} in {question.dtype} does not fit on {question.gpus:,} x {chip}: {layout} needs {show(least, 'B', 3)} "
        f"on each GPU for weights, one request and buffers, of {show(question.memory, 'B', 3)}"
    )
    if (n := smallest(question)) and n > question.gpus:
        return PlanError("memory", f"{text}. Fewest GPUs that hold it: {n:,} x {chip}")
    if fewer := _narrower(question):
        return PlanError("memory", f"{text}. In {fewer} it fits on them")
    node = question.machine.full_node
    return PlanError(
        "memory",
        f"{text}. No number of them up to {WIDEST} holds it, for tensor parallelism stays within a node of {node}; "
        "GPUs with more memory could",
    )


def _broken_rules(question: Question) -> str:
    """The rules that the divisions break, in words."""
    sentences: dict[str, None] = {}
    for layout in layouts(question):
        if rule := broken_rule(question, layout):
            sentences[rule.sentence(*divided(question, layout))] = None
    return "; ".join(sentences)


def _would(question: Question) -> str:
    """The end of a sentence of refusal: values of each degree that was asked for with which a division breaks no rule,
    the others as they are; or, where there are none, values of all that do together.
    """
    ways = []
    for option in question.fixed:
        others = {name: values for name, values in question.fixed.items() if name != option}
        if values := sorted({getattr(layout, option) for layout in _unbroken(question, others)}):
            ways.append(f"{_option(option)} {_or(values)}")
    together = "" if ways else "together "
    if together:
        words = (_degrees(question, layout) for layout in _unbroken(question, {}))
        ways = [*dict.fromkeys(words)][:ALTERNATIVES]
    return f"; {together}{', or '.join(ways)} would do" if ways else ""


def _degrees(question: Question, layout: Layout) -> str:
    """The degrees of a division that were asked for."""
    return " ".join(f"{_option(option)} {getattr(layout, option)}" for option in question.fixed)


def _unbroken(question: Question, fixed: Mapping[str, tuple[int, ...]]) -> list[Layout]:
    """The divisions that break no rule, of those with these degrees."""
    free = replace(question, fixed=fixed)
    return [layout for layout in layouts(free) if broken_rule(question, layout) is None]


def _option(name: str) -> str:
    return name.replace("_", "-")


def _or(values: Sequence[int]) -> str:
    *few, last = map(str, values)
    return f"{', '.join(few)} or {last}" if few else last


def _narrower(question: Question) -> str:
    """The widest precision of fewer bits in which the model fits on the GPUs; empty if there is none."""
    for dtype in ("fp8", "int8w", "fp4", "int4w"):
        with suppress(PlanError):
            kv_dtype = usual_kv_dtype(dtype, question.chip)
            precisions(question.model, question.chip, dtype, kv_dtype)
            if usable(replace(question, dtype=dtype, kv_dtype=kv_dtype), Counter()):
                return dtype
    return ""


def _least(question: Question) -> tuple[float, Layout]:
    """The division that needs the fewest bytes of a GPU."""
    needs = []
    for layout in layouts(question):
        if broken_rule(question, layout) is None:
            server = server_of(question, layout)
            need = server.weight_bytes() + server.sequence_bytes(question.workload.full) / question.stack.cache_share
            needs.append((need + RESERVED, layout))
    return min(needs)


def smallest(question: Question) -> int | None:
    """The fewest GPUs of this kind that hold the model and a request."""
    held = usable(question, Counter(), gpus=WIDEST)
    return min((layout.gpus for layout in held), default=None)


def too_late(found: Found) -> PlanError:
    """Every point exceeds a limit: the best latency that can be reached, and by which plan."""
    question = found.question
    limits = question.limits
    for name, clause in (
        ("tpot", "a token takes"),
        ("ttft", "the first token takes"),
        ("gap", "the longest step takes"),
    ):
        quickest = min(found.points, key=lambda point, name=name: getattr(point, name))  # type: ignore[misc]
        if getattr(quickest, name) > getattr(limits, name):
            return PlanError(
                name,
                f"{clause} at least {show(getattr(quickest, name), 's', 3)} on {question.gpus:,} x "
                f"{question.chip.name}, with {plan_words(quickest)}; the limit is "
                f"{show(getattr(limits, name), 's', 3)}",
            )
    return PlanError("limits", f"each limit can be kept alone, but not all together: {_nearest(found)}")


def _nearest(found: Found) -> str:
    """The point that exceeds the limits least, as a share of them."""
    limits = found.question.limits
    point = min(
        found.points, key=lambda one: max(getattr(one, name) / getattr(limits, name) for name in Limits._fields)
    )
    times = (
        f"first token {show(point.ttft, 's', 3)}, {show(point.tpot, 's', 3)} a token, longest step "
        f"{show(point.gap, 's', 3)}"
    )
    return f"nearest is {plan_words(point)}: {times}"
