"""The computation of one microbatch in one layer on a rank: matrix products, attention, and memory traffic.

Memory moves every byte that a layer keeps twice, written and read; and the weights, which the backward pass reads
again. Their gradients are added to those of earlier microbatches, in a kernel of its own or where each tile of the
product that computes them ends, so at best beside a share of that product. The host must launch the kernels too, which
decides for small layers.
"""

from typing import Any, NamedTuple

from hwlib.columns import choose_by, is_one
from hwlib.footprint.layer_bytes import LayerFootprint, layer_on_rank
from hwlib.formula import maximum, minimum, where
from hwlib.parallel import exposed_time
from hwlib.specs import Model, Stack
from hwlib.steptime.adapter_times import adapter_passes
from hwlib.steptime.job import Job
from hwlib.steptime.kernel_passes import kernel_attention, kernel_layer, kernel_logits, score_times
from hwlib.steptime.state_times import attention_flops, mean_state_time
from hwlib.strategy import BY_OP, Strategy, recomputed_modules
from hwlib.transformer import latent_matrices, matmul_parameters, mlp_params

USUAL_HEAD = 128  # elements of a head, of nearly every model: whose rate of attention a stack states
KEPT_MOVES = 2  # what is kept is written once and read once
SORTED_BYTES = 16  # an element of a copy is read and written four times: by expert, by local expert, and both ways back
HEAD_MULTIPLE = 8  # elements of 16 bits that a load of 16 bytes has, which tensor cores take
UNALIGNED = 16  # times slower without: the rate of an A100 without tensor cores; FlashAttention pads such heads
BIAS_BYTES, WIDE_BIAS_BYTES = (12, 16), (28, 40)
"""An element that an expert gives, forward and backward, where its bias is weighed by the router's probability, added,
and all experts' tokens are joined again, by a kernel each (megatron-core, `_apply_bias` of experts.py): in 16 bits, and
with probabilities in 32, as DeepEP and HybridEP hand them over, in which the sums are then, too."""
ROTARY_BYTES = (24, 26)
"""An element of queries and keys, forward and backward, where the rotary embedding is seven kernels: two products, a
half that is turned, negated and joined, a sum, a copy (megatron-core, rope_utils.py: no fused kernel has a factor)."""
LOGIT_BYTES = 6  # a logit is kept in 16 bits and in 32
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


def attention_time(job: Job) -> Any:
    """Seconds of attention's own products of one microbatch in one layer, forward, and of its states: of the mean layer
    of several kinds.
    """
    model, stack, plan, T, rates, fused = job.model, job.stack, job.strategy, job.T, job.rates, job.fused
    if stack.kernels and fused:
        return kernel_attention(job)
    tokens = plan.micro * T / plan.cp
    flops = attention_flops(model, tokens, T, fused) / (model.layers * plan.tp)
    seconds = flops / (rates.C_attention * _attention_share(model, stack, plan, T))
    if model.mixer:
        seconds = seconds + mean_state_time(model, stack.accelerator, tokens, plan.tp, rates.C_attention)
    return UNALIGNED * seconds if not fused and model.key_dim % HEAD_MULTIPLE else seconds


