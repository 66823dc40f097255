"""Rows of training that no table of known software holds: of any source, and those of MLPerf.

They say what is needed themselves; their constants are those usual on the chip.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmarks.rows.one_gpu_rows import asked_question, one_gpu
from benchmarks.rows.pytorch_rows import recomputed
from benchmarks.rows.read_keys import ADAPTED, ONE_GPU
from benchmarks.rows.row_words import degrees_of, divided_among, dtype_of, has_adapters, recompute_of, zero_of
from benchmarks.rows.training_models import shape_or_name
from benchmarks.rows.training_step import (
    MISREAD,
    TrainingStep,
    Unmodelled,
    as_typical,
    flag,
    levels_of_row,
    number,
    step,
)
from benchmarks.rows.training_units import PREFIXES, SECONDS, OperationCounts, plain, printed_number
from hwlib.specs import Model

if TYPE_CHECKING:
    from benchmarks.rows.published_row import PublishedRow


def unknown_table(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """A row of a table without a reader, that says what is needed: its constants are typical ones.

    A model is known by its name, or by the shape that the row prints. Not printed, and assumed: bf16, FlashAttention,
    nothing recomputed, or all layers where a plan is far from fitting otherwise, microbatches of 1, and the distributed
    optimizer, or FSDP where the row says so; of adapters, that they are of rank 16 beside all matrices. The batch may
    be given as microbatch, replicas and accumulation, or in tokens.
    """
    row = _in_usual_words(row)
    c = row.config
    model = shape_or_name(c)
    if row.gpus == 1 and ONE_GPU & set(c):
        return as_typical(one_gpu(_tuned_usually(row)))
    fsdp = number(c, "fsdp", default=0)
    shared = number(c, "tp", default=1) * number(c, "pp", default=1) * number(c, "cp", default=1)
    copies = number(c, "dp", default=1)
    if fsdp > 1 and copies * shared != row.gpus == copies * fsdp * shared:
        c = {**c, "dp": copies * fsdp}
    batch = _batch(row, c, shared)
    plan = degrees_of(row, {**c, "gbs": batch}) | {
        "recompute": recomputed(c, "none") if c.get("ac") is not None else recompute_of(c, "none"),
        "fused": True,
        "micro": number(c, "mbs", "micro", default=1),
        "sp": flag(c, "sp") if "sp" in c else True,
        "zero": zero_of(c, 3 if fsdp else 1),
    }
    if fsdp > 1:
        plan |= divided_among(fsdp, row.gpus // (plan["tp"] * plan["pp"]))
    case = _step_of(row, c, model, plan)
    silent = c.get("ac") is None and c.get("recompute") is None
    if silent and isinstance(case, TrainingStep) and case.memory_share > MISREAD:
        return _step_of(row, c, model, plan | {"recompute": "full"})
    return case


def _step_of(
    row: "PublishedRow", c: Mapping[str, Any], model: Model, plan: Mapping[str, Any]
) -> TrainingStep | Unmodelled:
    """The step of a plan that was read."""
    counts = OperationCounts.ours(model, plan["B"] * plan["T"], plan["T"], plan["recompute"], known=False)
    settings = asked_question(_tuned_usually(row).config).settings if adapts(c) else None
    bare = replace(row, config={name: x for name, x in c.items() if name not in ADAPTED or name == "stage"})
    case = as_typical(step(bare, "", model, dict(plan), counts=counts, dtype=dtype_of(row), asked=settings))
    nodes = number(c, "nodes", default=1)
    if isinstance(case, TrainingStep) and nodes > 1 and row.gpus // nodes < case.levels[0].size:
        return replace(case, levels=levels_of_row(case.chip, size=row.gpus // nodes))
    return case


def adapts(c: Mapping[str, Any]) -> bool:
    """Whether adapters are trained beside frozen matrices, of whatever precision. Raises ValueError."""
    return str(c.get("stage") or "").lower() == "qlora" or has_adapters(c)


OTHER_WORDS = {"lora_rank": "rank", "grad_accum": "ga", "sequence_length": "seq"}
"""Names of cells that mean the same as another."""


def _in_usual_words(row: "PublishedRow") -> "PublishedRow":
    """A row with the usual names of cells, and a unit without what stands in brackets behind it: a rate that is said to
    be of all GPUs becomes that of each.
    """
    config = {OTHER_WORDS.get(name, name): x for name, x in row.config.items()}
    if rate := re.fullmatch(r"(.*/s) \(all GPUs\)", row.unit):
        return replace(row, config=config, value=row.value / row.gpus, unit=f"{rate[1]}/GPU")
    return replace(row, config=config, unit=re.sub(r" \(\d+ microbatches\)$", "", row.unit))


def _tuned_usually(row: "PublishedRow") -> "PublishedRow":
    """A row of one GPU or of adapters with what its source leaves out; a unit without what stands in brackets."""
    c = row.config
    more: dict[str, Any] = {"states": "full" if adapts(c) else "bf16"}
    if adapts(c):
        more |= {"rank": 16, "targets": "all"}
    if "gbs" not in c:
        more["gbs"] = number(c, "mbs", default=1) * number(c, "ga", default=1)
    return replace(row, config={**more, **c})


def _batch(row: "PublishedRow", c: Mapping[str, Any], shared: int) -> int:
    """Sequences of a step, from whichever words the row has for it. Raises ValueError."""
    dp = number(c, "dp", default=0) or row.gpus // shared
    if c.get("gbs"):
        made = number(c, "mbs", default=0) * number(c, "ga", default=0) * dp
        if made and made != number(c, "gbs"):
            raise ValueError(f"the row contradicts itself: mbs x ga x dp is {made}, gbs {number(c, 'gbs')}")
        return number(c, "gbs")
    if c.get("batch_per_dp"):
        return number(c, "batch_per_dp") * dp
    if c.get("ga") and c.get("mbs"):
        return number(c, "mbs") * number(c, "ga") * dp
    if c.get("mbs") and not c.get("tokens_per_batch"):
        return number(c, "mbs") * dp
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
