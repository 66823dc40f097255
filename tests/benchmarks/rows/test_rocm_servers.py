"""Servers on AMD's GPUs: how far predictions are from them."""

from statistics import fmean

from benchmarks.rows.published import ROWS, case_of, read_rows
from benchmarks.rows.serving_rows import Serving


def test_servers_on_amds_chips_are_predicted_by_software_that_was_timed_there():
    errors_of = {}
    for table in ("serving_inferencex.csv", "serving_others.csv", "serving_rocm.csv"):
        for row in read_rows(ROWS / table)[0]:
            case = case_of(row, ROWS) if row.system in ("MI300X", "MI325X", "MI355X") else None
            if isinstance(case, Serving):
                key = (case.stack, row.system, row.cells["use"])
                errors_of.setdefault(key, []).append(case.time() / case.seconds - 1)
    assert {stack for stack, _, _ in errors_of} == {
        "sglang-mi30x",
        "sglang-mi30x-0.5.9",
        "sglang-mi35x",
        "vllm-rocm",
        "atom",
    }
    for key, errors in errors_of.items():
        assert fmean(map(abs, errors)) < 0.2, key
    fitted, others = (
        [abs(e) for key, errors in errors_of.items() if key[2] == use for e in errors] for use in ("fit", "test")
    )
    assert min(len(fitted), len(others)) > 40
    assert fmean(fitted) < 0.14
    assert fmean(others) < 0.20
