"""The words of training rows that tables share: degrees and batch, recomputation, precision, fine-tuning."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from benchmarks.rows.training_step import flag, number

if TYPE_CHECKING:
    from benchmarks.rows.published_row import PublishedRow


def degrees_of(row: "PublishedRow", c: Mapping[str, Any]) -> dict[str, Any]:
    """Degrees, batch and length. A degree of 1 may be left out where the others multiply to the GPUs.

    Raises ValueError for a row that leaves its plan open.
    """
    found = {
        "tp": number(c, "tp", default=1),
        "pp": number(c, "pp", default=1),
        "cp": number(c, "cp", default=1),
        "ep": number(c, "ep", default=1),
        "v": number(c, "vp", "v", default=1),
        "B": number(c, "gbs"),
        "T": number(c, "seq", "sequence_length"),
    }
    if etp := number(c, "etp", default=0):
        found["etp"] = etp
    if dp := number(c, "dp", default=0):
        found["dp"] = dp
    elif row.gpus > 1 and not all(number(c, name, default=0) for name in ("tp", "pp")):
        raise ValueError("the source does not give the plan: neither dp, nor both tp and pp")
    if (whole := number(c, "model_parallel", default=0)) and whole != found["tp"] * found["pp"]:
        raise ValueError(f"tp x pp is {found['tp'] * found['pp']}, model_parallel {whole}")
    return found


def divided_among(group: int, ranks: int) -> dict[str, int]:
    """The field of a plan whose states groups of so many of the ranks divide (HSDP), where that is not all of them."""
    return {"shards": group} if 0 < group < ranks else {}


def recompute_of(c: Mapping[str, Any], default: str) -> str:
    """Whether attention or whole layers are recomputed, as tables of Megatron say it. Raises ValueError."""
    given = c.get("recompute", default)
    if isinstance(given, bool):
        given = "full" if given else "none"
    text = str(given).lower().replace("seqsel", "selective")
    if text not in ("none", "selective", "full"):
        raise ValueError(f"recompute is {text!r}, not none, selective or full")
    return text


def zero_of(c: Mapping[str, Any], default: int) -> int:
    """ZeRO's stage, as tables print it: 2, "ZeRO-2", "stage 2". Raises ValueError."""
    text = str(c.get("zero", default)).strip().lower()
    found = re.fullmatch(r"(?:zero|stage|[\s_-])*([0-3])(?:\.0)?", text)
    if not found and text not in ("none", "no", "off", "n/a", ""):
        raise ValueError(f"zero is {text!r}, not a stage from 0 to 3")
    return int(found[1]) if found else default


def has_adapters(c: Mapping[str, Any]) -> bool:
    """Whether matrices are frozen beside adapters. Fine-tuning of all weights (SFT) takes the time of pre-training.

    Raises ValueError for another stage.
    """
    stage = str(c.get("stage") or c.get("task") or "pre-training").lower()
    if not re.match(r"pre|sft|full|lora", stage):
        raise ValueError(f"{stage}, not pre-training, SFT or LoRA")
    return stage.startswith("lora")


def dtype_of(row: "PublishedRow") -> str:
    """The type of the matrix products of a row: FP8-CS, MXFP8, FP8-MX and FP8 are fp8, NVFP4 fp4."""
    text = str(row.config.get("precision") or row.config.get("dtype") or "")
    text = text or ("fp8" if "fp8" in (row.system + str(row.config.get("model"))).lower() else "")
    text = text or next((name for name in ("fp8", "float8") if flag(row.config, name, other=name in row.config)), "")
    for word, dtype in (
        ("fp4", "fp4"),
        ("fp8", "fp8"),
        ("float8", "fp8"),
        ("bf16", "bf16"),
        ("fp16", "fp16"),
        ("bfloat16", "bf16"),
    ):
        if word in text.lower():
            return dtype
    if text:
        raise ValueError(f"no constants for precision {text!r}")
    return "fp8" if row.reader == "mbridge" else "bf16"
