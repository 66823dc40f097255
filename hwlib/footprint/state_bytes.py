"""The training state of a parameter, and how ZeRO divides it among dp ranks.

The formulas have the defaults of their paper, MIXED_ADAM; `footprint` and the planner those of MEGATRON_ADAM, whose
gradients are twice as large. What ZeRO sends is `hwlib.parallel.zero1_bytes` and its neighbours.
"""

from typing import NamedTuple

from hwlib.formula import formula


class States(NamedTuple):
    """Bytes of one parameter as weight, as gradient, and in the optimizer; `total` is their sum."""

    weight: float
    gradient: float
    optimizer: float

    @property
    def total(self) -> float:
        """Bytes of one parameter on a rank that shares nothing."""
        return sum(self)


MIXED_ADAM = States(2, 2, 12)
"""Adam in mixed precision: 16-bit weights and gradients; a 32-bit copy and two moments (rajbhandari2020)."""
MEGATRON_ADAM = States(2, 4, 12)
"""The same with gradients summed up in 32 bits, as Megatron-LM does: 18 bytes (korthikanti2022, Figure 1).

The default of `footprint` and of the planner.
"""
HALF_ADAM = States(2, 2, 16)
"""Everything in 16 bits but for the step, which takes 32-bit copies of weights and gradients: 20 bytes
(megatron-distributed-optimizer).
"""
DEEPSEEK_ADAM = States(1, 4, 8)
"""8-bit weights for the products, 32-bit gradients and copy, both moments in 16 bits: 13 bytes (deepseek-v3)."""
FULL_ADAM = States(4, 4, 8)
"""Everything in 32 bits: no copy is needed, and 16 bytes again."""
BFLOAT16_ADAM = States(2, 2, 4)
"""Everything in 16 bits: half the memory, and updates below a 256th of the weight are lost."""
ADAM_8BIT = States(2, 2, 2)
"""Everything in 16 bits but the moments, which take 8: 6 bytes."""
FP8_MOMENTS_ADAM = States(2, 4, 6)
"""32-bit gradients and copy, both moments in 8 bits: 12 bytes."""
MUON = States(2, 4, 8)
"""32-bit gradients and copy, and one moment: 14 bytes. Tables and norms, which keep Adam, are not told apart."""
SGD = States(4, 4, 4)
"""Stochastic gradient descent with momentum in 32 bits."""
STATES = {
    "mixed": MIXED_ADAM,
    "megatron": MEGATRON_ADAM,
    "half": HALF_ADAM,
    "deepseek": DEEPSEEK_ADAM,
    "full": FULL_ADAM,
    "bfloat16": BFLOAT16_ADAM,
    "bf16": BFLOAT16_ADAM,
    "8bit": ADAM_8BIT,
    "fp8-moments": FP8_MOMENTS_ADAM,
    "muon": MUON,
    "sgd": SGD,
}
"""What a planner may be asked for, by name."""


@formula("S_state", cite="rajbhandari2020")
def replicated_state_bytes(P, b_w=2, b_g=2, b_opt=12):
    """Plain data parallelism: every rank has it all, 16 bytes a parameter with Adam in mixed precision."""
    return (b_w + b_g + b_opt) * P


@formula("S_state", cite="rajbhandari2020")
def zero1_state_bytes(P, dp, b_w=2, b_g=2, b_opt=12):
    """ZeRO-1: a rank keeps the optimizer of its share, and updates that share."""
    return (b_w + b_g + b_opt / dp) * P


@formula("S_state", cite="rajbhandari2020")
def zero2_state_bytes(P, dp, b_w=2, b_g=2, b_opt=12):
    """ZeRO-2: the sum of the gradients too is needed where the share is updated, and nowhere else."""
    return (b_w + (b_g + b_opt) / dp) * P


@formula("S_state", cite="rajbhandari2020")
def zero3_state_bytes(P, dp, b_w=2, b_g=2, b_opt=12):
    """ZeRO-3, or fully sharded: the weights too, which are then gathered layer by layer when they are used."""
    return (b_w + b_g + b_opt) / dp * P
