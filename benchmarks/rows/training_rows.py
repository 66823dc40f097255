"""Published training runs: how the rows of each table are read.

A row that cannot be modelled is `Unmodelled`, with the reason. What a source does not print and a prediction
needs is assumed, the same for the whole table, and stands with the reader of that table.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmarks.rows.maxtext_rows import maxtext
from benchmarks.rows.one_gpu_rows import one_gpu, own_h200, qwen_tuned, torchtune
from benchmarks.rows.pytorch_rows import fms, internevo, titan
from benchmarks.rows.read_keys import MEASURED, TRAINING, unread
from benchmarks.rows.recipe_modules import modules_of_recipe
from benchmarks.rows.rocm_rows import SOFTWARE, megatron_rocm
from benchmarks.rows.row_words import degrees_of, divided_among, dtype_of, has_adapters, recompute_of, zero_of
from benchmarks.rows.training_models import bloom_shape, gpt, model_named, mpt
from benchmarks.rows.training_step import CHIPS, TrainingStep, Unmodelled, as_typical, chip_of, flag, number, step
from benchmarks.rows.training_units import OperationCounts, plain
from benchmarks.rows.unknown_rows import mlperf, unknown_table
from hwlib.specs import Model, models
from hwlib.transformer import (
    gpt_recompute_training_flops,
    gpt_training_flops,
    parameter_count,
    recomputed_flops,
    step_flops,
    training_flops,
)
from hwlib.transformer.model_counts import attention_step_flops

if TYPE_CHECKING:
    from benchmarks.rows.published_row import PublishedRow


@dataclass(frozen=True)
class RowReader:
    """How the rows of a table are read, and that those with cells that are not among `keys`, of `read_keys.TRAINING`,
    are refused. `group` is the table, by which rows name their reader.
    """

    group: str
    read: Callable[["PublishedRow"], TrainingStep | Unmodelled]
    keys: str = "unknown"


def _gpt_counts(model: Model, B: int, T: int, recompute: str) -> OperationCounts:
    """As Megatron's authors count, without a mask. HFU of 2022: of attention recomputed they count all that the
    forward and the backward pass do of it, T/3D in place of T/6D.
    """
    shape = B, T, model.layers, model.width, model.vocab
    once, full = float(gpt_training_flops(*shape)), float(gpt_recompute_training_flops(*shape))
    again = {"none": once, "selective": once + 12 * B * T * model.layers * model.width, "full": full}
    return OperationCounts(once, again[recompute], once)


def _shared_sequence(c: Mapping[str, Any]) -> bool:
    """Sequence parallelism, which "seqsel" (sequence parallel and selective) means too."""
    return flag(c, "sp") if "sp" in c else "seqsel" in str(c.get("recompute")).lower()


# Microbatch and chunks of a stage, by width: what the tables do not print. NVIDIA/Megatron-LM keeps the runs of the
# table of 2021 in examples/sc21/run_table_1.sh. Those of 2020 had no accumulation of gradients.
SC21 = {
    2304: (16, 1),
    3072: (16, 1),
    4096: (16, 1),
    6144: (8, 1),
    8192: (4, 1),
    10240: (2, 3),
    12288: (2, 2),
    16384: (1, 2),
    20480: (1, 3),
    25600: (1, 1),
}


def megatron_2021(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """Megatron-LM of 2020 to 2022: fp16, attention without FlashAttention, no ZeRO.

    Rows of Korthikanti's abstract name a model: its batch is that of his table for each replica.
    """
    c = row.config
    if "hidden" in c:
        model = gpt(c)
    else:
        model = models["korthikanti-" + str(c.get("params") or c.get("model") or "").lower()]
        c = {"gbs": 280 * number(c, "dp", default=1), "seq": 2048, "mbs": 1, "vp": 3} | c
    if (whole := number(c, "model_parallel", default=0)) and not (c.get("tp") or c.get("pp")):
        c = {"tp": min(8, whole), "pp": whole // min(8, whole)} | c
    if row.set == "meg20":  # a table without pipelines
        c = {"pp": 1} | c
    plan = degrees_of(row, c) | {"recompute": recompute_of(c, "full"), "sp": _shared_sequence(c), "fused": False}
    share = plan["B"] * plan["tp"] * plan["pp"] // row.gpus
    usual, chunks = (share, 1) if row.set == "meg20" else SC21.get(model.width, (1, 1))
    plan["micro"] = number(c, "mbs", default=usual)
    plan["v"] = number(c, "vp", default=chunks)
    counts = _gpt_counts(model, plan["B"] * plan["T"], plan["T"], plan["recompute"])
    if not row.set.startswith("kor"):  # rates of 2020 and 2021 have in them what is recomputed
        counts = replace(counts, rate=counts.hardware)
    stack = "megatron-2022-a100" if row.set.startswith("kor") else "megatron-2021-a100"
    return step(row, stack, model, plan, counts=counts, dtype="fp16")


def megatron_2024(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """Megatron-core's own table on H100: bf16, FlashAttention, sequence parallelism, the distributed optimizer.

    Assumed: microbatches of 1 sequence with a pipeline, up to 4 without; the layers of a stage in up to 8 chunks; and
    nothing recomputed.
    """
    c = row.config
    model = gpt(c)
    plan = degrees_of(row, c) | {"recompute": recompute_of(c, "none"), "zero": 1, "sp": True, "fused": True}
    share = plan["B"] * plan["tp"] * plan["pp"] // row.gpus
    plan["micro"] = number(c, "mbs", default=1 if plan["pp"] > 1 else max(x for x in (1, 2, 4) if share % x == 0))
    if "vp" not in c and plan["pp"] > 1:
        plan["v"] = max(v for v in range(1, 9) if model.layers // plan["pp"] % v == 0)
    counts = _gpt_counts(model, plan["B"] * plan["T"], plan["T"], plan["recompute"])
    return step(row, "megatron-core-h100", model, plan, counts=counts)


def vtrain(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """vTrain's ground truth: Megatron-DeepSpeed in fp16 on A100, 800 Gb/s out of a node, everything recomputed."""
    c = row.config
    model = gpt(c)
    plan = degrees_of(row, c) | {"recompute": recompute_of(c, "full"), "sp": False, "fused": False}
    plan["micro"] = number(c, "mbs", "micro", default=1)
    counts = _gpt_counts(model, plan["B"] * plan["T"], plan["T"], plan["recompute"])
    return step(row, "vtrain-a100", model, plan, out=12.5e9, counts=counts, dtype="fp16")


