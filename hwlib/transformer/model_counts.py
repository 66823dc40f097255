"""Exact counts of one model: parameters by group and per token, operations, and bytes of cache.

These functions apply the formulas of `hwlib.transformer.parameters` and its neighbours to a `Model`, or the key of
one, with its biases, gains and special layers. A model's numbers were checked when it was made, so the formulas of
parameters do not check them again.
"""

from dataclasses import replace
from typing import Any, NamedTuple

from hwlib.formula import minimum
from hwlib.specs import Model, models
from hwlib.specs.table import unknown
from hwlib.transformer.attention_kinds import AttentionKind, attention_kinds
from hwlib.transformer.compressed import grouped_attention_params
from hwlib.transformer.flops import (
    attention_forward_flops,
    causal_attention_forward_flops,
    forward_flops,
    mla_attention_forward_flops,
    training_flops,
    window_attention_forward_flops,
)
from hwlib.transformer.kv_cache import kv_token_bytes, mla_token_bytes
from hwlib.transformer.layer_counts import (
    compressed_step_flops,
    compressor_matrices,
    compressor_parameters,
    head_stream_parameters,
    index_bytes_per_token,
    indexer_matrices,
    indexer_parameters,
    mixer_flops,
    mixer_matrices,
    mixer_parameters,
    moved_state_bytes,
    sparse_step_flops,
    stream_matrices,
    stream_mixing_flops,
    stream_parameters,
)
from hwlib.transformer.parameters import attention_params, embedding_params, mla_params, mlp_params
from hwlib.transformer.sparse import indexer_flops


class Parameters(NamedTuple):
    """The parameters of a model by group; `total` is their sum."""

    attention: int
    mlp: int
    experts: int
    shared_experts: int
    router: int
    norms: int
    embedding: int
    positions: int
    head: int
    states: int = 0
    streams: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self)


def attention_matrices(model: Model | str) -> int:
    """Parameters in the matrices of one layer's attention. MLA without compressed queries has one matrix for them."""
    model = models.of(model)
    if model.compression:
        return grouped_attention(model) - model.q_lora - model.head_dim - model.heads
    gate = model.width * model.heads * model.value_dim * model.attention_gate
    if not model.mla:
        of_keys = int(attention_params.function(model.width, model.heads, model.kv_heads, model.head_dim))
        narrower = (model.heads + model.kv_heads) * (model.head_dim - model.value_dim)
        shared = model.kv_heads * model.value_dim * model.shared_values
        return of_keys + gate - model.width * (narrower + shared)
    compressed = mla_params.function(
        model.width, model.heads, model.q_lora, model.kv_lora, model.nope_dim, model.rope_dim, model.v_dim
    )
    return int(compressed) + gate + (0 if model.q_lora else model.width * model.heads * model.key_dim)


def all_attention_matrices(model: Model | str) -> int:
    """Parameters in the matrices of attention in all layers."""
    kinds = attention_kinds(models.of(model))
    return sum(k.layers * (attention_matrices(k.model) + compressor_matrices(k.model, k.stride)) for k in kinds)


def grouped_attention(model: Model) -> int:
    """Of one layer with keys that are compressed over time: attention, without what compresses."""
    x = model.compression
    assert x
    heads = (model.heads, model.head_dim, model.q_lora)
    return int(grouped_attention_params.function(model.width, *heads, x.groups, x.rank))


def qk_norm_parameters(model: Model | str) -> int:
    """Of one layer: the gains of queries and keys, for one head of each or for all of them."""
    model = models.of(model)
    return model.head_dim * (model.heads + model.kv_heads if model.qk_norm_full else 2) * model.qk_norm


def attention_parameters(model: Model | str) -> int:
    """Of one layer: matrices, biases, the norms of queries and keys, and one logit per head for attention sinks."""
    model = models.of(model)
    if model.compression:
        return grouped_attention(model)
    if model.mla:
        return attention_matrices(model) + model.q_lora + model.kv_lora
    biases = (model.heads + 2 * model.kv_heads) * model.head_dim * (model.biases in ("all", "attention", "qkv"))
    biases += output_biases(model)
    return attention_matrices(model) + biases + qk_norm_parameters(model) + model.heads * model.sinks


def output_biases(model: Model | str) -> int:
    """Of one layer: the biases of attention's output."""
    model = models.of(model)
    return model.width if model.biases in ("all", "attention") and not model.mla else 0


