"""Kernels by class, and the least work of the operators that launched them: FLOPs and bytes from recorded shapes."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple

from hwlib.roofline import matmul_bytes, matmul_flops

__all__ = ["OpWork", "kernel_class", "op_work"]

CLASSES = (
    ("attention", r"flash|fmha|attention|sdpa|mha_fwd|mha_bwd|fused_attn"),
    ("convolution", r"conv|winograd|implicit_gemm|dgrad|wgrad"),
    ("matmul", r"gemm|gemv|cutlass|xmma|matmul|cublas|nvjet|Cijk_|splitK|mma_|_mm_|::mm|bmm"),
    ("normalization", r"layer_?norm|rms_?norm|batch_?norm|group_?norm|\bbn_"),
    ("softmax", r"softmax|cross_?entropy|nll_loss"),
    ("optimizer", r"adam|sgd|lamb(?!da)|multi_tensor_apply|optimizer"),
    ("embedding", r"embedding|index_select|index_put|indexing|gather|scatter|permute_\dD|tbe_"),
    ("reduction", r"reduce|triton_red|triton_per|\bsum_|cumsum|scan"),
    (
        "elementwise",
        r"elementwise|pointwise|triton_poi|vectorized|CatArray|copy|fill|dropout|gelu|silu|relu|rotary|rope",
    ),
)
PATTERNS = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in CLASSES)
BYTES = {
    "double": 8,
    "float": 4,
    "float32": 4,
    "half": 2,
    "bfloat16": 2,
    "long int": 8,
    "long": 8,
    "int": 4,
    "short": 2,
    "signed char": 1,
    "unsigned char": 1,
    "char": 1,
    "bool": 1,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
}
RATES = {"half": "fp16", "bfloat16": "bf16", "float8_e4m3fn": "fp8", "float8_e5m2": "fp8", "float": "fp32"}
MOST = 1 << 50  # elements: more has no tensor
STREAMED = ("aten::add", "aten::mul", "aten::copy_", "aten::gelu", "aten::silu", "aten::relu", "aten::div", "aten::sub")


class OpWork(NamedTuple):
    """The least that an operator must do: FLOPs at a rate ("bf16", "" for none), and bytes to and from memory."""

    flops: float
    rate: str
    bytes: float


@cache
def kernel_class(name: str) -> str:
    """The class of a compute kernel by its name: matmul, attention, ...; "other" for one that nothing names.

    >>> kernel_class("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn"), kernel_class("flash_fwd_kernel"), kernel_class("my_op")
    ('matmul', 'attention', 'other')
    """
    short = name[:400]
    return next((kind for kind, pattern in PATTERNS if pattern.search(short)), "other")


def op_work(name: str, dims: Any, types: Any) -> OpWork | None:
    """The least work of an operator of PyTorch, from the shapes and types of its inputs; None if it is not known.

    Matrix products and attention have FLOPs and the bytes of inputs and output; pointwise operators bytes.

    >>> op_work("aten::mm", [[4, 8], [8, 2]], ["c10::BFloat16", "c10::BFloat16"])
    OpWork(flops=128, rate='bf16', bytes=112)
    """
    shapes = _shapes(dims)
    element = _element(types)
    if not shapes or not element:
        return None
    counted = WORK.get(name)
    try:
        if counted is not None:
            return counted(shapes, element)
        return _streamed(shapes, element) if name.rstrip("_") in STREAMED or name in STREAMED else None
    except (IndexError, ValueError):
        return None


def _shapes(dims: Any) -> list[tuple[int, ...]]:
    """The shapes of the inputs; () for what is not a tensor."""
    if not isinstance(dims, list):
        return []
    shapes = [_shape(row) for row in dims[:8]]
    return shapes if all(prod(shape) <= MOST for shape in shapes) else []


def _shape(row: Any) -> tuple[int, ...]:
    plain = isinstance(row, list) and len(row) <= 8 and all(type(size) is int and 0 <= size <= MOST for size in row)
    return tuple(row) if plain else ()


def _element(types: Any) -> str:
    """The type of the first tensor's elements."""
    first = types[0] if isinstance(types, list) and types and isinstance(types[0], str) else ""
    plain = first.removeprefix("c10::").lower()
    return plain if plain in BYTES else ""


def _product(left: tuple[int, ...], right: tuple[int, ...], element: str) -> OpWork:
    """[B, D] x [D, F], of every matrix of a batch."""
    *batch, B, D = left
    F = right[-1]
    if right[-2] != D:
        raise ValueError("shapes that are no product")
    many, b = prod(batch), BYTES[element]
    return OpWork(
        many * matmul_flops.function(B, D, F), RATES.get(element, ""), many * matmul_bytes.function(B, D, F, b)
    )


def _mm(shapes: Sequence[tuple[int, ...]], element: str) -> OpWork:
    return _product(shapes[0], shapes[1], element)


def _addmm(shapes: Sequence[tuple[int, ...]], element: str) -> OpWork:
    return _product(shapes[1], shapes[2], element)


def _linear(shapes: Sequence[tuple[int, ...]], element: str) -> OpWork:
    *rows, D = shapes[0]
    F, K = shapes[1]
    return _product((prod(rows), D), (K, F), element)


def _attention(shapes: Sequence[tuple[int, ...]], element: str) -> OpWork:
    """Queries [B, H, T, D] and keys [B, K, S, D]: two products, all pairs, for causality is not recorded as a shape."""
    (B, H, T, D), keys = shapes[0], shapes[1]
    S = keys[2]
    moved = 2 * prod(shapes[0]) + prod(keys) + prod(shapes[2])
    return OpWork(4 * B * H * T * S * D, RATES.get(element, ""), moved * BYTES[element])


def _attention_backward(shapes: Sequence[tuple[int, ...]], element: str) -> OpWork:
    """The gradient comes first; five products where forward has two."""
    forward = _attention(shapes[1:], element)
    return OpWork(2.5 * forward.flops, forward.rate, 2 * forward.bytes)


def _streamed(shapes: Sequence[tuple[int, ...]], element: str) -> OpWork:
    """Every input is read once, and an output of the largest shape is written."""
    sizes = [prod(shape) for shape in shapes if shape]
    return OpWork(0, "", (sum(sizes) + max(sizes)) * BYTES[element])


WORK: dict[str, Callable[[Sequence[tuple[int, ...]], str], OpWork]] = {
    "aten::mm": _mm,
    "aten::bmm": _mm,
    "aten::_scaled_mm": _mm,
    "aten::addmm": _addmm,
    "aten::baddbmm": _addmm,
    "aten::linear": _linear,
    "aten::_scaled_dot_product_flash_attention": _attention,
    "aten::_scaled_dot_product_efficient_attention": _attention,
    "aten::_scaled_dot_product_cudnn_attention": _attention,
    "aten::_scaled_dot_product_flash_attention_backward": _attention_backward,
    "aten::_scaled_dot_product_efficient_attention_backward": _attention_backward,
}
