"""Rows of MaxText: a size names a script, which has all else; what names none says what it lacks."""

import pytest

from benchmarks.rows.maxtext_rows import SCRIPTS, scaled
from benchmarks.rows.published_row import PublishedRow
from benchmarks.rows.training_rows import training_case
from benchmarks.rows.training_step import Unmodelled
from benchmarks.score.predictions import predict
from hwlib.transformer import parameter_count

CELLS = {"id": "maxtext-1", "confidence": "seen verbatim"}


def read(system, gpus, value, unit="TFLOP/s/chip", **config):
    row = PublishedRow(1, "m", "train-step", system, gpus, config, value, unit, "s", CELLS, reader="maxtext")
    return training_case(row)


@pytest.mark.parametrize("billions", sorted({size for _, size in SCRIPTS}))
def test_a_size_has_as_many_parameters_as_it_says(billions):
    assert parameter_count(scaled(billions)) == pytest.approx(billions * 1e9, rel=0.04)


def test_slices_hold_a_copy_each_and_chips_share_it():
    """By hand: 6 sequences of 2,048 tokens a chip, and of 256 chips of a slice each a 256th of the states."""
    whole, copies = read("TPU 1x v5e-256", 256, 120, params="16B"), read("TPU 4x v5e-256", 1024, 117, params="16B")
    assert (whole.plan["B"], whole.plan["micro"], whole.plan["zero"]) == (256 * 6 * 2048, 6, 3)
    assert "shards" not in whole.plan
    assert copies.plan["shards"] == 256
    assert copies.levels[0].size == 256
    assert copies.levels[1].bandwidth == 256 * 25e9 / 8
    assert predict(whole).typical
    assert predict(copies).error < 0.5


def test_nodes_of_gpus_hold_a_copy_each():
    case = read("GCP A3 H100-80GB", 32, 407, model="llama2-7b")
    assert (case.plan["B"], case.plan["shards"]) == (32 * 4 * 4096, 8)
    assert predict(case).error < 0.3


@pytest.mark.parametrize(
    ("system", "config"),
    [
        ("TPU v5p-128", {"params": "48B"}),
        ("TPU v6e", {"params": "32B"}),
        ("TPU v6e", {"model": "llama3.1-8b", "seq": 8192}),
        ("GCP A3 H100-80GB", {"model": "llama2-13b"}),
    ],
)
def test_a_row_that_names_no_script_lacks_its_batch(system, config):
    found = read(system, 64, 300, **config)
    assert isinstance(found, Unmodelled)
    assert "does not give gbs" in found.reason


@pytest.mark.parametrize("params", ["some", "", None, "B"])
def test_a_size_that_is_none_is_refused(params):
    assert isinstance(read("TPU v5p-128", 64, 300, params=params), Unmodelled)
