"""Everything that determines the time of a step, in one record."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from hwlib.calibrated.gemm import product_model
from hwlib.footprint.trained import Adapters, Trained
from hwlib.specs import Level, Model, Stack
from hwlib.strategy import Strategy


class Rates(NamedTuple):
    """Rates that the chip reaches: FLOP/s of products in the step's dtype and in bfloat16 and of attention's, and B/s
    of memory, for the layers and for the logits.
    """

    C: float
    C_logits: float
    C_attention: float
    W: float
    W_logits: float


def wide_dtype(dtype: str) -> str:
    """The dtype of what is not in the layers' narrow one: theirs, where it has 16 bits or more, or bfloat16."""
    return dtype if dtype in ("bf16", "bfloat16", "fp16", "float16", "fp32", "float32") else "bf16"


def rates_of(stack: Stack, dtype: str) -> Rates:
    """The rates of a stack for a dtype. Raises ValueError for a dtype that the chip lacks.

    Where it is timed kernel by kernel they are those of large products, for what has no model of its own.
    """
    chip, wide = stack.accelerator, wide_dtype(dtype)
    if stack.kernels:
        products, rest = product_model(chip, dtype), product_model(chip, wide)
        C, C_wide = (stack.eta_P * of.constants.eta_C * of.C for of in (products, rest))
        W = stack.eta_W * (chip.hbm_bandwidth or 0.0)
        return Rates(C, C_wide, C_wide, W, W)
    eta = stack.eta_C if wide == dtype else stack.eta_low * (stack.eta_4 if "fp4" in dtype else 1.0)
    W = chip.hbm_bandwidth or 0.0
    return Rates(
        eta * chip.flops(dtype),
        stack.eta_C * chip.flops(wide),
        stack.eta_A * chip.flops(wide),
        stack.eta_W * W,
        stack.eta_V * stack.eta_W * W,
    )


class HostLink(NamedTuple):
    """What a GPU leaves to its host, and the bandwidth of the link over which that goes, B/s in one direction."""

    bandwidth: float
    activations: bool
    optimizer: bool


class Job(NamedTuple):
    """A model's step with a strategy on a machine: `m` microbatches a replica, in sequences of T tokens.

    `mtp` of the model's layers are those of modules for multi-token prediction; `host` is None where a GPU leaves
    nothing to its host; `gradient_bytes` are those of a gradient that is summed. `trained` is None where all is trained
    as the software does it; `frozen` matrices have no gradients, whatever is trained beside them.
    `dtype` is that of the layers' products.
    """

    model: Model
    stack: Stack
    levels: Sequence[Level]
    strategy: Strategy
    T: Any
    m: Any
    rates: Rates
    fused: bool
    expert_imbalance: Any
    dedup_dispatch: bool
    frozen: bool = False
    mtp: int = 0
    host: HostLink | None = None
    gradient_bytes: float = 2.0
    trained: Trained | None = None
    dtype: str = "bf16"

    @property
    def adapters(self) -> Adapters | None:
        """Adapters that alone are trained."""
        return self.trained.adapters if self.trained else None
