"""Memory of training: bytes on each rank, for any model, strategy and pipeline stage.

The bytes per parameter and their division by ZeRO are formulas; `footprint` adds up a whole rank.
"""

from hwlib.footprint.loss_bytes import LOSSES
from hwlib.footprint.rank_bytes import OFFLOAD, Footprint, footprint, unchecked_footprint
from hwlib.footprint.state_bytes import (
    ADAM_8BIT,
    BFLOAT16_ADAM,
    DEEPSEEK_ADAM,
    FP8_MOMENTS_ADAM,
    FULL_ADAM,
    HALF_ADAM,
    MEGATRON_ADAM,
    MIXED_ADAM,
    MUON,
    SGD,
    STATES,
    States,
    replicated_state_bytes,
    zero1_state_bytes,
    zero2_state_bytes,
    zero3_state_bytes,
)
from hwlib.footprint.trained import BASES, OPTIMIZERS, Adapters, Trained, adapters_of, bytes_words, with_optimizer

__all__ = [
    "ADAM_8BIT",
    "BASES",
    "BFLOAT16_ADAM",
    "DEEPSEEK_ADAM",
    "FP8_MOMENTS_ADAM",
    "FULL_ADAM",
    "HALF_ADAM",
    "LOSSES",
    "MEGATRON_ADAM",
    "MIXED_ADAM",
    "MUON",
    "OFFLOAD",
    "OPTIMIZERS",
    "SGD",
    "STATES",
    "Adapters",
    "Footprint",
    "States",
    "Trained",
    "adapters_of",
    "bytes_words",
    "footprint",
    "replicated_state_bytes",
    "unchecked_footprint",
    "with_optimizer",
    "zero1_state_bytes",
    "zero2_state_bytes",
    "zero3_state_bytes",
]
