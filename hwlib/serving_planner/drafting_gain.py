"""What speculative decoding gains by load: a step that checks drafts and makes the next ones beside a plain step."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from hwlib.calibrated.serving import step_time
from hwlib.calibrated.serving_step import Server
from hwlib.serving_planner.layouts import Layout, room, server_of
from hwlib.serving_planner.points import Point
from hwlib.serving_planner.question import Question
from hwlib.serving_planner.speculation import drafting_words

SHOWN = (1, 4, 16, 64, 256, 1024)  # requests at once of each group, of which a sentence tells the gain
MOST = 4096  # requests at once of each group that are looked at


class DraftingGain(NamedTuple):
    """Tokens a second with drafts over those without, at so many requests at once of each group of GPUs."""

    requests: int
    gain: float


def gain_at(question: Question, server: Server, each: int) -> float:
    """The gain of decode steps with `each` requests of each group: tokens of a step over its time, in those of a plain
    one. Prompts, which are read as before, are left out.
    """
    plain = replace(server, drafting=None)
    context, stack = question.workload.context, question.stack
    before = step_time(stack, plain.step(each, context))
    return question.step_tokens * before / step_time(stack, server.step(each, context))


def gains(question: Question, layout: Layout) -> tuple[DraftingGain, ...]:
    """The gain at loads that the cache holds; empty where no drafts were asked for."""
    if question.drafting is None:
        return ()
    server = server_of(question, layout)
    most = min(MOST, int(room(question, server)))
    return tuple(DraftingGain(each, gain_at(question, server, each)) for each in SHOWN if each <= most)


def last_gaining(question: Question, layout: Layout) -> int | None:
    """The most requests at once of each group with which drafts gain, by halving between powers of two; 0 where they
    gain at none, None where they gain at the greatest load that the cache holds.
    """
    server = server_of(question, layout)
    most = min(MOST, max(1, int(room(question, server))))
    loads = [*(2**i for i in range(most.bit_length()) if 2**i < most), most]
    gaining = [i for i, each in enumerate(loads) if gain_at(question, server, each) > 1]
    if not gaining:
        return 0
    if gaining[-1] == len(loads) - 1:
        return None
    low, high = loads[gaining[-1]], loads[gaining[-1] + 1]
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if gain_at(question, server, middle) > 1 else (low, middle)
    return low


def gain_words(question: Question, point: Point) -> list[str]:
    """The sentences on drafts: what a step gives, by source; the gain by load; and at which load they stop to help."""
    if question.drafting is None:
        return []
    layout = Layout(*point.plan.decode[:3])
    each = point.plan.decode.batch // point.plan.decode.attention_dp
    by_load = gains(question, layout)
    shown = ", ".join(f"{row.gain:.2f} times at {row.requests:,}" for row in by_load)
    group = "requests at once on a GPU" if layout.attention_dp > 1 else "requests at once on a server"
    sentence = f"Tokens a second of decode steps with drafts, over those without, by {group}: {shown}."
    gain = gain_at(question, server_of(question, layout), each)
    return [drafting_words(question.model, question.drafting), sentence, _limit(question, layout, group, each, gain)]


def _limit(question: Question, layout: Layout, group: str, each: int, gain: float) -> str:
    """At which load drafts stop to help, and on which side of it the plan is."""
    last = last_gaining(question, layout)
    here = f"the best plan has {each:,}: {gain:.2f} times"
    if last is None:
        return f"Drafts help up to the greatest load that the cache holds; {here}."
    if not last:
        return f"Drafts do not help at any load; {here}."
    return f"Drafts stop to help beyond {last:,} {group}; {here}."


def gain_record(question: Question, point: Point) -> dict[str, object] | None:
    """The same as JSON data; None where no drafts were asked for."""
    if question.drafting is None:
        return None
    layout, drafting = Layout(*point.plan.decode[:3]), question.drafting
    return {
        "method": drafting.method,
        "drafts": drafting.drafts,
        "accepted": drafting.accept,
        "tokens_per_step": drafting.tokens,
        "gains": [row._asdict() for row in gains(question, layout)],
        "helps_up_to": last_gaining(question, layout),
        "words": gain_words(question, point),
    }


__all__ = ["DraftingGain", "gain_at", "gain_record", "gain_words", "gains", "last_gaining"]
