"""Published peaks of memory: how each source's rows are read, and how far the kept ones are from the model."""

import re
from dataclasses import replace
from statistics import fmean

import pytest

from benchmarks.fit import memory as fit_memory
from benchmarks.paths import DATA
from benchmarks.rows.memory_rows import Peak, memory_rows_of, peak_case
from benchmarks.rows.published import ROWS, case_of, read_rows
from benchmarks.rows.training_step import Unmodelled
from benchmarks.score.predictions import Prediction, predict
from hwlib.specs import frameworks
from hwlib.specs.framework import UNMEASURED, usual_margin
from hwlib.units import GB, GiB
from tests.benchmarks.tables import written

KEPT = DATA / "memory.csv"
TITAN = {
    "model": "llama3.1-8b", "fsdp": 8, "mbs": 2, "gbs": 16, "seq": 8192, "ac": "selective", "compile": 1,
    "software": "torchtitan", "version": "2024-12", "dtype": "bf16",
}  # fmt: skip
BLOOM = {
    "hidden": 14336, "layers": 72, "heads": 64, "vocab": 250880, "seq": 2048, "dp": 4, "tp": 8, "pp": 12, "mbs": 2,
    "gbs": 2048, "zero": 1,
}  # fmt: skip
ROW = {
    "id": "titan-1-mem", "kind": "train-memory", "system": "H100", "gpus": "8", "config": TITAN,
    "measured_value": "77.0", "unit": "GiB peak", "source": "s", "confidence": "seen verbatim", "use": "visible",
}  # fmt: skip


@pytest.fixture(scope="module")
def rows_kept():
    return read_rows(ROWS)[0]


@pytest.fixture
def rows(tmp_path):
    def read(**changes):
        path = tmp_path / "rows.csv"
        return read_rows(written(path, ROW | changes))[0], path

    return read


@pytest.fixture
def case(rows):
    def read(**changes):
        found, path = rows(**changes)
        return case_of(found[-1], path)

    return read


def kept():
    return [(row, predict(case_of(row, KEPT))) for row in read_rows(KEPT)[0]]


@pytest.mark.parametrize(
    ("name", "count", "error"),
    [
        ("memory-torchtitan", 9, 0.06),
        ("memory-torchao", 4, 0.06),
        ("memory-torchtune", 8, 0.04),
        ("memory-bloom", 10, 0.06),
    ],
)
def test_the_kept_rows_are_met(name, count, error):
    found = [p for row, p in kept() if row.set == name]
    assert len(found) == count
    assert all(isinstance(p, Prediction) for p in found)
    assert fmean(p.error for p in found) < error
    assert fmean(p.plain_error for p in found) > fmean(p.error for p in found)


