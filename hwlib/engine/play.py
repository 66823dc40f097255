"""Plays an engine: step after step, each with the tokens that its policy chooses.

Before a step, requests that have arrived wait; a request that has tokens in the cache runs. Its prompt's room in the
cache is taken when it begins, and each token that it generates takes one more. Where the cache is full, the request
that began last loses its place, waits before all others, and is read again with what it had generated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import inf

from hwlib.engine.policies import Policy, chunked
from hwlib.engine.requests import Request
from hwlib.engine.result import Chunk, EngineRun, EngineStep, RequestOutcome
from hwlib.engine.step_cost import StepCost

BUDGET, SEATS = 2048, 256  # tokens of a step; sequences that run at once: the defaults of vLLM's older releases
SPARE = 0.01  # of the cache, that a request leaves free where it begins beside others: vLLM's watermark


class _Job:
    """A request under way: of `target` tokens `read` are in the cache, and `held` are its room there."""

    __slots__ = ("again", "chunks", "held", "number", "read", "request", "seen", "target", "times")

    def __init__(self, number: int, request: Request):
        self.number, self.request = number, request
        self.target, self.read = request.prompt, min(request.cached, request.prompt)
        self.held, self.again = 0, 0
        self.chunks: list[Chunk] = []
        self.times: list[float] = []
        self.seen = (number, self.target - self.read)


def run_engine(
    requests: Sequence[Request],
    cost: StepCost,
    policy: Policy = chunked,
    *,
    budget: int = BUDGET,
    seats: int = SEATS,
    room: float = inf,
    gpus: int = 1,
    users: int = 0,
    reserve: bool = False,
) -> EngineRun:
    """Serve requests, one step at a time, until the last has its tokens.

    `budget` is what the policy may put into a step, `seats` the requests that may run at once, and `room` the tokens
    that the cache holds. A request whose prompt is `cached` whole generates from its first step on. With `users` there
    are so many at most: of the first ones the arrivals count, and every other request comes when one has ended, a
    closed load. With `reserve` a request begins only where its answer has room as well, and never loses it. Raises
    ValueError for a request that the cache can never hold, and for a policy that asks for what is not there or does
    nothing.

    >>> cost = StepCost(fixed=0.01, weights=0, token=0.001, sent=0, cached=0, pair=0)
    >>> run = run_engine([Request(0, 90, 2)], cost)
    >>> [round(time, 3) for time in run.outcomes[0].times]
    [0.1, 0.111]
    """
    if not requests:
        raise ValueError("run_engine: at least one request was expected")
    if seats < 1 or budget < 1:
        raise ValueError(f"run_engine: a seat and a token of budget at least, got {seats} and {budget}")
    if (most := max(one.prompt + one.output for one in requests)) > room:
        raise ValueError(f"run_engine: a request of {most:,} tokens, and the cache holds {room:,}")
    if any(one.output < 1 or one.prompt < 1 for one in requests):
        raise ValueError("run_engine: prompts and answers have at least 1 token")
    jobs = [_Job(number, one) for number, one in enumerate(requests)]
    ordered = sorted(jobs, key=lambda job: job.request.arrival)
    coming, later = deque(ordered[: users or None]), deque(ordered[users:] if users else ())
    waiting: deque[_Job] = deque()
    running: list[_Job] = []
    steps: list[EngineStep] = []
    now, used = 0.0, 0
    while coming or waiting or running:
        while coming and coming[0].request.arrival <= now:
            waiting.append(coming.popleft())
        if not running and not waiting:
            now = coming[0].request.arrival
            continue
        if not reserve:
            used = _make_room(running, waiting, used, room)
        spare = SPARE * room if running and room < inf else 0.0
        offered = _offered(waiting, seats - len(running), room - used - spare, reserve)
        plan = policy([job.seen for job in offered], [job.seen for job in running], budget)
        if not plan:
            if not coming:
                raise ValueError("the policy does nothing, and nothing more will come")
            now = coming[0].request.arrival
            continue
        parts = _checked(plan, offered, running)
        begun = {job.number for job, _ in parts if not job.held}
        if begun:
            for job in offered:
                if job.number in begun:
                    waiting.remove(job)
                    running.append(job)
                    job.held = job.target + (job.request.output - len(job.times) if reserve else 0)
                    used += job.held
        tokens = cached = read = decoding = 0
        pairs = 0.0
        for job, part in parts:
            tokens += part
            if job.read < job.target:
                read += part
                cached += job.read
                pairs += part * (job.read + part / 2)
            else:
                decoding += 1
                cached += job.read + 1
        end = now + cost.seconds(tokens, cached, pairs)
        steps.append(EngineStep(now, end, read, decoding))
        ended = False
        for job, part in parts:
            if job.read < job.target:
                job.chunks.append(Chunk(now, end, part))
                job.read += part
                job.seen = (job.number, job.target - job.read)
                if job.read < job.target:
                    continue
            else:
                job.read, job.target = job.read + 1, job.target + 1
                if not reserve:
                    job.held, used = job.held + 1, used + 1
            job.times.append(end)
            if len(job.times) == job.request.output:
                used -= job.held
                ended = True
                if later:
                    coming.append(later.popleft())
                    coming[-1].request = coming[-1].request._replace(arrival=end)
        if ended:
            running = [job for job in running if len(job.times) < job.request.output]
        now = end
    outcomes = (RequestOutcome(job.request, tuple(job.times), tuple(job.chunks), job.again) for job in jobs)
    return EngineRun(tuple(outcomes), tuple(steps), gpus)


def _offered(waiting: deque[_Job], seats: int, free: float, reserve: bool) -> list[_Job]:
    """Those that may begin: the oldest, as long as there are seats and room for their prompts, or for all of them."""
    jobs: list[_Job] = []
    for job in waiting:
        free -= job.target + (job.request.output - len(job.times) if reserve else 1)
        if len(jobs) == seats or free < 0:
            break
        jobs.append(job)
    return jobs


def _make_room(running: list[_Job], waiting: deque[_Job], used: int, room: float) -> int:
    """Room for a token of each that generates: those that began last lose their places; what is taken then."""
    if used + len(running) <= room:
        return used
    while used + sum(job.read == job.target for job in running) > room:
        job = running.pop()
        used -= job.held
        job.target, job.read, job.held = job.request.prompt + len(job.times), 0, 0
        job.seen = (job.number, job.target)
        job.again += 1
        waiting.appendleft(job)
    return used


def _checked(
    plan: Sequence[tuple[int, int]], offered: Sequence[_Job], running: Sequence[_Job]
) -> list[tuple[_Job, int]]:
    """The plan with its requests. Raises ValueError where it asks for what is not there."""
    known = {job.number: job for job in running} | {job.number: job for job in offered}
    parts = []
    for number, tokens in plan:
        job = known.pop(number, None)
        if job is None:
            raise ValueError(f"the policy names request {number}, which is not there, or is in the plan twice")
        if not 1 <= tokens <= max(job.target - job.read, 1):
            raise ValueError(f"the policy gives {tokens} tokens to request {number}, with {job.seen[1]} left to read")
        parts.append((job, tokens))
    return parts
