"""The formats of a server's cache: bytes of an element, scales included, and the kernels that stand for those of each.

NVFP4 has a scale of a byte for each 16 elements. The integers have a scale in 32 bits for each token and head, as
vLLM's `int8_per_token_head` and `int4_per_token_head` have one (its width is typed); scales of a whole tensor, as of
fp8, count for nothing. No kernel that reads a cache in integers or in 4 bits was timed: those of fp8 stand for it.
"""

from __future__ import annotations

from typing import NamedTuple

from hwlib.specs import Accelerator, Model


class CacheFormat(NamedTuple):
    """Bytes of an element, and of what is beside each vector of a head; the dtype of the kernel that reads it, and of
    the one that reads prompts.
    """

    element: float
    vector: float
    read: str
    prompt: str


CACHE_FORMATS = {
    "bf16": CacheFormat(2.0, 0.0, "bf16", "bf16"),
    "fp8": CacheFormat(1.0, 0.0, "fp8", "fp8"),
    "int8": CacheFormat(1.0, 4.0, "fp8", "bf16"),
    "fp4": CacheFormat(0.5 + 1 / 16, 0.0, "fp8", "fp8"),
    "int4": CacheFormat(0.5, 4.0, "fp8", "bf16"),
}


def cache_element_bytes(model: Model, kv_dtype: str) -> float:
    """Bytes of an element of a model's cache, with its share of the scales.

    >>> from hwlib.specs import models
    >>> [cache_element_bytes(models["llama3-8b"], kv_dtype) for kv_dtype in ("fp8", "int8", "fp4", "int4")]
    [1.0, 1.03125, 0.5625, 0.53125]
    """
    form = CACHE_FORMATS[kv_dtype]
    return form.element + form.vector / (model.kv_lora + model.rope_dim if model.mla else model.head_dim)


def cache_formats_of(model: Model, chip: Accelerator) -> list[str]:
    """The formats that a model's cache can have on a chip: 4-bit floats where the chip has them, and latent vectors no
    integers.
    """
    names = [name for name in CACHE_FORMATS if name != "fp4" or chip.fp4_flops]
    return [name for name in names if not ((model.mla or model.compression) and name.startswith("int"))]
