"""No reader passes over a cell that it does not know; rows of ZeRO-2 and of MLPerf, of which no table has any yet."""

import pytest

from benchmarks.rows.published import case_of, read_rows
from benchmarks.rows.read_keys import unread
from benchmarks.rows.training_step import TrainingStep, Unmodelled
from hwlib.specs import Stack
from hwlib.transformer import parameter_count
from tests.benchmarks.rows import test_kernel_rows as kernels
from tests.benchmarks.rows import test_memory_rows as memories
from tests.benchmarks.rows import test_pytorch_rows as pytorch
from tests.benchmarks.rows import test_serving_rows as serving
from tests.benchmarks.rows import test_training_rows as training
from tests.benchmarks.tables import written

OTHER = {
    "id": "other-1",
    "kind": "train-step",
    "system": "H100 SXM",
    "gpus": "8",
    "measured_value": "3",
    "unit": "s/iter",
    "config": {"model": "llama3-8b", "dp": 8, "gbs": 32, "mbs": 1, "seq": 8192, "dtype": "bf16", "zero": 1},
    "source": "s",
    "confidence": "seen verbatim",
    "use": "visible",
}
MLPERF = OTHER | {
    "id": "mlperf-40-llama31-8b",
    "measured_value": "51.2",
    "unit": "minutes to train",
    "config": OTHER["config"] | {"samples": 24576},
}
TITAN = OTHER | {"id": "titan-1", "measured_value": "5000", "unit": "tokens/s/GPU", "config": memories.TITAN}
FMS = OTHER | {
    "id": "fms-1", "gpus": "16",
    "config": {"model": "llama2-7b", "fsdp": 8, "replicas": 2, "sharding": "HSDP", "zero": 3, "mbs": 2, "gbs": 32,
               "seq": 4096, "ac": "none", "compile": 1, "dtype": "bf16"},
}  # fmt: skip
INTERN = OTHER | {"id": "internevo-1", "gpus": "16", "system": "A100-80GB SXM", "config": pytorch.INTERN}
FIGURE = OTHER | {
    "id": "kor-f7-22b",
    "kind": "memory",
    "measured_value": "60",
    "unit": "% of none",
    "config": {"model": "22b", "what": "activation memory", "mode": "sp"},
}
PEAK = memories.ROW
GEMM = OTHER | {
    "id": "aic-gemm-1",
    "kind": "kernel",
    "system": "h100_sxm",
    "measured_value": "100",
    "unit": "us",
    "config": {"op": "gemm", "dtype": "bfloat16", "M": 4096, "N": 4096, "K": 4096, "backend": "trtllm"},
}
NCCL = OTHER | {
    "id": "aic-nccl-h100-1",
    "kind": "collective",
    "system": "h100_sxm",
    "measured_value": "500",
    "unit": "us",
    "config": {"op": "all_reduce", "bytes": 1e8, "dtype": "half", "nccl": "2.27"},
}
STREAM = OTHER | {
    "id": "stream-h100-1",
    "kind": "kernel",
    "system": "h100_sxm",
    "measured_value": "3000",
    "unit": "GB/s",
    "config": {"op": "stream triad"},
}
ROWS = [*training.EVERY, OTHER, MLPERF, TITAN, FMS, INTERN, FIGURE, PEAK, GEMM, NCCL, STREAM]


@pytest.fixture
def case(tmp_path):
    def read(row, **more):
        path = tmp_path / "rows.csv"
        written(path, row | {"config": row["config"] | more})
        return case_of(read_rows(path)[0][0], path)

    return read


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_no_reader_passes_over_a_cell(case, row):
    """What nobody reads may change the figure: sparsity, an optimizer, a clock. What says no changes nothing."""
    assert not isinstance(case(row), Unmodelled), case(row)
    assert case(row, weight_sparsity="2:4") == Unmodelled("weight_sparsity = '2:4' is not read")
    assert type(case(row, weight_sparsity=0)) is type(case(row))
    assert type(case(row, some_note="as printed")) is type(case(row))


def test_names_of_what_is_not_read_are_told():
    config = {"tp": 8, "note": "x", "offload": "none", "clock_mhz": 1410}
    assert unread(config, {"tp"}) == "clock_mhz = 1410 is not read"
    assert unread({"tp": 8, "version": "1"}, {"tp"}) == ""


@pytest.mark.parametrize("printed", [2, "2", "ZeRO-2", "zero2", "stage 2"])
def test_a_step_of_zero_2_sums_for_every_microbatch(case, printed):
    """By hand: of 8.03B parameters 7/8 of 2 bytes over 450 GB/s are 31.2 ms. Four microbatches scatter four times,
    where ZeRO-1 does once: 93.7 ms more, if nothing hides.
    """
    two, one = (case(OTHER, zero=zero, recompute="none") for zero in (printed, None))
    assert (two.plan["zero"], one.plan["zero"]) == (2, 1)
    stack = Stack.ideal("h100-sxm").replace(hide_dp=0.0)
    assert two.time(stack) - one.time(stack) == pytest.approx(93.7e-3, rel=0.002)
    assert 3 * parameter_count("llama3-8b") * 2 * 7 / 8 / 450e9 == pytest.approx(93.7e-3, rel=0.002)


@pytest.mark.parametrize("printed", ["4", "offload", True])
def test_a_stage_that_cannot_be_is_refused(case, printed):
    assert "zero is" in case(OTHER, zero=printed).reason


def test_minutes_of_mlperf_are_those_of_a_run(case):
    """By hand: 24,576 samples in batches of 32 are 768 steps, and 51.2 minutes 4 s for each."""
    assert case(MLPERF).seconds == pytest.approx(4)
    assert case(MLPERF | {"unit": "time-to-train (minutes)"}).seconds == pytest.approx(4)
    assert case(MLPERF | {"unit": "minutes"}, samples=None, steps=768).seconds == pytest.approx(4)
    assert case(MLPERF, samples=None, train_tokens="201.3M").seconds == pytest.approx(4, rel=1e-3)
    assert isinstance(case(MLPERF | {"unit": "s/iter", "measured_value": "3"}), TrainingStep)
    assert "samples, tokens or steps" in case(MLPERF, samples=None).reason


def test_other_kinds_refuse_too(case):
    """Attention, experts, all-reduces and servers, by rows of their own tests."""
    prompt = OTHER | {"kind": "attention-context", "system": "h100_sxm", "unit": "us", "config": kernels.PROMPT}
    assert "is not read" in case(prompt, sink_tokens=4).reason
    assert "mask" in case(prompt, causal=0).reason
    ring = {"op": "all_reduce", "bytes": 2**30, "nodes": 2, "network": "EFA"}
    nodes = OTHER | {"kind": "allreduce", "system": "p5 H100", "gpus": "16", "unit": "GB/s busbw", "config": ring}
    assert "is not read" in case(nodes, compressed=1).reason
    served = OTHER | {"kind": "inference-serving", "config": serving.ROW["config"], "unit": serving.ROW["unit"]}
    assert "is not read" in case(served, speculative_tokens=4).reason
