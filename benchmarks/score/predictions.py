"""What the models predict for a published measurement, with the constants that the project keeps."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from benchmarks.rows.allreduce_rows import NodesAllReduce
from benchmarks.rows.collective_rows import WireBound
from benchmarks.rows.kernel_rows import TimedKernel
from benchmarks.rows.memory_rows import Peak
from benchmarks.rows.published import Case, Collective, Product, ReachedShare
from benchmarks.rows.serving_rows import Serving
from benchmarks.rows.training_memory import MemoryUse
from benchmarks.rows.training_step import MISREAD, TrainingStep, Unmodelled, own_constants
from benchmarks.score.calculon import calculon
from hwlib.calibrated import (
    Timed,
    collective_time,
    decode_attention_time,
    gemm_model,
    grouped_time,
    plain_time,
    prefill_attention_time,
)
from hwlib.calibrated.nccl_expected import known_between
from hwlib.calibrated.sheet import KERNEL_BYTES
from hwlib.roofline import roofline_time
from hwlib.specs import accelerators, frameworks
from hwlib.specs.fitted import (
    attention_constants,
    collective_constants,
    decode_constants,
    grouped_constants,
    grouped_kernels,
    share_constants,
    tree_constants,
)
from hwlib.specs.serving_stack import ServingStack, serving_stacks
from hwlib.specs.stack import Stack
from hwlib.transformer import step_flops


class Prediction(NamedTuple):
    """Times in seconds, or bytes: predicted, by the simple model, and measured; how many constants were fitted.

    `peer` is what Calculon predicts, NaN where it predicts nothing or the figure is not known; `memory` what a step
    needs of the chip's memory, NaN of all else. `typical` names the constants where none were fitted to steps of
    the software on the chip.
    """

    time: float
    plain: float
    measured: float
    constants: int
    peer: float = math.nan
    memory: float = math.nan
    typical: str = ""

    @property
    def error(self) -> float:
        """|predicted - measured|/measured."""
        return abs(self.time - self.measured) / self.measured

    @property
    def plain_error(self) -> float:
        """The same of the simple model: the data sheet's roofline, or one alpha-beta line."""
        return abs(self.plain - self.measured) / self.measured

    @property
    def peer_error(self) -> float:
        """The same of Calculon."""
        return abs(self.peer - self.measured) / self.measured


def predict(case: Case) -> Prediction | Unmodelled | None:
    """The prediction for one measurement, or None where the project has no constants for it.

    For a training step or its memory that cannot be predicted, `Unmodelled`, with the reason.
    """
    match case:
        case Product():
            return _product(case)
        case ReachedShare():
            return _share(case)
        case Collective():
            return _collective(case)
        case WireBound():
            return Prediction(case.bound, case.bound, case.seconds, 0, typical="the wires' rate, a bound")
        case NodesAllReduce():
            return _nodes(case.chip, case.network, case.timed)
        case TimedKernel():
            return predict_kernel(case)
        case TrainingStep():
            return predict_step(case)
        case MemoryUse():
            return Prediction(case.predicted, case.simple, case.measured, 0, calculon(case))
        case Peak():
            return _peak(case)
        case Serving():
            return predict_serving(case)
        case Unmodelled():
            return case
    return None


def _peak(case: Peak) -> Prediction:
    by = case.framework
    typical = by.key if case.typical else f"{by.key}, of a row that leaves something open" * case.open
    constants = len(frameworks[by.like or by.key].fitted)
    return Prediction(case.predicted(), case.simple, case.measured, constants, typical=typical)


def predict_step(case: TrainingStep, stack: Stack | None = None) -> Prediction | Unmodelled:
    """A training step, with the constants of `stack`, or of the kept one that the case names.

    The simple model is all operations, recomputed ones among them, at the data sheet's rate.
    """
    typical = "" if stack or not case.typical else case.typical.key
    try:
        task = case.task(stack)
        if case.plan["dtype"] in ("fp8", "fp4") and "eta_low" not in task.stack.constants:
            return Unmodelled(f"dtype is {case.plan['dtype']!r}, without constants of products of {task.stack.key}")
        time = case.time(stack)
        needed = case.memory_share
    except ValueError as error:
        return Unmodelled(str(error))
    passes = 4 / 3 if case.plan.get("recompute") == "full" else 1.0
    rate = case.gpus * accelerators[case.chip].flops(case.plan["dtype"])
    plain = passes * float(step_flops(case.model, case.plan["B"], case.plan["T"])) / rate
    if typical and needed > MISREAD:  # whose reader guesses what the row leaves out
        read = f"the plan, as it was read (recompute is {case.plan.get('recompute')!r})"
        return Unmodelled(f"{read}, needs {needed:.1f} times the chip's memory")
    return Prediction(time, plain, case.seconds, own_constants(task.stack), calculon(case), needed, typical)


