"""Training steps on AMD's GPUs: what their reader makes of them, and how far predictions are from them."""

from dataclasses import replace
from statistics import fmean

import pytest

from benchmarks.rows.published import ROWS, read_rows, steps
from benchmarks.rows.training_rows import training_case
from benchmarks.rows.training_step import TrainingStep, Unmodelled, chip_of
from hwlib.specs import accelerators

STEPS = ROWS / "steps_rocm.csv"
CHIPS = ("mi300x", "mi325x", "mi350x", "mi355x")


@pytest.fixture(scope="module")
def rows():
    return {row.cells["id"]: row for row in read_rows(STEPS)[0]}


def test_adapters_are_timed_with_all_of_their_work(rows):
    case = training_case(rows["mlperf51-amd-lora70b-mi300x-amd-x8"])
    assert isinstance(case, TrainingStep)
    assert (case.chip, case.gpus, case.plan["dp"], case.plan["recompute_layers"]) == ("mi300x", 8, 8, 21)
    assert case.plan["trained"].adapters.rank == 16
    assert case.software.lora == case.plan["trained"].adapters


@pytest.mark.parametrize(
    ("change", "reason"), [({"rank": None}, "rank"), ({"drop_tokens": 1}, "drop_tokens"), ({"dp": 3}, "dp")]
)
def test_a_row_that_lacks_a_cell_or_has_one_too_many_is_refused(rows, change, reason):
    row = rows["mlperf51-amd-lora70b-mi300x-amd-x8"]
    config = {name: x for name, x in (row.config | change).items() if x is not None}
    case = training_case(replace(row, config=config))
    assert isinstance(case, Unmodelled)
    assert reason in case.reason


def test_each_of_amds_chips_is_its_own():
    assert [chip_of(accelerators[key].name) for key in CHIPS] == list(CHIPS)
    assert accelerators["mi350x"].tdp < accelerators["mi355x"].tdp
    assert accelerators["mi350x"].bf16_flops < accelerators["mi355x"].bf16_flops


def test_steps_on_amds_chips_are_predicted_without_a_bias():
    """By chip, of rows to which constants were fitted, and of all others."""
    errors = {}
    for row, case in steps(ROWS, every=True):
        if case.chip in CHIPS:
            source = row.source.split()[0]
            errors.setdefault((case.chip, source, row.cells["use"]), []).append(case.time() / case.seconds - 1)
    assert {use for _, _, use in errors} == {"fit", "test"}
    assert len({source for _, source, _ in errors}) >= 4
    assert sum(map(len, errors.values())) >= 35
    for key, of_key in errors.items():
        assert fmean(map(abs, of_key)) < 0.15, key
    assert abs(fmean(error for of_key in errors.values() for error in of_key)) < 0.05
