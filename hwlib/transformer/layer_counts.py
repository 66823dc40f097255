"""Exact counts of the layers that are not plain attention: those that keep a state, indexers of sparse attention, what
compresses keys over time, and hyper-connections.

Of one layer each, unless a name says otherwise. They apply the formulas of `hwlib.transformer.state_layers` and
`hwlib.transformer.sparse` to a `Model`, or the key of one; `hwlib.transformer.model_counts` adds them up.
"""

from collections.abc import Iterator
from typing import Any

from hwlib.specs import Model, models
from hwlib.specs.state_mixer import StateMixer
from hwlib.transformer.compressed import (
    compressed_indexer_params,
    compressor_params,
    compressor_state_bytes,
    entry_attention_flops,
    entry_index_flops,
)
from hwlib.transformer.hyper_connections import hyper_connection_flops, hyper_connection_params
from hwlib.transformer.sparse import index_token_bytes, indexer_flops, indexer_params, sparse_latent_flops
from hwlib.transformer.state_layers import (
    chunked_delta_flops,
    chunked_scan_flops,
    conv_state_bytes,
    delta_rule_flops,
    gated_delta_params,
    kimi_delta_params,
    lightning_params,
    mamba1_params,
    mamba2_params,
    short_conv_flops,
    short_conv_params,
    state_matrix_bytes,
    state_scan_flops,
)


def mixer_parameters(model: Model | str) -> int:
    """All parameters of a layer's state mixer; 0 of a model without one."""
    model = models.of(model)
    x = model.mixer
    if x is None:
        return 0
    if x.kind == "gated-delta":
        return int(gated_delta_params.function(model.width, x.heads, x.key_heads, x.key_dim, x.value_dim, x.conv))
    if x.kind == "mamba2":
        return int(mamba2_params.function(model.width, x.heads, x.key_heads, x.key_dim, x.value_dim, x.conv))
    if x.kind == "mamba1":
        return int(mamba1_params.function(model.width, x.heads, x.key_dim, x.low_rank, x.conv))
    if x.kind == "kimi-delta":
        low_ranks = int(kimi_delta_params.function(model.width, x.heads, x.key_dim, x.value_dim, x.conv))
        values, keys = x.heads * x.value_dim, x.key_heads * x.key_dim
        gate = (model.width * values - x.value_dim * (model.width + values)) * x.full_gate
        return low_ranks + gate + (model.width * keys - x.value_dim * (model.width + keys)) * x.full_decay
    if x.kind == "short-conv":
        return int(short_conv_params.function(model.width, x.conv))
    return int(lightning_params.function(model.width, x.heads, x.key_dim, x.value_dim))


