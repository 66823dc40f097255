"""Reading a table of measurements: what each row becomes, what is listed, and which line a bad one is on."""

import json
import re

import pytest
from click.testing import CliRunner

from benchmarks.rows.published import (
    COLUMNS,
    OPERATIONS,
    Collective,
    DataError,
    Product,
    ReachedShare,
    case_of,
    read_rows,
    rows_to_fit,
)
from benchmarks.score.fidelity import main
from benchmarks.score.predictions import predict
from benchmarks.score.scores import report
from tests.benchmarks.tables import written

GEMM = {
    "id": "aic-gemm-h100_sxm-bfloat16-128-4096-8192",
    "kind": "kernel",
    "system": "h100_sxm",
    "gpus": "1",
    "config": {"op": "gemm", "dtype": "bfloat16", "M": 128, "N": 4096, "K": 8192},
    "measured_value": "32",
    "unit": "us",
    "source": "s",
    "confidence": "seen",
    "use": "visible",
}
NCCL = GEMM | {
    "id": "aic-nccl-h100_sxm-all_gather-8-1024",
    "kind": "collective",
    "gpus": "8",
    "config": {"op": "all_gather", "bytes": 2**21},
}
TREE = NCCL | {
    "id": "nvlstree-2048-1073741824",
    "system": "DGX H100 SuperPOD",
    "gpus": "2048",
    "unit": "GB/s busbw",
    "config": {"op": "all_reduce", "bytes": 2**30},
    "measured_value": "300",
}


def case(tmp_path, row):
    path = written(tmp_path / "rows.csv", row)
    [read], _ = read_rows(path)
    return case_of(read, path)


def test_a_product(tmp_path):
    got = case(tmp_path, GEMM)
    assert got == Product("h100-sxm", "bf16", (128, 4096, 8192, 32e-6))
    rate = GEMM | {"unit": "TFLOP/s", "measured_value": 2 * 128 * 4096 * 8192 / 32e-6 / 1e12}
    assert case(tmp_path, rate).shape.time == pytest.approx(32e-6)


def test_a_chip_of_the_same_die_has_its_own_memory(tmp_path):
    h100, h200 = (
        predict(case(tmp_path, GEMM | {"system": name, "id": f"aic-gemm-{name}-bfloat16-1"}))
        for name in ("h100_sxm", "h200_sxm")
    )
    assert h200.time < h100.time
    assert h200.plain == pytest.approx(h100.plain * 3.35 / 4.8)


def test_a_collective_by_time_and_by_bus_bandwidth(tmp_path):
    got = case(tmp_path, NCCL)
    assert got == Collective("h100-sxm", "all_gather", "nccl-tests", (2**21, 8, 32e-6), True)
    busbw = 7 / 8 * 2**21 / 32e-6 / 1e9
    assert case(tmp_path, NCCL | {"unit": "GB/s busbw", "measured_value": busbw}).timed.time == pytest.approx(32e-6)


def test_a_tree_beyond_the_sizes_it_was_fitted_to_is_scored(tmp_path):
    result = report(written(tmp_path / "rows.csv", TREE))
    assert [s.set for s in result.trees] == ["nvlstree, 2048 GPUs", "nvlstree, 64 MiB and more"]
    assert [(s.set, s.rows) for s in result.scores] == [("nvlstree", 1)]


def test_switches_can_be_told_not_to_reduce(tmp_path):
    row = TREE | {"id": "ar-h200-n8", "gpus": "8"}
    on = case(tmp_path, row)
    off = case(tmp_path, row | {"id": "ar-h200-n8-ring", "config": {**TREE["config"], "nvls": 0}})
    assert (on.switch, off.switch) == (True, False)
    assert predict(on).time < predict(off).time


def test_a_share_of_the_data_sheet(tmp_path):
    row = GEMM | {"id": "stream-A100-80-read", "system": "A100-80", "unit": "GB/s", "measured_value": "1769"}
    assert case(tmp_path, row | {"config": {"op": "stream read"}}) == ReachedShare(
        "a100-80gb-sxm", "stream read", 2.039e12, 1.769e12
    )


