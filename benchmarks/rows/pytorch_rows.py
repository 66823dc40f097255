"""Published training runs of PyTorch's own sharding: torchtitan and torchao, fms-fsdp, and InternEvo beside them.

What a row does not print and a prediction needs is the software's default, and stands with its reader.
"""

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmarks.rows.row_words import divided_among, zero_of
from benchmarks.rows.training_models import memory_model
from benchmarks.rows.training_step import TrainingStep, Unmodelled, as_typical, chip_of, flag, number, step
from benchmarks.rows.training_units import OperationCounts
from hwlib.strategy import BY_OP

if TYPE_CHECKING:
    from benchmarks.rows.published_row import PublishedRow


def titan(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """torchtitan, and torchao's tables of it: FSDP2 with tensor, context and pipeline parallelism.

    Not printed, and assumed: recomputation by operator; a local batch in as many microbatches as there are stages; two
    chunks of a rank where the schedule is interleaved; and a global batch of the local ones. fp8 with a scale a row has
    the rate of bfloat16, for its products are as slow again as they are quicker. A row whose chip was inferred is
    scored apart, as one with typical constants.
    """
    c = row.config
    if "fp4" in str(c.get("dtype", "")).lower():
        return Unmodelled(f"dtype is {c['dtype']!r}: no constants for products in 4 bits beside others in 16")
    model = memory_model(c)
    pp, local, copies = number(c, "pp", default=1), number(c, "mbs"), number(c, "replicas", default=1)
    dp = number(c, "fsdp", "dp") * copies
    chunks = 2 if "interleaved" in str(c.get("schedule", "")).lower() else 1
    text = str(c.get("dtype", "")).lower()
    fp8 = "fp8" in text or "float8" in text or (flag(c, "fp8") if "fp8" in c else False)
    plan: dict[str, Any] = {
        "B": number(c, "gbs", default=local * dp),
        "T": number(c, "seq"),
        "dp": dp,
        "tp": number(c, "tp", default=1),
        "pp": pp,
        "cp": number(c, "cp", default=1),
        "v": number(c, "vp", default=chunks),
        "micro": local / pp,
        "zero": zero_of(c, 3),
        "recompute": recomputed(c, "selective by op"),
        "sp": True,
        "fused": True,
    }
    plan |= divided_among(dp // copies * plan["cp"], dp * plan["cp"])
    chip = chip_of(row.system)
    quick = fp8 and "row" not in text
    counts = OperationCounts.ours(model, plan["B"] * plan["T"], plan["T"], "none")
    dtype = "fp8" if quick else "bf16"
    row = replace(row, config={**c, "dtype": dtype})
    compiled, asynchronous = (name in c and flag(c, name) for name in ("compile", "async_tp"))
    kind = ("async-" if asynchronous else "") if compiled or asynchronous else "eager-"
    key = f"torchtitan-{kind}{chip.split('-')[0]}"
    timed = step(row, key, model, plan, chip=chip, counts=counts, dtype=dtype)
    return as_typical(timed) if "inferred" in row.cells["confidence"] else timed


def fms(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """fms-fsdp: FSDP, or FSDP within a node beside copies; a compiled model, blocks recomputed as the row says."""
    c = row.config
    model = memory_model(c)
    copies = number(c, "replicas", default=1)
    dp = number(c, "fsdp") * copies
    if "compile" in c and not flag(c, "compile"):
        return Unmodelled("compile is off: no constants of fms-fsdp without compilation")
    if (copies > 1) != ("h" in str(c.get("sharding", "h" if copies > 1 else "")).lower()):
        raise ValueError(f"sharding is {c['sharding']!r}, with {copies} replicas")
    if str(c.get("ac", "none")) == "selective":
        return Unmodelled("ac is 'selective': the row does not give the share of recomputed blocks")
    plan: dict[str, Any] = {
        "B": number(c, "gbs"),
        "T": number(c, "seq"),
        "dp": dp,
        "micro": number(c, "mbs"),
        "zero": zero_of(c, 3),
        "recompute": recomputed(c, "none"),
        "sp": False,
        "fused": True,
    }
    plan |= divided_among(dp // copies, dp)
    chip = chip_of(row.system)
    out = 100e9 / 8 if "800 Gb" in row.system else 50e9 / 8  # of a node's 800 or 400 Gb/s
    return step(row, "fms-fsdp-" + chip.split("-")[0], model, plan, chip=chip, out=out)


def internevo(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """InternEvo on A100: ZeRO-1 whose states all replicas share, or some of them; four ports of 100 Gb/s for eight."""
    c = row.config
    model = memory_model(c)
    dp, group = number(c, "dp"), number(c, "zero_group", default=0)
    plan: dict[str, Any] = {
        "B": number(c, "gbs"),
        "T": number(c, "seq"),
        "tp": number(c, "tp", default=1),
        "dp": dp,
        "micro": number(c, "mbs"),
        "zero": zero_of(c, 1),
        "recompute": recomputed(c, "none"),
        "sp": False,
        "fused": True,
    }
    plan |= divided_among(group, dp)
    return step(row, "internevo-a100", model, plan, out=6.25e9)


def recomputed(c: Any, default: str) -> str:
    """What a row's `ac` means. Raises ValueError."""
    text = str(c.get("ac", default)).lower()
    if re.match("selective", text):
        return BY_OP
    if not re.match("none|full", text):
        raise ValueError(f"ac is {text!r}, not none, selective or full")
    return re.split(r"\W", text)[0]
