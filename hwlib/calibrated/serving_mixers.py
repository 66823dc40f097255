"""The kernels of layers that keep a state, and of sparse attention: roofline times with typed shares of the peaks.

None of them is fitted here. A decode step reads and writes states. A prompt is computed in parts, whose exponentials,
decays and sums keep the vector units as busy as their products the matrix units, so that rates are told in those of the
vector units: kernels of one kind reach about the same multiple of it on Hopper and on Blackwell, whose matrix rates
differ by 2.5. The shares are round numbers near the kernel times that AIConfigurator publishes (aiconfigurator).
An indexer scores every key in 8 bits where the chip has them; every rank of tp has all of it, and all of its cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hwlib.calibrated.serving_kernels import KernelChip
from hwlib.specs import Accelerator, Model
from hwlib.specs.state_mixer import StateMixer
from hwlib.transformer import (
    chunked_mixer_flops,
    entry_attention_flops,
    entry_index_flops,
    hyper_connection_flops,
    index_bytes_per_token,
    indexer_flops,
    mixer_state_bytes,
    sparse_latent_flops,
    window_attention_forward_flops,
)
from hwlib.transformer.attention_kinds import AttentionKind

STATE_SHARE = 0.75  # of memory's bandwidth, of kernels that read and write a state (typed)
PROMPT_SHARE: Mapping[str, float] = MappingProxyType(
    {"gated-delta": 4.5, "kimi-delta": 2.7, "mamba2": 1.0, "mamba1": 0.25, "lightning": 2.2, "short-conv": 0.25}
)
"""Of the vector units' rate in 32 bits, what parts of a prompt reach (typed): with kernels of FlashInfer, of FlashKDA,
of Triton (mamba_ssm), a guess, with those of flash-linear-attention, a guess."""
VECTOR_OF_MATRIX = 1 / 16  # of the peak in 16 bits, the vector units' rate where no source says it: that of the A100
LATENT_SHARE = (
    0.5  # of the bfloat16 peak that sparse latent attention, and that on entries, over a prompt reaches (typed)
)
INDEX_SHARE = 0.5  # of the peak in 8 bits, of an indexer's products (typed)
CONV_SHARE = 0.4  # of memory's bandwidth, of a short convolution over a prompt (typed)
PROMPT_STARTS = 10  # kernels of a state's layer over a prompt, beside its products (typed)
INDEX_STARTS = 20  # kernels of a decoding indexer: 8-bit queries and keys, scores, the best of them, places (typed)
STREAM_SHARE = 0.1  # of the peak in 16 bits, of the narrow products in 32 that mix residual streams (typed)
STARTS = 3  # kernels of a state's layer beside its products: convolution, state, norm with its gate
T_START = 2e-6  # s of a kernel in a graph, as the fitted ones of decoding (typed)


def state_step_seconds(mixer: StateMixer, chip: KernelChip, tp: int, batch: float, queries: int = 1) -> float:
    """Seconds of one layer's states for `queries` new tokens of each sequence, on one of tp ranks: a state is read, and
    written after each token, so that a step can go back to the last draft that is accepted.
    """
    return STARTS * T_START + (1 + queries) * batch * mixer_state_bytes(mixer) / tp / (STATE_SHARE * chip.W)


def state_step_least(mixer: StateMixer, chip: KernelChip, tp: int, batch: float) -> float:
    """The least seconds of the same: the states at the whole bandwidth, read and written once."""
    return 2 * batch * mixer_state_bytes(mixer) / tp / chip.W


def vector_rate(chip: Accelerator) -> float:
    """FLOP/s of a chip's vector units."""
    return chip.fp32_flops or VECTOR_OF_MATRIX * (chip.bf16_flops or chip.fp16_flops or 0.0)


def state_prompt_seconds(mixer: StateMixer, chip: KernelChip, rate: float, tp: int, tokens: float) -> float:
    """Seconds of one layer's states over a prompt, on a chip whose vector units have this rate: a convolution, which
    reads and writes its channels, and then the parts.
    """
    math = float(chunked_mixer_flops(mixer, tokens)) / tp / (PROMPT_SHARE[mixer.kind] * rate)
    moved = 2 * 2.0 * tokens * mixer.channels / tp / (CONV_SHARE * chip.W) if mixer.conv else 0.0
    return PROMPT_STARTS * T_START + math + moved


def index_step_seconds(model: Model, chip: KernelChip, batch: float, context: float, queries: int = 1) -> float:
    """Seconds of one indexer for `queries` new tokens of each sequence: its keys are read, and scored for each."""
    x = model.indexer
    if x is None:
        return 0.0
    read = batch * context * index_bytes_per_token(model) / x.layers / (STATE_SHARE * chip.W)
    scored = context / model.compression.sparse if model.compression else context
    math = 2.0 * queries * batch * scored * x.heads * x.dim / (INDEX_SHARE * chip.rate("fp8"))
    return INDEX_STARTS * T_START + max(read, math)


def sparse_prompt_seconds(model: Model, chip: KernelChip, tp: int, tokens: float) -> float:
    """Seconds of one layer's sparse attention over a prompt, without its indexer."""
    x = model.indexer
    if x is None:
        return 0.0
    flops = sparse_latent_flops(tokens, tokens, x.top, model.heads, model.kv_lora, model.rope_dim)
    return T_START + float(flops) / tp / (LATENT_SHARE * chip.C)


def compressed_prompt_flops(kind: AttentionKind, tokens: float) -> float:
    """Operations of one layer's attention over a prompt, on the keys of a window and on entries."""
    m = kind.model
    flops = window_attention_forward_flops(tokens, tokens, kind.window, m.heads, m.head_dim)
    if kind.stride:
        top = kind.picked or tokens
        flops += entry_attention_flops(tokens, tokens, kind.stride, top, m.heads, m.head_dim)
    return float(flops)


def compressed_prompt_seconds(kind: AttentionKind, chip: KernelChip, tp: int, tokens: float) -> float:
    """Seconds of the same, on one of tp ranks."""
    return T_START + compressed_prompt_flops(kind, tokens) / tp / (LATENT_SHARE * chip.C)


def stream_seconds(model: Model, chip: KernelChip, tokens: float) -> float:
    """Seconds of the hyper-connections of one layer, whose every rank has all: around each of two blocks the streams
    are read for their weights, read to be mixed, and written.
    """
    if not model.streams:
        return 0.0
    n = model.streams
    flops = 2.0 * hyper_connection_flops(tokens, model.width, n)
    moved = 2 * 3 * 2.0 * tokens * n * model.width
    return 2 * STARTS * T_START + max(flops / (STREAM_SHARE * chip.C), moved / (CONV_SHARE * chip.W))


def index_prompt_seconds(model: Model, chip: KernelChip, tokens: float) -> float:
    """Seconds of one indexer over a prompt."""
    x = model.indexer
    if x is None:
        return 0.0
    if c := model.compression:
        flops = entry_index_flops(tokens, tokens, c.sparse, x.heads, x.dim)
    else:
        flops = indexer_flops(tokens, tokens, x.heads, x.dim)
    return STARTS * T_START + float(flops) / (INDEX_SHARE * chip.rate("fp8"))