def test_a_row_of_torchtitan(case):
    found = case()
    assert (found.framework.key, found.framework.eager, found.framework.logit) == ("torchtitan-2024", False, 14)
    assert (found.strategy.dp, found.strategy.zero, found.strategy.recompute, found.m) == (8, 3, "op", 1)
    assert found.measured == 77.0 * GiB
    assert case(config=TITAN | {"compile": 0}).framework.eager
    newer = case(config=TITAN | {"version": "2025-06"})
    assert newer.framework.logit == 4
    assert newer.predicted() < found.predicted()
    assert case(config=TITAN | {"version": "2025-06", "compile": 0}).framework.logit == 14
    assert case(id="ao-1", unit="GB peak").measured == 77.0 * GiB  # what torchtitan logs is in GiB
    assert case(id="new-1").measured == 77.0 * GiB  # by the software that it names
    staged = case(config=TITAN | {"pp": 2, "mbs": 8, "schedule": "Interleaved1F1B", "ac": "full"})
    assert (staged.m, staged.strategy.micro, staged.strategy.v) == (2, 4, 2)
    copies = case(config=TITAN | {"fsdp": 4, "replicas": 2})
    assert (copies.strategy.dp, copies.strategy.shards) == (8, 4)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"config": TITAN | {"offload": 1}}, "offload = 1 is not read"),
        ({"unit": "furlong"}, "'furlong'"),
        ({"config": TITAN | {"dtype": "nvfp4"}}, "4 bits"),
        ({"config": TITAN | {"pp": 4}}, "4 microbatches"),
        ({"config": {k: v for k, v in TITAN.items() if k != "mbs"}}, "mbs"),
        ({"id": "new-1", "config": TITAN | {"software": "new"}}, "no reader"),
        ({"config": TITAN | {"model": "llama9"}}, "llama9"),
        ({"config": TITAN | {"ac": "half"}}, "half"),
        ({"system": "A100-40GB"}, "40GB"),
        ({"id": "bloom-1", "gpus": "384", "config": BLOOM | {"tp": 7}}, "384 GPUs"),
        ({"id": "bloom-1", "gpus": "384", "config": BLOOM | {"heads": 104}}, "104 heads"),
        (
            {"id": "bloom-1", "gpus": "384", "config": {k: v for k, v in BLOOM.items() if k != "layers"}},
            "not give layers",
        ),
        ({"id": "litgpt-1", "config": {"model": "llama2-7b", "fsdp": 2, "mbs": 1, "seq": 512}}, "hardly grows"),
    ],
)
def test_what_cannot_be_read_says_why(case, changes, reason):
    found = case(**changes)
    assert isinstance(found, Unmodelled)
    assert reason in found.reason


def test_the_memory_that_a_step_prints(rows):
    step = {"id": "bloom-1", "kind": "train-step", "gpus": "384", "unit": "s/iter", "measured_value": "120"}
    found, path = rows(**step, config=BLOOM | {"mem": "37GB"})
    assert [row.kind for row in found] == ["train-step", "train-memory"]
    assert (found[1].set, found[1].cells["id"]) == ("memory-bloom", "bloom-1-mem")
    case = case_of(found[1], path)
    assert (case.measured, case.m, case.framework.key) == (37 * GB, 256, "megatron-deepspeed")
    assert 0.85 < case.predicted() / case.measured < 1.05
    for text in ("GB", "", "0GB", 3):
        assert list(memory_rows_of(rows(**step, config=BLOOM | {"mem": text})[0][0])) == []
    late, _ = rows(**step, config=BLOOM | {"mem": "50GB", "date": "02-28"})
    assert case_of(late[1], path).predicted() > case.predicted() + 4 * GB


def test_several_gpus_are_summed(case):
    c = {
        "model": "qwen-7b", "hidden": 4096, "layers": 32, "heads": 32, "ff": 11008, "vocab": 151936, "stage": "LoRA",
        "dp": 4, "zero": 2, "mbs": 1, "grad_accum": 8, "seq": 512, "base_weights": "bf16",
    }  # fmt: skip
    summed = case(id="qwen-1", gpus="4", config=c, unit="GB, sum over the GPUs")
    one = case(id="qwen-1", gpus="4", config=c, unit="GB a GPU")
    assert summed.predicted() == 4 * one.predicted()
    assert predict(one).typical == "megatron-core"
    assert summed.trainable == 143130624  # what the scripts print for Qwen-7B


