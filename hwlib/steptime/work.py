"""What a rank computes of one microbatch in one layer: matrix products, attention, and what memory takes.

Memory moves every byte that a layer keeps twice, written and read; and the weights, which the backward pass reads
again and whose gradients it adds up. The host must launch the kernels too, which decides for small layers.
"""

from math import log
from typing import Any, NamedTuple

from hwlib.footprint.inputs import choose
from hwlib.footprint.layers import layer_on_rank
from hwlib.formula import maximum, minimum, where
from hwlib.specs import Model, Stack
from hwlib.steptime.inputs import Plan
from hwlib.transformer import attention_step_flops, matmul_parameters, mlp_params

KEPT_MOVES = 2  # what is kept is written once and read once
NARROW, WIDE = 2880, 14336
"""Columns of an expert: of the widest that eta_E was fitted to, and of Mixtral's, whose published step (NVIDIA reports
468 TFLOP/s of an H100 in bfloat16, megatron-core-moe) is that of products which lose nothing beside dense ones."""
GRADIENT_BYTES = 8  # a gradient is read and written, in 32 bits, for every microbatch


class Passes(NamedTuple):
    """Seconds of one microbatch: forward, backward, the part of the latter for gradients of weights, recomputed, and
    of attention's products alone, forward.
    """

    forward: Any
    backward: Any
    weight: Any
    again: Any
    attention: Any


class Rates(NamedTuple):
    """What the chip reaches: FLOP/s of products in the step's dtype and in bfloat16 and of attention's, and B/s of
    memory, for the layers and for the logits. eta_cp and eta_E are the stack's, shares of these.
    """

    C: float
    C_logits: float
    C_attention: float
    W: float
    W_logits: float
    eta_cp: float
    eta_E: float


def rates_of(stack: Stack, dtype: str) -> Rates:
    """The rates of a stack for a dtype. Raises ValueError for a dtype that the chip lacks."""
    chip = stack.accelerator
    wide = dtype if dtype in ("bf16", "bfloat16", "fp16", "float16", "fp32", "float32") else "bf16"
    eta = stack.eta_C if wide == dtype else stack.eta_low * (stack.eta_4 if "fp4" in dtype else 1.0)
    W = chip.hbm_bandwidth or 0.0
    return Rates(
        eta * chip.flops(dtype), stack.eta_C * chip.flops(wide), stack.eta_A * chip.flops(wide), stack.eta_W * W,
        stack.eta_V * stack.eta_W * W, stack.eta_cp, stack.eta_E,
    )  # fmt: skip


def layer_passes(model: Model, moe: bool, plan: Plan, rates: Rates, fused: bool) -> Passes:
    """The passes of one layer, with experts or not, on one rank."""
    tokens = plan.micro * plan.T / plan.cp
    layer = layer_on_rank(model, moe, plan.tp, plan.ep, plan.sp, tokens, plan.T, fused)
    dense, experts = _layer_matrices(model, moe)
    busiest = plan.imbalance / (_expert_share(model, plan.tp, rates.eta_E) if moe else 1.0)
    product = 2 * tokens / plan.tp * (dense + experts * busiest) / rates.C
    attention = attention_step_flops(model, tokens, plan.T, causal=fused) / (model.layers * plan.tp)
    attention = attention / where(plan.cp > 1, rates.C_attention * rates.eta_cp, rates.C_attention)
    parameters = layer.parameters + layer.experts
    moved = KEPT_MOVES * (layer.kept + layer.scores) / rates.W
    products = maximum(product, 2 * parameters / rates.W)
    forward = products + attention + moved
    weight = maximum(product, GRADIENT_BYTES * parameters / rates.W)
    backward = products + weight + 2 * (attention + moved)
    again = choose(plan.recompute, (
        lambda: 0.0,
        lambda: 0.0 if fused else attention + KEPT_MOVES * layer.scores / rates.W,
        lambda: forward,
    ))  # fmt: skip
    return Passes(forward, backward, weight, again, attention)


def _expert_share(model: Model, tp: Any, eta_E: float) -> Any:
    """The share that products of experts keep: eta_E for narrow slices of one, all for wide, a power of it between."""
    if model.expert_ffn <= NARROW or eta_E == 1:
        return eta_E
    width = minimum(maximum(model.expert_ffn / tp, NARROW), WIDE)
    return (width / WIDE) ** (-log(eta_E) / log(WIDE / NARROW))


def logits_passes(model: Model, plan: Plan, rates: Rates) -> Passes:
    """The output layer and its loss: a product, and logits in 16 bits and 32 that are written and read."""
    tokens = plan.micro * plan.T / plan.cp
    product = 2 * tokens * model.width * model.vocab / plan.tp / rates.C_logits
    moved = KEPT_MOVES * 6 * tokens * model.vocab / plan.tp / rates.W_logits
    forward = product + moved
    return Passes(forward, 2 * forward, product, 0.0, 0.0)


def _layer_matrices(model: Model, moe: bool) -> tuple[float, int]:
    """Parameters of one layer that a token is multiplied with: of what all tokens take, and of routed experts."""
    mlp = int(mlp_params(model.width, model.ffn, model.matrices))
    expert = int(mlp_params(model.width, model.expert_ffn, model.matrices))
    routed, common = model.experts_per_token * expert, model.shared_experts * expert + model.experts * model.width
    layers = matmul_parameters(model) - model.width * model.vocab
    mlps = (model.layers - model.moe_layers) * mlp + model.moe_layers * (routed + common)
    attention = (layers - mlps) / model.layers
    return (attention + common, routed) if moe else (attention + mlp, 0)
