"""How sure a server's rate is: its expected error, the nearest measured servers, and what other software's constants
say of the same plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import log1p
from typing import Any, NamedTuple

from hwlib.expected_error import SHARE, ExpectedError, expected_error
from hwlib.planner.certainty import error_record, evidence_words
from hwlib.serving_planner.layouts import Layout, server_of
from hwlib.serving_planner.points import Point, together
from hwlib.serving_planner.question import Question
from hwlib.serving_planner.situation import situation
from hwlib.serving_planner.words import rounded
from hwlib.specs.prediction_errors import SERVING, prediction_errors
from hwlib.specs.serving_stack import ServingStack, program_of, serving_stacks


class OtherRate(NamedTuple):
    """What the constants of another software say of a plan: tokens a second and GPU, and how far these may be off."""

    stack: ServingStack
    gpu_rate: float
    error: ExpectedError


def point_error(question: Question, point: Point) -> ExpectedError:
    """The error to expect of a point's tokens a second. A stack of one's own, which no table knows, says itself how far
    it errs.
    """
    stack = question.stack
    if stack.key not in serving_stacks and not stack.like:
        return ExpectedError(log1p(stack.error), 0)
    return expected_error(situation(question, point))


def other_rates(question: Question, point: Point) -> tuple[OtherRate, ...]:
    """The rates of a plan whose servers read prompts too by other software with rows on the chip: of each the release
    with the most.
    """
    return tuple(_other_rates(question, point)) if point.plan.prefill is None else ()


def _other_rates(question: Question, point: Point) -> Iterator[OtherRate]:
    pool = point.plan.decode
    for key in _measured_on(question):
        other = replace(question, stack=serving_stacks[key])
        server = server_of(other, Layout(*pool[:3]))
        replica = together(other, server, pool.batch // pool.attention_dp, point.plan.chunk or WHOLE)
        if replica:
            rate = replica.requests * pool.replicas * point.workload.output / point.plan.machine.gpus
            yield OtherRate(other.stack, rate, point_error(other, point))


WHOLE = 8192
"""Tokens of prompts in a step of software that reads them alone."""


def _measured_on(question: Question) -> Iterator[str]:
    """Of each other software with rows on the chip, for models of this kind, the stack with the most."""
    kind = "experts" if question.model.moe else "dense"
    counts: dict[str, dict[str, int]] = {}
    for row in prediction_errors(SERVING):
        if row.chip == question.chip.key and row.stack in serving_stacks and kind in row.words:
            of_program = counts.setdefault(program_of(row.stack), {})
            of_program[row.stack] = of_program.get(row.stack, 0) + 1
    for name, stacks in counts.items():
        if name != program_of(question.stack.key):
            yield max(stacks, key=lambda key: stacks[key])


def certainty_words(question: Question, point: Point) -> list[str]:
    """The sentences on how sure a point's rate is; none of ideal software."""
    return [*filter(None, [interval_words(question, point)]), *nearest_words(question, point)]


def interval_words(question: Question, point: Point) -> str:
    """The first of these sentences: how far a point's rate may be off; empty of ideal software."""
    error = point_error(question, point)
    low, high = map(rounded, error.interval(point.gpu_rate))
    words = f"Expected error ±{error.most:.0%}: {SHARE:.0%} of measured servers like it give {low} to {high} a GPU."
    return words if error.size else ""


def nearest_words(question: Question, point: Point) -> list[str]:
    """The others: the nearest measured servers, what none of them has, and other software's rates."""
    error = point_error(question, point)
    if not error.size:
        return []
    lines = [*evidence_words(error, f"server of {question.stack.key}")]
    if others := ", ".join(map(_other_words, other_rates(question, point))):
        lines.append(f"By other software measured on this chip, tokens/s a GPU: {others}.")
    return lines


def _other_words(other: OtherRate) -> str:
    return f"{other.stack.key} {rounded(other.gpu_rate)} (±{other.error.most:.0%})"


def certainty_record(question: Question, point: Point) -> dict[str, Any]:
    """The same as JSON data, of tokens a second and GPU."""
    others = {
        other.stack.key: {"gpu_rate": other.gpu_rate, "most": other.error.most}
        for other in other_rates(question, point)
    }
    return error_record(point_error(question, point), point.gpu_rate) | {"other_software": others}
