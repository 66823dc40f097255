"""Fitting the constants of kernels: known ones are found again, few rows give none, folds do not see each other."""

import math
from dataclasses import replace

import pytest

from benchmarks.fit.kernels import CONSTANTS, FEW, KernelFit, errors, fit_kernels, kernel_entries, kernel_folds
from benchmarks.rows.kept_rows import KEPT as DATA
from benchmarks.rows.kernel_rows import TimedKernel
from benchmarks.rows.published import case_of, read_rows
from benchmarks.score.fold_scores import fold_lines
from hwlib.calibrated import decode_attention_time, prefill_attention_time
from hwlib.specs.fitted import GroupedConstants, attention_constants, decode_constants, grouped_constants

SHAPES = [(h, d, b, t) for h in (8, 32) for d in (64, 128) for b, t in ((1, 512), (1, 8192), (16, 512), (8, 4096))]


def made(kind, call, length, chips=("h100-sxm",)):
    """Rows that the kept constants give, without noise; each is a group of its own."""
    cases = []
    for chip in chips:
        for h, d, b, t in SHAPES:
            sizes = {"heads": h, "kv_heads": 8, "head_dim": d, "batch": b, length: t, "window": 0}
            seconds = call(chip, "bf16", **sizes)
            cases.append(TimedKernel(kind, chip, "bf16", "trtllm", "1", sizes, f"shape {len(cases)}", seconds))
    return cases


@pytest.mark.parametrize(
    ("kind", "call", "length"),
    [("attention-context", prefill_attention_time, "seq"), ("attention-decode", decode_attention_time, "cached")],
)
def test_rows_without_noise_are_explained(kind, call, length):
    cases = made(kind, call, length)
    found = errors(fit_kernels(kind, cases), cases)
    assert sum(found) / len(found) < 0.02
    assert all(len(e) > 0 and sum(e) / len(e) < 0.08 for e in kernel_folds(kind, cases))


def test_a_group_of_few_rows_has_no_value_of_its_own():
    cases = made("attention-context", prefill_attention_time, "seq")
    few = [replace(case, software="vllm", seconds=2 * case.seconds) for case in cases[: FEW - 1]]
    fit = fit_kernels("attention-context", cases + few)
    assert not any("vllm" in key for _, _, key in fit.logs)
    assert any("trtllm" in key for _, _, key in fit.logs)


def test_a_constant_is_the_product_along_its_levels():
    logs = {("t_tile", 0, ()): math.log(2e-6), ("t_tile", 1, ("vllm",)): math.log(3.0)}
    fit = KernelFit("attention-context", logs)
    of = {"chip": "x", "dtype": "y", "kernel": "open"}
    assert fit.value("t_tile", of | {"software": "vllm"}) == pytest.approx(6e-6)
    assert fit.value("t_tile", of | {"software": "sglang"}) == pytest.approx(2e-6)
    assert fit.count == 1


def test_no_share_of_the_peak_is_above_1():
    fit = KernelFit("grouped-gemm", {("eta_C", 0, ()): math.log(0.8), ("eta_C", 1, ("fp8",)): math.log(1.5)})
    of = {"chip": "x", "software": "y", "kernel": "triton"}
    assert fit.value("eta_C", of | {"dtype": "bf16"}) == pytest.approx(0.8)
    assert fit.value("eta_C", of | {"dtype": "fp8"}) == 1.0


def test_rows_of_a_dtype_that_the_other_fold_lacks_are_not_scored():
    cases = made("attention-context", prefill_attention_time, "seq")
    odd = replace(cases[0], dtype="fp8")
    assert sum(map(len, kernel_folds("attention-context", [*cases, odd]))) == len(cases)


def test_entries_name_their_rows_and_mark_those_that_few_back():
    cases = made("attention-context", prefill_attention_time, "seq", ("h100-sxm", "b200-sxm"))
    odd = replace(cases[0], software="vllm")
    entries = list(kernel_entries([("a file @abc (x)", case) for case in [*cases, odd]]))
    assert {(e.chip, e.software, e.count, e.typical) for e in entries} == {
        ("b200-sxm", "trtllm", 16, False),
        ("h100-sxm", "trtllm", 16, False),
        ("h100-sxm", "vllm", 1, True),
    }
    assert all(e.source == "a file" and e.splits == (e.software == "trtllm") for e in entries)


def test_kept_constants_are_within_the_bounds_and_rest_on_eight_rows_or_are_shared():
    for kind, table in (
        ("attention-context", attention_constants()),
        ("attention-decode", decode_constants()),
        ("grouped-gemm", grouped_constants()),
    ):
        entries = set(table.values())
        rows = sum(entry.count for entry in entries)
        different = sum(len({getattr(entry, name) for entry in entries}) for name in CONSTANTS[kind])
        # The strict count is that of the fit; levels multiply, so more values than constants can stand in the table.
        assert rows / different > 4
        for entry in entries:
            assert 0 < entry.error < (0.55 if isinstance(entry, GroupedConstants) else 0.25)


def test_the_folds_are_a_line_a_kind():
    few = [case_of(row, DATA) for row in read_rows(DATA)[0] if row.kind == "attention-context"]
    assert len(few) >= FEW
    lines = list(fold_lines(DATA))
    assert [line.split()[0] for line in lines] == ["kind", "attention-context", "attention-decode", "grouped-gemm"]
    assert int(lines[1].split()[1]) == len(few)
