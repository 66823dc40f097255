"""A plan's servers, played by events: the same step times, and queues and batches as they come.

`hwlib.engine` plays requests one by one, where `hwlib.serving_planner.points` has means. Both price a step by
`Server.step` with the constants of the stack, so that what differs is the queue and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from hwlib.calibrated.serving import step_time
from hwlib.calibrated.serving_step import Server
from hwlib.engine import EngineRun, StepCost, draw_requests, run_apart, run_engine
from hwlib.serving_planner.layouts import Layout, room, server_of
from hwlib.serving_planner.points import Point, transfer_time
from hwlib.serving_planner.question import Question
from hwlib.units import plural

ROUNDED = 16  # tokens of context to which a step's price is rounded: attention hardly changes over so few
SEATS = 2**20


@dataclass
class StackCost:
    """What the engine asks for the seconds of a step: `Server.step` with the stack's constants.

    Prompts have `prompt` tokens all. A step reads whole ones of them or, where `chunk` is shorter, one part of one; so
    the pairs of tokens in their attention tell how many tokens of the step are prompts', and the rest decode.
    """

    question: Question
    server: Server
    prompt: int
    chunk: int
    known: dict[tuple[int, float, float], float] = field(default_factory=dict)

    def seconds(self, tokens: float, cached: float = 0.0, pairs: float = 0.0) -> float:
        """A step in which so many tokens pass the model, of each group of GPUs."""
        read, before = pairs / (self.prompt / 2), 0.0
        if self.chunk < self.prompt and pairs:
            read, before = float(self.chunk), pairs / self.chunk - self.chunk / 2
        decoding = round(tokens - read)
        context = ROUNDED * round((cached - before) / max(decoding, 1) / ROUNDED) if decoding else 0.0
        key = decoding, context, read
        if key not in self.known:
            self.known[key] = self._price(*key)
        return self.known[key]

    def _price(self, decoding: int, context: float, read: float) -> float:
        stack, prompts = self.question.stack, read / self.prompt
        if prompts and decoding and not stack.mixed:
            alone = self.server.step(0, 0.0, prompts, self.prompt)
            return step_time(stack, self.server.step(decoding, context)) + step_time(stack, alone)
        return step_time(stack, self.server.step(decoding, context, prompts, self.prompt if prompts else 0.0))


def play(question: Question, point: Point, count: int = 200, closed: bool = False, seed: int = 0) -> EngineRun:
    """`count` requests of the plan's lengths on one group of GPUs of it, or on all that a plan with prefill apart has.

    They arrive at random at the plan's rate; with `closed` a next one comes when one has ended, as many at once as the
    plan has. Raises ValueError for a plan whose chunk is shorter than a prompt and does not divide it, with
    drafts, or with a prefix.
    """
    plan = point.plan
    if question.drafting or question.prefix:
        raise ValueError("play: requests are played a token a step and read whole, without drafts and prefixes")
    if plan.prefill is not None:
        return _apart(question, point, count, seed)
    layout = Layout(*plan.decode[:3])
    server, each = server_of(question, layout), plan.decode.batch // layout.attention_dp
    chunk = min(plan.chunk or SEATS, SEATS)
    if chunk < plan.prompt and plan.prompt % chunk:
        raise ValueError(f"expected a chunk that divides the prompts of {plural(plan.prompt, 'token')}, got {chunk}")
    budget = chunk if chunk < plan.prompt else chunk // plan.prompt * plan.prompt
    rate = point.requests / plan.decode.replicas / layout.attention_dp
    requests = draw_requests(rate, count, prompt=plan.prompt, output=plan.output, seed=seed)
    return run_engine(
        requests,
        _cost(question, server, chunk),
        _beside,
        budget=budget,
        seats=SEATS,
        room=room(question, server) * (plan.prompt + plan.output),
        gpus=layout.tp,
        users=each if closed else 0,
    )


def _cost(question: Question, server: Server, chunk: int) -> StepCost:
    """The price, in the place of the constants that an engine usually has: it asks for nothing but seconds."""
    prompt = round(question.workload.prompt)
    return StackCost(question, server, prompt, min(chunk, prompt))  # type: ignore[return-value]


def _beside(wait: Sequence[tuple[int, int]], run: Sequence[tuple[int, int]], budget: int) -> Sequence[tuple[int, int]]:
    """A token for each that decodes, and beside these so many tokens of prompts as the budget has."""
    plan = [(number, 1) for number, left in run if not left]
    for number, left in [*(one for one in run if one[1]), *wait]:
        if budget >= 1:
            plan.append((number, min(left, budget)))
            budget -= left
    return plan


def _apart(question: Question, point: Point, count: int, seed: int) -> EngineRun:
    plan = point.plan
    assert plan.prefill is not None
    reading, generating = Layout(*plan.prefill[:3]), Layout(*plan.decode[:3])
    servers = [server_of(question, one) for one in (reading, generating)]
    costs = [_cost(question, one, SEATS) for one in servers]
    far = question.gpus > question.machine.full_node
    requests = draw_requests(point.requests, count, prompt=plan.prompt, output=plan.output, seed=seed)
    return run_apart(
        requests,
        costs[0],
        prefill=plan.prefill.replicas * reading.attention_dp,
        decode=plan.decode.replicas * generating.attention_dp,
        W=inf,
        alpha=max(transfer_time(question, one, far) for one in servers),
        budget=plan.prompt * plan.prefill.batch // reading.attention_dp,
        seats=SEATS,
        decode_cost=costs[1],
        room=room(question, servers[1]) * (plan.prompt + plan.output),
        gpus=reading.tp,
    )


__all__ = ["StackCost", "play"]
