"""In which precisions a server runs: of products, experts, attention's projections and the cache, from one word."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hwlib.calibrated.cache_formats import cache_formats_of
from hwlib.calibrated.serving_kernels import WEIGHT_ONLY, fitted_architecture
from hwlib.planner.plan_error import PlanError
from hwlib.specs import Accelerator, Model
from hwlib.specs.table import unknown

MXFP4 = "mxfp4"
SIXTEEN = {"fp16": "bf16"}
"""Formats whose products and caches are timed as those of bfloat16, which has as many bits."""
ASKED = ("bf16", "fp16", "fp8", "fp4", MXFP4, "int8w", "int4w")


def usual_dtype(model: Model, chip: Accelerator) -> str:
    """The precision in which a model is published: experts of 4 bits for gpt-oss, 8 bits in blocks for DeepSeek's
    kind, else bfloat16; and 16 bits on a chip without these. Of a quantised checkpoint it is the one that comes nearest
    to its own, of those that the chip has. Raises PlanError for a checkpoint that none comes near to.
    """
    checkpoint = model.quantisation
    if checkpoint and not checkpoint.own:
        has = chip_formats(chip)
        nearest = next((name for name in checkpoint.nearest if name in has), "")
        if not nearest:
            raise PlanError("dtype", _choice(model, chip))
        return nearest
    own = _published(model) if checkpoint is None else checkpoint.own
    sixteen = "bf16" if chip.bf16_flops else "fp16"
    return own if own and chip.fp8_flops else sixteen


def _published(model: Model) -> str:
    """The precision of at most 8 bits in which a model of the tables is published, if it is."""
    if model.sinks and model.moe:  # gpt-oss, DeepSeek-V4
        return MXFP4
    return "fp8" if model.latent_key else ""


def _choice(model: Model, chip: Accelerator) -> str:
    """That a quantised checkpoint is not planned as it is, and in which precisions it can be."""
    stored = f"the checkpoint of {model.name} is quantised ({model.quantisation}), a format that is not modelled"
    return f"{stored}; expected one of {', '.join(chip_formats(chip))}, to plan it in"


def usual_kv_dtype(dtype: str, chip: Accelerator) -> str:
    """That of the cache: 8 bits beside products of at most 8, as TensorRT-LLM's published runs have it."""
    if dtype in ("fp8", "fp4") or (dtype == MXFP4 and not _as_hopper(chip)):
        return "fp8"
    return "bf16" if chip.bf16_flops and dtype != "fp16" else "fp16"


def precisions(model: Model, chip: Accelerator, dtype: str, kv_dtype: str) -> dict[str, Any]:
    """The precisions of a `Server`, by its fields. Raises PlanError for those that a chip or a model has not.

    As the published runs have them: latent attention keeps 16 bits where the rest has 4, and 8 bits are scaled by
    blocks in such models; with "mxfp4" only the experts have 4 bits, multiplied in 8 where a chip can,
    and the rest has 16, or DeepSeek-V4's 8.
    """
    if dtype not in ASKED:
        raise PlanError("dtype", unknown("dtype", dtype, ASKED))
    if kv_dtype not in (caches := (*cache_formats_of(model, chip), *SIXTEEN)):
        raise PlanError("kv_dtype", unknown(f"dtype of the cache of {model.name} on {chip.name}", kv_dtype, caches))
    kv_dtype = SIXTEEN.get(kv_dtype, kv_dtype)
    if dtype == MXFP4:
        if not model.moe:
            raise PlanError("dtype", f"mxfp4 is of experts, and {model.name} has none; expected bf16, fp8 or fp4")
        if not chip.fp8_flops:
            raise PlanError(
                "dtype",
                f"no kernel for experts in mxfp4 was fitted on {chip.name} or a chip like it; "
                f"expected {', '.join(chip_formats(chip))}",
            )
        rest = "fp8_block" if model.compression else "bf16"
        return {"dtype": rest, "expert_dtype": MXFP4 if _as_hopper(chip) else "mxfp4_fp8", "kv_dtype": kv_dtype}
    if dtype not in (has := chip_formats(chip)):
        raise PlanError("dtype", f"{chip.name} has no products in {dtype}; expected {', '.join(has)}")
    if model.latent_key and dtype in ("fp8", "fp4"):
        own = {"fp8": ("fp8_block", "fp8"), "fp4": ("fp4", "bf16")}[dtype]
        return {"dtype": own[0], "attention_dtype": own[1], "kv_dtype": kv_dtype}
    return {"dtype": SIXTEEN.get(dtype, dtype), "kv_dtype": kv_dtype}


def chip_formats(chip: Accelerator) -> list[str]:
    """The formats that a chip multiplies, and those of weights that are made wider before."""
    has = []
    for name in ("bf16", "fp16", "fp8", "fp4"):
        with suppress(ValueError):
            chip.flops(name)
            has.append(name)
    return [*has, *WEIGHT_ONLY]


def _as_hopper(chip: Accelerator) -> bool:
    """Whether experts of 4 bits are made wider before their products, as on Hopper; so they are on a chip of another
    maker, and on one that no kernel was fitted on, unless it multiplies 4 bits.
    """
    arch = fitted_architecture(chip)
    return arch == "Hopper" if arch and chip.vendor == "NVIDIA" else not chip.fp4_flops
