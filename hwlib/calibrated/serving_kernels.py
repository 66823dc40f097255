"""The kernels of a server's layer, by the models of `hwlib.calibrated`: products, attention, experts, plain traffic.

A chip that no kernel was fitted on takes the constants of its architecture's, with its own data sheet. One of another
architecture (of another vendor, or described by its owner) is timed as an H100 that had its rates: those of arithmetic
and of memory are its own, and so is the count of multiprocessors where there are many small ones, as a tile goes to
one; the constants are the H100's, or the B200's where the H100 has no products in so few bits. A TPU's few large cores
each work on as much as many of those: its count is that of the chip that the constants are of.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import product
from math import inf
from typing import Any, NamedTuple

from hwlib.calibrated.attention import decode_seconds, prefill_seconds
from hwlib.calibrated.cache_formats import CACHE_FORMATS, cache_element_bytes
from hwlib.calibrated.gemm import OVERLAP, PARTIAL_BYTES, QUANTISED_FROM, TILINGS, GemmModel
from hwlib.calibrated.grouped import grouped_seconds
from hwlib.calibrated.kernel import ELEMENT_BYTES, OUTPUT_BYTES
from hwlib.calibrated.least_times import kernel_least
from hwlib.calibrated.sheet import KERNEL_BYTES, RateSheet
from hwlib.roofline import matmul_flops, mixed_matmul_bytes
from hwlib.specs import Accelerator, Model, accelerators
from hwlib.specs.fitted import attention_constants, decode_constants, gemm_constants, grouped_constants

ARCHITECTURES = {
    "Ampere": "a100-80gb-sxm",
    "Ada": "h100-sxm",
    "Hopper": "h100-sxm",
    "Blackwell": "b200-sxm",
    "CDNA 3": "mi300x",
    "CDNA 4": "mi355x",
}
"""The chip whose kernels stand for those of its architecture, a word of which a chip's begins with."""
MAKERS = ("NVIDIA", "AMD")
ANY = ("h100-sxm", "b200-sxm")
"""Those that stand for the kernels of any other chip, the first that has the dtype."""
R_MLA = 12.9e12  # FLOP/s a multiprocessor of latent attention's decode, were its products nothing: what other units do
# between them. FlashMLA reached 129 TFLOP/s of an H20's 148 (deepseek-ai/FlashMLA issue 30, 2025-02), and 580 to 660 of
# an H800's 989 (its README of 2025-02, pull request 71 of 2025-04)
W_SM = {"Hopper": 4.8e12 / 132}  # B/s: what a multiprocessor asks of memory at most, that of the H200; binds the H20
MANY_SMALL = 16  # multiprocessors of a chip from which on each takes a tile: GPUs have 48 and more, others 1 to 8
WEIGHT_ONLY = {"int8w": 1.0, "int4w": 0.53}


def fitted_architecture(chip: Accelerator) -> str:
    """The architecture whose kernels were fitted that a chip is of; empty of any other chip.

    >>> fitted_architecture(accelerators["b300-sxm"]), fitted_architecture(accelerators["tpu-v5p"])
    ('Blackwell', '')
    """
    return next((name for name in ARCHITECTURES if chip.vendor in MAKERS and chip.arch.startswith(name)), "")


class KernelChip(NamedTuple):
    """What the models of kernels take of a chip: `like`, the chips whose fitted constants are tried, in order; dense
    rates in FLOP/s, that of 16 bits and of fewer (0 where there are none), memory bandwidth in B/s, and its
    multiprocessors: 0 for those of the chip that the constants were fitted on, which count too where a chip has
    kernels of its `own` architecture and the constants are of none of these. `W_SM` is what each asks of memory at
    most.
    """

    name: str
    like: tuple[str, ...]
    C: float
    C_8: float
    C_4: float
    W: float
    n_SM: int
    W_SM: float
    own: tuple[str, ...] = ()

    def rate(self, dtype: str) -> float:
        """The rate of products in a dtype; of fewer bits than a chip multiplies, that of 16."""
        return {"fp8": self.C_8, "fp4": self.C_4}.get(dtype, 0.0) or self.C

    def sheet(self, dtype: str, fitted_on: str) -> RateSheet:
        """Its data sheet, with constants that were fitted on a chip."""
        counted = self.n_SM if fitted_on in self.own or not self.own else 0
        return RateSheet(self.rate(dtype), self.W, counted or accelerators[fitted_on].sms)


def kernel_chip(chip: Accelerator) -> KernelChip:
    """What the kernels' models take of a chip. Raises ValueError for one without a rate in 16 bits or of memory."""
    if not (C := chip.bf16_flops or chip.fp16_flops):
        raise ValueError(f"no source says how fast {chip.name} multiplies in 16 bits; it can be described in a file")
    if not chip.hbm_bandwidth:
        raise ValueError(f"no source says how fast {chip.name} reads its memory; it can be described in a file")
    arch, counted = fitted_architecture(chip), chip.sms or 0
    own = (chip.key, ARCHITECTURES[arch]) if arch else ()
    return KernelChip(
        chip.name,
        own if chip.vendor == "NVIDIA" and arch else (*own, *ANY),
        C,
        chip.fp8_flops or 0.0,
        chip.fp4_flops or 0.0,
        chip.hbm_bandwidth,
        counted if arch or counted >= MANY_SMALL else 0,
        W_SM.get(arch, inf),
        own,
    )


