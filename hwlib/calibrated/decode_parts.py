"""A decode step cut into its parts: weights, arithmetic beyond them, caches, sums, kernels, and waiting for the host.

The terms are those of `hwlib.inference`; their constants were fitted to single kernels and to NCCL, never to a server:
the share of the bandwidth that a chip's products reach, the fixed time of each kernel, and the latency of an
all-reduce. So a published step is a test of all of them together.

Llama 2 70B on eight A100, one sequence: gpt-fast's README has 62.5 tokens/s, 16.0 ms.

>>> decode_parts("llama2-70b", "a100-80gb-sxm", tp=8, T_kv=105)
<StepParts: 17.4 ms, of which weights 10.9 ms, collectives 3.56 ms, kernels 2.97 ms>
"""

from functools import cache
from typing import Any, NamedTuple

from hwlib.calibrated.nccl import nccl_time
from hwlib.inference import (
    cache_copies,
    cache_time,
    host_step_time,
    launched_step_time,
    step_bytes,
    tensor_decode_time,
    weight_time,
)
from hwlib.roofline import compute_time
from hwlib.specs import Accelerator, Model, accelerators, models
from hwlib.specs.fitted import gemm_constants
from hwlib.transformer import (
    cache_read_bytes,
    forward_flops,
    kv_bytes_per_token,
    matmul_parameters,
    moved_state_bytes,
    state_step_time,
)
from hwlib.units import KiB, MiB, show

FUSED = 10  # kernels of a layer as servers fuse them: two norms, four products, rotation and writing to the cache,
# attention, the gate, the residual (counted)
LAUNCHED = 14  # as a framework launches them one by one: two writes to the cache apart, a residual more, two sums
SMALL, LARGE = 1 * KiB, 8 * MiB  # of an all-reduce: the latency of the sums is that of the one, between them the rate


class StepConstants(NamedTuple):
    """What a chip reaches: bandwidth and arithmetic of products, the fixed time of a kernel, and of a sum on tp GPUs
    half its latency and its bandwidth.
    """

    W: float
    C: float
    t0: float
    alpha: float
    W_sum: float


class StepParts(NamedTuple):
    """Seconds of a decode step by what they are for. `kernels` are their starts and ends; `waiting` is the time in
    which the device waits for a host that launches.
    """

    weights: float
    arithmetic: float
    cache: float
    collectives: float
    kernels: float
    waiting: float

    @property
    def total(self) -> float:
        return sum(self)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {show(t, 's', 3)}" for name, t in self._asdict().items() if t > 0.01 * self.total)
        return f"<StepParts: {show(self.total, 's', 3)}, of which {parts}>"


@cache
def step_constants(chip: str, tp: int = 1) -> StepConstants:
    """The constants of a chip, on tp of them in one node. Raises KeyError for a chip that nothing was fitted on."""
    sheet, fit = accelerators[chip], gemm_constants()[chip, "bf16"]
    W, C = fit.eta_W * (sheet.hbm_bandwidth or 0.0), fit.eta_C * sheet.flops("bf16")
    if tp == 1:
        return StepConstants(W, C, fit.t0, 0.0, 1.0)
    latency = float(nccl_time(chip, "all_reduce", tp, SMALL))
    transfer = float(nccl_time(chip, "all_reduce", tp, LARGE)) - latency
    return StepConstants(W, C, fit.t0, latency / 2, 2 * (tp - 1) / tp * LARGE / transfer)


def decode_parts(
    model: Model | str,
    chip: Accelerator | str,
    *,
    tp: int = 1,
    B: int = 1,
    T_kv: float,
    b_w: float = 2,
    b_kv: float = 2,
    t_launch: float = 0.0,
    n_k: int = FUSED,
) -> StepParts:
    """A decode step of B sequences of T_kv tokens on tp GPUs of one node, each kernel at its measured rate.

    A step is replayed as a graph unless `t_launch`, in which the host launches a kernel, is above 0; then the host
    launches `LAUNCHED` kernels a layer, and the device waits where it is ahead of it. Products are in bfloat16,
    whatever the bytes of a weight; whether the batch fits is not checked.
    """
    model, chip = models.of(model), accelerators.of(chip)
    c = step_constants(chip.key, tp)
    weights = float(weight_time(step_bytes(model, B, 1.0), tp, c.W, b_w))
    math = float(compute_time(forward_flops(matmul_parameters(model), B), tp * c.C))
    copies = float(cache_copies(model.kv_heads, tp))
    states = moved_state_bytes(model)
    if model.compression:
        cached = copies * B * (cache_read_bytes(model, T_kv, b_kv) - states) / (tp * c.W)
    else:
        cached = float(cache_time(copies * B, T_kv, kv_bytes_per_token(model, b_kv), tp, c.W))
    cached += float(state_step_time(B, states / 2, tp * c.W)) if states else 0.0
    sums = float(tensor_decode_time(model.layers, B, model.width, tp, c.alpha, c.W_sum)) if tp > 1 else 0.0
    kernels = float(host_step_time(model.layers, n_k, c.t0))
    device = max(weights, math) + cached + sums + kernels
    host = float(host_step_time(model.layers, LAUNCHED, t_launch))
    step: Any = launched_step_time(device, host)
    return StepParts(weights, max(math - weights, 0.0), cached, sums, kernels, float(step) - device)
