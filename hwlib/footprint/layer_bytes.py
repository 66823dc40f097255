"""One layer on one rank: the parameters it holds, and the bytes that it keeps for a microbatch.

Elements have two bytes and masks one. A norm keeps its input and a matrix what it takes in; a GPT layer comes
out at the 34*T*micro*D of `hwlib.transformer.activations`. A SwiGLU keeps gate, up and their product, as fused
kernels do; experts keep the tokens as they were dispatched, and what they give, for the router's gradient.
"""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from hwlib.formula import maximum
from hwlib.specs import Framework, Model
from hwlib.strategy import BY_OP, Strategy, recomputed_modules
from hwlib.transformer import (
    compressor_parameters,
    expert_parameters,
    hyper_connection_params,
    indexer_parameters,
    mean_mixer_parameters,
    mixer_common_parameters,
    mixer_kept_elements,
    mlp_parameters,
    norm_parameters,
    output_biases,
    qk_norm_parameters,
    router_parameters,
)

SOFTMAX = 4  # bytes of a score that a softmax apart keeps in 32 bits, beside its copy in 16
SCORE_GRADIENTS = 10  # of what the product gives in 16 bits, and of both sides of that softmax in 32


class LayerFootprint(NamedTuple):
    """One kind of layer on one rank: its parameters, those of routed experts apart; and of one microbatch the bytes
    that it keeps beside attention's scores, the scores, its input alone; and, computed where asked for, what is kept
    by operator, and what each of MODULES keeps; `gradients` of activations that are there at once on its way back; and
    what is there at once in a `first_pass` that keeps nothing.
    """

    parameters: Any
    experts: Any
    kept: Any
    scores: Any
    input: Any
    by_op: Callable[[], Any]
    modules: Callable[[], dict[str, Any]]
    gradients: Any = 0.0
    first_pass: Any = 0.0

    def kept_with(self, code: int) -> Any:
        """Bytes kept of a microbatch when this is recomputed: a position in RECOMPUTED."""
        names = recomputed_modules(code)
        if names == ("full",):
            return self.input
        if names == (BY_OP,):
            return self.by_op()
        return self.kept + self.scores - self.recomputed(names)

    def again_with(self, code: int) -> Any:
        """Bytes that are there again while the layer is recomputed."""
        names = recomputed_modules(code)
        if names == ("full",):
            return self.kept + self.scores
        if names == (BY_OP,):
            return maximum(self.kept + self.scores - self.by_op(), 0.0)
        return self.recomputed(names)

    def recomputed(self, names: tuple[str, ...]) -> Any:
        """Bytes of these modules, each counted once: all of the experts have their activation and shared ones in it."""
        if "moe" in names:
            names = tuple(name for name in names if name not in ("moe_act", "shared_experts"))
        if names == ("core_attn",) or not names:
            return self.scores if names else 0.0
        modules = self.modules()
        return sum((modules[name] for name in names), 0.0)