def test_constants_are_fitted_and_dealt_into_folds():
    found = {fit.framework.key: fit for fit in fit_memory.fit_memory(KEPT)}
    assert list(found) == ["megatron-deepspeed", "torchtitan-2024"]
    assert found["torchtitan-2024"].rows == 13  # torchao's too, whose framework is like it
    best = found["torchtitan-2024"]
    cases = fit_memory.of_framework(fit_memory.peaks(KEPT), "torchtitan-2024")
    assert all(isinstance(case, Peak) and not case.inferred for case in cases)
    kept_error = fit_memory.mean_error(cases, {"fragmentation": frameworks["torchtitan-2024"].fragmentation})
    assert best.error <= kept_error + 1e-9 < best.error + 0.005
    assert "fragmentation = 0.0" in fit_memory.toml(best)
    for _, n0, error0, n1, error1, constants in fit_memory.folds_report(KEPT):
        assert min(n0, n1) >= 1
        assert constants in (1, 2)
        assert max(error0, error1) < 0.12


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"date": "02-27"}, "megatron-deepspeed"),
        ({"date": "02-28"}, "megatron-deepspeed-2022-03"),
        ({"date": ""}, "megatron-deepspeed"),
        ({"layers": 70, "date": ""}, "megatron-deepspeed-2022-03"),
        ({"layers": 70, "date": "02-26"}, "megatron-deepspeed"),
        ({"size": "176B", "layers": None}, "megatron-deepspeed-2022-03"),
    ],
)
def test_bloom_is_of_the_software_of_its_day_or_of_its_layers(case, changes, key):
    """From 28 February 2022 on embedding and output layer took the place of a layer each: 70 layers on 12 stages."""
    found = case(id="bloom-1", gpus="384", unit="GB a GPU", measured_value="40", config=BLOOM | changes)
    assert isinstance(found, Peak)
    assert found.framework.key == key


def test_a_row_of_torchtune_with_frozen_weights_in_4_bits(case):
    """By hand: 3.6B parameters (tables tied) of 0.56 bytes are 2 GB; of a full fine-tuning they are 8 bytes each."""
    tune = {
        "model": "llama3.2-3b", "mbs": 2, "seq": 4096, "dtype": "bf16", "software": "torchtune", "loss": "chunked",
        "compile": 1, "ac": "full", "activation_offload": 1, "stage": "QLoRA", "base_weights": "nf4",
    }  # fmt: skip
    quantised = case(id="tune-1", gpus="1", config=tune, unit="GiB peak active", measured_value="4.6")
    plain = case(
        id="tune-1", gpus="1", config=tune | {"stage": "LoRA", "base_weights": "bf16"}, unit="GiB", measured_value="8.5"
    )
    adapters = [found.trained.adapters for found in (quantised, plain)]
    assert [(one.rank, one.base) for one in adapters] == [(64, "nf4"), (64, "bf16")]
    assert "k" not in adapters[0].matrices
    assert (quantised.loss, quantised.framework.logit) == ("chunked", 2)
    assert quantised.predicted() < plain.predicted() < 12 * GiB


def test_gradients_in_32_bits_take_4_bytes_a_parameter_more():
    """As the log says: 4 bytes a parameter, and not sharded across GPUs."""
    before, after = frameworks["megatron-deepspeed"], frameworks["megatron-deepspeed-2022-03"]
    assert after.states == (before.weight, before.gradient + 4, before.optimizer)


