"""The fidelity report on a small table made from a known model, and what it says to a bad file."""

import csv
import json
import random

import pytest
from click.testing import CliRunner

from benchmarks.fidelity import fidelity, main
from benchmarks.gemm_rows import DataError, choose, halves, read_gemms, table_lines
from hwlib.roofline import KernelModel, gemm_samples
from hwlib.specs import MeasuredGemm, accelerators, measured_gemms
from hwlib.units import us

H100 = accelerators["h100-sxm"]
TRUE = KernelModel(eta_C=0.7, eta_W=0.85, t0=4 * us, C=H100.bf16_flops, W=H100.hbm_bandwidth)
HEAD = ("id", "kind", "system", "gpus", "config", "measured_value", "unit", "source", "confidence", "use")


def products(n=80, seed=5):
    rng = random.Random(seed)
    for _ in range(n):
        M, N, K = (int(2 ** rng.uniform(2, 13)) for _ in range(3))
        [sample] = gemm_samples([MeasuredGemm("h100-sxm", "bf16", M, N, K, 1.0, "", "")])
        time = TRUE.time(sample.flops, sample.bytes)
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


def test_a_table_of_the_models_own_times_is_predicted_exactly(tmp_path):
    path = write(tmp_path / "rows.csv", map(row, products()))
    result = fidelity(read_gemms(path)["h100-sxm", "bf16"])
    assert (result.fitted, result.scored) == (40, 40)
    assert result.kernel.max < 1e-3
    assert result.model.t0 == pytest.approx(TRUE.t0, rel=1e-3)
    assert result.peak.mean > result.roofline.mean > 0.2


def test_the_report(tmp_path):
    noisy = random.Random(1)
    rows = [row(g, measured_value=g.time * 1e6 * noisy.uniform(0.8, 1.25)) for g in products()]
    rows += [row(g, system="H800") for g in list(products(3))]
    ran = CliRunner().invoke(main, ["--data", str(write(tmp_path / "rows.csv", rows))])
    assert ran.exit_code == 0
    report = ran.output.splitlines()
    assert report[1].split()[:4] == ["h100-sxm", "bf16", "40", "40"]
    mean = float(report[1].split()[7].rstrip("%"))
    assert 5 < mean < 20
    assert report[1].count("x)") == 2
    assert "h800-sxm bf16: 3 rows, at least 8 are needed" in ran.output


def test_the_order_of_the_file_does_not_matter(tmp_path):
    rows = [row(g) for g in products()]
    shuffled = random.Random(2).sample(rows, len(rows))
    files = [write(tmp_path / f"{i}.csv", order) for i, order in enumerate((rows, shuffled))]
    one, two = (fidelity(read_gemms(file)["h100-sxm", "bf16"]) for file in files)
    assert one == two


def test_halves_share_no_row_and_lose_none():
    gemms = list(products(31))
    train, test = halves(gemms)
    assert sorted(train + test) == sorted(gemms)
    assert len(train) - len(test) == 1


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
    written = table_lines(read_gemms(write(tmp_path / "rows.csv", rows)))
    assert written[0] in kept
    assert set(written) <= set(kept)


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
    ran = CliRunner().invoke(main, ["--data", str(tmp_path / "none.csv")])
    assert ran.exit_code == 1
    assert "cannot read" in ran.output
