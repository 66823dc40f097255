"""Timed kernels read from a table: what they measured, which are refused, and the sets that they are in."""

import pytest

from benchmarks.rows.kept_rows import KEPT as DATA
from benchmarks.rows.kernel_rows import TimedKernel, kernel_case
from benchmarks.rows.published import Product, case_of, read_rows
from benchmarks.rows.published_row import COLUMNS, DataError
from benchmarks.rows.training_step import Unmodelled
from benchmarks.score.predictions import predict
from hwlib.calibrated import Shape, prefill_attention_time
from tests.benchmarks.tables import written

PROMPT = {
    "heads": 32, "kv_heads": 8, "head_dim": 128, "batch": 4, "seq": 2048, "dtype": "bf16", "kv_dtype": "bf16",
    "window": 0, "software": "trtllm/1.3.0rc20", "kernel": "torch_flow",
}  # fmt: skip
EXPERTS = {
    "tokens": 64, "hidden": 4096, "width": 896, "topk": 2, "experts": 8, "local_experts": 8, "gated": 1,
    "dtype": "fp8_block", "distribution": "power_law_1.2", "software": "vllm/0.24.0", "kernel": "x",
}  # fmt: skip


@pytest.fixture
def read(tmp_path):
    def one(kind, config, unit="us", system="h100_sxm"):
        cells = ("an-id-1", kind, system, "1", config, "100", unit, "a source", "seen verbatim", "visible")
        path = written(tmp_path / "rows.csv", dict(zip(COLUMNS, cells, strict=True)))
        [row] = read_rows(path)[0]
        return row, case_of(row, path)

    return one


def test_a_prompt_is_read(read):
    row, case = read("attention-context", PROMPT)
    assert row.set == "attn-ctx-h100_sxm-trtllm"
    assert (case.chip, case.dtype, case.software, case.release) == ("h100-sxm", "bf16", "trtllm", "1.3.0rc20")
    assert case.group == "32 8 128"
    assert case.seconds == pytest.approx(100e-6)
    assert predict(case).time == prefill_attention_time("h100-sxm", "bf16", **case.sizes)


def test_a_new_token_has_the_dtype_of_its_cache(read):
    config = {k: v for k, v in PROMPT.items() if k != "seq"} | {"cached": 1023, "kv_dtype": "fp8"}
    assert read("attention-decode", config)[1].dtype == "fp8"


def test_experts_are_read_with_their_skew(read):
    row, case = read("grouped-gemm", EXPERTS)
    assert row.set == "moe-h100_sxm-vllm"
    assert (case.dtype, case.sizes["skew"], case.sizes["gated"]) == ("fp8_block", 1.2, True)
    assert read("grouped-gemm", EXPERTS | {"distribution": "balanced"})[1].sizes["skew"] == 0.0


@pytest.mark.parametrize(
    ("recorded", "system", "dtype", "kernel"),
    [
        ("vllm_fp8moe_triton_tritonexperts", "h100_sxm", "fp8_block", "triton"),
        ("vllm_modeloptfp8moe_flashinfer_cutlass_flashinferexperts", "h200_sxm", "fp8", "flashinfer-cutlass"),
        ("vllm_modeloptfp8moe_flashinfer_cutlass_flashinferexperts", "b200_sxm", "fp8", "cutlass"),
        ("sglang_flashinfer_trtllm_moe", "b200_sxm", "nvfp4", "trtllm-gen"),
        ("moe_torch_flow_min_latency", "b200_sxm", "nvfp4", "trtllm-gen"),
        ("moe_torch_flow", "a100_sxm", "bf16", "cutlass"),
        ("moe_torch_flow", "h100_sxm", "w4a16_mxfp4", "triton"),
        ("moe_torch_flow", "b200_sxm", "w4a16_mxfp4", "trtllm-gen"),
        ("x", "h100_sxm", "bf16", ""),
    ],
)
def test_the_kernel_is_read_from_its_recorded_name(read, recorded, system, dtype, kernel):
    config = EXPERTS | {"kernel": recorded, "dtype": dtype}
    assert read("grouped-gemm", config, system=system)[1].kernel == kernel


def test_a_kernel_without_constants_is_taken_for_the_usual_one(read):
    usual = predict(read("grouped-gemm", EXPERTS)[1]).time
    assert predict(read("grouped-gemm", EXPERTS | {"kernel": "marlin"})[1]).time == usual
    assert predict(read("grouped-gemm", EXPERTS | {"kernel": "flashinfer_cutlass"})[1]).time > 1.3 * usual


def test_a_software_without_rows_takes_its_kernel_from_another(read):
    found = predict(read("grouped-gemm", EXPERTS | {"software": "tgi/3", "kernel": "triton"})[1])
    assert found.time == predict(read("grouped-gemm", EXPERTS | {"kernel": "triton"})[1]).time
    assert found.typical
    assert isinstance(predict(read("grouped-gemm", EXPERTS | {"software": "tgi/3"})[1]), Unmodelled)


@pytest.mark.parametrize(
    ("kind", "config", "reason"),
    [
        ("attention-context", PROMPT | {"kernel": "triton"}, "Triton"),
        ("attention-context", PROMPT | {"dtype": "int8"}, "dtype is 'int8'"),
        ("grouped-gemm", EXPERTS | {"dtype": "int4_wo"}, "dtype is 'int4_wo'"),
        ("grouped-gemm", EXPERTS | {"distribution": "zipf"}, "loads zipf"),
        ("attention-context", PROMPT | {"software": "tgi/3"}, "dtype is 'bf16', without constants of tgi"),
    ],
)
def test_what_no_model_speaks_about_is_named(read, kind, config, reason):
    found = predict(read(kind, config)[1])
    assert isinstance(found, Unmodelled)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("config", "unit", "message"),
    [
        ({k: v for k, v in PROMPT.items() if k != "batch"}, "us", "line 2: config has no batch"),
        (PROMPT | {"heads": 2.5}, "us", "line 2: heads is a whole number"),
        (PROMPT, "ms", "the unit of attention-context is us, not 'ms'"),
    ],
)
def test_a_bad_row_stops_the_reading(read, config, unit, message):
    with pytest.raises(DataError, match=message):
        read("attention-context", config, unit)


def test_the_kept_rows_are_predicted_within_what_the_docs_say():
    cases = [case for row in read_rows(DATA)[0] if isinstance(case := case_of(row, DATA), TimedKernel)]
    for kind, limit in (("attention-context", 0.15), ("attention-decode", 0.15), ("grouped-gemm", 0.18)):
        found = [p for case in cases if case.kind == kind and not (p := predict(case)).typical]
        assert len(found) >= 8
        assert sum(p.error for p in found) / len(found) < limit
        assert sum(p.error for p in found) < sum(p.plain_error for p in found) / 2


def test_block_scaled_products_are_not_those_of_one_scale(read):
    from benchmarks.rows.published import DTYPES

    assert DTYPES["fp8_block"] != DTYPES["fp8"]
    assert DTYPES["fp8->bf16"] == "fp8_block"  # DeepGEMM's
    timed = Shape(4096, 4096, 4096, 1e-4)
    assert predict(Product("h100-sxm", "fp8_block", timed)).typical
    assert not predict(Product("h800-sxm", "fp8_block", timed)).typical
    assert "fp8_block" in predict(Product("a100-80gb-sxm", "fp8_block", timed)).reason
    row, _ = read("attention-context", PROMPT)
    assert isinstance(kernel_case(row), TimedKernel)
