"""The passes of a layer and of the output layer, kernel by kernel, on a chip whose products are calibrated, or on any.

Products are those of the product model, each with its own lengths: forward, and backward for the gradients of inputs
and of weights. Attention is a fused kernel, whose backward pass has five products where forward has two. All else moves
bytes (`kernel_moves`). A step as a whole reaches a share of what kernels reach by themselves, for the chip gets warm
and slows down. The host launches one kernel after another: a pass takes no less than its launches do.

Experts' products are one for all experts, of which each wastes half a tile of rows on average, and reads all weights.
The host must know how many rows each expert has, so it waits for the chip in every layer with experts, and its launches
stand beside the chip's work instead of behind it.
"""

from typing import Any, NamedTuple

from hwlib.calibrated.attention import prefill_seconds
from hwlib.calibrated.gemm import USUAL, GemmModel, product_model
from hwlib.calibrated.sheet import KERNEL_BYTES, RateSheet
from hwlib.footprint.trained import layer_matrices, matrix_share
from hwlib.formula import maximum
from hwlib.specs import accelerators
from hwlib.specs.fitted import attention_constants
from hwlib.steptime.job import Job, wide_dtype
from hwlib.steptime.kernel_moves import ELEMENT, FUSIONS, WIDE, adapter_launches, layer_moves
from hwlib.steptime.state_times import mean_state_time
from hwlib.transformer import mean_entries
from hwlib.transformer.attention_kinds import AttentionKind, attention_kinds

HALF_TILE = 64  # rows of an expert's product that are padding, on average
BACKWARD = 2.5  # products of attention's backward pass for one of its forward pass
SUM_MOVES = 3  # a gradient of a later microbatch is read, the sum so far too, and a sum written
OPEN_KERNEL = "vllm"  # whose attention is FlashAttention's, as PyTorch's is


class Products(NamedTuple):
    """Seconds of a layer's products: forward, and backward for the gradients of inputs and of weights."""

    forward: Any = 0.0
    inputs: Any = 0.0
    weights: Any = 0.0


def _wide_products(job: Job) -> GemmModel:
    """The product model of what is not in the layers' narrow dtype: the router and the output layer."""
    return product_model(job.stack.accelerator, wide_dtype(job.dtype))


def kernel_attention(job: Job) -> Any:
    """Seconds of attention of one microbatch in the mean layer, forward."""
    model, plan, sheet = job.model, job.strategy, job.stack.accelerator
    table = attention_constants()
    key = (sheet.key, "bf16", OPEN_KERNEL)
    known = key in table and accelerators.get(sheet.key) == sheet
    constants = table[key] if known else table[USUAL, "bf16", OPEN_KERNEL]
    sms = sheet.sms or accelerators[constants.chip].sms
    rates = RateSheet(sheet.flops(wide_dtype(job.dtype)), sheet.hbm_bandwidth, sms)
    head = (model.key_dim + model.value_dim) / 2
    heads = model.heads, model.kv_heads if not model.mla else model.heads, head

    def seconds(window: int) -> Any:
        return prefill_seconds(constants, rates, KERNEL_BYTES["bf16"][0], *heads, plan.micro, job.T, window)

    windowed = model.window_layers / max(model.attention_layers, 1) if model.window else 0.0
    full = seconds(0) * (1 - windowed) if windowed < 1 else 0.0
    mean = model.attention_share * (full + (seconds(model.window) * windowed if windowed else 0.0))
    if model.compression:  # as many keys as it reads, as if they stood in a window
        keys = [(kind.layers, round(kind.window + _mean_entries(kind, job.T))) for kind in attention_kinds(model)]
        mean = sum(layers * seconds(min(read, job.T)) for layers, read in keys) / model.layers
    states = mean_state_time(model, sheet, plan.micro * job.T / plan.cp, plan.tp, rates.C)
    return (mean + states) / job.stack.eta_F


def _mean_entries(kind: AttentionKind, T: int) -> float:
    return float(mean_entries.function(T, kind.stride, kind.picked or T)) if kind.stride else 0.0


class KernelPasses(NamedTuple):
    """Seconds of one microbatch in a layer: forward, backward, of the latter for gradients of weights; and of forward
    alone its products, and what moves.
    """

    forward: Any
    backward: Any
    weight: Any
    products: Any
    moved: Any


