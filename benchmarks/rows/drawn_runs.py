"""The published runs that mix kinds of parallelism, and the ten among them that readers are asked to predict.

`python -m benchmarks.rows.drawn_runs --data FILE` writes hwlib/specs/measured_plans.csv from a table of published rows.

Ten tables have steps of dense models on 64 GPUs and more, with several replicas and at least two of tensor, pipeline
and context parallelism, from software with fitted constants, and are not printed elsewhere in the book. Of each the row
with the least SHA-256 of its id is asked for; measured values play no part. The others can be shown, but for those that
have the plan of one that is asked, and but for the two sweeps: of BLOOM's trials one model is kept, of vTrain none.
"""

import csv
import hashlib
import io
from collections.abc import Iterable, Iterator
from math import isclose
from pathlib import Path

import click

from benchmarks.paths import SPECS
from benchmarks.rows.published import steps
from benchmarks.rows.published_row import PublishedRow
from benchmarks.rows.training_step import TrainingStep
from hwlib.specs import accelerators, measured_pipelines, models, stacks
from hwlib.specs.plan_measurements import MeasuredPlan
from hwlib.steptime.published import predicted_step, published_time

LEAST = 64  # GPUs
PRINTED = ("nemo-long",)  # tables whose rows chapter 11 prints
SWEEPS = ("bloom", "vtrain-multi")
SHAPE = (72, 14336, 64)  # layers, width and heads of the trials for BLOOM that are shown
PRESETS = {("mbridge-gb300-llama3", 256, "fp8"), ("mbridge-h100-llama3", 64, "fp8")}  # of the live figure
SOURCES = {
    "kor-abs": "korthikanti2022 abstract",
    "meg21": "narayanan2021 Table 1",
    "meg24": "megatron-lm-readme",
    "vtrain-multi": "vtrain",
    "bloom": "bloom-chronicles",
    "nemo2407": "nemo-performance",
}
UNITS = {
    "MFU %": "% of the peak",
    "TFLOP/s/GPU": "TFLOP/s",
    "model TFLOP/s/GPU": "TFLOP/s",
    "ms/iter": "ms",
    "s/iter": "s",
}
COUNTS = {"kor-abs": "unmasked", "meg21": "recomputed", "meg24": "unmasked", "nemo2407": "unmasked"}
HEAD = """# Published training steps of dense models whose plans mix kinds of parallelism, as printed:
# benchmarks/rows/drawn_runs.py says which, and writes this table. `domain` GPUs share NVLink and send `network` GB/s
# out of it, one way, together; `sequences` of T tokens are a step, `micro` of them a microbatch, v the chunks of
# layers of a stage. A model is a key of models.toml, or a GPT of the shape given. `asked` rows are to be predicted.
# Megatron Bridge and NeMo (Apache 2.0), vTrain (MIT), BLOOM's chronicles (Apache 2.0). Of bloom-129 the shape is the
# one that its logged rate fits.
"""


def mixed(cases: Iterable[tuple[PublishedRow, TrainingStep]]) -> Iterator[tuple[PublishedRow, TrainingStep]]:
    """The rows of plans that mix at least two of tp, pp and cp beside data parallelism."""
    for row, case in cases:
        kinds = sum(case.plan.get(name, 1) > 1 for name in ("tp", "pp", "cp"))
        known = "seen" in row.cells["confidence"] and not case.typical and not case.model.moe
        if known and case.gpus >= LEAST and case.plan["dp"] > 1 and kinds > 1 and case.group not in PRINTED:
            yield row, case


def plan_of(case: TrainingStep) -> tuple[object, ...]:
    """What makes two rows the same plan, releases of a software and batches aside."""
    model, degrees = case.model, {name: x for name, x in case.plan.items() if name != "B"}
    return (case.chip, model.layers, model.width, model.heads, case.gpus, *sorted(degrees.items()))


def swept(case: TrainingStep) -> bool:
    """Whether a row of a preset of the live figure, or of the trials that are shown, is kept for these."""
    model = case.model
    trial = case.group == "bloom" and (model.layers, model.width, model.heads) == SHAPE and case.gpus == 384
    preset = (case.group, case.gpus, case.plan["dtype"]) in PRESETS
    return trial or (preset and case.plan["B"] in (2**21, 1536 * 8192))


