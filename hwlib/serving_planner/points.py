"""Operating points: what a plan gives, at which latency, by the steps of the stack.

Requests arrive at random, at the rate at which a replica has its `batch` of them at once. Times are means. A request's
first token waits for the step under way, for the prompts before its own (a queue with one server, Pollaczek and
Khinchine), and for its own prompt; each further token takes a step, some of which read prompts of others.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf
from typing import NamedTuple

from hwlib.calibrated.serving import run_of, served_time, step_time
from hwlib.calibrated.serving_network import scaleup_rate
from hwlib.calibrated.serving_step import Server
from hwlib.inference import first_token_time, mg1_wait, token_cost
from hwlib.serving_planner.layouts import Layout
from hwlib.serving_planner.plan import Pool, ServingPlan
from hwlib.serving_planner.question import Question, Workload

BUSY = 0.8
"""Share of the time that prompts may be read (typed): arrivals are random, and nearer to 1 they wait without end."""


class Together(NamedTuple):
    """A replica that reads prompts and generates: seconds at the mean, and requests a second."""

    ttft: float
    tpot: float
    gap: float
    requests: float
    load: float


class Reading(NamedTuple):
    """A replica that only reads: seconds of one prompt alone, and prompts a second where they always wait."""

    layout: Layout
    prompts: int
    seconds: float
    rate: float


@dataclass(frozen=True)
class Point:
    """A plan with what it gives: `requests` a second of all replicas, latencies in seconds at the mean, `gap` the
    longest step between two tokens; `load` is the share of the time that the readers of prompts are busy, and
    `transfer` the seconds that a prompt's cache travels to where it is continued.
    """

    plan: ServingPlan
    workload: Workload
    ttft: float
    tpot: float
    gap: float
    requests: float
    load: float
    price: float = 0.0
    transfer: float = 0.0

    @property
    def tokens_per_second(self) -> float:
        """Output tokens a second of all replicas."""
        return self.requests * self.workload.output

    @property
    def gpu_rate(self) -> float:
        """Output tokens a second and GPU, of all GPUs that there are, the idle ones too."""
        return self.tokens_per_second / self.plan.machine.gpus

    @property
    def cost(self) -> float:
        """Dollars for a million output tokens, prompts included; 0 where GPUs have no price."""
        if not self.price:
            return 0.0
        return 1e6 * float(token_cost(self.plan.machine.gpus, self.price, self.tokens_per_second))


def together(question: Question, server: Server, each: int, chunk: int) -> Together | None:
    """A replica with `each` sequences in each group of GPUs, and at most `chunk` tokens of prompts in a step of each.

    None where prompts come faster than the steps read them.
    """
    load, stack = question.workload, question.stack
    try:
        run = run_of(
            server,
            stack,
            "closed",
            input=load.prompt,
            output=question.output_steps,
            batch=each * server.groups,
            chunk=chunk,
            context=load.context,
        )
    except ValueError:
        return None
    prompt_step, decode_step = step_time(stack, run.first[0][1]), step_time(stack, run.token[0][1])
    step = served_time(stack, run.token)
    tpot = step / question.step_tokens
    rate = each / question.output_steps / step  # requests a second of a group
    parts = question.unread / chunk
    unit, busy = prompt_step * parts, rate * prompt_step * parts
    if busy >= 1:
        return None
    if parts >= 1:
        wait = float(mg1_wait(busy, unit, load.cv2_prompt)) + (1 - busy) * decode_step / 2
        own = ceil(parts) * prompt_step
    else:
        wait, own = _gathered(rate, each / question.output_steps, parts, prompt_step, decode_step, step)
        wait += busy * float(mg1_wait(busy, unit, load.cv2_prompt))  # of steps that are full
    requests = rate * server.groups
    return Together(wait + own, tpot, _longest(question, server, each, chunk, prompt_step), requests, busy)


def _longest(question: Question, server: Server, each: int, chunk: int, prompt_step: float) -> float:
    """The longest step, which reads as many prompts as it may; and a token's own, where prompts have a step alone."""
    load, stack = question.workload, question.stack
    most = int(chunk / question.unread)
    decoding = each if stack.mixed else 0
    if most > max(1.0, each / question.output_steps):
        prompt_step = step_time(stack, server.step(decoding, load.context, most, load.prompt))
    return prompt_step if stack.mixed else prompt_step + step_time(stack, server.step(each, load.context))


