"""How well the kept constants predict a sample of the measurements, and the four ways to print it."""

import csv
import json
import math
import re
from statistics import fmean

import pytest
from click.testing import CliRunner

from benchmarks.fit.trees import TREES, fit_tree
from benchmarks.rows.kept_rows import KEPT as DATA
from benchmarks.rows.kept_rows import kept_table
from benchmarks.rows.published import ROWS, Collective, Product, case_of, read_rows, steps
from benchmarks.score.fidelity import main
from benchmarks.score.fidelity_page import BEGIN, END, memory_margins, share
from benchmarks.score.predictions import Prediction, predict
from benchmarks.score.scores import ReadRows, report
from hwlib.calibrated import tree_time
from hwlib.planner.task import memory_of
from hwlib.specs import accelerators, frameworks
from hwlib.specs.fitted import tree_constants
from hwlib.specs.framework import UNMEASURED
from tests.benchmarks.tables import written


@pytest.fixture(scope="module")
def cases():
    rows, _ = read_rows(DATA)
    return [(row.set, case) for row in rows if (case := case_of(row, DATA))]


def mean_error(cases, wanted):
    return fmean(predict(case).error for name, case in cases if wanted(name, case))


def run(*args):
    return CliRunner().invoke(main, [*map(str, args)])


@pytest.mark.parametrize(("chip", "limit"), [("h100-sxm", 0.08), ("a100-80gb-sxm", 0.11), ("b200-sxm", 0.11)], ids=str)
def test_bfloat16_products(cases, chip, limit):
    assert mean_error(cases, lambda _, c: isinstance(c, Product) and (c.chip, c.dtype) == (chip, "bf16")) < limit


@pytest.mark.parametrize("dtype", ["fp8", "fp4"])
def test_products_of_small_types(cases, dtype):
    assert mean_error(cases, lambda _, c: isinstance(c, Product) and c.dtype == dtype) < 0.11


@pytest.mark.parametrize("op", ["all_gather", "reduce_scatter", "all_reduce", "all_to_all"])
def test_nccl_within_a_node(cases, op):
    assert mean_error(cases, lambda name, c: name.startswith("aic-nccl") and c.op == op) < 0.10


@pytest.mark.parametrize("software", ["torch", "nccl-tests, one process", "nccl-tests, two nodes"])
def test_all_reduce_as_other_runs_time_it(cases, software):
    assert mean_error(cases, lambda _, c: isinstance(c, Collective) and c.software == software) < 0.10


def test_a_tree_fitted_to_few_nodes_predicts_many(cases):
    timed = [c.timed for name, c in cases if name == "nvlstree"]
    few, many = ([t for t in timed if (t.n <= 128) == side] for side in (True, False))
    fitted = fit_tree(TREES[0], few)
    assert {t.n for t in many} == {256, 512}
    assert fmean(abs(tree_time(fitted, t.n, t.S) / t.time - 1) for t in many) < 0.06


def test_the_models_beat_the_simple_ones(cases):
    predictions = [predict(case) for _, case in cases]
    assert all(predictions)
    assert fmean(p.error for p in predictions) < fmean(p.plain_error for p in predictions) / 3
    products = [predict(c) for _, c in cases if isinstance(c, Product)]
    assert all(p.plain < p.measured for p in products)  # a roofline is a lower bound


