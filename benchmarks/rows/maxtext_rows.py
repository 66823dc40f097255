"""MaxText's tables of its own configurations, whose rows name a size and a slice and print nothing else.

The size names a script of the same repository (src/maxtext/configs at e591f30cbbf2, August 2026), which has the shape,
the batch of a chip, the degrees and what is recomputed; a sequence has 2,048 tokens. Several slices hold a copy each,
which the network of the data centre joins: 25 GB/s of a host, which has eight chips of v5e and four of the others.
"""

import re
from dataclasses import replace
from math import log2
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.rows.training_step import (
    MANY,
    TrainingStep,
    Unmodelled,
    as_typical,
    chip_of,
    step,
)
from benchmarks.rows.training_units import OperationCounts
from hwlib.specs import Model, accelerators, models
from hwlib.specs.cluster import Level
from hwlib.transformer import recomputed_flops, step_flops

if TYPE_CHECKING:
    from benchmarks.rows.published_row import PublishedRow

T = 2048
HOST = 25e9
CHIPS_OF_HOST = {"tpu-v5e": 8}


class Script(NamedTuple):
    """What a script sets: sequences of a chip, tensor parallelism, and what is recomputed.

    The policy "minimal" keeps what products give, and so recomputes attention alone.
    """

    batch: int
    tp: int
    recompute: str


SCRIPTS = {
    ("tpu-v4", 22): Script(13, 1, "full"),
    ("tpu-v4", 52): Script(7, 1, "full"),
    ("tpu-v5e", 16): Script(6, 1, "full"),
    ("tpu-v5e", 32): Script(4, 1, "full"),
    ("tpu-v5e", 64): Script(2, 1, "full"),
    ("tpu-v5e", 128): Script(1, 16, "full"),
    ("tpu-v5p", 32): Script(6, 4, "selective"),
    ("tpu-v5p", 64): Script(3, 4, "selective"),
    ("tpu-v5p", 128): Script(1, 8, "selective"),
    ("tpu-v5p", 256): Script(1, 8, "selective"),
    ("tpu-v5p", 512): Script(2, 8, "full"),
    ("tpu-v5p", 1024): Script(2, 16, "full"),
}
"""By chip and billions of parameters. Of 128B on v5e, queries, keys and values go to the host, and all else is full."""
SHAPES = {22: (48, 6144, 24, 24576), 52: (32, 12288, 32, 49152)}
"""Layers, width, heads and width of the MLP of sizes that are not a power of two. Their scripts name no more; it is
with heads of 256 and an MLP of two matrices, not with the defaults of today, that they have so many parameters.
"""


def scaled(billions: int) -> Model:
    """The model of a size: one that is a power of two doubles the dimensions of the smallest in turn."""
    if old := billions in SHAPES:
        layers, width, heads, ffn = SHAPES[billions]
    else:
        rounds, rest = divmod(round(log2(billions)), 3)
        layers, width = 16 * 2**rounds, 2048 * 2 ** (rounds + (rest > 1))
        heads, ffn = (n * 2 ** (rounds + (rest > 0)) for n in (16, 7168))
    return Model.small(
        key=f"maxtext-{billions}b",
        name=f"MaxText's {billions}B",
        layers=layers,
        width=width,
        heads=heads,
        head_dim=256 if old else 128,
        gated=not old,
        ffn=ffn,
        vocab=32000,
        context=T,
    )


def maxtext(row: "PublishedRow") -> TrainingStep | Unmodelled:
    """A row of the tables of sizes, or one of Llama 2 7B on GPUs, whose script has four sequences of 4,096 tokens a GPU
    and copies of nodes; one that names another model gives neither its batch nor its plan.
    """
    c = row.config
    chip = chip_of(row.system)
    if c.get("params"):
        billions = int(str(c["params"]).upper().removesuffix("B"))
        if (chip, billions) not in SCRIPTS:
            raise ValueError(f"the row does not give gbs: MaxText has no script of {billions}B on {chip}")
        slices = re.search(r"(\d+)x", row.system)
        return _of_script(row, chip, scaled(billions), SCRIPTS[chip, billions], T, int(slices[1]) if slices else 1)
    if chip == "h100-sxm" and c.get("model") == "llama2-7b":
        return _of_script(row, chip, models["llama2-7b"], GPUS, 4096, row.gpus // 8)
    raise ValueError("the row does not give gbs, nor what is recomputed")


GPUS = Script(4, 1, "none")


def _of_script(
    row: "PublishedRow", chip: str, model: Model, script: Script, length: int, copies: int
) -> TrainingStep | Unmodelled:
    dp = row.gpus // script.tp
    plan: dict[str, Any] = {
        "B": script.batch * row.gpus,
        "T": length,
        "tp": script.tp,
        "dp": dp,
        "micro": script.batch * script.tp,
        "zero": 3,
        "recompute": script.recompute,
        "sp": True,
        "fused": True,
    }
    if copies > 1:
        plan["shards"] = dp // copies
    tokens = plan["B"] * length
    done = float(step_flops(model, tokens, length, causal=False))
    again = float(recomputed_flops(model, tokens, length, script.recompute, causal=False))
    row = replace(row, config={})
    timed = as_typical(step(row, "", model, plan, chip=chip, counts=OperationCounts(done, done + again, done)))
    if isinstance(timed, Unmodelled) or not chip.startswith("tpu"):
        return timed
    size, links = row.gpus // copies, accelerators[chip].scaleup_bandwidth or 0.0
    out = HOST / CHIPS_OF_HOST.get(chip, 4)
    return replace(timed, levels=(Level("slice", size, links), Level("network", MANY, size * out)))
