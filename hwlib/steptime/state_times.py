"""Seconds of layers that keep a state, in training: in parts of a sequence, at a typed share of the vector units' rate.

No kernel of this kind is among the measured ones (`hwlib.calibrated.serving_mixers`). The shares are those of the whole
of forward and backward pass, of which the second takes twice the first, as attention's does: near the times of
flash-linear-attention on Hopper and Blackwell; and for Mamba-2 near what published steps of Nemotron 3 Nano leave
beside all else (megatron-bridge), its convolution and its norm included. Those steps cannot fit it: Nano's ask for
0.40 of it, Super's for 0.20, and a share from two of the three models errs more on the third than the typed one
(benchmarks.fit.state_rates).
"""

from collections.abc import Mapping
from math import inf
from types import MappingProxyType
from typing import Any

from hwlib.calibrated.serving_mixers import vector_rate
from hwlib.specs import Accelerator, Model
from hwlib.transformer import attention_step_flops, chunked_mixer_flops, mixer_flops

TRAINED_SHARE: Mapping[str, float] = MappingProxyType(
    {"gated-delta": 1.0, "kimi-delta": 0.65, "mamba2": 0.25, "mamba1": 0.25, "lightning": 1.0, "short-conv": 0.25}
)
"""Of the vector units' rate in 32 bits, what parts of a sequence reach in training (typed)."""


def attention_flops(model: Model, tokens: Any, T: Any, causal: bool) -> Any:
    """Operations of scores and values in all layers, without states."""
    flops = attention_step_flops(model, tokens, T, causal=causal)
    return flops - model.state_layers * mixer_flops(model.mixer, tokens) if model.mixer else flops


def mean_state_time(model: Model, chip: Accelerator, tokens: Any, tp: Any, C: float) -> Any:
    """Seconds of the states of the mean layer, forward; none where arithmetic takes no time, as C is endless."""
    if model.mixer is None or inf == C:
        return 0.0
    rate = TRAINED_SHARE[model.mixer.kind] * vector_rate(chip)
    return model.state_layers / model.layers * chunked_mixer_flops(model.mixer, tokens) / tp / rate
