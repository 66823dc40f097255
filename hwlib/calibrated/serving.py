"""Serving a model: tokens a second, first token and latency at a batch, as a software reaches them.

A run is a number of steps. `hwlib.calibrated.serving_step` gives the kernels and messages of one; a `ServingStack`
has what the software adds: the time of a layer beside its kernels, in steps that decode and in steps that read
prompts, and the rate of kernels and of messages over those of their models. How many steps there are, and what each
does, follows from the load:

- "static": all prompts are read at once, and all sequences decode until the last ends (one request is a batch of one);
- "closed": `batch` requests are always there, one that ends is replaced, and prompts are read between or in decode
  steps;
- "queued": all requests wait from the start, and the batch is what the cache holds.

Llama 3.3 70B in 8 bits on two H200, as TensorRT-LLM 1.1 serves it: with 64 requests at once, and with as many as fit.
NVIDIA's page has 2,587 tokens/s a GPU for the second.

>>> plan = {"stack": "tensorrt-llm-1.1", "tp": 2, "input": 1000, "output": 1000, "dtype": "fp8"}
>>> few = serve("llama3-70b", "h200-sxm", batch=64, **plan)
>>> full = serve("llama3-70b", "h200-sxm", **plan)
>>> full.batch > 9 * few.batch and full.tokens_per_second > 1.5 * few.tokens_per_second
True
>>> few.token_latency < 0.5 * full.token_latency
True
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from hwlib.calibrated.least_times import above_least
from hwlib.calibrated.serving_step import Server, Work
from hwlib.specs import Accelerator, Model, accelerators, models
from hwlib.specs.serving_stack import ServingStack, serving_stacks
from hwlib.specs.table import unknown

__all__ = [
    "LOADS",
    "RunSteps",
    "Server",
    "ServingRates",
    "Steps",
    "Work",
    "cache_sequences",
    "run_of",
    "serve",
    "served_time",
    "step_time",
    "times",
]

LOADS = ("static", "closed", "queued")
RESERVED = 3e9  # B of each GPU that no cache gets: context, activations, buffers (typed)
MOST_SEQUENCES = 4096  # and tokens of a step: what trtllm-bench limits itself to (tensorrt_llm/bench/build/tuning.py)
MOST_TOKENS = 32768


Steps = tuple[tuple[float, Work], ...]
"""Steps of a run: how many of each, and the work of one."""


class RunSteps(NamedTuple):
    """Steps of a run: all of them, those until a request's first token, and those between two of its tokens (a share
    of a step reads prompts).

    `batch` are the requests of each group at once, `tokens` those that all groups together sample in the whole run.
    """

    whole: Steps
    first: Steps
    token: Steps
    batch: int
    tokens: float


class ServingRates(NamedTuple):
    """How a server does: rates in output tokens a second of all its GPUs, times in seconds.

    `first_token` is the time of the step that reads a request's prompt, without waiting for its turn, `token_latency`
    that between two tokens, with what prompts of others take of it, and `request_latency` both together. `batch` counts
    the requests that run at once.
    """

    tokens_per_second: float
    first_token: float
    token_latency: float
    request_latency: float
    batch: int
    gpus: int


def serve(
    model: Model | str,
    chip: Accelerator | str,
    *,
    stack: ServingStack | str,
    tp: int = 1,
    pp: int = 1,
    ep: int = 1,
    attention_dp: bool = False,
    batch: int | None = None,
    input: float,
    output: float,
    dtype: str = "bf16",
    kv_dtype: str = "",
    load: str = "",
    requests: float = 3000,
    expert_dtype: str = "",
    attention_dtype: str = "",
) -> ServingRates:
    """Tokens a second, first token and latency of a model on tp x pp GPUs, as a software reaches them.

    `batch` requests of `input` and `output` tokens run at once, on all GPUs together. By default the load is
    "closed"; without a batch it is "queued": `requests` wait at once, and the cache decides. Experts are divided over
    `ep` of the tp ranks whole; with `attention_dp` each rank has attention for sequences of its own. `dtype` is that
    of weights and products ("bf16", "fp8", "fp4"; "int8w" and "int4w": weights only), and `kv_dtype` that of the
    cache ("bf16", or "fp8" by default where the products have at most 8 bits). Errors: docs/fidelity.md, some 10 to
    20 %. Raises ValueError for a plan that cannot be or does not fit, KeyError for an unknown name.
    """
    stack = serving_stacks[stack] if isinstance(stack, str) else stack
    kv_dtype = kv_dtype or ("fp8" if dtype in ("fp8", "fp8_block", "fp4") else "bf16")
    server = Server(
        models.of(model),
        accelerators.of(chip),
        tp=tp,
        pp=pp,
        ep=ep,
        attention_dp=attention_dp,
        dtype=dtype,
        kv_dtype=kv_dtype,
        expert_dtype=expert_dtype,
        attention_dtype=attention_dtype,
        kernels=stack.kernels,
    )
    load = load or ("closed" if batch else "queued")
    run = run_of(server, stack, load, input=input, output=output, batch=batch, requests=requests)
    first, token = served_time(stack, run.first), served_time(stack, run.token)
    latency = first + max(output - 1, 0) * token
    return ServingRates(
        run.tokens / served_time(stack, run.whole), first, token, latency, run.batch * server.groups * pp, server.gpus
    )


def served_time(stack: ServingStack, steps: Steps) -> float:
    """Seconds of some steps with a software's constants: a step that reads prompts lasts as long as its kernels or as
    the host that launches them, whichever is longer.
    """
    return sum(count * step_time(stack, work) for count, work in steps)


def step_time(stack: ServingStack, work: Work) -> float:
    """Seconds of one step with a software's constants."""
    device = sum(part_times(stack, work)) + stack.t_layer * (work.layers + work.prompt_layers)
    return max(device, stack.t_prompt * work.prompt_layers)


