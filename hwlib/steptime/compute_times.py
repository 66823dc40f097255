"""The computation of one microbatch in one layer on a rank: matrix products, attention, and memory traffic.

Memory moves every byte that a layer keeps twice, written and read; and the weights, which the backward pass reads
again and whose gradients it adds up. The host must launch the kernels too, which decides for small layers.
"""

from typing import Any, NamedTuple

from hwlib.columns import choose, is_one
from hwlib.footprint.layer_bytes import layer_on_rank
from hwlib.formula import maximum, where
from hwlib.specs import Model, Stack
from hwlib.steptime.job import Job
from hwlib.strategy import Strategy
from hwlib.transformer import attention_step_flops, matmul_parameters, mlp_params

USUAL_HEAD = 128  # elements of a head, of nearly every model: whose rate of attention a stack states
KEPT_MOVES = 2  # what is kept is written once and read once
SORTED_BYTES = 16  # an element of a copy is read and written four times: by expert, by local expert, and both ways back
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
    model, stack, plan, T, rates, fused = job.model, job.stack, job.strategy, job.T, job.rates, job.fused
    tokens = plan.micro * T / plan.cp
    layer = layer_on_rank(model, moe, plan.tp, plan.ep, plan.sp, tokens, T, fused)
    dense, experts = _layer_matrices(model, moe)
    busiest = job.expert_imbalance / _expert_share(model, stack, plan, tokens) if moe else 1.0
    product = 2 * tokens / plan.tp * (dense + experts * busiest) / rates.C
    attention = attention_step_flops(model, tokens, T, causal=fused) / (model.layers * plan.tp)
    attention = attention / (rates.C_attention * _attention_share(model, stack, plan, T))
    parameters = layer.parameters + layer.experts
    moved = KEPT_MOVES * (layer.kept + layer.scores) / rates.W
    if moe and not job.dedup_dispatch:
        moved = moved + SORTED_BYTES * model.experts_per_token * tokens / plan.tp * model.width / rates.W
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


def _expert_share(model: Model, stack: Stack, plan: Strategy, tokens: Any) -> Any:
    """The share of the rate of dense products that those of experts reach: grouped products are the slower the fewer
    tokens an expert sees in a microbatch, from all ranks that share the experts, and the narrower its slice is.
    """
    seen = tokens * plan.ep * model.experts_per_token / model.experts
    return stack.eta_E * _reached(seen, stack.n_E) * _reached(model.expert_ffn / plan.tp, stack.w_E)


def _attention_share(model: Model, stack: Stack, plan: Strategy, T: Any) -> Any:
    """The share of attention's rate over long sequences that a rank reaches with its part of one, and its heads: 1 for
    heads of 128.
    """
    head = (model.key_dim + model.value_dim) / 2
    length = T if is_one(plan.cp) else T / where(plan.cp > 1, 2 * plan.cp, 1)  # a causal ring deals halves of parts
    share = _reached(length, stack.T_A) * _reached(head, stack.d_A) / _reached(USUAL_HEAD, stack.d_A)
    return share if is_one(plan.cp) else share * where(plan.cp > 1, stack.eta_cp, 1.0)


def _reached(x: Any, half: float) -> Any:
    """x/(x + half): the share of a rate that is reached with x, which is half of it where x is `half`."""
    return x / (x + half) if half else 1.0


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