def test_what_has_no_model_is_listed(tmp_path):
    rows = [
        GEMM,
        GEMM | {"id": "aic-gemm-tpu9-bfloat16-1", "system": "tpu9"},
        GEMM | {"id": "aic-gemm-h100_sxm-int3-1", "config": {**GEMM["config"], "dtype": "int3"}},
        NCCL | {"id": "deepep-n16-c", "config": {}},
        NCCL | {"id": "aic-nccl-h100_sxm-broadcast-8-1", "config": {"op": "broadcast", "bytes": 8}},
        GEMM | {"id": "mamf-A100-SXM-fp8", "system": "A100 SXM", "unit": "TFLOP/s", "config": {"dtype": "fp8"}},
        NCCL | {"id": "bloom-1", "kind": "train-step", "config": {}, "unit": "s/iter"},
        NCCL | {"id": "bloom-2", "kind": "train-step", "config": {}, "unit": "s/iter"},
        GEMM | {"use": "context only, never scored", "measured_value": "?"},
    ]
    path = written(tmp_path / "rows.csv", *rows)
    result = report(path)
    assert [s.rows for s in result.scores] == [1]
    [bloom] = [reason for reason in result.unmodelled if reason.startswith("bloom: ")]
    assert result.unmodelled == {
        "aic-gemm-tpu9-bfloat16: system is 'tpu9', a chip without constants": 1,
        "aic-gemm-h100_sxm-int3: dtype is 'int3', without constants on h100-sxm": 1,
        "deepep-n16-c: op is '', no collective that there is a bound of": 1,
        bloom: 2,
        "aic-nccl-h100_sxm-broadcast: op is 'broadcast', none of " + ", ".join(OPERATIONS): 1,
        "mamf-A100-SXM-fp8: dtype is 'fp8', without constants on a100-80gb-sxm": 1,
    }
    assert result.context == 1
    printed = CliRunner().invoke(main, ["--data", str(path)]).output
    assert f"  {bloom} (2)" in printed
    assert "Context only, never scored: 1 rows" in printed
    assert len(json.loads(CliRunner().invoke(main, ["--json", "--data", str(path)]).stdout)) == 1


STEP = GEMM | {
    "id": "somelab-llama2-7b-8",
    "kind": "train-step",
    "system": "H100-80GB SXM",
    "gpus": "8",
    "config": {"model": "llama2-7b", "dp": 8, "zero": 3, "mbs": 2, "gbs": 128, "seq": 4096, "dtype": "bf16"},
    "measured_value": "9800",
    "unit": "tokens/s/GPU",
}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"config": STEP["config"] | {"model": "llama9-7b"}}, "llama9-7b"),
        ({"config": STEP["config"] | {"colour": 3}}, "colour"),
        ({"config": STEP["config"] | {"dp": 4}}, "8 GPUs"),
        ({"unit": "bananas"}, "bananas"),
        ({"measured_value": "much"}, "much"),
        ({"system": "a toaster"}, "toaster"),
        ({"kind": "inference"}, "ctx"),
        ({"kind": "astrology"}, "astrology"),
    ],
)
def test_a_row_that_is_not_read_is_named_and_fails_the_command(tmp_path, change, reason):
    path = written(tmp_path / "rows.csv", GEMM, STEP | change | {"id": "odd-8"})
    ran = CliRunner().invoke(main, ["--data", str(path)])
    assert ran.exit_code == 1
    assert "aic-gemm-h100_sxm-bfloat16" in ran.stdout, "the others are scored"
    [named] = [line for line in ran.stderr.splitlines() if "line 3, odd-8: " in line]
    assert reason in named
    assert "line 2" not in ran.stderr
    for words, status in ((["--partial"], 0), (["--json"], 0), (["--json", "--whole"], 1)):
        ran = CliRunner().invoke(main, [*words, "--data", str(path)])
        assert (ran.exit_code, named in ran.stderr) == (status, True)
    assert [score["rows"] for score in json.loads(ran.stdout)] == [1]


