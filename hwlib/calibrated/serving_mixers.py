"""The kernels of layers that keep a state, and of sparse attention: roofline times with typed shares of the peaks.

No kernel of this kind is among the measured ones, so that the shares below are typed. A decode step reads and writes
states. A prompt is computed in parts, by kernels that take as long for exponentials, decays and sums on the vector
units as for products: published steps of Nemotron 3 Nano on H100 and Blackwell (megatron-bridge) leave some 20 TFLOP/s
for its states beside all else, a quarter of the vector units' rate, on chips whose products are 2.5 times as quick.
An indexer scores every key in 8 bits where the chip has them; every rank of tp has all of it, and all of its cache.
"""

from __future__ import annotations

from hwlib.calibrated.serving_kernels import MLA_SHARE, KernelChip
from hwlib.specs import Accelerator, Model
from hwlib.specs.state_mixer import StateMixer
from hwlib.transformer import (
    chunked_mixer_flops,
    index_bytes_per_token,
    indexer_flops,
    mixer_state_bytes,
    sparse_latent_flops,
)

STATE_SHARE = 0.7  # of memory's bandwidth, of kernels that read and write a state (typed)
VECTOR_SHARE = 0.25  # of the vector units' rate in 32 bits, that parts of a sequence reach (typed)
VECTOR_OF_MATRIX = 1 / 16  # of the peak in 16 bits, the vector units' rate where no source says it: that of the A100
INDEX_SHARE = 0.5  # of the peak in 8 bits, of an indexer's products (typed)
STARTS = 3  # kernels of a state's layer beside its products: convolution, state, norm with its gate
T_START = 2e-6  # s of a kernel in a graph, as the fitted ones of decoding (typed)


def state_step_seconds(mixer: StateMixer, chip: KernelChip, tp: int, batch: float) -> float:
    """Seconds of one layer's states for a new token of each sequence, on one of tp ranks."""
    return STARTS * T_START + 2 * batch * mixer_state_bytes(mixer) / tp / (STATE_SHARE * chip.W)


def state_step_least(mixer: StateMixer, chip: KernelChip, tp: int, batch: float) -> float:
    """The least seconds of the same: the states at the whole bandwidth."""
    return 2 * batch * mixer_state_bytes(mixer) / tp / chip.W


def part_rate(chip: Accelerator) -> float:
    """FLOP/s that kernels of states reach on parts of a sequence."""
    return VECTOR_SHARE * (chip.fp32_flops or VECTOR_OF_MATRIX * (chip.bf16_flops or chip.fp16_flops or 0.0))


def state_prompt_seconds(mixer: StateMixer, chip: KernelChip, rate: float, tp: int, tokens: float) -> float:
    """Seconds of one layer's states over a prompt, at the `part_rate` of the chip; or queries, keys, values and what
    comes out, each read and written by two kernels.
    """
    math = float(chunked_mixer_flops(mixer, tokens)) / tp / rate
    channels = mixer.channels + mixer.heads * mixer.value_dim
    moved = 2 * 2 * 2.0 * tokens * channels / tp / (STATE_SHARE * chip.W)
    return STARTS * T_START + max(math, moved)


def index_step_seconds(model: Model, chip: KernelChip, batch: float, context: float) -> float:
    """Seconds of one indexer for a new token of each sequence: its keys are read, and scored."""
    x = model.indexer
    if x is None:
        return 0.0
    read = batch * context * index_bytes_per_token(model) / x.layers / (STATE_SHARE * chip.W)
    math = 2.0 * batch * context * x.heads * x.dim / (INDEX_SHARE * chip.rate("fp8"))
    return STARTS * T_START + max(read, math)


def sparse_prompt_seconds(model: Model, chip: KernelChip, tp: int, tokens: float) -> float:
    """Seconds of one layer's sparse attention over a prompt, without its indexer."""
    x = model.indexer
    if x is None:
        return 0.0
    flops = sparse_latent_flops(tokens, tokens, x.top, model.heads, model.kv_lora, model.rope_dim)
    return T_START + float(flops) / tp / (MLA_SHARE * chip.C)


def index_prompt_seconds(model: Model, chip: KernelChip, tokens: float) -> float:
    """Seconds of one indexer over a prompt."""
    x = model.indexer
    if x is None:
        return 0.0
    return STARTS * T_START + float(indexer_flops(tokens, tokens, x.heads, x.dim)) / (INDEX_SHARE * chip.rate("fp8"))
