"""The precisions of a server that holds a checkpoint as its files store it: with what they leave out in 16 bits."""

from __future__ import annotations

from typing import Any

from hwlib.calibrated.cache_formats import cache_formats_of
from hwlib.serving_planner.cache_precision import software_caches, stored_format
from hwlib.serving_planner.precision import SIXTEEN, chip_formats, usual_dtype
from hwlib.specs import Accelerator, Model
from hwlib.specs.weight_format import WeightFormat
from hwlib.transformer.stored_weights import formats, stored_parts


def stored_precisions(model: Model, chip: Accelerator, dtype: str) -> dict[str, Any]:
    """The precisions of a `Server` by its fields, and its weights' bytes as the files store them; empty of a model that
    is planned in another precision than its checkpoint's, or in one that the timed kernels have themselves.
    """
    if not _as_stored(model, chip, dtype):
        return {}
    parts = {part: _dtype(form, chip) for part, form in formats(model).items()}
    every_token = parts.get("shared_experts") or parts.get("mlp") or parts["experts"]
    precisions: dict[str, Any] = {
        "dtype": every_token,
        "attention_dtype": parts["attention"],
        "expert_dtype": parts.get("experts", ""),
        "stored": stored_parts(model),
    }
    for name in ("dtype", "expert_dtype"):
        if model.latent_key and precisions[name] == "fp8":
            precisions[name] = "fp8_block"  # as its kernels are timed
    return precisions


def stored_cache(model: Model, chip: Accelerator, dtype: str, program: str) -> str:
    """The type of the cache that a checkpoint names, or fp8 where chip or software lack it, 16 bits where it names
    none; empty of a model that is planned in another precision than its checkpoint's.
    """
    if not _as_stored(model, chip, dtype):
        return ""
    assert model.quantisation
    assert model.quantisation.reading
    has = [name for name in cache_formats_of(model, chip) if name in software_caches(program)]
    narrow = stored_format(model.quantisation.reading.cache, tuple(has))
    if narrow and (narrow != "fp8" or chip.fp8_flops):
        return narrow
    return "bf16" if chip.bf16_flops else "fp16"


def _as_stored(model: Model, chip: Accelerator, dtype: str) -> bool:
    """Whether this precision is that of a quantised checkpoint whose formats are known."""
    checkpoint = model.quantisation
    if not checkpoint or checkpoint.own or checkpoint.reading is None or not checkpoint.known:
        return False
    return bool(checkpoint.nearest) and dtype == usual_dtype(model, chip)


def _dtype(form: WeightFormat, chip: Accelerator) -> str:
    """A server's precision of a format."""
    has = chip_formats(chip)
    name = next(name for name in form.nearest if name in has)
    return SIXTEEN.get(name, name)
