"""The computation of one microbatch in one layer on a rank: matrix products, attention, and memory traffic.

Memory moves every byte that a layer keeps twice, written and read; and the weights, which the backward pass reads
again and whose gradients it adds up. The host must launch the kernels too, which decides for small layers.
"""

from math import log
from typing import Any, NamedTuple

from hwlib.columns import choose
from hwlib.footprint.layer_bytes import layer_on_rank
from hwlib.formula import maximum, minimum, where
from hwlib.specs import Model
from hwlib.steptime.job import Job
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


def layer_passes(job: Job, moe: bool) -> Passes:
    """The passes of one layer, with experts or not, on one rank."""
    model, plan, T, rates, fused = job.model, job.strategy, job.T, job.rates, job.fused
    tokens = plan.micro * T / plan.cp
    layer = layer_on_rank(model, moe, plan.tp, plan.ep, plan.sp, tokens, T, fused)
    dense, experts = _layer_matrices(model, moe)
    busiest = job.expert_imbalance / (_expert_share(model, plan.tp, rates.eta_E) if moe else 1.0)
    product = 2 * tokens / plan.tp * (dense + experts * busiest) / rates.C
    attention = attention_step_flops(model, tokens, T, causal=fused) / (model.layers * plan.tp)
    attention = attention / where(plan.cp > 1, rates.C_attention * rates.eta_cp, rates.C_attention)
    parameters = layer.parameters + layer.experts
    moved = KEPT_MOVES * (layer.kept + layer.scores) / rates.W
    products = maximum(product, 2 * parameters / rates.W)
    forward = products + attention + moved
    weight = maximum(product, GRADIENT_BYTES * parameters / rates.W)
    backward = products + weight + 2 * (attention + moved)
    again = choose(plan.recompute_code, (
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


def logits_passes(job: Job) -> Passes:
    """The output layer and its loss: a product, and logits in 16 bits and 32 that are written and read."""
    model, plan, rates = job.model, job.strategy, job.rates
    tokens = plan.micro * job.T / plan.cp
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
