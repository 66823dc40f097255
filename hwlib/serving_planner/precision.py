"""In which precisions a server runs: of products, experts, attention's projections and the cache, from one word."""

from __future__ import annotations

from typing import Any

from hwlib.calibrated.serving_step import CACHE_BYTES, WEIGHT_BYTES
from hwlib.planner.task import PlanError
from hwlib.specs import Accelerator, Model
from hwlib.specs.table import unknown

MXFP4 = "mxfp4"
ASKED = ("bf16", "fp8", "fp4", MXFP4, "int8w", "int4w")


def usual_dtype(model: Model, chip: Accelerator) -> str:
    """The precision in which a model is published: experts of 4 bits for gpt-oss, 8 bits in blocks for DeepSeek's
    kind, else bfloat16; and bfloat16 on a chip without these.
    """
    if not chip.fp8_flops:
        return "bf16"
    if model.sinks and model.moe:
        return MXFP4
    return "fp8" if model.mla else "bf16"


def usual_kv_dtype(dtype: str, chip: Accelerator) -> str:
    """That of the cache: 8 bits beside products of at most 8, as TensorRT-LLM's published runs have it."""
    return "fp8" if dtype in ("fp8", "fp4") or (dtype == MXFP4 and chip.arch != "Hopper") else "bf16"


def precisions(model: Model, chip: Accelerator, dtype: str, kv_dtype: str) -> dict[str, Any]:
    """The precisions of a `Server`, by its fields. Raises PlanError for those that a chip or a model has not.

    As the published runs have them: latent attention keeps 16 bits where the rest has 4, and 8 bits are scaled by
    blocks in such models; with "mxfp4" only the experts have 4 bits, multiplied in 8 where a chip can.
    """
    if dtype not in ASKED:
        raise PlanError("dtype", unknown("dtype", dtype, ASKED))
    if kv_dtype not in CACHE_BYTES:
        raise PlanError("kv_dtype", unknown("dtype of the cache", kv_dtype, CACHE_BYTES))
    if dtype in ("fp8", "fp4") and not getattr(chip, f"{dtype}_flops"):
        has = [name for name in ("bf16", "fp8", "fp4", "int8w", "int4w") if name not in ("fp8", "fp4")
               or getattr(chip, f"{name}_flops")]  # fmt: skip
        raise PlanError("dtype", f"{chip.name} has no products in {dtype}; expected {', '.join(has)}")
    if dtype == MXFP4:
        if not model.moe:
            raise PlanError("dtype", f"mxfp4 is of experts, and {model.name} has none; expected bf16, fp8 or fp4")
        if not chip.fp8_flops:
            raise PlanError("dtype", f"no kernel for experts in mxfp4 was fitted on {chip.name} or a chip like it")
        experts = "mxfp4" if chip.arch == "Hopper" else "mxfp4_fp8"
        return {"dtype": "bf16", "expert_dtype": experts, "kv_dtype": kv_dtype}
    if model.mla and dtype in ("fp8", "fp4"):
        own = {"fp8": ("fp8_block", "fp8"), "fp4": ("fp4", "bf16")}[dtype]
        return {"dtype": own[0], "attention_dtype": own[1], "kv_dtype": kv_dtype}
    assert dtype in WEIGHT_BYTES
    return {"dtype": dtype, "kv_dtype": kv_dtype}
