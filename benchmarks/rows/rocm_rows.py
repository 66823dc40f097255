"""Training steps of Megatron Core on ROCm: MLPerf's submissions on AMD's GPUs, and the table of Primus.

Not printed, and assumed: the distributed optimizer or FSDP, nothing recomputed where the row names nothing, adapters in
32 bits beside frozen weights that are kept in 16.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmarks.rows.row_words import degrees_of, divided_among, dtype_of, has_adapters, recompute_of
from benchmarks.rows.training_models import model_named
from benchmarks.rows.training_step import TrainingStep, Unmodelled, chip_of, number, step
from benchmarks.rows.training_units import OperationCounts
from hwlib.footprint import FULL_ADAM, Trained, adapters_of

if TYPE_CHECKING:
    from benchmarks.rows.published_row import PublishedRow

SOFTWARE = "megatron-rocm"


def megatron_rocm(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """A step of Megatron Core on ROCm; of adapters with all of their own work."""
    c = row.config
    model, chip, recompute = model_named(str(c.get("model", ""))), chip_of(row.system), recompute_of(c, "none")
    plan: dict[str, Any] = degrees_of(row, c) | {
        "recompute": recompute,
        "zero": 3 if (fsdp := number(c, "fsdp", default=0)) else 1,
        "sp": True,
        "fused": True,
        "micro": number(c, "mbs"),
    }
    if fsdp > 1:
        plan |= divided_among(fsdp, row.gpus // (plan["tp"] * plan["pp"]))
    if layers := number(c, "recompute_layers", default=0):
        plan["recompute_layers"] = layers
    settings: dict[str, Any] = {}
    if has_adapters(c):
        adapters = adapters_of(f"{number(c, 'rank')}@{c.get('targets', 'all')}", "bf16")
        plan["trained"] = Trained(FULL_ADAM, adapters=adapters)
        settings = {"states": FULL_ADAM, "lora": adapters}
    counts = OperationCounts.ours(model, plan["B"] * plan["T"], plan["T"], recompute)
    row = replace(row, config={name: x for name, x in c.items() if name not in ("stage", "rank", "targets")})
    key = f"{SOFTWARE}-{chip}"
    return step(row, key, model, plan, chip=chip, counts=counts, dtype=dtype_of(row), asked=settings, usual=True)