def mlp_parameters(model: Model | str, ffn: int) -> int:
    """One MLP or one expert of width `ffn`."""
    model = models.of(model)
    biases = (model.matrices - 1) * ffn + model.width if model.biases in ("all", "mlp") else 0
    return int(mlp_params(model.width, ffn, model.matrices)) + biases


def expert_parameters(model: Model | str) -> int:
    """One routed expert; one that reads and writes vectors of a width of its own has matrices of that width."""
    model = models.of(model)
    if not model.expert_width:
        return mlp_parameters(model, model.expert_ffn)
    return int(mlp_params(model.expert_width, model.expert_ffn, model.matrices))


def latent_matrices(model: Model | str) -> int:
    """Parameters of the two matrices of a layer between the stream and the narrower vectors that experts read."""
    model = models.of(model)
    return 2 * model.width * model.expert_width


def router_parameters(model: Model | str) -> int:
    """Of one layer with experts: the matrix of scores, a bias if the model has one, the gate of shared experts, and the
    two matrices of experts that read narrower vectors.

    The bias that balances DeepSeek's router is updated without a gradient; checkpoints contain it, so it counts.
    """
    model = models.of(model)
    scores = model.experts * (model.width + (model.biases == "all" or model.router_bias))
    return scores + model.width * model.shared_gate + latent_matrices(model) if model.moe else 0


def norm_parameters(model: Model | str) -> int:
    """One norm over the width: gains, for a layer norm also offsets, and nothing for a bare one."""
    model = models.of(model)
    return model.width * {"layer": 2, "bare": 0}.get(model.norm, 1)


def parameter_groups(model: Model | str) -> Parameters:
    """The parameters of the model by group: all layers, the embedding tables and the last norm.

    >>> parameter_groups("mixtral-8x7b").experts
    45097156608
    """
    model = models.of(model)
    dense_layers = model.mlp_layers - model.moe_layers
    alone = model.layers - model.mlp_layers + model.pattern.count("M")
    norms = model.layer_norms * model.layers - alone + 1 + model.embedding_norm
    indexers = model.indexer.layers * indexer_parameters(model) if model.indexer else 0
    return Parameters(
        attention=sum(k.layers * _kind_parameters(k) for k in attention_kinds(model)) + indexers,
        mlp=dense_layers * mlp_parameters(model, model.ffn) + model.matrices * model.width * model.wider,
        experts=model.moe_layers * model.experts * expert_parameters(model),
        shared_experts=model.moe_layers * model.shared_experts * mlp_parameters(model, model.expert_ffn),
        router=model.moe_layers * router_parameters(model) - model.hashed_layers * model.experts * model.router_bias,
        norms=norms * norm_parameters(model) + model.gains,
        embedding=int(embedding_params.function(model.width, model.vocab, 1)),
        positions=model.positions * model.width,
        head=(0 if model.tied else int(embedding_params.function(model.width, model.vocab, 1)))
        + model.vocab * model.head_bias,
        states=model.state_layers * mixer_parameters(model),
        streams=stream_parameters(model),
    )


def _kind_parameters(kind: AttentionKind) -> int:
    """Of one layer of a kind of attention."""
    return attention_parameters(kind.model) + compressor_parameters(kind.model, kind.stride)


def mean_mixer_parameters(model: Model | str) -> float:
    """Attention, states, indexers and hyper-connections of the mean layer."""
    model = models.of(model)
    groups = parameter_groups(model)
    return (groups.attention + groups.states + groups.streams - head_stream_parameters(model)) / model.layers


def parameter_count(model: Model | str) -> int:
    """All parameters of the model, without its modules for multi-token prediction (`mtp_parameters`).

    >>> parameter_count("llama3-8b")
    8030261248
    """
    return parameter_groups(model).total


def active_parameters(model: Model | str, embedding: bool = True) -> int:
    """Parameters used for one token: all but those of the experts that it is not routed to.

    Papers differ on whether the embedding table counts; `embedding=False` leaves it out, unless it is tied to the
    output layer.
    """
    model = models.of(model)
    groups = parameter_groups(model)
    taken = groups.experts // model.experts * model.experts_per_token if model.moe else groups.experts
    table = 0 if embedding or model.tied else groups.embedding
    return groups.total - groups.experts + taken - table