def layer_passes(job: Job, moe: bool, attention: Any) -> Passes:
    """The passes of one layer, with experts or not, on one rank, with its `attention_time`."""
    model, stack, plan, T, rates, fused = job.model, job.stack, job.strategy, job.T, job.rates, job.fused
    tokens = plan.micro * T / plan.cp
    layer = layer_on_rank(model, moe, plan, tokens, T, fused)
    if stack.kernels:
        return _kernel_passes(job, moe, attention, layer)
    dense, experts = _layer_matrices(model, moe)
    busiest = job.expert_imbalance / grouped_share(model, stack, plan, tokens) if moe else 1.0
    product = 2 * tokens / plan.tp * (dense + experts * busiest) / rates.C
    parameters = layer.parameters + layer.experts
    moved = KEPT_MOVES * (layer.kept + layer.scores) / rates.W
    if moe and not job.dedup_dispatch:
        moved = moved + SORTED_BYTES * model.experts_per_token * tokens / plan.tp * model.width / rates.W
    products = maximum(product, 2 * parameters / rates.W)
    added = adapter_passes(job, moe, parameters)
    apart, apart_backward = _kernels_apart(job, moe, tokens / plan.tp)
    forward = products + attention + moved + apart + added.forward
    weight: Any = 0.0
    if not job.frozen:
        weight = product + exposed_time.function(GRADIENT_BYTES * parameters / rates.W, product, stack.hide_sum)
    backward = products + weight + 2 * (attention + moved) + apart_backward + added.backward

    def again(code: int) -> Any:
        names = recomputed_modules(code)
        if names == ("full",):
            return forward
        if names == ("core_attn",):
            return 0.0 if fused else attention + KEPT_MOVES * layer.scores / rates.W
        if not names:
            return 0.0
        matrices, routed = _recomputed_matrices(model, moe, names)
        done = 2 * tokens / plan.tp * (matrices + routed * busiest) / rates.C
        return done + KEPT_MOVES * layer.again_with(code) / rates.W

    repeated = choose_by(plan.recompute_code, again)
    if plan.recompute_layers is not None:
        repeated = repeated * recomputed_share(model, plan)
    return Passes(forward, backward, weight, repeated, attention)


def _kernels_apart(job: Job, moe: bool, tokens: Any) -> tuple[Any, Any]:
    """Seconds of a layer forward and backward in kernels that others have fused: biases of experts, and rotary
    embeddings with a factor.
    """
    model, stack = job.model, job.stack
    moved = [0.0, 0.0]
    if moe and stack.biases_apart and model.biases in ("all", "mlp"):
        each = WIDE_BIAS_BYTES if job.dedup_dispatch else BIAS_BYTES
        moved = [b * model.experts_per_token * model.width for b in each]
    if stack.rotary_apart and model.rotary_scaled:
        elements = (model.heads + model.kv_heads) * model.key_dim
        moved = [x + b * elements for x, b in zip(moved, ROTARY_BYTES, strict=True)]
    return moved[0] * tokens / job.rates.W, moved[1] * tokens / job.rates.W


def _kernel_passes(job: Job, moe: bool, attention: Any, layer: LayerFootprint) -> Passes:
    """The passes of one layer that is timed kernel by kernel. Of modules that are recomputed the products take the
    same part of the forward pass's as their parameters are, and what moves the same as of the bytes that are kept.
    """
    parameters = layer.parameters + layer.experts
    done = kernel_layer(job, moe, attention, parameters, adapter_passes(job, moe, parameters))

    def again(code: int) -> Any:
        names = recomputed_modules(code)
        if names == ("full",):
            return done.forward
        if names == ("core_attn",):
            return 0.0 if job.fused else attention + score_times(job)[0]
        if not names:
            return 0.0
        part = sum(_recomputed_matrices(job.model, moe, names)) / sum(_layer_matrices(job.model, moe))
        return part * done.products + layer.again_with(code) / (layer.kept + layer.scores) * done.moved

    repeated = choose_by(job.strategy.recompute_code, again)
    if job.strategy.recompute_layers is not None:
        repeated = repeated * recomputed_share(job.model, job.strategy)
    return Passes(done.forward, done.backward, done.weight, repeated, attention)


def grouped_share(model: Model, stack: Stack, plan: Strategy, tokens: Any) -> Any:
    """The share of the rate of dense products that those of experts reach: grouped products are the slower the fewer
    tokens an expert sees in a microbatch, from all ranks that share the experts, and the narrower its slice is, or the
    narrower the vectors between which experts stand.
    """
    seen = plan.within_experts(tokens * plan.ep * model.experts_per_token / model.experts)
    width = model.expert_ffn / plan.expert_tp
    width = minimum(width, model.expert_width) if model.expert_width else width
    return stack.eta_E * reached_share(seen, stack.n_E) * reached_share(width, stack.w_E)


