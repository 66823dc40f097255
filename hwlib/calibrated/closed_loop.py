"""The first token of a closed loop, at the mean of a benchmark's requests: with the queue in which they wait.

A benchmark of `batch` users sends that many requests at once, and a further one whenever one has ended. The first ones
are read one step after another, each of at most `READ_TOKENS` tokens, and a prompt waits for those before its own; of
few requests a user that is much of the mean, and none of the median. A later request meets a step under way, a long
one more often than a short one, and waits for the half of it.

What a server does beside its steps is not in it: tokens to text and back, and what a process does a first time.
"""

from __future__ import annotations

from hwlib.calibrated.serving import RunSteps, Steps, run_of, step_time, times
from hwlib.calibrated.serving_step import Server
from hwlib.specs.serving_stack import ServingStack

READ_TOKENS = 16384
"""Tokens of prompts that a step reads of those that wait: what SGLang takes by default on GPUs of 160 GB and more."""


def mean_first(
    server: Server, stack: ServingStack, *, batch: float, requests: float, input: float, output: float
) -> Steps:
    """The steps until a request's first token, at the mean of so many requests of which `batch` are there at once.

    Raises ValueError for a load that cannot be.
    """
    if not requests >= 1:
        raise ValueError(f"a run has at least 1 request, got {requests!r}")
    run = run_of(server, stack, "closed", batch=batch, input=input, output=output)
    at_once = min(1.0, batch / requests)
    burst = burst_first(server, run.batch, input)
    return times(burst, at_once) + times(run.first + _under_way(stack, run, batch), 1 - at_once)


def burst_first(server: Server, prompts: int, input: float) -> Steps:
    """The steps until the first token at the mean of so many prompts of each group that come at once: full steps, and
    one of the rest.
    """
    most = max(1, int(READ_TOKENS / server.unread(input)))
    full, rest = divmod(prompts, most)
    before = most * full * (full + 1) / 2 + rest * full
    steps: Steps = ()
    if full:
        steps += ((server.pp * before / prompts, server.step(0, 0.0, most, input)),)
    if rest:
        steps += ((server.pp * rest / prompts, server.step(0, 0.0, rest, input)),)
    return steps


def _under_way(stack: ServingStack, run: RunSteps, batch: float) -> Steps:
    """Half of the step that an arrival meets, of those of the other requests."""
    seconds = [count * step_time(stack, work) for count, work in run.token]
    others = (batch - 1) / batch
    shares = (others * time / sum(seconds) for time in seconds)
    return tuple((share / 2, work) for share, (_, work) in zip(shares, run.token, strict=True))
