"""The matrix products that the book keeps: which are chosen, and what a bad file is told."""

import csv
import json
import random

import pytest
from click.testing import CliRunner

from benchmarks.fidelity import main
from benchmarks.gemm_rows import DataError, choose, read_gemms, table_lines
from hwlib.specs import MeasuredGemm, measured_gemms

HEAD = ("id", "kind", "system", "gpus", "config", "measured_value", "unit", "source", "confidence", "use")


def products(n=80, seed=5):
    rng = random.Random(seed)
    for _ in range(n):
        M, N, K = (int(2 ** rng.uniform(2, 13)) for _ in range(3))
        time = 4e-6 + 2 * M * N * K / 700e12
        yield MeasuredGemm("h100-sxm", "bf16", M, N, K, time, "x", "aiconfigurator f")


def row(g, **changes):
    config = {"op": "gemm", "dtype": "bfloat16", "M": g.M, "N": g.N, "K": g.K, "backend": g.backend}
    made = {"kind": "kernel", "system": "h100_sxm", "config": config, "source": g.source, "use": "visible"}
    made |= {"measured_value": g.time * 1e6, "unit": "us"} | changes
    return {**dict.fromkeys(HEAD, ""), **made, "config": json.dumps(made["config"])}


def write(path, rows, head=HEAD):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, head, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_rows_that_are_no_measured_product_are_passed_over(tmp_path):
    g = next(products())
    others = [{"use": "context only, never scored"}, {"config": {"op": "DRAM read"}}, {"system": "TPU"}]
    rows = [row(g), *(row(g, **other) for other in others)]
    assert len(read_gemms(write(tmp_path / "rows.csv", rows))["h100-sxm", "bf16"]) == 1


def test_a_rate_is_turned_into_a_time(tmp_path):
    g = next(products())
    rate = 2 * g.M * g.N * g.K / g.time / 1e12
    rows = [row(g, measured_value=rate, unit="TFLOP/s")]
    assert read_gemms(write(tmp_path / "rows.csv", rows))["h100-sxm", "bf16"][0].time == pytest.approx(g.time)


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
    path = write(tmp_path / "rows.csv", rows)
    written = table_lines(read_gemms(path))
    assert written[0] in kept
    assert set(written) <= set(kept)
    ran = CliRunner().invoke(main, ["--choose", "--data", str(path)])
    assert ran.output.splitlines() == written


@pytest.mark.parametrize(
    ("change", "message"),
    [({"unit": "ms"}, "line 2: ValueError: the unit is us or TFLOP/s, not 'ms'"),
     ({"measured_value": "fast"}, "line 2: ValueError: could not convert"),
     ({"config": {"M": 1}}, "line 2: KeyError: 'N'"),
     ({"config": {"M": 1, "N": 1, "K": 1, "dtype": "fp3"}}, "line 2: KeyError: 'fp3'")],
)  # fmt: skip
def test_a_bad_row_is_named(tmp_path, change, message):
    path = write(tmp_path / "rows.csv", [row(next(products()), **change)])
    with pytest.raises(DataError, match=message):
        read_gemms(path)


def test_a_bad_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"cannot read .*none\.csv"):
        read_gemms(tmp_path / "none.csv")
    with pytest.raises(DataError, match="has no column config"):
        read_gemms(write(tmp_path / "rows.csv", [], head=("system", "unit", "source", "measured_value")))
    with pytest.raises(DataError, match="has no matrix product"):
        read_gemms(write(tmp_path / "rows.csv", []))