@pytest.mark.parametrize(("size", "pp", "shape"), [("184B", 6, (12288, 100)), ("178B", 12, (13312, 82))])
def test_a_shape_that_contradicts_the_size_is_that_of_the_size(case, size, pp, shape):
    """The heading of another of the log's tables: 78 layers of 13824 are 182B."""
    config = BLOOM | {"hidden": 13824, "layers": 78, "size": size, "pp": pp, "dp": 48 // pp}
    found = case(id="bloom-1", gpus="384", unit="GB a GPU", measured_value="60", config=config)
    assert (found.model.width, found.model.layers) == shape


def test_margins_are_those_of_the_rows():
    """From twenty rows of a software on, its own; the rest takes that of all software to which nothing was fitted."""
    found = {key: (n, share) for key, n, share in fit_memory.margins(ROWS)}
    assert all(n >= fit_memory.ENOUGH for n, _ in found.values())
    assert found[UNMEASURED][0] == 187
    assert {key: round(share, 3) for key, (_, share) in found.items()} == {
        key: row.margin for key, row in frameworks.items() if key == UNMEASURED or row.margin != usual_margin()
    }


def test_layers_and_width_that_a_log_leaves_out_follow_from_its_rate(rows):
    """By hand: 96 x 2,048 x 2,048 tokens x 80 layers x 14,400^2 over 320 GPUs in 218.58 s are 95.5 TFLOP/s each."""
    config = {name: x for name, x in BLOOM.items() if name not in ("hidden", "layers")}
    config |= {"dp": 4, "tp": 8, "pp": 10, "mbs": 1, "gbs": 2048, "seq": 2048, "vocab": 250880, "mem": "35GB"}
    rate = 96 * 2048 * 2048 * 80 * 14400**2 / (320 * 218.58) / 1e12
    assert rate == pytest.approx(95.5, rel=0.001)
    cells = {
        "id": "bloom-9",
        "system": "A100-80GB SXM",
        "kind": "train-step",
        "gpus": "320",
        "unit": "s/iter",
        "measured_value": "218.58",
    }
    (step, memory), path = rows(**cells, config=config | {"tflops_logged": f"{rate:.2f}", "zero": 1})
    timed, peak = case_of(step, path), case_of(memory, path)
    for found in (timed, peak):
        assert (found.model.layers, found.model.width, found.open) == (80, 14400, True)
        assert "open" in predict(found).typical
    other, path = rows(**cells, config=config | {"tflops_logged": f"{0.99 * rate:.2f}", "zero": 1})
    for row in other:
        assert re.search("does not give (layers|hidden)", case_of(row, path).reason)


@pytest.mark.parametrize(
    ("plan", "gpus", "measured"), [({"tp": 4}, "4", "61"), ({"pp": 4}, "4", "69"), ({"dp": 5, "zero": 3}, "5", "49")]
)
def test_an_update_of_internevo_copies_gradients_and_moments(rows_kept, case, plan, gpus, measured):
    """28 bytes a parameter of a rank while it updates: 2 + 2, 12 of the optimizer, 4 of gradients and twice 4."""
    config = next(row.config for row in rows_kept if row.reader == "memory-internevo")
    config = {k: v for k, v in config.items() if k not in ("tp", "pp", "dp", "fsdp", "zero")} | {"zero": 1} | plan
    found = case(id="internevo-1", gpus=gpus, unit="GB a GPU", measured_value=measured, config=config, system="A800")
    assert found.predicted() == pytest.approx(found.measured, rel=0.1)
    assert sum(found.framework.states) + 4 * found.framework.moments == 28


def test_buckets_of_deepspeed_are_there_where_gradients_are_shared(case):
    """Two buffers of 2e8 gradients in 16 bits, by the scripts' settings of ZeRO-2."""
    shape = {"model": "qwen-1.8b", "hidden": 2048, "layers": 24, "heads": 16, "ff": 5504, "vocab": 151936}
    qwen = shape | {"mbs": 1, "seq": 512, "stage": "QLoRA", "base_weights": "int4", "dp": 1, "grad_accum": 8}
    row = {"id": "qwen-ft-1", "gpus": "1", "unit": "GB a GPU", "measured_value": "6.0", "system": "A100"}
    shared, plain = (case(**row, config=qwen | {"zero": zero}) for zero in (2, 0))
    assert shared.predicted() - plain.predicted() == 2 * 2e8 * 2


@pytest.mark.parametrize(
    ("software", "version", "logit"),
    [
        ("torchtitan", "2024-12", 14),
        ("torchtitan", "2025-08", 4),
        ("torchtitan", "", 4),
        ("torchtitan + torchao", "0.10", 14),
        ("torchtitan + torchao", "0.12.1", 14),
        ("torchtitan + torchao", "0.13", 4),
        ("torchtitan + torchao", "", 4),
    ],
)
def test_a_compiled_loss_is_that_of_its_release(case, software, version, logit):
    assert case(config=TITAN | {"software": software, "version": version}).framework.logit == logit


def test_the_margin_of_others_is_not_that_of_studied_programs(rows_kept):
    """What was learnt of a program with its figures in view says nothing of a program that nobody looked into."""
    cases = [c for row in rows_kept if row.kind == "train-memory" and isinstance(c := peak_case(row), Peak)]
    studied = [replace(c, unstudied=None) for c in cases if c.typical and not c.open]
    assert fit_memory.margin(studied) < 0.15 < frameworks[UNMEASURED].margin
