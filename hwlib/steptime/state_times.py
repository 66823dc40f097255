"""Seconds of layers that keep a state, in training: in parts of a sequence, at a typed share of the vector units' rate.

No kernel of this kind is among the measured ones (`hwlib.calibrated.serving_mixers`). The backward pass takes twice the
forward one, as attention's does.
"""

from math import inf
from typing import Any

from hwlib.calibrated.serving_mixers import part_rate
from hwlib.specs import Accelerator, Model
from hwlib.transformer import attention_step_flops, chunked_mixer_flops, mixer_flops


def attention_flops(model: Model, tokens: Any, T: Any, causal: bool) -> Any:
    """Operations of scores and values in all layers, without states."""
    flops = attention_step_flops(model, tokens, T, causal=causal)
    return flops - model.state_layers * mixer_flops(model.mixer, tokens) if model.mixer else flops


def mean_state_time(model: Model, chip: Accelerator, tokens: Any, tp: Any, C: float) -> Any:
    """Seconds of the states of the mean layer, forward; none where arithmetic takes no time, as C is endless."""
    if model.mixer is None or inf == C:
        return 0.0
    return model.state_layers / model.layers * chunked_mixer_flops(model.mixer, tokens) / tp / part_rate(chip)