def mtp_parameters(model: Model | str) -> int:
    """The modules for multi-token prediction, without the two tables that they share with the model.

    Each has one layer of the kind of the model's last layer, with attention where only some layers have it, and with a
    window alone where keys are compressed; a matrix that combines the last state with the next token's embedding, norms
    of both, and a norm before the output.
    """
    model = models.of(model)
    groups = parameter_groups(model)
    indexer = 0 if model.compression else indexer_parameters(model)
    layer = attention_parameters(model) + indexer + model.layer_norms * norm_parameters(model)
    at_end = head_stream_parameters(model)
    layer += (groups.streams - at_end) // model.layers + at_end
    if model.moe_layers:
        layer += (groups.experts + groups.shared_experts) // model.moe_layers + router_parameters(model)
    else:
        layer += mlp_parameters(model, model.ffn)
    return model.mtp_layers * (layer + 2 * model.width**2 + 3 * norm_parameters(model))


def with_mtp(model: Model | str) -> Model:
    """The model with the layers of its modules for multi-token prediction as layers of its own, after the others.

    What such a module has beside its layer, a matrix of 2D x D and three norms, is left out; so are the two tables,
    which it shares, and whose output layer it applies once more. Raises ValueError for a model without such modules.

    >>> with_mtp("deepseek-v3").layers
    62
    """
    model = models.of(model)
    if not model.mtp_layers:
        raise ValueError(f"mtp: a model with modules for multi-token prediction, got {model.name}, which has none")
    more = model.mtp_layers
    pattern = model.pattern + "A" * more if model.pattern else ""
    if x := model.compression:
        longer = replace(x, strides=x.strides + (0,) * more)
        windows = model.window_layers + more
        return model.replace(layers=model.layers + more, compression=longer, window_layers=windows)
    indexer = replace(model.indexer, layers=model.indexer.layers + more) if model.indexer else None
    return model.replace(layers=model.layers + more, pattern=pattern, indexer=indexer)


def matmul_parameters(model: Model | str) -> int:
    """Active parameters in matrices, which one token is multiplied with, including the output layer.

    Without biases, gains, the gate of shared experts, and the lookup of embedding and positions.
    """
    model = models.of(model)
    mlp = int(mlp_params.function(model.width, model.ffn, model.matrices))
    dense_layers = model.mlp_layers - model.moe_layers
    routed = model.moe_layers * (_routed_matrices(model) + model.experts * model.width)
    indexers = model.indexer.layers * indexer_matrices(model) if model.indexer else 0
    mixers = all_attention_matrices(model) + indexers + model.state_layers * mixer_matrices(model)
    mixers += stream_matrices(model)
    dense = dense_layers * mlp + model.matrices * model.width * model.wider
    return mixers + dense + routed + model.width * model.vocab


def _routed_matrices(model: Model) -> int:
    """Matrices of a layer's experts that one token takes, routed and shared ones, and those around narrower experts."""
    shared = int(mlp_params.function(model.width, model.expert_ffn, model.matrices)) * model.shared_experts
    expert = int(mlp_params.function(model.expert_width or model.width, model.expert_ffn, model.matrices))
    return model.experts_per_token * expert + shared + latent_matrices(model)


def attention_step_flops(model: Model | str, B: Any, T: Any, causal: bool = True) -> Any:
    """Scores and weighted values of all layers, and their states, forward pass, B tokens in sequences of T.

    Without `causal`, as many papers count, every token attends to all T keys; a layer that keeps a state, or picks its
    keys, asks for the same either way.
    """
    model = models.of(model)
    states = model.state_layers * mixer_flops(model.mixer, B) if model.mixer else 0
    if model.compression:
        window = window_attention_forward_flops(B, T, model.window, model.heads, model.head_dim)
        own = model.attention_layers * window + compressed_step_flops(model, B, T)
        return own + stream_mixing_flops(model, B)
    if model.indexer and model.mla:
        return states + sparse_step_flops(model, B, T)
    if model.mla:
        full = model.attention_layers - (model.window_layers if causal else 0)
        seen = mla_attention_forward_flops(B, T, model.heads, model.nope_dim, model.rope_dim, model.v_dim)
        return states + full * (seen * (T + 1) / (2 * T) if causal else seen)
    x = model.indexer
    scored = x.layers * indexer_flops(B, T, x.heads, x.dim) if x else 0
    kinds = attention_kinds(model)
    seen = sum(kind.layers * _head_flops(kind.model, B, T, kind.window or kind.picked, causal) for kind in kinds)
    return states + scored + seen


def _head_flops(model: Model, B: Any, T: Any, window: int, causal: bool) -> Any:
    """Scores and weighted values of one layer without compressed keys; of values of another width, by the mean."""
    mean = (model.key_dim + model.value_dim) / 2 if model.key_dim != model.value_dim else model.head_dim
    if not causal:
        return attention_forward_flops(B, T, model.heads, mean)
    if window:
        return window_attention_forward_flops(B, T, window, model.heads, mean)
    return causal_attention_forward_flops(B, T, model.heads, mean)


