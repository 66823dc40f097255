"""Seconds of layers that keep a state, in training: in parts of a sequence, at a typed share of attention's rate.

No kernel of this kind is among the measured ones: fused attention's products are as deep as a head is wide, those of a
part are smaller, so half of its rate is taken. The backward pass takes twice the forward one, as everywhere.
"""

from typing import Any

from hwlib.calibrated.serving_mixers import CHUNK_SHARE
from hwlib.specs import Model
from hwlib.transformer import attention_step_flops, chunked_mixer_flops, mixer_flops

OF_ATTENTION = 0.5  # of the rate of attention's products (typed)


def attention_flops(model: Model, tokens: Any, T: Any, causal: bool) -> Any:
    """Operations of scores and values in all layers, without states."""
    flops = attention_step_flops(model, tokens, T, causal=causal)
    return flops - model.state_layers * mixer_flops(model.mixer, tokens) if model.mixer else flops


def mean_state_time(model: Model, tokens: Any, tp: Any, C_attention: Any) -> Any:
    """Seconds of the states of the mean layer, forward, where attention's products reach C_attention."""
    if model.mixer is None:
        return 0.0
    share = model.state_layers / model.layers
    return share * chunked_mixer_flops(model.mixer, tokens) / tp / (OF_ATTENTION * C_attention)


def kernel_state_time(model: Model, tokens: Any, C: float) -> Any:
    """The same on a chip of C FLOP/s that is timed kernel by kernel."""
    if model.mixer is None:
        return 0.0
    return model.state_layers / model.layers * chunked_mixer_flops(model.mixer, tokens) / (CHUNK_SHARE * C)