@cache
def _gemm(chip: KernelChip, dtype: str) -> GemmModel:
    known = gemm_constants()
    if (low := {"fp8": chip.C_8, "fp4": chip.C_4}.get(dtype)) is not None and not low:
        raise ValueError(f"{chip.name} has no products in {dtype}")
    tried = [(one, dtype) for one in chip.own] + [(one, f"{dtype}_block") for one in chip.own]
    tried += [(one, dtype) for one in chip.like]
    key = next((pair for pair in tried if pair in known), (chip.like[-1], dtype))
    C, W, n_SM = chip.sheet(dtype, known[key].chip)
    return GemmModel(known[key], C, min(W, chip.W_SM * n_SM), n_SM)


@lru_cache(maxsize=100_000)
def product_time(chip: KernelChip, dtype: str, M: int, N: int, K: int) -> float:
    """Seconds of a product; one of weights alone in few bits reads fewer bytes."""
    if dtype in WEIGHT_ONLY:
        model = _gemm(chip, "bf16")
        saved = (2.0 - WEIGHT_ONLY[dtype]) * N * K / (model.constants.eta_W * model.W)
        floor = model.constants.t0 + matmul_flops(M, K, N) / (model.constants.eta_C * model.C)
        return max(_quickest(model, M, N, K) - saved, floor)
    model = _gemm(chip, {"fp8_block": "fp8", "mxfp4": "bf16"}.get(dtype, dtype))
    extra = model.constants.t0 - 4e-6 if model.constants.quantises else 0.0
    return _quickest(model, M, N, K) - max(extra, 0.0)


def product_least(chip: KernelChip, dtype: str, M: int, N: int, K: int) -> float:
    """The least seconds of a product: its operations, or its weights, which a step reads once of all layers. Its
    activations the product before it may have left in a cache.
    """
    return kernel_least(matmul_flops(M, K, N), stored_bytes(dtype) * N * K, chip.rate(multiplied(dtype)), chip.W)


def stored_bytes(dtype: str) -> float:
    """Bytes of a weight, whichever kernel multiplies with it."""
    return WEIGHT_ONLY.get(dtype) or KERNEL_BYTES[dtype][0]


def multiplied(dtype: str) -> str:
    """The dtype whose rate products of weights in another have."""
    return KERNEL_BYTES[dtype][2] if dtype in KERNEL_BYTES else "bf16"


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


def traffic_time(chip: KernelChip, moved: float) -> float:
    """Seconds of so many bytes through memory, in kernels that do little else."""
    return moved / (0.8 * chip.W)


class LayerAttention(NamedTuple):
    """Attention of a layer on one of `tp` ranks: whose, on which chip, the dtype of its cache, and whose kernels; and
    the new tokens of a sequence in a decode step, whose queries read its cache once.
    """

    model: Model
    chip: KernelChip
    tp: int
    kv_dtype: str
    kernels: str
    queries: int = 1