def predict_serving(case: Serving) -> Prediction:
    """A server, with the kept constants of its software. The simple model is the data sheet's roofline of each step."""
    typical = case.constants_of if case.typical else ""
    ideal = ServingStack.ideal().constants
    used = sum(value != ideal[name] for name, value in serving_stacks[case.stack].constants.items())  # typed ones too
    plain = sum(count * work.sheet for count, work in case.steps)
    return Prediction(case.time(), plain, case.seconds, used, typical=typical)


KERNELS: dict[str, tuple[Callable[[], Mapping[Any, Any]], Callable[..., Any]]] = {
    "attention-context": (attention_constants, prefill_attention_time),
    "attention-decode": (decode_constants, decode_attention_time),
    "grouped-gemm": (grouped_constants, grouped_time),
}


def predict_kernel(case: TimedKernel) -> Prediction | Unmodelled:
    """Attention or experts; experts of a kernel without constants as those of the software's usual one.

    The simple model is the data sheet's roofline.
    """
    table, time = KERNELS[case.kind]
    entry, named = table().get((case.chip, case.dtype, case.software)), {}
    of = (case.chip, case.dtype, case.kernel)
    if same := {key[2]: one for key, one in grouped_kernels().items() if (*key[:2], key[3]) == of}:
        entry, named = same.get(case.software, entry or next(iter(same.values()))), {"kernel": case.kernel}
    if entry is None:
        return Unmodelled(f"dtype is {case.dtype!r}, without constants of {case.software} on {case.chip}")
    predicted = time(case.chip, case.dtype, **case.sizes, software=case.software, **named)
    few = entry.typical or entry.software != case.software
    typical = f"{case.software}, {case.dtype}: few rows" if few else ""
    return Prediction(predicted, _kernel_roofline(case), case.seconds, len(entry.constants), typical=typical)


def _kernel_roofline(case: TimedKernel) -> float:
    s, chip = case.sizes, accelerators[case.chip]
    weight, _, of = KERNEL_BYTES[case.dtype]
    if case.kind == "grouped-gemm":
        matrices, local = 2 + s["gated"], s["local_experts"]
        flops = 2 * matrices * s["tokens"] * s["topk"] * local / s["experts"] * s["hidden"] * s["width"]
        traffic = min(local, s["tokens"] * s["topk"]) * matrices * s["hidden"] * s["width"] * weight
    elif case.kind == "attention-context":
        flops = 2 * s["batch"] * s["heads"] * s["head_dim"] * s["seq"] ** 2
        traffic = 2 * weight * s["batch"] * s["seq"] * s["head_dim"] * (s["heads"] + s["kv_heads"])
    else:
        of, flops = "bf16", 4 * s["batch"] * s["heads"] * s["head_dim"] * s["cached"]
        traffic = 2 * weight * s["batch"] * s["kv_heads"] * s["head_dim"] * s["cached"]
    rate = chip.bf16_flops if getattr(chip, f"{of}_flops") is None else chip.flops(of)
    return roofline_time(flops, traffic, rate, chip.hbm_bandwidth or math.nan)


def _product(case: Product) -> Prediction | Unmodelled:
    try:
        model = gemm_model(case.chip, case.dtype)
    except KeyError:
        return Unmodelled(f"dtype is {case.dtype!r}, without constants of products on {case.chip}")
    M, N, K, measured = case.shape
    flops, traffic, *_ = case.shape.sample(case.dtype)
    plain = roofline_time(flops, traffic, model.C, model.W)
    count = len(model.constants.constants)
    return Prediction(model.time(M, N, K), plain, measured, count, typical=model.typed)


def _share(case: ReachedShare) -> Prediction | Unmodelled:
    if case.op not in share_constants():
        return Unmodelled(f"op is {case.op!r}, none of {', '.join(share_constants())}")
    time = 1 / (share_constants()[case.op].eta * case.sheet)
    return Prediction(time, 1 / case.sheet, 1 / case.rate, 1, typical="another chip's share" * case.typical)


def _collective(case: Collective) -> Prediction | Unmodelled:
    S, n, measured = case.timed
    if (case.chip, case.software) in tree_constants():
        return _nodes(case.chip, case.software, case.timed)
    if c := collective_constants().get((case.chip, case.op, case.software)):
        time = collective_time(c, n, S, case.switch)
        typical = case.software if case.typical else ""
        return Prediction(time, plain_time(c, n, S), measured, len(c.constants), typical=typical)
    return Unmodelled(f"system is {case.chip!r}, without constants of {case.op} by {case.software}")


def _nodes(chip: str, network: str, timed: Timed) -> Prediction | Unmodelled:
    S, n, measured = timed
    known = known_between(chip, n, network)
    if known is None:
        return Unmodelled(f"system is {n} GPUs of {chip} over {network}, without constants")
    c = known.constants
    typical = known.like and f"those of {known.like}"
    return Prediction(known.time(S), plain_time(c, n, S), measured, len(c.constants), typical=typical)