def test_the_sample_is_small_and_sourced():
    lines = [line for line in DATA.read_text("utf-8").splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    new = [row for row in rows if row["kind"] in ("allreduce", "attention-context", "attention-decode", "grouped-gemm")]
    assert 100 < len(rows) - len(new) <= 200
    assert 30 <= len(new) <= 50
    assert all(row["source"] and row["use"] == "visible" for row in rows)
    assert len({row["id"] for row in rows}) == len(rows)


def test_the_kept_rows_are_chosen_without_their_values(tmp_path):
    changed = tmp_path / "changed.csv"
    cells = [row.cells for row in read_rows(DATA)[0]]
    with changed.open("w", newline="") as file:
        writer = csv.DictWriter(file, cells[0])
        writer.writeheader()
        writer.writerows({**c, "measured_value": 1 + i % 7} for i, c in enumerate(cells))
    ids = [[r["id"] for r in csv.DictReader(kept_table(p).splitlines()[2:])] for p in (DATA, changed)]
    assert ids[0] == ids[1] == [c["id"] for c in cells]


def test_json_is_a_list_of_objects_and_nothing_else():
    ran = run("--json", "--data", DATA)
    assert ran.exit_code == 0
    objects = json.loads(ran.stdout)
    assert {"aic-gemm-h100_sxm-bfloat16", "aic-nccl-h100_sxm-all_gather", "nvlstree", "ar-h200x8"} <= {
        o["set"] for o in objects
    }
    keys = (
        "set",
        "kind",
        "rows",
        "read",
        "mean_abs_error",
        "median_abs_error",
        "max_abs_error",
        "constants",
        "typical",
    )
    for o in objects:
        assert tuple(o) == keys
        assert 0 <= o["median_abs_error"] <= o["max_abs_error"] < 1
        assert o["mean_abs_error"] <= o["max_abs_error"]
        assert o["read"] == 1
    assert sum(o["rows"] for o in objects) == len(read_rows(DATA)[0])


def test_the_table_has_a_line_for_each_set_and_each_number_of_gpus():
    printed = run("--data", DATA).output.splitlines()
    scores = report(DATA)
    for s in scores.scores + scores.trees:
        [line] = [line for line in printed if line.startswith(s.set + " ")]
        assert line.split()[-5:-2] == [f"{e:.1%}" for e in s[2:5]]
    both = ("below 64 MiB", "64 MiB and more")
    assert [s.set for s in scores.trees] == [
        *(f"nvlstree, {n} GPUs" for n in (32, 64, 128, 256, 512)),
        *(f"{name}, {size}" for name in ("nvlstree", "ar2-b200-4x8") for size in both),
        "ar2-gb200, 64 MiB and more",
        *(f"ar2-p5-2x8, {size}" for size in both),
    ]
    assert "No model here" not in "\n".join(printed)


def test_the_page_has_the_margins_of_memory_as_they_stand(root):
    page = (root / "docs/fidelity.md").read_text("utf-8")
    head, _, *rows = memory_margins(ROWS)
    assert head in page
    assert all(row in page for row in rows)
    for row, key in ((rows[0], "megatron-deepspeed"), (rows[-1], UNMEASURED)):
        assert row.startswith(f"| {frameworks[key].name} |")
        assert row.endswith(f"| {frameworks[key].margin:.1%} |")


def test_a_step_is_scored_by_the_budget_of_a_plan():
    """A label's GB are GiB: 80 GB of an H100 are 85.9e9 bytes."""
    case = next(case for _, case in steps(DATA) if case.chip == "h100-sxm")
    found = predict(case)
    assert isinstance(found, Prediction)
    assert found.memory == case.memory() / memory_of(accelerators["h100-sxm"], None)


@pytest.mark.slow
def test_the_page_is_what_the_command_prints(root):
    page = (root / "docs/fidelity.md").read_text("utf-8")
    generated = page[page.index(BEGIN) : page.index(END) + len(END)]
    assert run("--markdown").output.rstrip("\n") == generated
    assert "\nfidelity\n" in (root / "docs/index.md").read_text("utf-8")


@pytest.mark.slow
def test_the_fit_prints_a_table_that_the_reader_takes(tmp_path):
    from hwlib.specs.fitted import KINDS, read_fitted

    lines = DATA.read_text("utf-8").splitlines(keepends=True)
    few = [line for line in lines if line.startswith(("id,", "nvlstree", "stream", "ar-aws", "ar-a100x8"))]
    path = tmp_path / "few.csv"
    path.write_text("".join(few))
    ran = run("--fit", "--data", path)
    assert ran.exit_code == 0, ran.output
    entries = [entry for name in KINDS for entry in read_fitted(KINDS[name], name, "printed", ran.output)]
    assert {type(e).__name__ for e in entries} == {"ShareConstants", "CollectiveConstants", "TreeConstants"}
    [tree] = [e for e in entries if e.rows == "nvlstree"]
    kept = tree_constants()["h100-sxm", "NVLSTree"]
    assert pytest.approx(kept.W, rel=0.05) == tree.W
    assert tree.count == 15


STEP = {
    "id": "mbridge-1",
    "kind": "train-step",
    "system": "DGX-H100",
    "gpus": "64",
    "config": {"model": "LLAMA3-8B", "tp": 1, "pp": 1, "gbs": 256, "seq": 8192, "precision": "BF16"},
    "measured_value": "13000",
    "unit": "tokens/s/GPU",
    "source": "s",
    "confidence": "seen verbatim",
    "use": "fit",
}
OTHERS = STEP | {"id": "somebody-1", "measured_value": "9000"}


@pytest.fixture
def half_read(tmp_path):
    """Of one table, a row of three lacks its model and one its batch; of another, one of two lacks its plan."""
    gaps = [{"model": None}, {"gbs": None}]
    rows = [STEP, *(STEP | {"id": f"mbridge-{i}", "config": STEP["config"] | gap} for i, gap in enumerate(gaps, 2))]
    rows += [OTHERS, OTHERS | {"id": "somebody-2", "config": OTHERS["config"] | {"tp": None, "pp": None}}]
    return written(tmp_path / "rows.csv", *rows)


def test_the_share_of_rows_that_are_read_stands_beside_every_error(half_read):
    result = report(half_read)
    [step], [typical] = result.training, result.typical
    assert (step.rows, step.read) == (1, pytest.approx(1 / 2))
    assert (typical.rows, typical.read) == (1, pytest.approx(1 / 2))
    assert result.read == {"train-step": ReadRows(2, 5)}
    assert result.read["train-step"].share == 0.4


def test_every_way_to_print_has_the_share(half_read):
    text = run("--data", half_read, "--partial").output
    assert "Rows that have a prediction: 2 of 5 (40.0%)" in text
    assert "  train-step: 2 of 5 (40.0%)" in text
    objects = json.loads(run("--json", "--data", half_read).stdout)
    assert [o["read"] for o in objects] == [0.5, 0.5]
    page = run("--markdown", "--data", half_read).output
    assert "| all | 5 | 2 | 40.0% |" in page
    assert "| training and its memory | rows | read |" in page
    assert re.search(r"\| train-step \| .*h100.* \| 1 \| 1 \| \d+\.\d% \| \d+\.\d% \|", page)
    [scored] = csv.DictReader(run("--scores", "--data", half_read).output.splitlines())
    assert scored["read"] == "0.5"


def test_rows_are_counted_by_their_own_kind(tmp_path):
    """One set may have rows of several kinds: an id without its number."""
    wires = {"kind": "collective", "system": "4 nodes of 8 H100 with 8x400Gb", "gpus": "32", "unit": "GB/s busbw"}
    moved = OTHERS | wires | {"id": "somebody-9", "config": {"op": "all_reduce", "bytes": 2**32}}
    result = report(written(tmp_path / "rows.csv", OTHERS, moved | {"measured_value": "360"}))
    assert result.read == {"train-step": ReadRows(1, 1), "collective": ReadRows(1, 1)}


def test_a_share_of_rows_that_nobody_counted_is_left_out():
    assert [share(x) for x in (math.nan, 1.0, 0.9996, 0.5)] == ["", "100%", "100.0%", "50.0%"]
    assert math.isnan(ReadRows(0, 0).share)
