"""The time of one attention layer, over a prompt and for one new token a sequence.

A fused kernel gives each multiprocessor tiles of 128 query rows and passes all keys through it. The matrix unit
multiplies, other units take exponentials, at a rate that does not grow with the head size: so small heads reach a
smaller share of the peak. Each tile also starts and ends, which takes as long as hundreds of keys: so short prompts
reach a smaller share. The cache, the queries and the output pass through memory.

A new token reads the whole cache once. A block of a kernel takes one head of keys and values of one sequence, with the
query heads that share it, or a part of its length where there are too few heads to fill the chip, at the price of
joining the parts. Blocks run in waves, one to a multiprocessor; each goes through its keys step by step.
"""

from functools import reduce
from typing import Any

from hwlib.calibrated.sheet import KERNEL_BYTES, RateSheet, checked, entry_of, sheet_of
from hwlib.formula import ceil, log2, maximum, minimum, where
from hwlib.specs.fitted import attention_constants, decode_constants

__all__ = [
    "decode_attention_time",
    "decode_seconds",
    "prefill_attention_time",
    "prefill_seconds",
]

TILE = 128  # query rows of a tile, and keys of a step
LATE = 0.5  # of the longest tile: how far the last one outlasts the rest, between 0 and 1 (Graham's bound)
PIPES = 2  # exponent of the mean of the matrix unit and the exponentials, that overlap in part
OVERLAP = 1.5  # exponent of the mean of arithmetic and memory
BF16 = 2.0
JOINED = (1, 2, 4, 8, 16, 32, 64)  # parts in which the length of a cache is split
HIDDEN = 3  # exponent of the mean of a block's steps and memory, as of a matrix product
STEP_ROWS = 64  # what a step costs beside its query rows, counted in rows
HALF_HEAD = 64  # head sizes are padded up to this, or twice, or four times
WIDE = 256  # head size from which on a tile packs a quarter of the query heads


def prefill_attention_time(
    chip: str,
    dtype: str,
    *,
    heads: Any,
    kv_heads: Any,
    head_dim: Any,
    batch: Any,
    seq: Any,
    window: Any = 0,
    software: str = "trtllm",
) -> Any:
    """Seconds of one causal attention layer over prompts of `seq` tokens each, nothing cached; on one GPU.

    `heads` and `kv_heads` are the query heads and the heads of keys and values on this GPU. `window` is the number of
    tokens that a query sees (0: all before it). `dtype` ("bf16", "fp8") is that of the products and of the cache. The
    call writes the cache; that of "trtllm" also splits a fused QKV, rotates it and quantises it. Device time, without
    the launch from the host. Numbers, or arrays that broadcast.

    A chip without constants of its own takes those of its `like`, with its own data sheet. `kernel_software` lists the
    software. Raises KeyError for a chip, dtype or software without constants, ValueError for a length below 1.
    """
    checked((("heads", heads, 1), ("kv_heads", kv_heads, 1), ("head_dim", head_dim, 1)))
    checked((("batch", batch, 1), ("seq", seq, 1), ("window", window, 0)))
    c = entry_of("attention", attention_constants(), chip, dtype, software)
    return prefill_seconds(
        c, sheet_of(chip, dtype, c.chip), KERNEL_BYTES[dtype][0], heads, kv_heads, head_dim, batch, seq, window
    )


def prefill_seconds(c: Any, sheet: RateSheet, b: Any, H: Any, H_kv: Any, D: Any, B: Any, T: Any, window: Any) -> Any:
    """The same for any constants `c` and data sheet, `b` bytes an element. Each argument may be an array."""
    seen = where(window > 0, minimum(window, T), T)
    pairs = seen * (T - seen / 2) + T * TILE / 2  # the diagonal's tiles are computed whole
    multiply = 4 * D / (c.eta_C * sheet.C)
    exponential = 1 / (c.R_exp * sheet.n_SM)
    pair = (multiply**PIPES + exponential**PIPES) ** (1 / PIPES)
    even = B * H * (pairs * pair + ceil(T / TILE) * c.t_tile / sheet.n_SM)
    longest = (seen + TILE) * minimum(T, TILE) * pair * sheet.n_SM + c.t_tile
    own = B * T * D * (H * (b + BF16) + 2 * H_kv * b) / (c.eta_W * sheet.W)
    before = c.splits * (H + 2 * H_kv) * (BF16 + b) + (1 - c.splits) * H_kv * 4 * BF16
    core = even + LATE * longest
    return c.t0 + (core**OVERLAP + own**OVERLAP) ** (1 / OVERLAP) + B * T * D * before / (c.eta_W * sheet.W)


def decode_attention_time(
    chip: str,
    kv_dtype: str,
    *,
    heads: Any,
    kv_heads: Any,
    head_dim: Any,
    batch: Any,
    cached: Any,
    window: Any = 0,
    software: str = "trtllm",
) -> Any:
    """Seconds of one attention layer for one new token in each of `batch` sequences, with `cached` tokens each.

    `kv_dtype` ("bf16", "fp8") is that of the cache; the queries are bfloat16. All else as `prefill_attention_time`.
    Raises KeyError for a chip, dtype or software without constants, ValueError for a length below 1.
    """
    checked((("heads", heads, 1), ("kv_heads", kv_heads, 1), ("head_dim", head_dim, 1)))
    checked((("batch", batch, 1), ("cached", cached, 0), ("window", window, 0)))
    c = entry_of("decode", decode_constants(), chip, kv_dtype, software)
    return decode_seconds(
        c, sheet_of(chip, "bf16", c.chip), KERNEL_BYTES[kv_dtype][0], heads, kv_heads, head_dim, batch, cached, window
    )


def decode_seconds(
    c: Any, sheet: RateSheet, b: Any, H: Any, H_kv: Any, D: Any, B: Any, cached: Any, window: Any
) -> Any:
    """The same for any constants `c` and data sheet, `b` bytes an element of the cache. Each may be an array."""
    T = where(window > 0, minimum(window, cached), cached) + 1
    group = H / H_kv
    memory = 2 * B * H_kv * T * D * b / (c.eta_W * sheet.W)
    queries = 2 * B * H * D * BF16 / (c.eta_W * sheet.W)
    unpacked = where(group > where(D < WIDE, c.packs, c.packs / 4), 1.0, 0.0)
    again = unpacked * 2 * B * H * T * D / (c.R_L2 * sheet.n_SM)
    rows = minimum(group, c.packs) + STEP_ROWS
    key = 4 * HALF_HEAD * 2 ** ceil(log2(D / HALF_HEAD)) * rows / (c.eta_C * sheet.C / sheet.n_SM)

    def cut(parts: int) -> Any:
        depth = maximum(T / parts, TILE) if parts > 1 else T
        blocks = ceil(B * H_kv * parts / sheet.n_SM) * (depth * key + c.t_block)
        return (memory**HIDDEN + again**HIDDEN + blocks**HIDDEN) ** (1 / HIDDEN) + (parts > 1) * c.t_join

    return c.t0 + reduce(minimum, map(cut, JOINED)) + queries