def mixer_shapes(model: Model | str, tp: int = 1) -> tuple[tuple[int, int], ...]:
    """[N, K] of the products of a state mixer on one of tp ranks, which divide its heads: into it, and the output. What
    all heads share, the low ranks of KDA's gates, every rank has.
    """
    model = models.of(model)
    x = model.mixer
    if x is None:
        return ()
    heads, key_heads = max(1, x.heads // tp), max(1, x.key_heads // tp)
    keys, values = key_heads * x.key_dim, heads * x.value_dim
    output = (model.width, values)
    if x.kind == "gated-delta":
        return (2 * keys + 2 * values + 2 * heads, model.width), output
    if x.kind == "mamba2":
        return (2 * keys + 2 * values + heads, model.width), output
    if x.kind == "mamba1":
        steps = (x.low_rank + 2 * x.key_dim, values), (values, x.low_rank)
        return (2 * values, model.width), *steps, output
    if x.kind == "kimi-delta":
        low = x.value_dim
        into = 2 * keys + values + heads + (keys if x.full_decay else low) + (values if x.full_gate else low)
        narrow = ((keys, low),) * (not x.full_decay) + ((values, low),) * (not x.full_gate)
        return (into, model.width), *narrow, output
    if x.kind == "short-conv":
        return (3 * values, model.width), output
    return (2 * keys + 2 * values, model.width), output


def mixer_matrices(model: Model | str) -> int:
    """Parameters of a state mixer in matrices, which one token is multiplied with."""
    return sum(n * k for n, k in mixer_shapes(model))


def mixer_common_parameters(model: Model | str) -> int:
    """Parameters of a state mixer that every tensor-parallel rank has: the gains of one head, and the low ranks of
    KDA's gates.
    """
    model = models.of(model)
    x = model.mixer
    if x is None or not x.delta:
        return 0
    low_ranks = (2 - x.full_gate - x.full_decay) * (x.kind == "kimi-delta")
    return x.value_dim + low_ranks * model.width * x.value_dim


def mixer_kept_elements(mixer: StateMixer) -> int:
    """Elements of a token that a layer's states keep for the backward pass, in all heads: what goes into the
    convolution and comes out of it, a gate, and what the states give before and after their norm; of the delta rule the
    triangle of its part, too. States of parts are made again (flash-linear-attention), and of Mamba-2 all but what its
    one kernel takes in and what its states give (mamba_ssm).
    """
    if mixer.kind == "short-conv":  # both gates and what they weigh, and the convolution's input and output
        return 5 * mixer.channels
    if mixer.kind in ("mamba1", "mamba2"):
        return mixer.channels + 2 * mixer.heads * mixer.value_dim
    triangle = mixer.chunk * mixer.heads if mixer.delta else 0
    return (2 if mixer.conv else 1) * mixer.channels + 3 * mixer.heads * mixer.value_dim + triangle


def mixer_flops(mixer: StateMixer, B: Any) -> Any:
    """Operations of a layer's states, forward pass, B tokens one by one: what the layer asks for, however computed."""
    if mixer.kind == "short-conv":
        return short_conv_flops(B, mixer.channels, mixer.conv)
    count = delta_rule_flops if mixer.delta else state_scan_flops
    return count(B, mixer.heads, mixer.key_dim, mixer.value_dim)


def chunked_mixer_flops(mixer: StateMixer, B: Any) -> Any:
    """The same as kernels compute it in training and prefill, `mixer.chunk` tokens at once."""
    if mixer.kind in ("mamba1", "short-conv"):  # of every channel, without products of matrices
        return mixer_flops(mixer, B)
    if mixer.delta:
        return chunked_delta_flops(B, mixer.chunk, mixer.heads, mixer.key_dim, mixer.value_dim)
    return chunked_scan_flops(B, mixer.chunk, mixer.heads, mixer.key_heads, mixer.key_dim, mixer.value_dim)


def mixer_state_bytes(mixer: StateMixer, b: float = 2) -> float:
    """Bytes that one sequence keeps in a layer: its states, and the last inputs of the convolution with b bytes each.

    >>> round(mixer_state_bytes(StateMixer("gated-delta", 32, 16, 128, 128, conv=4)) / 2**20, 2)
    2.05
    """
    x = mixer
    if x.kind == "short-conv":
        return float((x.conv - 1) * x.channels * b)
    states = state_matrix_bytes(x.heads, x.key_dim, x.value_dim, x.state_bytes)
    if not x.conv:
        return float(states)
    if x.kind == "mamba1":
        return float(states + (x.conv - 1) * x.channels * b)
    return float(states + conv_state_bytes(x.heads, x.key_heads, x.key_dim, x.value_dim, x.conv, b))


def sequence_state_bytes(model: Model | str, b: float = 2) -> float:
    """Bytes of one sequence's state in all layers that keep one, and of the tokens whose compressed entry is not
    complete; 0 of a model that has none.
    """
    model = models.of(model)
    states = model.state_layers * mixer_state_bytes(model.mixer, b) if model.mixer else 0.0
    return states + unfinished_bytes(model)


def unfinished_bytes(model: Model) -> float:
    """Bytes that one sequence keeps, in all layers, of tokens whose entry is not complete."""
    return float(sum(kept for _, kept in _unfinished(model)))


def _unfinished(model: Model) -> Iterator[tuple[int, float]]:
    """The stride of each layer that has one, and the bytes of its tokens whose entry is not complete."""
    x, index = model.compression, model.indexer
    for stride in x.strides if x else ():
        if x and stride:
            yield stride, float(compressor_state_bytes(model.head_dim, stride, x.overlap(stride)))
            if index and stride == x.sparse:
                yield stride, float(compressor_state_bytes(index.dim, stride, x.overlap(stride)))


def moved_state_bytes(model: Model | str, b: float = 2) -> float:
    """Bytes of one sequence's state that a decode step reads and writes, in all layers: states whole; of the tokens
    whose entry is not complete one is written, and all are read when it is.
    """
    model = models.of(model)
    states = model.state_layers * mixer_state_bytes(model.mixer, b) if model.mixer else 0.0
    return 2 * (states + sum(kept / stride for stride, kept in _unfinished(model)))


def compressor_parameters(model: Model, stride: int) -> int:
    """All parameters of what makes the entries of a layer with this stride, without its indexer; 0 without a stride."""
    x = model.compression
    if x is None or not stride:
        return 0
    return int(compressor_params.function(model.width, model.head_dim, stride, x.overlap(stride)))


def compressor_matrices(model: Model, stride: int) -> int:
    """Its parameters in matrices, which one token is multiplied with."""
    x = model.compression
    return 2 * model.width * x.overlap(stride) * model.head_dim if x and stride else 0


def stream_parameters(model: Model | str) -> int:
    """Parameters of all hyper-connections: two a layer, and at the end the weights that one stream is read with."""
    model = models.of(model)
    n = model.streams
    if not n:
        return 0
    each = int(hyper_connection_params.function(model.width, n))
    return 2 * model.layers * each + head_stream_parameters(model)


def head_stream_parameters(model: Model) -> int:
    """Of those at the end of the model, or of a module for multi-token prediction."""
    n = model.streams
    return n * (n * model.width + 1) + 1 if n else 0


def stream_matrices(model: Model | str) -> int:
    """Their parameters in matrices, in all layers and at the end."""
    model = models.of(model)
    n = model.streams
    return n * model.width * n * (2 * model.layers * (2 + n) + 1)


def stream_mixing_flops(model: Model | str, B: Any) -> Any:
    """Operations of reading, writing and mixing the streams in all layers, without the products that make weights."""
    model = models.of(model)
    n = model.streams
    if not n:
        return 0
    whole = 2 * model.layers * hyper_connection_flops(B, model.width, n)
    return whole - 4 * B * model.layers * n * model.width * (2 + n) * n


def compressed_step_flops(model: Model, B: Any, T: Any) -> Any:
    """Operations on entries in all layers, forward pass: scores and weighted entries, and those of indexers."""
    x, index = model.compression, model.indexer
    if x is None:
        return 0
    flops = index.layers * entry_index_flops(B, T, x.sparse, index.heads, index.dim) if index else 0
    for stride in set(x.strides) - {0}:
        top = index.top if index and stride == x.sparse else T
        each = entry_attention_flops(B, T, stride, top, model.heads, model.head_dim)
        flops = flops + x.strides.count(stride) * each
    return flops


def indexer_parameters(model: Model | str) -> int:
    """All parameters of a layer's indexer, its norm included; 0 of a model without one."""
    model = models.of(model)
    x = model.indexer
    if x is None:
        return 0
    if c := model.compression:
        lengths = (x.heads, x.dim, c.sparse, c.overlap(c.sparse))
        return int(compressed_indexer_params.function(model.width, model.q_lora, *lengths))
    weights = 0 if x.weighted else model.width * x.heads
    return int(indexer_params.function(model.width, model.q_lora or model.width, x.heads, x.dim)) - weights


def indexer_matrices(model: Model | str) -> int:
    """Parameters of an indexer in matrices."""
    model = models.of(model)
    x, c = model.indexer, model.compression
    if x is None:
        return 0
    if c:
        return indexer_parameters(model) - x.dim * (1 + c.overlap(c.sparse) * c.sparse)
    return indexer_parameters(model) - 2 * x.dim


def sparse_step_flops(model: Model | str, B: Any, T: Any) -> Any:
    """Operations of sparse attention in all layers, forward pass: attention on the keys that are picked, and scores of
    all keys where a layer has an indexer of its own.
    """
    model = models.of(model)
    x = model.indexer
    if x is None:
        return 0
    picked = sparse_latent_flops(B, T, x.top, model.heads, model.kv_lora, model.rope_dim)
    return model.attention_layers * picked + x.layers * indexer_flops(B, T, x.heads, x.dim)


def index_bytes_per_token(model: Model | str) -> float:
    """Bytes that one token adds to the caches of all indexers."""
    model = models.of(model)
    x = model.indexer
    if x is None:
        return 0.0
    stride = model.compression.sparse if model.compression else 1
    return float(index_token_bytes(x.layers, x.dim) / stride if x.weighted else 2 * x.layers * x.dim)