def _attention_share(model: Model, stack: Stack, plan: Strategy, T: Any) -> Any:
    """The share of attention's rate over long sequences that a rank reaches with its part of one, and its heads: 1 for
    heads of 128.
    """
    head = (model.key_dim + model.value_dim) / 2
    length = T if is_one(plan.cp) else T / where(plan.cp > 1, 2 * plan.cp, 1)  # a causal ring deals halves of parts
    share = reached_share(length, stack.T_A) * reached_share(head, stack.d_A) / reached_share(USUAL_HEAD, stack.d_A)
    return share if is_one(plan.cp) else share * where(plan.cp > 1, stack.eta_cp, 1.0)


def reached_share(x: Any, half: float) -> Any:
    """x/(x + half): the share of a rate that is reached with x, which is half of it where x is `half`."""
    return x / (x + half) if half else 1.0


def logits_passes(job: Job) -> Passes:
    """The output layer and its loss: a product, and logits in 16 bits and 32 that are written and read.

    Each module for multi-token prediction does so again, after a product that combines a state with the embedding of
    the token that follows it.
    """
    model, plan, rates = job.model, job.strategy, job.rates
    if job.stack.kernels:
        forward, backward, product = kernel_logits(job)
        return Passes(forward, backward, product, 0.0, 0.0)
    tokens = plan.micro * job.T / plan.cp
    product = 2 * tokens * model.width * model.vocab / plan.tp / rates.C_logits
    moved = KEPT_MOVES * LOGIT_BYTES * tokens * model.vocab / plan.tp / rates.W_logits
    forward = product + moved
    if job.mtp:
        combined = 2 * tokens * 2 * model.width**2 / plan.tp / rates.C
        product, forward = (x + job.mtp * (x + combined) for x in (product, forward))
    if job.adapters:  # the output layer has no gradient of its weights
        return Passes(forward, 2 * forward - product, 0.0, 0.0, 0.0)
    return Passes(forward, 2 * forward, product, 0.0, 0.0)


def recomputed_share(model: Model, plan: Strategy) -> Any:
    """The share of a rank's layers that recompute."""
    if plan.recompute_layers is None:
        return 1.0
    return minimum(plan.recompute_layers * plan.pp / model.layers, 1.0)


def _recomputed_matrices(model: Model, moe: bool, names: tuple[str, ...]) -> tuple[float, float]:
    """Parameters of one layer that a token is multiplied with again: of what all tokens take, and of routed experts.

    By operator every second product is done again: keys, attention's output and the second matrix of the MLP. The
    activation of experts and the norms have no products.
    """
    expert = int(mlp_params(model.width, model.expert_ffn, model.matrices))
    routed = model.experts_per_token * expert if moe else 0
    shared = model.shared_experts * expert if moe else 0
    mlp = int(mlp_params(model.width, model.ffn, model.matrices))
    if names == (BY_OP,):
        keys = model.width * (model.kv_heads * model.key_dim if not model.mla else model.kv_lora)
        output = model.heads * model.value_dim * model.width
        return keys + output + (shared if moe else mlp) / model.matrices, routed / model.matrices
    up = model.heads * (model.key_dim * model.q_lora + (model.nope_dim + model.v_dim) * model.kv_lora)
    common = {"mla_up_proj": up if model.mla else 0, "mlp": 0 if moe else mlp, "shared_experts": shared}
    names = tuple(name for name in names if name != "shared_experts") if "moe" in names else names
    return sum(common.get(name, 0) for name in names) + shared * ("moe" in names), routed * ("moe" in names)


def _layer_matrices(model: Model, moe: bool) -> tuple[float, int]:
    """Parameters of one layer that a token is multiplied with: of what all tokens take, and of routed experts."""
    mlp = int(mlp_params(model.width, model.ffn, model.matrices))
    expert = int(mlp_params(model.width, model.expert_ffn, model.matrices))
    narrow = int(mlp_params(model.expert_width or model.width, model.expert_ffn, model.matrices))
    common = model.shared_experts * expert + model.experts * model.width + latent_matrices(model)
    routed = model.experts_per_token * narrow
    layers = matmul_parameters(model) - model.width * model.vocab
    mlps = (model.mlp_layers - model.moe_layers) * mlp + model.moe_layers * (routed + common)
    attention = (layers - mlps) / model.layers
    return (attention + common, routed) if moe else (attention + model.mlp_share * mlp, 0)