def test_a_file_that_is_read_to_the_end_ends_well(tmp_path):
    path = written(tmp_path / "rows.csv", GEMM, STEP, STEP | {"use": "context only, never scored", "unit": "bananas"})
    for words in ([], ["--json"], ["--whole"]):
        ran = CliRunner().invoke(main, [*words, "--data", str(path)])
        assert (ran.exit_code, ran.stderr) == (0, "")


def test_a_row_of_a_folder_is_named_with_its_table_and_one_without_a_reader_is_not(tmp_path):
    written(tmp_path / "a.csv", GEMM)
    written(tmp_path / "b.csv", GEMM, STEP | {"id": "odd-8", "unit": "bananas"})
    ran = CliRunner().invoke(main, ["--data", str(tmp_path)])
    assert ran.exit_code == 1
    assert "b.csv, line 3, odd-8: " in ran.stderr
    for name, named in (("none", 0), ("unknown", 1)):
        text = (tmp_path / "b.csv").read_text().splitlines()
        rows = [f"{line},{cell}" for line, cell in zip(text, ("reader", "product", name), strict=True)]
        (path := tmp_path / "c.csv").write_text("\n".join(rows))
        assert CliRunner().invoke(main, ["--data", str(path)]).exit_code == named


@pytest.mark.parametrize(
    ("row", "change", "message"),
    [
        (GEMM, {"measured_value": "fast"}, "measured_value .*'fast'$"),
        (GEMM, {"measured_value": "nan"}, "measured_value .*'nan'$"),
        (GEMM, {"measured_value": "-3"}, "measured_value .*'-3'$"),
        (GEMM, {"gpus": "1.5"}, "gpus .* 1.5$"),
        (GEMM, {"gpus": "-1"}, "gpus .*'-1'$"),
        (GEMM, {"unit": "ms"}, ".*unit .*us or TFLOP/s, .*'ms'"),
        (GEMM, {"config": {"dtype": "bfloat16", "M": 1, "N": 1}}, "config .*'K'"),
        (GEMM, {"config": {**GEMM["config"], "M": 0}}, "M .* 0$"),
        (GEMM, {"config": {**GEMM["config"], "M": True}}, "M .* True$"),
        (GEMM, {"config": [1]}, "config .*JSON object.*1"),
        (GEMM, {"id": ""}, r".*\bid\b"),
        (NCCL, {"config": {"bytes": 8}}, "config .*'op'"),
        (NCCL, {"config": {"op": "all_gather", "bytes": "1 GB"}}, "bytes .*'1 GB'$"),
        (NCCL, {"unit": "s"}, ".*unit of all_gather .*8 GPUs .*us or GB/s busbw, .*'s'$"),
        (TREE, {"gpus": "1"}, ".*unit of all_reduce .*1 GPUs .*us or GB/s busbw, "),
    ],
)
def test_a_bad_row_is_named_by_its_line_and_the_others_are_scored(tmp_path, row, change, message):
    path = written(tmp_path / "rows.csv", GEMM, row | change, STEP)
    result = report(path)
    [named] = result.unpredicted
    assert re.match(rf"line 3, \S*: {message}", named)
    assert ([s.rows for s in result.scores], [s.rows for s in result.typical]) == ([1], [1])
    assert sum(n.rows for n in result.read.values()) == 3
    assert sum(n.read for n in result.read.values()) == 2
    ran = CliRunner().invoke(main, ["--data", str(path)])
    assert ran.exit_code == 1
    assert "aic-gemm-h100_sxm-bfloat16" in ran.stdout
    assert f"no prediction for 1 row:\n  {named}\n" in ran.stderr
    with pytest.raises(DataError, match=rf"rows\.csv, line 3: {message}"):
        [case_of(some, path) for some in rows_to_fit(path)]