def bloom(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """BLOOM's trials: Megatron-DeepSpeed with ZeRO-1 in bf16; four Omni-Path ports of 100 Gb/s for eight A100."""
    deduced = not row.config.get("hidden")
    c = {"heads": 64, "seq": 2048} | row.config
    plan = degrees_of(row, c) | {
        "recompute": recompute_of(c, "full"),
        "zero": zero_of(c, 1),
        "sp": False,
        "fused": False,
    }
    plan["micro"] = number(c, "mbs", default=1)
    model = gpt(c | bloom_shape(row, c, plan["B"] * plan["T"], plan["T"]), positions=False)
    counts = _gpt_counts(model, plan["B"] * plan["T"], plan["T"], plan["recompute"])
    counts = replace(counts, rate=counts.hardware)
    timed = step(row, "megatron-deepspeed-a100", model, plan, out=6.25e9, counts=counts)
    return as_typical(timed) if deduced else timed


def mosaic(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """llm-foundry: MPT with FSDP, in bf16, FlashAttention, a whole layer recomputed or nothing."""
    c = row.config
    stages = {"FULL_SHARD": 3, "SHARD_GRAD_OP": 2}
    sharded = str(c.get("strategy", "FULL_SHARD")).upper()
    if sharded not in stages:
        return Unmodelled(f"strategy {c['strategy']}")
    precision = str(c.get("precision", "bf16")).lower()
    dtype = next((word for word in ("bf16", "fp16", "fp8") if precision.endswith(word)), "")
    if not dtype:
        return Unmodelled(f"precision {precision}")
    model = mpt(str(c.get("model", "")), number(c, "seq"))
    full = flag(c, "act_ckpt")
    B, micro = number(c, "gbs"), number(c, "mbs", default=1)
    if B % row.gpus == 0 and B // row.gpus % micro:  # the last microbatch is smaller: as many of equal size
        micro = B // row.gpus / -(-(B // row.gpus) // micro)
    plan = {
        "B": B,
        "T": number(c, "seq"),
        "zero": stages[sharded],
        "recompute": "full" if full else "none",
        "sp": False,
        "fused": True,
        "micro": micro,
    }
    chip = chip_of(row.system)
    stack = f"llm-foundry-{chip.split('-')[0]}"
    tokens = B * plan["T"]  # the table's own count: every parameter, and attention without its mask
    done = training_flops(parameter_count(model), tokens)
    done = float(done + 3 * attention_step_flops(model, tokens, plan["T"], causal=False))
    counts = OperationCounts(done, done * (4 / 3 if full else 1), done, peak=dtype)
    return step(row, stack, model, plan, chip=chip, counts=counts, dtype=dtype)


def megatron_core(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """NVIDIA's tables of Megatron-core (NeMo, Megatron Bridge): FlashAttention, distributed optimizer or FSDP.

    A row whose model has modules for multi-token prediction trains them, unless its name says "w/o MTP": the operations
    that it counts have them. Not printed, and assumed: what a recipe of Megatron Bridge recomputes, or else nothing;
    sequence parallelism wherever there is tensor parallelism; tokens that are even over the experts. Where
    those over an expert's capacity are dropped they are even by that, and the row is scored apart. Tables without a
    precision are of FP8. Where two settings are printed, "4 (8)", the first is the figure's.
    """
    c = row.config
    name = str(c.get("model", ""))
    long = re.match(r"nemo(\d*-b200|-long)", row.set)
    if long:
        row = replace(row, gpus=_of_rate(row, c))
    if reason := _left_out(str(c.get("note", ""))):
        return Unmodelled(reason)
    frozen, dtype, release = has_adapters(c), dtype_of(row), str(c.get("release") or "")
    model, chip = model_named(name), chip_of(row.system)
    degrees = degrees_of(row, c)
    recomputed = "none" if frozen else modules_of_recipe(model.key, chip, dtype, release)
    fsdp = number(c, "fsdp", default=0)
    plan = degrees | {
        "recompute": recompute_of(c, "none") if c.get("recompute") else recomputed,
        "zero": 3 if fsdp else 1,
        "sp": True,
        "fused": True,
        "micro": number(c, "mbs", default=1),
    }
    if fsdp > 1:
        plan |= divided_among(fsdp, row.gpus // (plan["tp"] * plan["pp"]))
    if frozen:
        plan["frozen"] = True
    stack, counts = "", None
    mtp = bool(model.mtp_layers) and "w/o mtp" not in name.lower()
    if mtp:
        counts = OperationCounts.ours(model, plan["B"] * plan["T"], plan["T"], plan["recompute"], mtp=True)
    if long or re.match(r"nemo24", row.set):
        # operations are counted as if attention had no mask
        stack = ("nemo-2024-" if chip == "h100-sxm" else "nemo-2025-") + chip.split("-")[0]
        counts = masked(model, plan["B"] * plan["T"], plan["T"], plan["recompute"])
    timed = step(
        row,
        stack,
        model,
        plan,
        chip=chip,
        counts=counts,
        dtype=dtype,
        release=release,
        mtp=mtp,
        usual=not stack,
    )
    otherwise = "tokendrop" in name.lower().replace(" ", "") or model.key.replace("-", "") in OTHERWISE
    if model.mixer:
        return as_typical(timed, STATES + PARTLY * (dtype == "fp4"))
    return as_typical(timed) if otherwise else timed


STATES, PARTLY = "with the typed rate of states", ", and all in 4 bits"
"""Why steps of models with states are scored apart. Recipes of Nemotron 3 Super in 4 bits keep the last 14 of its 88
blocks, the modules for multi-token prediction, attention's matrices and those around the experts in 16 bits, and a
mixer's output in 8, about a third of the operations (perf_recipes/nemotronh/te_quant.cfg, bf16_with_nvfp4_mixed); they
are predicted as if all were in 4.
"""
OTHERWISE = ("kimik2", "kimi-k2")
"""Models whose recipes train in a way that no constants are of: Kimi K2's by Muon, and without graphs."""


def _left_out(note: str) -> str:
    """Why a row of NVIDIA's is no run of its software as it is meant, or leaves its plan open; empty of most rows."""
    if "non-cp" in note:
        return "the row does not give tp, nor pp"
    return "the source calls the figure a regression, a known issue of this release" if "known issue" in note else ""


def _of_rate(row: "PublishedRow", c: Mapping[str, Any]) -> int:
    """GPUs of a row whose rate is one GPU's, where the printed ones are not tp x pp x cp x dp: those of its degrees.

    Such a rate says nothing of how many replicas there are. Without dp, as many as the GPUs and the batch allow.
    """
    shared = number(c, "tp", default=1) * number(c, "pp", default=1) * number(c, "cp", default=1)
    if not re.search(r"/(gpu|s/gpu)$", plain(row.unit)) or not c.get("tp"):
        return row.gpus
    most = max(row.gpus // shared, 1)
    dp = number(c, "dp", default=0) or max(n for n in range(1, most + 1) if number(c, "gbs") % n == 0)
    return dp * shared


def masked(model: Model, B: int, T: int, recompute: str) -> OperationCounts:
    """Counts of a source that leaves nothing of attention out for its mask."""
    done = float(step_flops(model, B, T, causal=False))
    return OperationCounts(done, done + float(recomputed_flops(model, B, T, recompute, causal=False)), done)


def without(reason: str) -> Callable[["PublishedRow"], Unmodelled]:
    """A table whose rows have no model."""
    return lambda _: Unmodelled(reason)


READERS = (
    RowReader("kor-t5", megatron_2021, "megatron"),
    RowReader("kor-abs", megatron_2021, "megatron"),
    RowReader("meg21", megatron_2021, "megatron"),
    RowReader("meg20", megatron_2021, "megatron"),
    RowReader("meg24", megatron_2024, "megatron"),
    RowReader("vtrain-multi", vtrain, "megatron"),
    RowReader("vtrain-single", vtrain, "megatron"),
    RowReader("vtrain", vtrain, "megatron"),
    RowReader("mosaic", mosaic, "mosaic"),
    RowReader("bloom", bloom, "bloom"),
    RowReader("mbridge", megatron_core, "nvidia"),
    RowReader("nemo2407", megatron_core, "nvidia"),
    RowReader("nemo-long", megatron_core, "nvidia"),
    RowReader("nemo-b200", megatron_core, "nvidia"),
    RowReader("nemo24", megatron_core, "nvidia"),
    RowReader("torchtitan", titan, "titan"),
    RowReader("torchao", titan, "titan"),
    RowReader("fms-fsdp", fms, "fms"),
    RowReader("internevo", internevo, "internevo"),
    RowReader("one-gpu", one_gpu, "one-gpu"),
    RowReader("own-h200", own_h200, "one-gpu"),
    RowReader("qwen-tuned", qwen_tuned, "one-gpu"),
    RowReader("torchtune", torchtune, "one-gpu"),
    RowReader("megascale-megatron", unknown_table),
    RowReader(
        "megascale", without("software is MegaScale: no constants of it, which changes the layer and its overlap")
    ),
    RowReader("ultrascale", unknown_table),
    RowReader("nanotron", unknown_table),
    RowReader("maxtext", maxtext),
    RowReader("mlperf", mlperf, "mlperf"),
    RowReader(SOFTWARE, megatron_rocm, "rocm"),
    RowReader("dsv3", unknown_table),
)
TABLES = {reader.group: reader for reader in READERS}
UNKNOWN = RowReader("unknown", unknown_table)


def training_group(reader: str, system: str, config: Any) -> str:
    """The group that a row of a reader is scored with; large tables are split by chip, and by dense or not."""
    group = reader if reader in TABLES else ""
    if group in ("mbridge", "mosaic", SOFTWARE):
        chip = next((chip.split("-")[0] for pattern, chip in CHIPS if re.search(pattern, system, re.I)), "other")
        group += f"-{chip}"
        if group.startswith("mosaic") and "fp8" in str(config).lower():
            group += "-fp8"
        if group.startswith("mbridge") and isinstance(config, dict):
            if re.match("sft|lora", str(config.get("stage")).lower()):
                return group + "-tuned"
            group += "-llama3" if "llama3" in str(config.get("model", "")).lower().replace("-", "") else "-others"
    return group


def training_case(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """The step of a row of kind "train-step", or why there is none. Never raises for an odd configuration."""
    reader = TABLES.get(row.reader, UNKNOWN)
    try:
        found = reader.read(row)
    except (KeyError, ValueError, TypeError, ArithmeticError) as error:
        missing = isinstance(error, KeyError) and error.args
        return Unmodelled(f"the row does not give {error.args[0]}" if missing else str(error) or type(error).__name__)
    odd = unread(row.config, TRAINING[reader.keys] | MEASURED)
    return Unmodelled(odd) if odd and isinstance(found, TrainingStep) else found
