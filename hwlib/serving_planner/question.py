"""What is asked of the serving planner: a model, GPUs, requests, limits of latency, and what the answer rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import inf
from typing import Any, NamedTuple

from hwlib.arguments import is_number
from hwlib.calibrated.serving_drafts import Drafting
from hwlib.calibrated.serving_kernels import ANY, ARCHITECTURES, fitted_architecture, kernel_chip
from hwlib.inference.queueing import squared_variation
from hwlib.planner.plan_error import PlanError
from hwlib.planner.task import Machine, machine_of, memory_of, model_of
from hwlib.serving_planner.cache_precision import cache_words, check_cache
from hwlib.serving_planner.precision import precisions, usual_dtype, usual_kv_dtype
from hwlib.serving_planner.prefix import Prefix, prefix_of
from hwlib.serving_planner.speculation import drafting_of
from hwlib.serving_planner.stored_precision import stored_cache, stored_precisions
from hwlib.specs import Accelerator, Model, accelerators, measured_lengths
from hwlib.specs.cluster import Place
from hwlib.specs.fitted import attention_constants, decode_constants, gemm_constants
from hwlib.specs.prediction_errors import SERVING, prediction_errors
from hwlib.specs.serving_stack import USUAL, USUAL_ROCM, USUAL_ROCM_MOE, ServingStack, build_for, serving_stacks
from hwlib.specs.stack import typical_words
from hwlib.specs.table import unknown
from hwlib.units import plural, show

OLDER = "tensorrt-llm-0.14"
LONGEST = 2**24
FIXED = ("tp", "ep", "attention_dp")


class Workload(NamedTuple):
    """Requests: the means of their tokens, and the squared variations of both (0: all alike)."""

    prompt: float
    output: float
    cv2_prompt: float = 0.0
    cv2_output: float = 0.0

    @property
    def full(self) -> float:
        """Tokens that a request under way has in the end: of long answers, more than of all are under way at once."""
        return self.prompt + self.output * (1 + self.cv2_output)

    @property
    def context(self) -> float:
        """Tokens that a request under way has in the cache, on average."""
        return self.prompt + self.output * (1 + self.cv2_output) / 2

    def __str__(self) -> str:
        text = f"prompts of {self.prompt:,.0f} and answers of {plural(round(self.output), 'token')}"
        return text + " on average" * bool(self.cv2_prompt or self.cv2_output)


class Limits(NamedTuple):
    """Latency that a plan keeps, in seconds, at the mean: to the first token (its queue included), between two tokens
    of a request, and the longest step between two tokens.
    """

    ttft: float = inf
    tpot: float = inf
    gap: float = inf

    def __str__(self) -> str:
        names = (
            ("first token within", self.ttft),
            ("a token each", self.tpot),
            ("never longer between two than", self.gap),
        )
        return ", ".join(f"{name} {show(x, 's', 3)}" for name, x in names if x < inf)


@dataclass(frozen=True)
class Question:
    """A checked question: `memory` bytes of a GPU that a server may take, `price` dollars a second and GPU, the degrees
    that are `fixed`, by name, and whether prefill and decode are `apart` (None: both are tried).
    """

    model: Model
    machine: Machine
    workload: Workload
    limits: Limits
    stack: ServingStack
    dtype: str
    kv_dtype: str
    memory: float
    price: float
    fixed: Mapping[str, tuple[int, ...]]
    apart: bool | None = None
    drafting: Drafting | None = None
    prefix: Prefix | None = None

    @property
    def unread(self) -> float:
        """Tokens of a prompt that are read, without those that the cache has already."""
        return max(1.0, self.workload.prompt - (self.prefix.reused if self.prefix else 0.0))

    @property
    def step_tokens(self) -> float:
        """Tokens that a step gives each of its sequences on average: more than 1 where it checks drafts."""
        return self.drafting.tokens if self.drafting else 1.0

    @property
    def counts_mtp(self) -> bool:
        """Whether the model's modules for multi-token prediction make drafts."""
        return self.drafting is not None and self.drafting.method == "mtp"

    @property
    def output_steps(self) -> float:
        """Steps in which the tokens of an answer are generated."""
        return max(1.0, self.workload.output / self.step_tokens)

    @property
    def chip(self) -> Accelerator:
        return self.machine.chip

    @property
    def gpus(self) -> int:
        """GPUs that there are."""
        return self.machine.gpus

    @property
    def node(self) -> int:
        """GPUs that the chip's own links join."""
        return min(self.machine.node, self.gpus)

    @property
    def W_out(self) -> float:
        """The rate of a GPU's network between nodes, B/s: the narrowest of the levels; 0 of a single node."""
        rates, below = [], self.machine.full_node
        for level in self.machine.levels[1:]:
            rates.append(level.bandwidth / below)
            below *= level.size
        return min(rates, default=0.0)

    @cached_property
    def precisions(self) -> dict[str, Any]:
        """The precisions of a `Server`, by its fields: of a checkpoint that is planned as it is stored, each part's."""
        usual = precisions(self.model, self.chip, self.dtype, self.kv_dtype)
        return usual | stored_precisions(self.model, self.chip, self.dtype)

    @property
    def cache(self) -> str:
        """The format of the cache in words."""
        return cache_words(self.model, self.kv_dtype)

    @property
    def caveat(self) -> str:
        """That no constant was fitted to the chip, and whose are taken, and that a torus is timed by a bound; empty of
        other machines of a chip that kernels or servers were timed on, by software that was timed on its maker's chips.
        """
        arch = fitted_architecture(self.chip)
        if arch and self.stack.software != "typical":
            of_sheet = "" if self.chip.key in timed_chips() else sheet_words(self.chip, arch)
            return f"{of_sheet} {self.machine.caveat}".strip()
        usual, narrow = (accelerators[key].name for key in ANY)
        kernels = f"the kernels of {f'{self.chip.name} and ' if arch else ''}{usual}"
        kernels += f" (of {narrow} in 4 bits)" if self.chip.fp4_flops and self.dtype in ("fp4", "mxfp4") else ""
        software = self.stack.like if self.stack.software == "typical" else self.stack.key
        like = f"{kernels}, at the rates of this chip, and of {software}"
        return f"First-order. {typical_words(self.chip.name, like)} {self.machine.caveat}".rstrip()

    def __str__(self) -> str:
        limit = f"; {self.limits}" if str(self.limits) else "; no limit of latency"
        name = self.model.planned_name(self.dtype)
        return f"{name} on {self.gpus:,} x {self.chip.name}, {self.workload}{limit}"