def test_lines_of_a_wrong_length_or_with_other_json_stop_no_others(tmp_path):
    path = written(tmp_path / "rows.csv", GEMM, GEMM | {"config": "{"}, GEMM | {"config": '{"M": [1], "op": "gemm"}'})
    with path.open("a") as file:
        file.write("a,kernel\n" + ",".join(map(str, range(11))) + "\n")
    result = report(path)
    assert [s.rows for s in result.scores] == [1]
    assert sorted(line.split(",")[0] for line in result.unpredicted) == [f"line {n}" for n in (3, 4, 5, 6)]
    assert sum("10 cells" in line for line in result.unpredicted) == 2


@pytest.mark.parametrize("cell", [[1], {"a": 1}, "x", None, 1e308, -5, "1e400", True, 0])
@pytest.mark.parametrize("row", [GEMM, NCCL, TREE], ids=["product", "collective", "tree"])
def test_a_cell_of_another_kind_stops_no_others(tmp_path, row, cell):
    rows = [row | {"config": row["config"] | {name: cell}} for name in row["config"]]
    rows += [row | {"gpus": cell, "id": "odd-1"}]
    result = report(written(tmp_path / "rows.csv", STEP, *rows))
    assert [s.rows for s in result.typical if s.kind == "train-step"] == [1]
    assert sum(n.rows for n in result.read.values()) == len(rows) + 1


def test_a_bad_file_is_named(tmp_path):
    path = tmp_path / "rows.csv"
    with pytest.raises(DataError, match=r"cannot read .*none\.csv"):
        read_rows(tmp_path / "none.csv")
    path.write_text("")
    with pytest.raises(DataError, match="column id, kind"):
        read_rows(path)
    path.write_text(",".join(COLUMNS) + "\n")
    with pytest.raises(DataError, match=r"rows.csv .*\brows$"):
        read_rows(path)
    path.write_text("# a comment\n" + ",".join(COLUMNS) + "\na,b\n")
    assert [row.fault for row in read_rows(path)[0]] == ["line 3: expected 10 cells"]
    path.write_text(",".join(COLUMNS) + '\nx,kernel,y,1,"{,1,us,s,c,visible\n')
    assert [row.fault for row in read_rows(path)[0]] == ["line 2: unexpected end of data"]
    path.write_bytes(b"\xff\xfe\x00")
    ran = CliRunner().invoke(main, ["--data", str(path)])
    assert ran.exit_code == 1
    assert "cannot read" in ran.output


SHAPE = {"hidden": 4096, "layers": 32, "heads": 32, "ff": 14336, "vocab": 128256}
ADAPTERS = {"mbs": 1, "gbs": 1, "seq": 2048, "rank": 16, "stage": "lora", "targets": "all", "dtype": "bf16"}


@pytest.mark.parametrize(
    ("name", "plan", "gpus"),
    [("somelab-1", None, 8), ("titan-1", None, 8), ("ao-1", None, 8), ("internevo-1", None, 8), ("one-1", ADAPTERS, 1)],
)
def test_what_a_row_leaves_out_of_a_known_models_shape_is_the_models_own(tmp_path, name, plan, gpus):
    plan = plan or {key: x for key, x in STEP["config"].items() if key not in ("model", "zero")}
    row = STEP | {"id": name, "gpus": str(gpus)}
    for cells in (SHAPE, {}, SHAPE | {"kv": 8}, {"hidden": 4096, "layers": 32}):
        read = case(tmp_path, row | {"config": plan | cells | {"model": "meta-llama/Llama-3.1-8B-Instruct"}})
        assert (read.model.key, read.model.kv_heads) == ("llama3-8b", 8)


def test_a_shape_that_is_not_the_named_models_stands_for_itself(tmp_path):
    plan = {key: x for key, x in STEP["config"].items() if key != "model"}
    for cells, kv in (({"kv": 32}, 32), ({"layers": 16}, 8), ({"hidden": 2048, "heads": 16}, 16)):
        read = case(tmp_path, STEP | {"id": "ao-1", "config": plan | SHAPE | cells | {"model": "llama3-8b"}})
        assert (read.model.kv_heads, read.model.layers) == (kv, cells.get("layers", 32))