def step_flops(model: Model | str, B: Any, T: Any, causal: bool = True, mtp: bool = False) -> Any:
    """Operations of one training step, forward and backward, that the model requires: what MFU counts.

    B tokens in sequences of T; without recomputation, and the modules for multi-token prediction only with `mtp`: each
    is a layer, a matrix of 2D x D and the output layer once more (deepseek-v3, section 2.2).
    """
    P: Any = 0
    if mtp:
        model = with_mtp(model)
        P = model.mtp_layers * model.width * (2 * model.width + model.vocab)
    return training_flops(matmul_parameters(model) + P, B) + 3 * attention_step_flops(model, B, T, causal)


def recomputed_flops(model: Model | str, B: Any, T: Any, recompute: str = "none", causal: bool = True) -> Any:
    """Recomputed operations of a step: what HFU counts in addition to `step_flops`.

    "selective" recomputes scores and weighted values, "full" the forward pass of every layer, but not the output
    layer. Raises ValueError for any other value.

    >>> recomputed_flops("llama3-8b", 1, 8192, "full") / step_flops("llama3-8b", 1, 8192) < 1 / 3
    True
    """
    model = models.of(model)
    again = {"none": 0, "selective": 1, "full": 1}
    if recompute not in again:
        raise ValueError("recomputed_flops: " + unknown("recompute", recompute, again))
    flops = again[recompute] * attention_step_flops(model, B, T, causal)
    if recompute == "full":
        flops = flops + forward_flops(matmul_parameters(model) - model.width * model.vocab, B)
    return flops


def kv_bytes_per_token(model: Model | str, b: Any = 2) -> Any:
    """Bytes that one token adds to the cache of keys and values, with b bytes per element, and to that of indexers.
    Layers that keep a state add nothing.
    """
    model = models.of(model)
    if not model.attention_layers:
        return 0
    if model.compression:
        growing = sum(kind.layers / kind.stride for kind in attention_kinds(model) if kind.stride)
        return growing * _layer_token_bytes(model, b) + index_bytes_per_token(model)
    if model.mla:
        latent = mla_token_bytes(model.attention_layers, model.kv_lora, model.rope_dim, b)
        return latent + index_bytes_per_token(model) if model.indexer else latent
    heads = sum(kind.layers * _layer_token_bytes(kind.model, b) for kind in attention_kinds(model))
    return heads + index_bytes_per_token(model) if model.indexer else heads


def _layer_token_bytes(model: Model, b: Any) -> Any:
    """Of one layer without latent keys: a key and a value of each head that has them, or one vector that is both."""
    if model.compression:
        return model.head_dim * b
    if model.key_dim == model.value_dim:
        return kv_token_bytes(1, model.kv_heads, model.head_dim, b)
    return model.kv_heads * (model.key_dim + model.value_dim) * b


def kv_cache_bytes(model: Model | str, T_kv: Any, b: Any = 2) -> Any:
    """The cache of one sequence of T_kv tokens: layers with a window keep only the tokens in the window. Without its
    state, which is `sequence_state_bytes`.
    """
    model = models.of(model)
    if not model.window_layers and not model.compression:
        return T_kv * kv_bytes_per_token(model, b)
    layers = 0
    for kind in attention_kinds(model):
        layers = layers + kind.layers * kind.keys_kept(T_kv) * _layer_token_bytes(kind.model, b)
    return layers + T_kv * index_bytes_per_token(model) if model.compression else layers


def cache_read_bytes(model: Model | str, T_kv: Any, b: Any = 2) -> Any:
    """Bytes of cache that one sequence moves in a decode step: keys and values, of sparse attention only those that are
    picked beside all keys of the indexers; its state is read and written.
    """
    model = models.of(model)
    states = moved_state_bytes(model)
    if not model.indexer:
        return states + kv_cache_bytes(model, T_kv, b)
    index = T_kv * index_bytes_per_token(model)
    if model.mla:
        latent = mla_token_bytes(model.attention_layers, model.kv_lora, model.rope_dim, b)
        return states + minimum(T_kv, model.indexer.top) * latent + index
    for kind in attention_kinds(model):
        index = index + kind.layers * kind.keys_read(T_kv) * _layer_token_bytes(kind.model, b)
    return states + index
