"""How runs of torchtitan, fms-fsdp and InternEvo are read, and what NVIDIA's recipes say beside its tables."""

import csv

import pytest

from benchmarks.fit.stacks import alike, folds_report, mean_error, plan_of
from benchmarks.rows.kept_rows import KEPT as DATA
from benchmarks.rows.published import steps
from benchmarks.rows.published_row import PublishedRow
from benchmarks.rows.reader_names import reader_of
from benchmarks.rows.training_rows import training_case
from benchmarks.rows.training_step import Unmodelled, own_constants
from benchmarks.score.predictions import predict
from hwlib.specs import stacks

TITAN = {"model": "llama3.1-8b", "fsdp": 8, "mbs": 1, "seq": 32768, "ac": "full", "fp8": 1, "dtype": "fp8 linear"}
INTERN = {
    "model": "internlm-7b", "hidden": 4096, "layers": 32, "heads": 32, "ff": 10922, "vocab": 103168, "seq": 2048,
    "dtype": "bf16", "tp": 1, "dp": 16, "zero": 1, "zero_group": 8, "mbs": 2, "gbs": 128, "ac": "none",
}  # fmt: skip


def row(name, value, gpus=8, system="H100 96GB", unit="tokens/s/GPU", **config):
    cells = {"id": name, "confidence": "seen verbatim"}
    reader = reader_of("train-step", name, config)
    return PublishedRow(2, name, "train-step", system, gpus, config, value, unit, "source", cells, reader=reader)


def test_torchtitan_without_a_batch_takes_the_local_ones():
    """3,890 tokens a second and GPU at 32,768 tokens, of 8 GPUs: 8.42 s (torchtitan, December 2024)."""
    step = training_case(row("titan2-03-tps", 3890, **TITAN))
    assert step.seconds == pytest.approx(32768 / 3890)
    assert step.stack == "torchtitan-eager-h100"
    assert {"B": 8 * 32768, "dp": 8, "zero": 3, "recompute": "full", "dtype": "fp8"}.items() <= step.plan.items()
    assert predict(step).error < 0.1
    assert training_case(row("titan2-1", 6667, **TITAN | {"compile": 1, "ac": "selective"})).plan["recompute"] == "op"


def test_a_scale_a_row_has_the_rate_of_bfloat16():
    config = TITAN | {"compile": 1, "async_tp": 1, "dtype": "fp8 rowwise", "seq": 8192}
    step = training_case(row("titan2-9", 6000, **config))
    assert (step.stack, step.plan["dtype"]) == ("torchtitan-async-h100", "bf16")


def test_states_of_internevo_may_be_of_a_node():
    step = training_case(row("internevo-1", 3842, 16, "A100-80GB SXM", **INTERN))
    assert (step.plan["shards"], step.plan["zero"], step.stack) == (8, 1, "internevo-a100")
    assert predict(step).error < 0.15


@pytest.mark.parametrize(
    ("name", "config", "reason"),
    [
        ("titan2-1", TITAN | {"ac": "some"}, "ac is 'some'"),
        ("titan2-1", TITAN | {"dtype": "nvfp4"}, "dtype is 'nvfp4'"),
        ("fms-1", {"model": "llama2-7b", "fsdp": 8, "mbs": 2, "ac": "selective"}, "share of recomputed blocks"),
        (
            "other-1",
            {"model": "llama3-8b", "tp": 1, "pp": 1, "gbs": 64, "seq": 65536, "mbs": 8, "ac": "none"},
            "the chip's memory",
        ),
    ],
)
def test_what_is_left_open_is_refused(name, config, reason):
    found = predict(training_case(row(name, 9000, **config)))
    assert isinstance(found, Unmodelled)
    assert reason in found.reason


def test_typed_constants_are_counted_and_plans_are_groups():
    assert own_constants(stacks["torchtitan-async-h100"]) == 1
    assert own_constants(stacks["megatron-core-h100"]) > len(stacks["megatron-core-h100"].fitted)
    one, two = (training_case(row("titan2-03-tps", value, **TITAN)) for value in (3890, 3900))
    assert plan_of(one) == plan_of(two)
    assert plan_of(one) != plan_of(training_case(row("titan2-1", 3890, **TITAN | {"cp": 2, "fsdp": 4})))


def test_a_report_of_folds_fits_one_and_scores_the_other(tmp_path):
    """Steps whose times follow from one constant, so that each fold must find the other's. As they were measured they
    tell nothing: one of the three kept rows is alone in its fold, and attention over 1,024 tokens decides little of it.
    """
    stack = stacks["llm-foundry-a100"]
    slower = stack.replace(eta_A=0.8 * stack.eta_A)
    with DATA.open(encoding="utf-8") as file:
        kept = {cells["id"]: cells for cells in csv.DictReader(line for line in file if line[0] != "#")}
    made = []
    for found, case in steps(DATA):
        if case.stack == stack.key:
            ratio = 1 + float(alike([case])[0].errors(slower)[0])
            made.append(kept[found.cells["id"]] | {"measured_value": str(found.value / ratio)})
    path = tmp_path / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, made[0])
        writer.writeheader()
        writer.writerows(made)

    [(n0, error0, n1, error1, constants)] = [rest for _, *rest in folds_report(path, (stack.key,))]
    assert (n0, n1, constants) == (1, 2, 2)
    assert 0 <= max(error0, error1) < 0.01
    assert mean_error(stack, alike([case for _, case in steps(path)])) > 0.05
