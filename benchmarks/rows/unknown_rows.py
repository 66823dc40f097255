"""Rows of training that no table of known software holds: of any source, and those of MLPerf.

They say what is needed themselves; their constants are those usual on the chip.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmarks.rows.pytorch_rows import recomputed
from benchmarks.rows.row_words import degrees_of, divided_among, dtype_of, has_adapters, recompute_of, zero_of
from benchmarks.rows.training_models import gpt, model_named
from benchmarks.rows.training_step import TrainingStep, Unmodelled, flag, number, step
from benchmarks.rows.training_units import PREFIXES, SECONDS, OperationCounts, plain, printed_number

if TYPE_CHECKING:
    from benchmarks.rows.published_row import PublishedRow


def unknown_table(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """A row of a table without a reader, that says what is needed: its constants are typical ones.

    A model is known by its name, or is a GPT by its shape. Not printed, and assumed: bf16, FlashAttention, nothing
    recomputed, microbatches of 1, and the distributed optimizer, or FSDP where the row says so. The batch may be
    given as microbatch, replicas and accumulation, or in tokens.
    """
    c = row.config
    name = str(c.get("model") or c.get("params") or "")
    try:
        model = model_named(name)
    except ValueError:
        if not (c.get("hidden") and c.get("layers")) or not re.match(r"$|gpt|megatron|[\d.]+ ?b$", name.lower()):
            raise
        if c.get("ff") and number(c, "ff") != 4 * number(c, "hidden"):
            raise ValueError("a shape with an MLP that is not 4 times as wide, and no known name") from None
        model = gpt(c)
    if has_adapters(c):
        return Unmodelled("LoRA, by an unknown software")
    fsdp = number(c, "fsdp", default=0)
    shared = number(c, "tp", default=1) * number(c, "pp", default=1) * number(c, "cp", default=1)
    if fsdp > 1 and not c.get("dp") and fsdp * shared == row.gpus:
        c = {"dp": fsdp} | c
    batch = _batch(row, c, shared)
    recompute = recomputed(c, "none") if "ac" in c else recompute_of(c, "none")
    plan = degrees_of(row, {**c, "gbs": batch}) | {
        "recompute": recompute,
        "fused": True,
        "micro": number(c, "mbs", "micro", default=1),
        "sp": flag(c, "sp") if "sp" in c else True,
        "zero": zero_of(c, 3 if fsdp else 1),
    }
    if fsdp > 1:
        plan |= divided_among(fsdp, row.gpus // (plan["tp"] * plan["pp"]))
    counts = OperationCounts.ours(model, plan["B"] * plan["T"], plan["T"], recompute, known=False)
    return step(row, "", model, plan, counts=counts, dtype=dtype_of(row))


def _batch(row: "PublishedRow", c: Mapping[str, Any], shared: int) -> int:
    """Sequences of a step, from whichever words the row has for it. Raises ValueError."""
    if c.get("gbs"):
        return number(c, "gbs")
    dp = number(c, "dp", default=0) or row.gpus // shared
    if c.get("batch_per_dp"):
        return number(c, "batch_per_dp") * dp
    if c.get("ga") and c.get("mbs"):
        return number(c, "mbs") * number(c, "ga") * dp
    given = re.fullmatch(r"([\d.]+) ?([kmb])", str(c.get("tokens_per_batch") or "").lower())
    if not given:
        raise ValueError("the row does not give gbs")
    amount, T = float(given[1]), number(c, "seq", "sequence_length")
    binary = amount * 2 ** {"k": 10, "m": 20, "b": 30}[given[2]] / T / dp  # "16M" is mostly 2^24
    replica = binary if binary >= 1 and binary == int(binary) else amount * PREFIXES[given[2]] / T / dp
    return max(1, round(replica)) * dp


def mlperf(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """MLPerf Training: minutes in which a model is trained to its target, on the samples, tokens or steps that the row
    prints. Evaluations, which the minutes have in them, are a few per cent and are not taken out.
    """
    c = row.config
    unit = plain(re.sub(r"\b(time|to|of|train(ing)?|target)\b|[()_,-]", " ", row.unit.lower()))
    if found := re.fullmatch(r"(min|s|h|day)", unit):
        tokens = _trained(c)
        hours = row.value * SECONDS[found[1]] / SECONDS["h"]
        row = replace(row, value=hours, unit="h", config={**c, "train_tokens": f"{tokens:.0f}"})
    return unknown_table(row)


def _trained(c: Mapping[str, Any]) -> float:
    """The tokens of a whole run. Raises ValueError."""
    for name in ("train_tokens", "total_tokens", "tokens"):
        if given := re.fullmatch(r"([\d.,]+(?:e\d+)?) ?([kmbt]?)", str(c.get(name) or "").strip().lower()):
            return float(given[1].replace(",", "")) * PREFIXES[given[2]]
    T = number(c, "seq", "sequence_length")
    for name in ("samples", "train_samples"):
        if many := printed_number(c.get(name)):
            return many * T
    if steps := printed_number(c.get("steps")):
        return steps * number(c, "gbs") * T
    raise ValueError("the row does not give the samples, tokens or steps of the run")