def cache_time(attention: LayerAttention, batch: int, context: float) -> float:
    """Seconds of one layer's attention for a step's new tokens of each sequence."""
    m, chip, tp, kv_dtype, kernels, queries = attention
    c = _constants("decode", chip, CACHE_FORMATS[kv_dtype].read, kernels)
    if m.latent_key:
        heads = queries * m.heads / tp
        flops = 2.0 * batch * context * heads * (m.latent_key + m.latent_value)
        read = batch * context * m.latent_key * cache_element_bytes(m, kv_dtype)
        sheet = chip.sheet("bf16", c.chip)
        return float(c.t0 + c.t_join + max(read / (c.eta_W * sheet.W), flops / latent_rate(sheet)))
    heads, kv = queries * max(1, m.heads // tp), max(1, m.kv_heads // tp)
    sheet, b = chip.sheet("bf16", c.chip), cache_element_bytes(m, kv_dtype)
    return float(decode_seconds(c, sheet, b, heads, kv, m.head_dim, batch, context, 0))


def latent_rate(sheet: RateSheet) -> float:
    """FLOP/s of latent attention's products in a decode step. What lies between them, exponentials and moves in the
    chip, a multiprocessor does at its own rate, so a chip with slow tensor cores comes nearer to their peak.

    >>> h20, h800 = RateSheet(148e12, 4e12, 78), RateSheet(989.4e12, 3.35e12, 132)
    >>> [round(latent_rate(sheet) / sheet.C, 2) for sheet in (h20, h800)]
    [0.87, 0.63]
    """
    return float(1 / (1 / sheet.C + 1 / (R_MLA * sheet.n_SM)))


def cache_least(attention: LayerAttention, batch: int, context: float) -> float:
    """The least seconds of the same: its operations, or the cache, which is read once."""
    m, chip, tp, kv_dtype, _, queries = attention
    rate = max(chip.C, chip.rate(CACHE_FORMATS[kv_dtype].read))
    b, heads, seen = cache_element_bytes(m, kv_dtype), queries * m.heads / tp, batch * context
    if m.latent_key:
        flops = 2.0 * seen * heads * (m.latent_key + m.latent_value)
        return kernel_least(flops, seen * m.latent_key * b, rate, chip.W)
    kv = max(1, m.kv_heads // tp)
    flops = 4.0 * seen * queries * max(1, m.heads // tp) * m.head_dim
    return kernel_least(flops, 2 * seen * kv * m.head_dim * b, rate, chip.W)


def prompt_time(attention: LayerAttention, tokens: float, window: float) -> float:
    """Seconds of one layer's attention over a prompt. Latent attention has as many heads of keys as of queries."""
    m, chip, tp, kv_dtype, kernels, _ = attention
    c = _constants("attention", chip, "bf16" if m.mla else CACHE_FORMATS[kv_dtype].prompt, kernels)
    heads = max(1, m.heads // tp)
    kv = heads if m.mla else max(1, m.kv_heads // tp)
    dim = (m.key_dim + m.value_dim) / 2
    sheet = chip.sheet(c.dtype, c.chip)
    seen = window if window < tokens else 0
    return float(prefill_seconds(c, sheet, KERNEL_BYTES[c.dtype][0], heads, kv, dim, 1, tokens, seen))


def prompt_least(attention: LayerAttention, tokens: float, window: float) -> float:
    """The least seconds of the same: its operations, of the pairs before the diagonal alone."""
    m, chip, tp, kv_dtype, *_ = attention
    seen = min(window, tokens)
    flops = 2.0 * (m.key_dim + m.value_dim) * max(1, m.heads // tp) * seen * (tokens - seen / 2)
    return kernel_least(flops, 0.0, max(chip.C, chip.rate(CACHE_FORMATS[kv_dtype].read)), chip.W)


@lru_cache(maxsize=100_000)
def experts_time(
    chip: KernelChip, dtype: str, tokens: int, lengths: tuple[int, ...], matrices: int, software: str
) -> float:
    """Seconds of one layer's routed experts on one GPU, which reads fewer bytes of weights alone in few bits; `lengths`
    are the width of the model, that of an expert here, the experts, those of a token, and those that are here.
    """
    c = _constants("grouped", chip, dtype, software)
    _, activation, of = KERNEL_BYTES[c.dtype]
    weight = stored_bytes(dtype)
    hidden, width, experts, topk, local = lengths
    share = touched_share(tokens, experts, topk)
    loads = [tokens * topk / (experts * share)]
    sheet = chip.sheet(of, c.chip)
    here = (tokens, hidden, width, experts * share, topk, local * share, matrices)
    return float(grouped_seconds(c, sheet, weight, activation, loads, *here))


def touched_share(tokens: int, experts: int, topk: int) -> float:
    """The share of experts that at least one of some tokens goes to, each to `topk` drawn at random: of 32 tokens that
    each go to 8 of 256 experts, not all 256 are read.

    >>> round(touched_share(32, 256, 8), 3), touched_share(1, 256, 8)
    (0.638, 0.03125)
    """
    return 1.0 - (1.0 - topk / experts) ** tokens


def experts_least(chip: KernelChip, dtype: str, tokens: int, lengths: tuple[int, ...], matrices: int) -> float:
    """The least seconds of the same: its operations, or the weights of the experts that a token goes to."""
    hidden, width, experts, topk, local = lengths
    weights = local * matrices * hidden * width
    flops = 2.0 * weights * tokens * topk / experts
    read = touched_share(tokens, experts, topk) * weights * stored_bytes(dtype)
    return kernel_least(flops, read, chip.rate(multiplied(dtype)), chip.W)


TABLES = {"attention": attention_constants, "decode": decode_constants, "grouped": grouped_constants}
INSTEAD = {
    "fp8_block": ("fp8",),
    "fp8": ("fp8_block", "bf16"),
    "mxfp4": ("mxfp4_fp8", "bf16"),
    "fp4": ("fp8",),
    "mxfp4_fp8": ("mxfp4", "fp4"),
    "int8w": ("bf16",),
    "int4w": ("bf16",),
}
"""Dtypes whose kernels stand for those of one that nothing was fitted to."""


@cache
def _constants(kind: str, chip: KernelChip, dtype: str, software: str) -> Any:
    """The constants of a kernel: of the chip and the software, else of a chip of its architecture, else of
    TensorRT-LLM's kernels, else of a dtype like it; of chips that are not like it last.
    """
    table, dtypes = TABLES[kind](), (dtype, *INSTEAD.get(dtype, ()))
    for known in (chip.own, chip.like):
        for fitted_dtype, name, key in product(dtypes, (software, "trtllm"), known):
            if (key, fitted_dtype, name) in table:
                return table[key, fitted_dtype, name]
    raise ValueError(f"no {kind} kernel in {dtype} was fitted on {chip.name} or a chip like it")