def layer_on_rank(
    model: Model,
    moe: bool,
    strategy: Strategy,
    tokens: Any,
    T: Any,
    fused: bool,
    by: Framework | None = None,
    adapted: Collection[str] | None = None,
    autocast: bool = False,
    element: float = 2.0,
) -> LayerFootprint:
    """A layer, with experts or not, of a strategy whose ranks share its matrices and its experts; the mean of those
    whose mixers differ.

    `tokens` of a microbatch are on this rank, each of which meets T keys; a fused attention keeps no scores. What a
    framework keeps besides, or in place of that, is counted where it is given. Where only adapters beside the matrices
    `adapted` are trained, the others keep no inputs, and those keep them in 16 bits. Under `autocast` what runs through
    the layers has 32 bits. Matrices keep `element` bytes of an element of what they take in.
    """
    tp, sp = strategy.tp, strategy.sp
    common = _common_parameters(model)
    own = mean_mixer_parameters(model) - common + _repeated_heads(model, tp)
    common = common + (model.layer_norms - _lone_share(model, moe)) * norm_parameters(model)
    experts: Any = 0.0
    if moe:
        expert = mlp_parameters(model, model.expert_ffn)
        experts = model.experts * expert_parameters(model) / (strategy.expert_tp * strategy.ep)
        own, common = own + model.shared_experts * expert, common + router_parameters(model)
    else:
        own = own + model.mlp_share * mlp_parameters(model, model.ffn)
    outside = tokens / (sp * tp + (1 - sp))
    eager = by is not None and by.eager
    scored = 0.0 if fused else tokens * T * model.heads * model.attention_share / tp
    scores = scored * ((5 if model.dropout else 2) + SOFTMAX * eager)
    inputs = outside * _outside(model, moe) + tokens / tp * (_attention(model, tp, fused) + _mlp(model, moe))
    if by is not None and by.gathered_inputs:
        inputs = inputs + 4 * model.width * (tokens - outside)
    if by is not None and (by.kept != 2 or (moe and by.weighted_inside)):
        inputs = inputs - _narrowed(model, moe, by) * tokens / tp - 2 * (2 - by.kept) * model.width * outside
    if by is not None and by.eager:
        inputs = inputs + _unfused(model, moe, tp, outside, tokens, by.fused_norms)
    if by is not None and by.compiled:
        inputs = inputs + 2 * model.heads * model.value_dim * tokens / tp  # what attention gives, in two layouts
    if autocast:
        inputs = inputs + _cast_bytes(model, moe, eager) * outside
    element = element if adapted is None else 2.0
    if by is not None and by.attention_copied and element < 2:
        inputs = inputs + element * model.heads * model.value_dim * tokens / tp
    inputs = (
        inputs - _quantised_norms(model, moe, element) * outside - _quantised_mlp(model, moe, element) * tokens / tp
    )
    if adapted is not None:
        inputs = inputs - _unread(model, moe, set(adapted), outside, tokens / tp)
    kept_input = (4 if autocast else 2) * max(model.streams, 1) * model.width * outside
    return LayerFootprint(
        own / tp + common,
        experts,
        inputs,
        scores,
        kept_input,
        by_op=lambda: kept_input + _by_op(model, moe, tp, outside, tokens, eager),
        modules=lambda: {"core_attn": scores, **_modules(model, moe, tp, outside, tokens, by, element)},
        gradients=_gradients(model, moe, by, outside, tokens / tp, scored),
        first_pass=4 * model.width * outside + _mlp(model, moe) * tokens / tp,
    )


def _hidden(model: Model, moe: bool) -> int:
    """Elements of a token's hidden vector in the MLP, or in all of its experts."""
    return model.expert_ffn * (model.experts_per_token + model.shared_experts) if moe else model.ffn


def _gradients(model: Model, moe: bool, by: Framework | None, outside: Any, tokens: Any, scored: Any) -> Any:
    """Bytes of gradients that a layer's backward pass holds at once, where a framework counts them: those of what goes
    into the layer and of what comes out of it, with that of the MLP's hidden vector, of which kernels apart make
    another; or those of attention's scores, which kernels apart hold in 16 bits and in 32 on both sides of the softmax.
    """
    if by is None or not by.layer_gradients:
        return 0.0
    of_mlp = 2 * _hidden(model, moe) * (1 + by.eager) * tokens
    return 4 * model.width * outside + maximum(of_mlp, SCORE_GRADIENTS * scored)


def _unread(model: Model, moe: bool, beside: set[str], outside: Any, tokens: Any) -> Any:
    """Bytes of a microbatch that frozen matrices need not keep, for only those with adapters have gradients that read
    their input. Attention itself needs its output, and so do norms and the activation what they take in.
    """
    hidden = model.expert_ffn * (model.experts_per_token + model.shared_experts) if moe else model.ffn
    attention, wide = beside & {"q", "k", "v"}, beside & {"gate", "up", "experts"}
    shared = model.layer_norms == 1  # attention and MLP read the same input
    inputs = int(not (attention or wide)) if shared else (not attention) + (not wide)
    spared = 2 * model.width * outside * inputs
    return spared if beside & {"down", "experts"} else spared + 2 * hidden * tokens


def _lone_share(model: Model, moe: bool) -> float:
    """Layers without an MLP, of those without experts."""
    return 0.0 if moe else 1.0 - model.mlp_share


