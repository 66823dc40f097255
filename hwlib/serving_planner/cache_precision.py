"""Which formats of the cache a software has, and what an answer says of the one that is planned."""

from __future__ import annotations

from hwlib.calibrated.cache_formats import CACHE_FORMATS, cache_element_bytes
from hwlib.planner.plan_error import PlanError
from hwlib.serving_planner.precision import SIXTEEN
from hwlib.specs import Model

SOFTWARE_CACHES = {
    "tensorrt-llm": ("bf16", "fp8", "fp4"),
    "sglang": ("bf16", "fp8", "fp4"),
    "vllm": ("bf16", "fp8", "int8", "fp4", "int4"),
}
"""By software: TensorRT-LLM and vLLM by the lists beside `hwlib.launch` (hwlib/launch/sources.toml has the releases);
SGLang by its documentation, Quantized KV Cache, of November 2026. Others are taken to have 16 and 8 bits."""
OTHERS = ("bf16", "fp8")


def software_caches(program: str) -> tuple[str, ...]:
    """The formats of a software's cache: all, of a software of one's own, which no table knows."""
    return SOFTWARE_CACHES.get(program, OTHERS if program else tuple(CACHE_FORMATS))


def check_cache(program: str, kv_dtype: str) -> None:
    """Raise PlanError for a format that a software does not have, with those that have it."""
    name = SIXTEEN.get(kv_dtype, kv_dtype)
    if name in software_caches(program):
        return
    having = ", ".join(other for other, names in SOFTWARE_CACHES.items() if name in names)
    expected = f"expected {', '.join(software_caches(program))}, or a stack of {having}"
    raise PlanError("kv_dtype", f"{program} has no cache in {kv_dtype}; {expected}")


def stored_format(file_word: str, caches: tuple[str, ...]) -> str:
    """The format of a checkpoint's cache by its file's word, of those that there are; else fp8 for one of few bits, and
    empty for one of 16.
    """
    word = file_word.lower()
    names = {"nvfp4": "fp4", "fp4": "fp4", "int8": "int8", "int4": "int4", "fp8": "fp8"}
    name = next((form for start, form in names.items() if word.startswith(start)), "")
    return name if name in caches else ("fp8" if name else "")


def cache_words(model: Model, kv_dtype: str) -> str:
    """The format of the cache, bytes of an element where it has scales, and what the checkpoint's file says of it."""
    words = kv_dtype
    if CACHE_FORMATS.get(kv_dtype, CACHE_FORMATS["bf16"]).element % 1 or kv_dtype == "int8":
        words += f" of {cache_element_bytes(model, kv_dtype):.4g} B an element with its scales"
    checkpoint = model.quantisation
    word = checkpoint.reading.cache if checkpoint and checkpoint.reading else ""
    if not word:
        return words
    same = stored_format(word, tuple(CACHE_FORMATS)) == kv_dtype
    return f"{words}, as the checkpoint's file says" if same else f"{words}, where the checkpoint's file says {word}"