def drawn(cases: Iterable[tuple[PublishedRow, TrainingStep]]) -> list[tuple[PublishedRow, TrainingStep]]:
    """Of each table the row with the least digest of its id, of those that nothing else in the book shows."""
    elsewhere = {run.run for run in measured_pipelines("Megatron-DeepSpeed")}
    least: dict[str, tuple[str, PublishedRow, TrainingStep]] = {}
    for row, case in mixed(cases):
        name = row.cells["id"]
        digest = hashlib.sha256(name.encode()).hexdigest()
        if name not in elsewhere and not swept(case) and digest < least.get(case.group, ("g",))[0]:
            least[case.group] = digest, row, case
    return [(row, case) for _, row, case in least.values()]


def shown(
    cases: Iterable[tuple[PublishedRow, TrainingStep]], asked: Iterable[tuple[PublishedRow, TrainingStep]]
) -> Iterator[tuple[PublishedRow, TrainingStep]]:
    """The others that may be printed."""
    hidden = [plan_of(case) for _, case in asked]
    for row, case in mixed(cases):
        named = case.model.key in models or case.model.key == "row"
        if (case.group not in SWEEPS or swept(case)) and named and plan_of(case) not in hidden:
            yield row, case


def record(row: PublishedRow, case: TrainingStep, asked: bool) -> MeasuredPlan:
    """A row in the form of the table. Raises ValueError where the table would say another time than the row."""
    plan, model = case.plan, case.model
    key = model.key if model.key in models else ""
    memory = float(row.config.get("mem", "").removesuffix("GB") or 0) if case.group == "bloom" else 0.0
    inner, outer = case.levels
    unit, value = UNITS[row.unit], row.value
    if (
        unit == "TFLOP/s"
        and (tokens := row.config.get("tokens_s_gpu"))
        and isclose(plan["B"] / (case.gpus * tokens), case.seconds)
    ):  # the two rates that the row prints differ, and the one in tokens needs no count of operations
        unit, value = "tokens/s", tokens
    plain = unit in ("s", "ms", "tokens/s")
    made = MeasuredPlan(
        key=row.cells["id"],
        stack=case.stack,
        model=key,
        layers=model.layers,
        width=model.width,
        heads=model.heads,
        vocab=model.vocab,
        positions=bool(model.positions),
        gpus=case.gpus,
        domain=inner.size,
        network=outer.bandwidth,
        **{name: int(plan.get(name, 1)) for name in ("tp", "pp", "cp", "dp", "v", "micro")},
        zero=plan.get("zero", 0),
        sp=bool(plan["sp"]),
        recompute=plan["recompute"],
        fused=bool(plan["fused"]),
        sequences=plan["B"] // plan["T"],
        T=plan["T"],
        dtype=plan["dtype"],
        value=value,
        unit=unit,
        counts="" if plain else COUNTS.get(case.group, "model"),
        memory=memory * 1e9,
        asked=asked,
        source=SOURCES.get(case.group, "megatron-bridge"),
    )
    same = (
        isclose(published_time(made), case.seconds),
        isclose(predicted_step(made).total, case.time(stacks[case.stack])),
    )
    if not all(same) or inner.bandwidth != accelerators[case.chip].scaleup_bandwidth:
        raise ValueError(f"{made.key}: the table's reader and the benchmark's differ")
    return made


def line(run: MeasuredPlan) -> dict[str, object]:
    """A row as text: nothing where a key of a model says it."""
    cells: dict[str, object] = {
        name: "yes" if x is True else "" if x is False else x for name, x in run._asdict().items()
    }
    if run.model:
        cells |= dict.fromkeys(("layers", "width", "heads", "vocab", "positions"), "")
    return cells | {
        "network": f"{run.network / 1e9:g}",
        "value": f"{run.value:.10g}",
        "memory": f"{run.memory / 1e9:g}",
    }


def table_of(path: Path) -> str:
    """The table, as text. Raises DataError for a bad file."""
    cases = [(row, case) for row, case in steps(path) if not case.open]
    asked = drawn(cases)
    out = io.StringIO()
    writer = csv.DictWriter(out, MeasuredPlan._fields, lineterminator="\n")
    writer.writeheader()
    rows = [(row, case, True) for row, case in asked] + [(row, case, False) for row, case in shown(cases, asked)]
    writer.writerows(line(record(*one)) for one in rows)
    return HEAD + out.getvalue()


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True), required=True, help="A table of published rows.")
def main(data: Path) -> None:
    """Write hwlib/specs/measured_plans.csv anew."""
    target = SPECS / "measured_plans.csv"
    target.write_text(table_of(data), "utf-8")


if __name__ == "__main__":
    main()