def _common_parameters(model: Model) -> float:
    """Parameters of attention, states and indexers that every tensor-parallel rank has: what compresses, norms, the
    output's bias, all of an indexer.
    """
    states = model.state_layers * mixer_common_parameters(model)
    states += model.indexer.layers * indexer_parameters(model) if model.indexer else 0
    states += 2 * model.layers * hyper_connection_params.function(model.width, model.streams) if model.streams else 0
    if x := model.compression:
        states += sum(compressor_parameters(model, stride) for stride in x.strides)
    return model.attention_share * _common_attention(model) + states / model.layers


def _common_attention(model: Model) -> int:
    if model.compression:
        return (model.width + 1) * (model.q_lora + model.head_dim)
    if model.mla:
        down = model.width * (model.q_lora + model.kv_lora + model.rope_dim)
        return down + model.q_lora + model.kv_lora
    return qk_norm_parameters(model) + output_biases(model)


def _repeated_heads(model: Model, tp: Any) -> Any:
    """Parameters of key-value heads that several ranks have, where there are more ranks than such heads."""
    if model.latent_key:
        return 0.0
    repeated = 2 * (maximum(tp, model.kv_heads) - model.kv_heads) * model.head_dim * model.width
    return model.attention_share * repeated


def _outside(model: Model, moe: bool) -> float:
    """Bytes of a token in two norms, two inputs, two masks of dropout, the compressed vectors and the router. Where
    attention and MLP share a norm there is one norm and one input; a norm more keeps what it is given.
    """
    latent = model.attention_share * (2 * (model.q_lora + model.kv_lora) + model.rope_dim if model.mla else 0)
    if x := model.compression:  # queries and key around their norms; what compresses, and its weights
        overlaps = sum(x.overlap(stride) for stride in x.strides if stride)
        latent = 2 * (model.q_lora + model.head_dim) + 2 * model.head_dim * overlaps / model.layers
    latent += 2 * model.streams * model.width  # of two blocks, each of which reads all streams
    router = 8 * model.experts if moe else 0
    norms = 4 if model.layer_norms == 1 else 4 + 2 * model.layer_norms
    alone = 1.0 - _lone_share(model, moe) / 2
    return alone * model.width * (norms + 2 * model.dropout) + 2 * latent + router


def _attention(model: Model, tp: Any, fused: bool) -> Any:
    """Bytes of a token in queries, keys, values and what attention gives; before their norms too, where there are; and
    in a gate. Of the layers that keep a state, what these keep.
    """
    states = 2 * (1 - model.attention_share) * mixer_kept_elements(model.mixer) if model.mixer else 0
    if x := model.compression:
        wide = 3 * model.heads * model.head_dim + x.groups * x.rank + tp * model.head_dim
        return 2 * wide + (4 * model.heads if fused else 0)
    kv_heads = maximum(tp, model.kv_heads) if not model.mla else model.kv_heads
    queries_keys = (model.heads + kv_heads) * model.key_dim
    values = (model.heads + kv_heads) * model.value_dim
    values = values + 2 * model.heads * model.value_dim * model.attention_gate
    attention = 2 * (queries_keys * (2 if model.qk_norm else 1) + values) + (4 * model.heads if fused else 0)
    return model.attention_share * attention + states


def _mlp(model: Model, moe: bool) -> float:
    """Bytes of a token in the MLP's hidden vectors; with experts, in its k copies on their way too."""
    if not moe:
        return model.mlp_share * 2 * model.matrices * model.ffn
    hidden = model.matrices * model.expert_ffn * (model.experts_per_token + model.shared_experts)
    return 2 * hidden + 4 * model.experts_per_token * (model.expert_width or model.width) + 4 * model.expert_width


def _narrowed(model: Model, moe: bool, by: Framework) -> float:
    """Bytes of a token that a framework spares of its MLP: elements of fewer bytes, and what experts give."""
    if not moe:
        return (2 - by.kept) * model.matrices * model.ffn * model.mlp_share
    hidden = model.matrices * model.expert_ffn * (model.experts_per_token + model.shared_experts)
    copies = model.experts_per_token * (model.expert_width or model.width)
    return (2 - by.kept) * (hidden + copies) + 2 * copies * by.weighted_inside


def _quantised_norms(model: Model, moe: bool, element: float) -> float:
    """Bytes of a token that matrices spare of what norms give, by keeping it quantised. Each matrix that reads it has a
    copy of its own: the two that compress queries and keys. A router reads 16 bits, and so shared experts keep these.
    """
    spared = 2 - element
    before = spared - element if model.mla and spared else spared
    after = 0.0 if moe or model.layer_norms == 1 else spared
    return model.width * (before + after) + spared * ((model.q_lora + model.kv_lora) if model.mla else 0)