def kernel_layer(job: Job, moe: bool, attention: Any, parameters: Any, added: tuple[Any, Any]) -> KernelPasses:
    """One layer, with experts or not: with the time of its attention forward, its parameters, and what adapters add to
    each pass.
    """
    stack, by = job.stack, layer_moves(job.model, moe, job.stack.kernels, _wide(job), job.frozen)
    tokens = job.strategy.micro * job.T / job.strategy.cp
    products = _layer_products(job, moe, tokens)
    weights = 0.0 if job.frozen else products.weights + _added_up(job, parameters)
    scores, scores_back = score_times(job)
    moved = by.forward * tokens / job.rates.W + scores + stack.t_kernel * by.launches
    moved_back = by.backward * tokens / job.rates.W + scores_back + stack.t_kernel * by.launches_back
    forward = products.forward + attention + moved + added[0]
    backward = products.inputs + weights + BACKWARD * attention + moved_back + added[1]
    more, more_back = adapter_launches(job.adapters, job.model, moe) if job.adapters else (0, 0)
    launched = stack.t_launch * (by.launches + more)
    forward = forward + launched if moe else maximum(forward, launched)
    backward = maximum(backward, stack.t_launch * (by.launches_back + more_back))
    return KernelPasses(forward, backward, weights, products.forward, moved)


def score_times(job: Job) -> tuple[Any, Any]:
    """Seconds in which a layer's scores move, forward and backward: of a fused attention none."""
    if job.fused:
        return 0.0, 0.0
    plan = job.strategy
    moved = plan.micro * job.T**2 * job.model.heads / plan.cp / job.rates.W
    ahead, back = FUSIONS[job.stack.kernels].scores
    return ahead * moved, back * moved


def kernel_logits(job: Job) -> tuple[Any, Any, Any]:
    """Seconds of the output layer, its loss and the table of embeddings: forward, backward, and of the latter for the
    output layer's weights. The gradient of a table is written whole, and where tables are tied added to another.
    """
    model, plan = job.model, job.strategy
    tokens = plan.micro * job.T / plan.cp
    by, of = FUSIONS[job.stack.kernels], _wide_products(job)
    share, W = job.stack.eta_P, job.rates.W_logits
    forward = of.times(tokens, model.vocab, model.width) / share
    inputs = of.times(tokens, model.width, model.vocab) / share
    weights = 0.0
    tables = 0.0
    if not job.frozen:
        wide = WIDE if _wide(job) else ELEMENT
        weights = of.times(model.width, model.vocab, tokens) / share
        tables = (1 + SUM_MOVES * model.tied) * wide * model.vocab * model.width / W
        weights = weights + _added_up(job, model.vocab * model.width * (1 if model.tied else 2))
    loss, loss_back = (bytes_of * tokens * model.vocab / W for bytes_of in by.loss)
    ahead, back = forward + loss, inputs + weights + loss_back
    if job.mtp:  # each module combines a state with the embedding of the token that follows it, and predicts again
        combined = of.times(tokens, model.width, 2 * model.width) / share
        again = 1 + job.mtp
        return again * ahead + job.mtp * combined, again * back + tables + 2 * job.mtp * combined, again * weights
    return ahead, back + tables, weights


def _wide(job: Job) -> bool:
    """Whether weights have 32 bits, and products 16 under autocast."""
    return bool(job.trained and not job.trained.adapters and job.trained.states.weight == WIDE)


def _added_up(job: Job, parameters: Any) -> Any:
    """Seconds of a microbatch in which gradients are added to those of the microbatches before it."""
    width = job.trained.states.gradient if job.trained else ELEMENT
    return (1 - 1 / job.m) * SUM_MOVES * width * parameters / job.rates.W


def _layer_products(job: Job, moe: bool, tokens: Any) -> Products:
    """The products of a layer, at the share of their rate that a step reaches."""
    model, of = job.model, product_model(job.stack.accelerator, job.dtype)
    sums = [0.0, 0.0, 0.0]
    for name, shapes in layer_matrices(model, moe).items():
        timed = _expert_product if name == "experts" else _product
        share = matrix_share(model, moe, name)
        for into, out in shapes if share else ():
            seconds = timed(job, of, tokens, into, out)
            sums = [total + share * each for total, each in zip(sums, seconds, strict=True)]
    if moe:
        router = _product(job, _wide_products(job), tokens, model.width, model.experts)
        sums = [total + seconds for total, seconds in zip(sums, router, strict=True)]
    return Products(*(total / job.stack.eta_P for total in sums))


def _product(job: Job, of: GemmModel, tokens: Any, into: int, out: int) -> tuple[Any, Any, Any]:
    weights = 0.0 if job.frozen else of.times(into, out, tokens)
    return of.times(tokens, out, into), of.times(tokens, into, out), weights


def _expert_product(job: Job, of: GemmModel, tokens: Any, into: int, out: int) -> tuple[Any, Any, Any]:
    """The product of all routed experts, whose busiest sees more than the mean; there are as many gradients of weights
    as experts, each of a sum over its own rows.
    """
    model = job.model
    copies = tokens * model.experts_per_token * job.expert_imbalance
    rows = copies + HALF_TILE * model.experts
    read = ELEMENT * model.experts * into * out / of.W
    forward, inputs = maximum(of.times(rows, out, into), read), maximum(of.times(rows, into, out), read)
    weights = 0.0 if job.frozen else of.times(into * model.experts, out, maximum(copies / model.experts, 1.0))
    return forward, inputs, weights
