"""The kernels of a server's layer, by the models of `hwlib.calibrated`: products, attention, experts, and plain traffic."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache
from math import inf
from typing import TYPE_CHECKING

from hwlib.calibrated.gemm import OVERLAP, PARTIAL_BYTES, QUANTISED_FROM, TILINGS, GemmModel, model_of
from hwlib.calibrated.kernel import ELEMENT_BYTES, OUTPUT_BYTES
from hwlib.roofline import matmul_flops, mixed_matmul_bytes
from hwlib.specs import Accelerator, Model, accelerators
from hwlib.specs.fitted import gemm_constants

if TYPE_CHECKING:
    from hwlib.calibrated.serving_step import Server

ARCHITECTURES = {"Ampere": "a100-80gb-sxm", "Ada": "h100-sxm", "Hopper": "h100-sxm"}  # all others: the B200
W_SM = 4.8e12 / 132  # B/s: what a multiprocessor asks of the memory at most, that of the H200; it binds the H20
WEIGHT_ONLY = {"int8w": 1.0, "int4w": 0.53}


def kernel_chip(chip: Accelerator) -> str:
    """The chip whose kernels' constants stand for those of a chip, which keeps its own data sheet."""
    return ARCHITECTURES.get(chip.arch, "b200-sxm")


@cache
def _gemm(chip: str, dtype: str) -> GemmModel:
    known = gemm_constants()
    key = (chip, dtype) if (chip, dtype) in known else (kernel_chip(accelerators[chip]), dtype)
    model = model_of(known[key], chip)
    return replace(model, W=min(model.W, W_SM * model.n_SM))


def product_time(chip: Accelerator, dtype: str, M: int, N: int, K: int) -> float:
    """Seconds of a product; one of weights alone in few bits reads fewer bytes."""
    return _product_time(chip.key, dtype, M, N, K)


@lru_cache(maxsize=100_000)
def _product_time(chip: str, dtype: str, M: int, N: int, K: int) -> float:
    if dtype in WEIGHT_ONLY:
        model = _gemm(chip, "bf16")
        saved = (2.0 - WEIGHT_ONLY[dtype]) * N * K / (model.constants.eta_W * model.W)
        floor = model.constants.t0 + matmul_flops(M, K, N) / (model.constants.eta_C * model.C)
        return max(_quickest(model, M, N, K) - saved, floor)
    model = _gemm(chip, {"fp8_block": "fp8", "mxfp4": "bf16"}.get(dtype, dtype))
    extra = model.constants.t0 - 4e-6 if model.constants.quantises else 0.0
    return _quickest(model, M, N, K) - max(extra, 0.0)


def _quickest(model: GemmModel, M: int, N: int, K: int) -> float:
    """`GemmModel.time` in plain floats, a dozen times as quick: a server's step asks for some hundred products."""
    c, b, n_SM = model.constants, ELEMENT_BYTES[model.constants.dtype], model.n_SM
    rate, feed = c.eta_C * model.C / n_SM, c.W_L2 / n_SM
    best, memory = inf, mixed_matmul_bytes(M, K, N, b, b, OUTPUT_BYTES) / (c.eta_W * model.W)
    for m, n, parts in TILINGS:
        depth = K / parts
        waves = -(-(-(-M // m) * -(-N // n) * parts) // n_SM)
        core = waves * (c.t_tile + max(2.0 * m * n * depth / rate, (m + n) * depth * b / feed))
        join = c.t_join + 2 * parts * M * N * PARTIAL_BYTES / c.W_L2 if parts > 1 else 0.0
        best = min(best, (core**OVERLAP + memory**OVERLAP) ** (1 / OVERLAP) + join)
    quantise = c.quantises * M * K * (QUANTISED_FROM + b) / (c.eta_W * model.W)
    return c.t0 + best + quantise


def traffic_time(chip: Accelerator, moved: float) -> float:
    """Seconds of so many bytes through memory, in kernels that do little else."""
    return moved / (0.8 * (chip.hbm_bandwidth or 0.0))


def cache_time(server: Server, batch: int, context: float) -> float:
    """Seconds of one layer's attention for a new token of each sequence."""
    m, chip = server.model, server.chip
    b = 1.0 if server.kv_dtype == "fp8" else 2.0
    W = 0.75 * (chip.hbm_bandwidth or 0.0)
    if m.mla:
        heads = m.heads // server.attention_tp
        flops = 2.0 * batch * context * heads * (2 * m.kv_lora + m.rope_dim)
        return 8e-6 + max(batch * context * (m.kv_lora + m.rope_dim) * b / W, flops / (0.5 * chip.flops("bf16")))
    kv = max(m.kv_heads / server.attention_tp, 1)
    return 6e-6 + 2.0 * batch * context * kv * m.head_dim * b / W


def prompt_time(server: Server, tokens: float, window: float) -> float:
    """Seconds of one layer's attention over a prompt."""
    m, chip = server.model, server.chip
    seen = tokens * tokens / 2 if tokens <= window else window * tokens - window * window / 2
    flops = 2.0 * m.heads / server.attention_tp * (m.key_dim + m.value_dim) * seen
    rate = 0.6 * tokens / (tokens + 1000.0)
    return 5e-6 + flops / (rate * chip.flops("bf16"))


def experts_time(chip: Accelerator, dtype: str, m: Model, tokens: int, tp: int, ep: int) -> float:
    """Seconds of one layer's routed experts on one GPU of ep, each expert's width divided by tp."""
    pairs = tokens * m.experts_per_token / ep
    local = m.experts / ep
    active = local * (1 - (1 - m.experts_per_token / m.experts) ** tokens)
    width = m.expert_ffn / tp
    math = {"fp8_block": "fp8", "mxfp4": "bf16", "int8w": "bf16", "int4w": "bf16"}.get(dtype, dtype)
    b = {"fp4": 0.5625, "mxfp4": 0.53, "int8w": 1.0, "int4w": 0.53}.get(dtype, ELEMENT_BYTES.get(math, 2.0))
    flops = 2.0 * m.matrices * pairs * m.width * width
    moved = active * m.matrices * m.width * width * b + pairs * (4 * m.width + 6 * width)
    flops += 2.0 * m.matrices * 200.0 * active * m.width * width
    rate = 0.75 * chip.flops(math) * width / (width + 400.0)
    return 15e-6 + max(flops / rate, moved / (0.7 * (chip.hbm_bandwidth or 0.0)))
