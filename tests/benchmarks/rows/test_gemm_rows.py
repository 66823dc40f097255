"""The matrix products that the book keeps: which are chosen."""

import json
import random

import pytest
from click.testing import CliRunner

from benchmarks.rows.gemm_rows import choose, read_gemms, table_lines
from benchmarks.rows.published import COLUMNS
from benchmarks.score.fidelity import main
from hwlib.specs import MeasuredGemm, measured_gemms
from tests.benchmarks.tables import written


def products(n=80, seed=5):
    rng = random.Random(seed)
    for _ in range(n):
        M, N, K = (int(2 ** rng.uniform(2, 13)) for _ in range(3))
        time = 4e-6 + 2 * M * N * K / 700e12
        yield MeasuredGemm("h100-sxm", "bf16", M, N, K, time, "x", "aiconfigurator f")


def row(g, **changes):
    config = {"op": "gemm", "dtype": "bfloat16", "M": g.M, "N": g.N, "K": g.K, "backend": g.backend}
    made = {"id": "aic-gemm-1", "kind": "kernel", "system": "h100_sxm", "config": config, "source": g.source}
    made |= {"use": "visible", "measured_value": g.time * 1e6, "unit": "us"} | changes
    return {**dict.fromkeys(COLUMNS, ""), **made, "config": json.dumps(made["config"])}


def test_rows_that_are_no_measured_product_are_passed_over(tmp_path):
    g = next(products())
    others = [{"use": "context only"}, {"system": "TPU"}, {"id": "train-1", "config": {"op": "step"}}]
    found = read_gemms(written(tmp_path / "rows.csv", row(g), *(row(g, **other) for other in others)))
    assert found == {("h100-sxm", "bf16"): [g._replace(time=pytest.approx(g.time))]}


def test_the_choice_spreads_over_shapes_and_ignores_times():
    gemms = list(products(400))
    chosen = choose(gemms)
    assert len(chosen) == 16
    slower = [g._replace(time=2 * g.time) for g in gemms]
    assert [(g.M, g.N, g.K) for g in choose(slower[::-1])] == [(g.M, g.N, g.K) for g in chosen]
    assert min(g.M for g in chosen) < 16
    assert max(g.M for g in chosen) > 2048


def test_the_kept_table_has_the_lines_that_the_choice_writes(root, tmp_path):
    names = {"a100-80gb-sxm": "a100_sxm", "h100-sxm": "h100_sxm", "b200-sxm": "b200_sxm"}
    dtypes = {"bf16": "bfloat16", "fp8": "fp8"}
    rows = []
    for g in measured_gemms():
        config = {"dtype": dtypes[g.dtype], "M": g.M, "N": g.N, "K": g.K, "backend": g.backend}
        source = "ai-dynamo/aiconfigurator " + g.source.split()[1]
        rows.append(row(g, system=names[g.chip], config=config, source=source))
    kept = (root / "hwlib/specs/measured_gemm.csv").read_text("utf-8").splitlines()
    path = written(tmp_path / "rows.csv", *rows)
    lines = table_lines(read_gemms(path))
    assert lines[0] in kept
    assert set(lines) <= set(kept)
    ran = CliRunner().invoke(main, ["--choose", "--data", str(path)])
    assert ran.output.splitlines() == lines