@cache
def timed_chips() -> frozenset[str]:
    """Chips that a kernel of a server, or a whole one, was timed on."""
    kernels = {key[0] for table in (gemm_constants(), attention_constants(), decode_constants()) for key in table}
    return frozenset(kernels | {row.chip for row in prediction_errors(SERVING)})


def sheet_words(chip: Accelerator, arch: str) -> str:
    """That nothing was timed on a chip, and that its data sheet stands for it."""
    like = accelerators[ARCHITECTURES[arch]].name
    return f"Nothing was timed on {chip.name}: its kernels are those of {like}, at the rates of its data sheet."


def question_of(
    model: Model | str, cluster: Place | str, *, prompt: int | None = None,
    output: int | None = None, trace: str | None = None, gpus: int | None = None, ttft: float = inf,
    tpot: float = inf, gap: float = inf, dtype: str | None = None, kv_dtype: str | None = None,
    stack: ServingStack | str | None = None, memory: float | None = None, price: float | None = None,
    fixed: Mapping[str, tuple[int, ...]] | None = None, apart: bool | None = None, speculate: str | None = None,
    prefix: int | None = None, state_every: int | None = None,
) -> Question:  # fmt: skip
    """The question, checked; without a price, that of the machine. Raises PlanError, which names the field at fault."""
    model, machine = model_of(model), _linked(machine_of(cluster, gpus))
    price = machine.price if price is None else price
    chip = machine.chip
    try:
        kernel_chip(chip)
    except ValueError as error:
        raise PlanError("cluster", str(error)) from None
    if not (is_number(price) and 0 <= price < inf):
        raise PlanError("price", f"expected dollars of at least 0, got {price!r}")
    for name, limit in (("ttft", ttft), ("tpot", tpot), ("gap", gap)):
        if not is_number(limit) or not limit > 0:
            raise PlanError(name, f"expected seconds above 0, got {limit!r}")
    workload = _workload(prompt, output, trace)
    if odd := sorted(set(fixed or {}) - set(FIXED)):
        raise PlanError("fixed", unknown("degree", odd[0], FIXED))
    if apart and (machine.gpus < 2 or workload.output < 2):
        raise PlanError(
            "apart",
            f"prefill and decode need a GPU each and answers of 2 tokens, got {machine.gpus} and {workload.output:g}",
        )
    if model.positions and model.positions < workload.prompt + workload.output:
        raise PlanError(
            "prompt",
            f"{workload.prompt + workload.output:,.0f} tokens are more than the "
            f"{model.positions:,} learned positions of {model.name}",
        )
    if workload.prompt + workload.output > max(model.context, 1):
        raise PlanError(
            "prompt",
            f"{model.name} is made for {model.context:,} tokens, and a request has "
            f"{workload.prompt + workload.output:,.0f}",
        )
    dtype = dtype or usual_dtype(model, chip)
    software = _stack(model, chip, stack)
    kv_dtype = kv_dtype or stored_cache(model, chip, dtype, software.program) or usual_kv_dtype(dtype, chip)
    precisions(model, chip, dtype, kv_dtype)
    check_cache(software.program, kv_dtype)
    return Question(
        model, machine, workload, Limits(ttft, tpot, gap), software, dtype, kv_dtype,
        memory_of(chip, memory), price, {name: tuple(values) for name, values in (fixed or {}).items() if values},
        apart, drafting_of(model, speculate) if speculate else None,
        prefix_of(model, workload.prompt, prefix, state_every),
    )  # fmt: skip