class PartTimes(NamedTuple):
    """Seconds of a step's kernels and messages with a software's constants: numbers, or arrays of many steps."""

    products: Any
    experts: Any
    attention: Any
    traffic: Any
    network: Any


def part_times(stack: ServingStack, work: Work) -> PartTimes:
    """The parts of one step: a software's rates are of what these take beyond the least by the data sheet, so that no
    step is quicker than its bytes and operations.
    """
    return PartTimes(
        above_least(work.products, work.products_least, stack.eta),
        above_least(work.experts, work.experts_least, stack.eta * stack.eta_E),
        above_least(work.attention, work.attention_least, stack.eta),
        work.traffic / stack.eta,
        above_least(work.network, work.network_least, stack.eta_net),
    )


def times(steps: Steps, factor: float) -> Steps:
    """So many times these steps."""
    return tuple((factor * count, work) for count, work in steps)


def run_of(
    server: Server,
    stack: ServingStack,
    load: str,
    *,
    input: float,
    output: float,
    batch: float | None = None,
    requests: float = 3000,
    chunk: float | None = None,
    context: float | None = None,
) -> RunSteps:
    """The work of a load. Raises ValueError for one that cannot be.

    Of a closed load, a step reads at most `chunk` tokens of prompts in each group, by default whole prompts, and a
    sequence has `context` tokens in its cache on average, by default its prompt and half of its answer.
    """
    if load not in LOADS:
        raise ValueError(unknown("load", load, LOADS))
    if not (input >= 1 and output >= 1 and requests >= 1):
        raise ValueError(f"a request has at least 1 token in and out, got input={input}, output={output}, {requests=}")
    if load == "queued":
        return _queued(server, stack, input, output, requests)
    if not batch or batch < 1:
        raise ValueError(f"a {load} load has a batch of at least 1 request, got {batch!r}")
    each = max(1, math.ceil(batch / (server.groups * server.pp)))
    total = batch * output
    if load == "static":
        first: Steps = ((server.pp, server.step(0, 0.0, each, input)),)
        token: Steps = ((server.pp, server.step(each, input + output / 2)),)
        return RunSteps(first + times(token, output - 1), first, token, each, total)
    first, token = _wave(server, each, input, output, stack.mixed, chunk, context)
    return RunSteps(times(token, output), first, token, each, total)


def cache_sequences(server: Server, tokens: float, share: float = 0.9, memory: float | None = None) -> float:
    """Sequences of so many tokens that the cache of each group of GPUs holds, for which it gets a share of what weights
    and software leave of the memory: of `memory` bytes of a GPU, by default all that it has.
    """
    held = (server.chip.seen_bytes or 0.0) if memory is None else memory
    return max(0.0, share * (held - server.weight_bytes() - RESERVED) / server.sequence_bytes(tokens))


def _wave(
    server: Server,
    batch: int,
    input: float,
    output: float,
    mixed: bool,
    chunk: float | None = None,
    context: float | None = None,
) -> tuple[Steps, Steps]:
    """`batch` requests of each group, whose starts are spread over their length: a prompt's steps, and a token's.

    A step has batch/output prompts on average. Where software mixes, their tokens go through the products with those
    of the sequences that decode, in as many steps as there are prompts, or parts of them; else decoding waits for
    them. A batch of a pipeline passes all its stages.
    """
    rate, context = batch / output, input + output / 2 if context is None else context
    prompts = max(1.0, rate) if chunk is None else min(max(1.0, rate), chunk / server.unread(input))
    share, pp = rate / prompts, server.pp
    decode = server.step(batch, context)
    if mixed:
        if share > 1:
            raise ValueError(
                f"{rate * server.unread(input):.0f} tokens of prompts come in each step, which reads at most {chunk:g}"
            )
        first = server.step(batch, context, prompts, input)
        return times(((pp, first),), max(1.0, 1 / prompts)), ((pp * (1 - share), decode), (pp * share, first))
    first = server.step(0, 0.0, prompts, input)
    return times(((pp, first),), max(1.0, 1 / prompts)), ((pp, decode), (pp * share, first))


def _queued(server: Server, stack: ServingStack, input: float, output: float, requests: float) -> RunSteps:
    """All requests wait from the start. One is admitted when its whole length fits; full batches run one after another,
    and a smaller one at the end.

    The stages of a pipeline have a batch each.
    """
    held = cache_sequences(server, input + output, stack.cache_share) / server.pp
    limit = min(MOST_SEQUENCES / server.pp, MOST_TOKENS / (1 + input / output))
    waiting = math.ceil(requests / (server.groups * server.pp))
    batch = math.floor(min(held, limit, waiting))
    if batch < 1:
        where = f"{server.model.key} on {server.gpus} of {server.chip.key}"
        raise ValueError(f"{where}: the cache holds no sequence of {input + output:g} tokens beside the weights")
    full, rest = divmod(waiting, batch)
    first, token = _wave(server, batch, input, output, stack.mixed)
    whole = times(token, output * full)
    if rest:
        whole += times(_wave(server, rest, input, output, stack.mixed)[1], output)
    return RunSteps(whole, first, token, batch, requests * output)
