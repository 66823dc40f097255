"""Prefill and decode on engines of their own, with the cache of each prompt sent over a link between them."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from hwlib.engine.play import BUDGET, SEATS, run_engine
from hwlib.engine.policies import Policy, chunked, prefill_first
from hwlib.engine.requests import Request
from hwlib.engine.result import EngineRun, RequestOutcome, together
from hwlib.engine.step_cost import StepCost


def run_engines(
    requests: Sequence[Request],
    cost: StepCost,
    engines: int,
    policy: Policy = chunked,
    *,
    budget: int = BUDGET,
    seats: int = SEATS,
    room: float = inf,
    gpus: int = 1,
) -> EngineRun:
    """Engines that all read prompts and generate, `gpus` each, requests dealt out in turn; else as `run_engine`."""
    shares = [requests[first::engines] for first in range(engines)]
    return together(
        [run_engine(one, cost, policy, budget=budget, seats=seats, room=room, gpus=gpus) for one in shares if one]
    )


def run_apart(
    requests: Sequence[Request],
    cost: StepCost,
    *,
    prefill: int,
    decode: int,
    W: float = inf,
    S_kv: float = 0.0,
    alpha: float = 0.0,
    budget: int = BUDGET,
    seats: int = SEATS,
    room: float = inf,
    gpus: int = 1,
    decode_cost: StepCost | None = None,
) -> EngineRun:
    """`prefill` engines that read prompts, and `decode` engines that generate from the second token on, `gpus` each.

    The cache of a prompt, S_kv bytes a token, leaves its engine over a link of W bytes per second and `alpha` seconds,
    one after the other; the first token is there before, the second only after it. Requests are dealt out in turn, and
    a request of one token never leaves. Prompts do not wait for room on the decode engines, whose steps cost as
    `decode_cost` says, by default as the others'. Raises ValueError as `run_engine`, and without an engine of both
    kinds.
    """
    if prefill < 1 or decode < 1:
        raise ValueError(f"run_apart: an engine of each kind at least, got {prefill} and {decode}")
    ordered = sorted(requests)
    reading, moved = [], []
    for first in range(prefill):
        own = ordered[first::prefill]
        if not own:
            continue
        read = run_engine(
            [one._replace(output=1) for one in own], cost, prefill_first, budget=budget, seats=seats, gpus=gpus
        )
        reading.append(read)
        free = 0.0
        for whole, done in sorted(zip(own, read.outcomes, strict=True), key=lambda pair: pair[1].first):
            free = max(free, done.first) + alpha + (whole.prompt - whole.cached) * S_kv / W
            moved.append((free, whole, done))
    moved.sort(key=lambda one: one[:2])
    outcomes = [done._replace(request=whole) for _, whole, done in moved if whole.output == 1]
    longer = [one for one in moved if one[1].output > 1]
    generating = []
    for first in range(decode):
        own = longer[first::decode]
        if not own:
            continue
        there = [Request(at, whole.prompt, whole.output - 1, whole.prompt) for at, whole, _ in own]
        run = run_engine(
            there, decode_cost or cost, chunked, budget=max(budget, seats), seats=seats, room=room, gpus=gpus
        )
        generating.append(run)
        for (_, whole, done), after in zip(own, run.outcomes, strict=True):
            chunks, again = done.chunks + after.chunks, after.again
            outcomes.append(RequestOutcome(whole, done.times + after.times, chunks, again))
    steps = sorted(step for run in (*reading, *generating) for step in run.steps)
    outcomes.sort(key=lambda one: one.arrival)
    return EngineRun(tuple(outcomes), tuple(steps), gpus * (prefill + decode), prefill + decode)