def _linked(machine: Machine) -> Machine:
    """The machine, whose chip's links carry what they do in its nodes."""
    chip, carried = machine.chip, machine.levels[0].bandwidth
    if chip.scaleup_bandwidth == carried:
        return machine
    return machine._replace(chip=replace(chip, scaleup_bandwidth=carried))


def _workload(prompt: int | None, output: int | None, trace: str | None) -> Workload:
    if trace is not None:
        if prompt is not None or output is not None:
            raise PlanError("trace", "a trace has its own lengths; expected it, or a prompt and an output")
        try:
            rows = measured_lengths(trace)
        except ValueError as error:
            raise PlanError("trace", str(error)) from None
        inputs, outputs = [row.input for row in rows], [row.output for row in rows]
        means = sum(inputs) / len(rows), sum(outputs) / len(rows)
        return Workload(*means, squared_variation(inputs), squared_variation(outputs))
    for name, tokens in (("prompt", prompt), ("output", output)):
        if tokens is None or not is_number(tokens) or tokens != int(tokens) or not 1 <= tokens <= LONGEST:
            raise PlanError(name, f"expected a whole number of tokens from 1 to {LONGEST:,}, got {tokens!r}")
    assert prompt is not None
    assert output is not None
    return Workload(float(prompt), float(output))


def _stack(model: Model, chip: Accelerator, stack: ServingStack | str | None) -> ServingStack:
    """The software asked for, or the newest one that was fitted on chips like this; with typical constants on a chip
    that is like none, or of another maker than those on which the software was timed. A program that was timed in
    another build on chips like this is taken in that.
    """
    if isinstance(stack, ServingStack):
        return stack
    key = stack or _usual(model, chip)
    if key not in serving_stacks:
        raise PlanError("stack", unknown("serving stack", key, serving_stacks))
    key = build_for(key, chip, bool(model.moe))
    fits = fitted_architecture(chip) and serving_stacks[key].vendor == chip.vendor
    return serving_stacks[key] if fits else serving_stacks[key].typical(chip, bool(model.moe))


def _usual(model: Model, chip: Accelerator) -> str:
    arch = fitted_architecture(chip)
    if arch and chip.vendor == "AMD":
        return USUAL_ROCM_MOE[arch] if model.moe else USUAL_ROCM
    return OLDER if arch in ("Ampere", "Ada") else USUAL


__all__ = ["FIXED", "Limits", "Question", "Workload", "question_of"]
