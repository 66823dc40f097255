"""The time of a layer of experts on one GPU: grouped products, with the sorting of tokens around them.

Each expert's tokens are padded up to whole tiles, and its weights are read where at least one token wants it. So a few
tokens pay for memory, many for arithmetic, and those between for both: an expert of 128 with ten tokens each fills a
tile to a tenth. Starting and ending a tile costs time of its own, which the kernel decides: narrow experts pay little
else. Beside the products the layer moves activations: it sorts, quantises, and adds what the experts of a token say.
"""

from functools import reduce
from itertools import accumulate
from typing import Any

from hwlib.calibrated.sheet import KERNEL_BYTES, RateSheet, checked, grouped_entry, sheet_of
from hwlib.formula import ceil, maximum, minimum, where

__all__ = ["grouped_seconds", "grouped_time", "power_law_loads"]

WIDTH = 128  # columns of a tile
ROWS = (16, 64, 128)  # rows of a tile: a library takes what suits the tokens of an expert
OVERLAP = 1.5  # exponent of the mean of arithmetic and memory, and of a tile's start and its products
QUANTILES = 32  # of the loads of experts
MOST = 0.8  # of the tokens: the largest load drawn
FEW = (0.01, 2.0)  # between which loads are drawn where there are fewer pairs than experts
BF16 = 2.0


def grouped_time(
    chip: str,
    dtype: str,
    *,
    tokens: Any,
    hidden: Any,
    width: Any,
    experts: Any,
    topk: Any,
    local_experts: Any = None,
    gated: bool = True,
    skew: float = 0.0,
    software: str = "trtllm",
    kernel: str | None = None,
) -> Any:
    """Seconds of one layer of experts on one GPU: choice, sorting, products, activation and the weighted sum.

    `tokens` reach the layer on this GPU, each with `topk` of `experts`, of which `local_experts` (all by default) are
    here; `width` is the columns of one expert on this GPU (its width over the tensor degree). Three matrices where
    `gated`, else two. `skew` is 0 where all experts get as many tokens, else the exponent of a power law of loads.

    `dtype`: "bf16", "fp8" (one scale a tensor), "fp8_block" (one a block of 128 x 128), "fp4" (NVFP4), "mxfp4" (weights
    only), "mxfp4_fp8". `kernel` is what multiplies: "cutlass", "triton", "deepgemm", "trtllm-gen", "marlin" or
    "flashinfer-cutlass"; None is the one that most measured layers of the software ran on this chip.

    Forward only, no communication, device time. Numbers, or arrays that broadcast.
    Raises KeyError for a chip, dtype, software or kernel without constants, ValueError for a length below 1.
    """
    local = experts if local_experts is None else local_experts
    checked((("tokens", tokens, 1), ("hidden", hidden, 1), ("width", width, 1), ("experts", experts, 1)))
    checked((("topk", topk, 1), ("local_experts", local, 1), ("skew", skew, 0)))
    checked((("experts - local_experts", experts - local, 0), ("experts - topk", experts - topk, 0)))
    c = grouped_entry(chip, dtype, software, kernel)
    weight, activation, of = KERNEL_BYTES[dtype]
    loads = power_law_loads(tokens, experts, topk, skew)
    sheet = sheet_of(chip, of, c.chip)
    return grouped_seconds(
        c, sheet, weight, activation, loads, tokens, hidden, width, experts, topk, local, 3 if gated else 2
    )


def power_law_loads(tokens: Any, experts: Any, topk: Any, skew: float) -> list[Any]:
    """Tokens of an expert, from the least loaded to the most: the middles of equal shares of the experts.

    As the measurements draw them: from a power law between 1 and 0.8 x tokens (0.01 and 2 where there are fewer pairs
    than experts), scaled to the sum, and at most all tokens; what that cuts off goes to the least loaded, for every
    token keeps its `topk`.
    """
    mean = tokens * topk / experts
    if not skew:
        return [mean]
    many = mean > 1
    low, high = where(many, 1.0, FEW[0]), where(many, maximum(MOST * tokens, 1.0001), FEW[1])
    power = 1 - skew if abs(1 - skew) > 1e-6 else 1e-6
    shares = ((i + 0.5) / QUANTILES for i in range(QUANTILES))
    drawn = [(low**power + u * (high**power - low**power)) ** (1 / power) for u in shares]
    scale = mean * QUANTILES / sum(drawn)
    capped = [minimum(x * scale, tokens) for x in drawn]
    lack = mean * QUANTILES - sum(capped)
    # Raising the first m loads to one level takes what lacks; the right m is the one with the lowest level.
    level = reduce(minimum, ((lack + first) / m for m, first in enumerate(accumulate(capped), 1)))
    return [maximum(x, level) for x in capped]


def grouped_seconds(
    c: Any,
    sheet: RateSheet,
    weight: Any,
    activation: Any,
    loads: list[Any],
    N: Any,
    d: Any,
    f: Any,
    E: Any,
    k: Any,
    local: Any,
    matrices: Any,
) -> Any:
    """The same for any constants `c`, data sheet, bytes of a weight and an activation, and loads. All may be arrays."""
    pairs = N * k * local / E
    products = (((matrices - 1) * f, d), (d, f))  # columns and inner length

    def core(m: int) -> Any:
        tiles = local * sum(where(load < 1, load, ceil(load / m)) for load in loads) / len(loads)
        return sum(
            ceil(tiles * ceil(columns / WIDTH) / sheet.n_SM)
            * overlapped(c.t_tile, 2 * m * WIDTH * inner / (c.eta_C * sheet.C / sheet.n_SM))
            for columns, inner in products
        )

    touched = local * sum(minimum(load, 1.0) for load in loads) / len(loads)
    weights = touched * matrices * d * f * weight / (c.eta_W * sheet.W)
    # The sum at the end goes over all pairs, also those of experts that are elsewhere.
    summed = (N * k + 2 * N) * d * BF16
    moved = summed + pairs * (d * (2 * BF16 + 2 * activation) + f * (2 * (matrices - 1) * BF16 + 2 * activation))
    # Fewer bits come from a pass of their own, before either product.
    moved = moved + where(activation < BF16, pairs * (d + f) * (BF16 + activation), 0.0)
    products_time = overlapped(reduce(minimum, map(core, ROWS)), weights)
    return c.t0 + products_time + moved / (c.eta_move * sheet.W)


def overlapped(a: Any, b: Any) -> Any:
    """Two times of which the shorter hides in part behind the longer: between their maximum and their sum."""
    return (a**OVERLAP + b**OVERLAP) ** (1 / OVERLAP)