def _quantised_mlp(model: Model, moe: bool, element: float) -> float:
    """Bytes of a token that the MLP spares by keeping the input of its last product quantised, and the tokens as they
    were sent to experts. What the activation takes in stays in 16 bits, for it is computed in these.
    """
    last = model.expert_ffn * (model.experts_per_token + model.shared_experts) if moe else model.ffn
    sent = model.experts_per_token * model.width if moe else 0
    return (2 - element) * (last + sent)


def _modules(
    model: Model, moe: bool, tp: Any, outside: Any, tokens: Any, by: Framework | None, element: float
) -> dict[str, Any]:
    """Bytes of a microbatch that a module keeps, and that are not kept where it is recomputed. Its input stays."""
    up: Any = 0.0
    if model.mla:  # the norms of the compressed vectors, and what is made of them; attention's output stays
        decompressed = model.heads * (2 * model.key_dim + model.value_dim)
        up = element * (model.q_lora + model.kv_lora) * outside + 2 * decompressed * tokens / tp
    b, narrowed = (2.0, 0.0) if by is None else (by.kept, _narrowed(model, moe, by))
    compressed = (2 - element) * (model.q_lora + model.kv_lora) if model.mla else 0.0
    norms = 2 * b * model.width - _quantised_norms(model, moe, element) + compressed
    expert = b * model.expert_ffn * tokens / tp
    spared = (2 - element) * model.expert_ffn * tokens / tp
    mlp = (_mlp(model, moe) - narrowed - _quantised_mlp(model, moe, element)) * tokens / tp
    return {
        "mla_up_proj": up,
        "layernorm": norms * outside,
        "mlp": 0.0 if moe else mlp,
        "moe_act": (expert - spared) * model.experts_per_token if moe else 0.0,
        "moe": mlp + 8 * model.experts * outside if moe else 0.0,
        "shared_experts": (expert * model.matrices - spared) * model.shared_experts if moe else 0.0,
    }


def _cast_bytes(model: Model, moe: bool, eager: bool) -> float:
    """Bytes of a token that autocast keeps beside those of layers in 16 bits: the input of each norm is in 32, and each
    matrix that reads what the norm gives casts it for itself, unless a compiler joins the casts.
    """
    norms = 2 * model.layer_norms * model.width
    readers = 2 if model.mla else 3
    if not moe:
        readers += 2 if model.matrices == 3 else 1
    inputs = model.layer_norms if not moe or model.layer_norms == 1 else 1
    return norms + 2 * model.width * (readers - inputs) * eager


def _unfused(model: Model, moe: bool, tp: Any, outside: Any, tokens: Any, fused_norms: bool) -> Any:
    """Bytes that kernels apart keep beside those of fused ones: of an RMS norm its input in 32 bits and what it gives
    before its gain, less the input in 16; of a gate its activation.
    """
    hidden = model.expert_ffn * (model.experts_per_token + model.shared_experts) if moe else model.ffn
    apart = model.norm == "rms" and not fused_norms
    norms = 4 * model.layer_norms * model.width * outside if apart else 0.0
    return norms + 2 * hidden * tokens / tp * (model.matrices == 3)


def _by_op(model: Model, moe: bool, tp: Any, outside: Any, tokens: Any, eager: bool) -> Any:
    """Bytes beside a layer's input that torchtitan's `selective` keeps: of a layer's seven products in their order
    (queries, keys, values, output, gate, up, down) every second, from the first on; attention's output; and where ranks
    share the layer, what they have summed up of it. The last product is not needed again: a compiled layer drops it.
    Products of routed experts are of another operator, and are recomputed.
    """
    kv_heads = maximum(tp, model.kv_heads) if not model.mla else model.kv_heads
    products = model.heads * model.key_dim + (kv_heads + model.heads) * model.value_dim + 2 * model.heads
    hidden = model.expert_ffn * model.shared_experts if moe else model.ffn
    down = 2 * model.width * tokens if eager and not moe else 0.0
    return 2 * (products + hidden) * tokens / tp + down + 2 * model.width * outside * (tp > 1)