def _gathered(
    rate: float, per_step: float, parts: float, prompt_step: float, decode_step: float, tpot: float
) -> tuple[float, float]:
    """Seconds until the step under way ends, and those of the next one, where a step takes several prompts: an arrival
    meets long steps more often than short ones, and is read with those that came in the same step.
    """
    often = min(1.0, per_step) * prompt_step / tpot  # share of the time in steps that read
    met = often * prompt_step + (1 - often) * decode_step
    others = min(rate * met, 1 / parts - 1)
    return met / 2, prompt_step + others * (prompt_step - decode_step) / max(1.0, per_step)


def reading(question: Question, layout: Layout, server: Server, prompts: int) -> Reading:
    """A replica that reads `prompts` prompts of each group in a step, and one alone where no other waits."""
    length, stack = question.workload.prompt, question.stack
    alone = step_time(stack, server.step(0, 0.0, 1, length))
    step = alone if prompts == 1 else step_time(stack, server.step(0, 0.0, prompts, length))
    return Reading(layout, prompts, alone, prompts * server.groups / step)


def apart_ttft(question: Question, read: Reading, requests: float) -> float:
    """Seconds to the first token, where a reading replica gets so many requests a second; infinite of too many.

    In a queue each prompt takes what a full step has for it; its own step is that of one alone.
    """
    busy = requests / read.rate
    if busy > BUSY:
        return inf
    if not question.workload.cv2_prompt:
        return read.seconds + float(first_token_time(1 / read.rate, requests)) - 1 / read.rate
    return read.seconds + float(mg1_wait(busy, 1 / read.rate, question.workload.cv2_prompt))


def together_point(question: Question, layout: Layout, each: int, chunk: int, one: Together) -> Point:
    """The point of as many such replicas as there are GPUs for."""
    replicas = question.gpus // layout.gpus
    pool = Pool(*layout, replicas, each * layout.attention_dp)
    return Point(
        _plan(question, pool, None, chunk if question.stack.mixed else None),
        question.workload,
        one.ttft,
        one.tpot,
        one.gap,
        one.requests * replicas,
        one.load,
        question.price,
    )


def apart_point(
    question: Question,
    read: Reading,
    readers: int,
    layout: Layout,
    replicas: int,
    each: int,
    step: float,
    transfer: float,
) -> Point:
    """The point of `readers` replicas that read prompts for `replicas` that generate, in so many seconds a token."""
    requests = replicas * apart_requests(question.workload, each * layout.attention_dp, step, transfer)
    tpot = step + transfer / max(question.workload.output - 1, 1)
    decode = Pool(*layout, replicas, each * layout.attention_dp)
    prefill = Pool(*read.layout, readers, read.prompts * read.layout.attention_dp)
    ttft = apart_ttft(question, read, requests / readers)
    return Point(
        _plan(question, decode, prefill, None),
        question.workload,
        ttft,
        tpot,
        step * question.step_tokens + transfer,
        requests,
        requests / readers / read.rate,
        question.price,
        transfer,
    )


def apart_requests(workload: Workload, batch: int, step: float, transfer: float) -> float:
    """Requests a second of a replica that generates all tokens but the first: each keeps its place for their steps and
    while its cache comes in.
    """
    return batch / ((workload.output - 1) * step + transfer)


def transfer_time(question: Question, server: Server, far: bool) -> float:
    """Seconds in which a prompt's cache goes to other GPUs, by the chip's own links or, `far`, by the network."""
    W = question.W_out if far else scaleup_rate(question.chip, 2)
    return server.sequence_bytes(question.workload.prompt) / W if W else inf


def _plan(question: Question, decode: Pool, prefill: Pool | None, chunk: int | None) -> ServingPlan:
    load = question.workload
    return ServingPlan(
        question.model,
        question.machine,
        decode,
        prefill,
        question.dtype,
        question.kv_dtype,
        round(load.prompt),
        round(load.output),
        chunk,
        question.drafting,
        question.prefix,
    )
