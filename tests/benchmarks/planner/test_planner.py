"""The planner's benchmark and page: regret by hand, and the page is what the commands print."""

import csv
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import benchmarks.planner.speed_and_regret as bench
from benchmarks.planner.page import COMMANDS, PAGE, block, page
from benchmarks.planner.peers import PUBLISHED, NoPeer, measure_calculon
from benchmarks.rows.published import COLUMNS
from benchmarks.score.predictions import Prediction


@pytest.mark.parametrize("name", [*COMMANDS, "options"])
def test_the_page_is_what_the_commands_print(name):
    text = PAGE.read_text("utf-8")
    assert block(name) in text, "run python -m benchmarks.planner.page"


@pytest.mark.slow
def test_making_the_page_anew_changes_nothing_else():
    text = PAGE.read_text("utf-8")
    made = page(text)
    for name in COMMANDS:
        made, text = made.replace(block(name), name), text.replace(block(name), name)
    assert made == text


def test_the_commands_of_the_page_stand_on_it():
    text = PAGE.read_text("utf-8")
    for commands in COMMANDS.values():
        for command in commands:
            assert f"$ {command}" in text


@pytest.fixture
def table(tmp_path):
    """Three plans of one run, two of another, one alone: seconds as if measured."""
    shape = {"hidden": 2048, "heads": 16, "layers": 24, "seq": 1024, "gbs": 16, "recompute": "full"}
    runs = [
        ("a", 8, {"tp": 2, "pp": 2, "dp": 2, "mbs": 1}, 1000),
        ("b", 8, {"tp": 1, "pp": 1, "dp": 8, "mbs": 1}, 800),
        ("c", 8, {"tp": 4, "pp": 1, "dp": 2, "mbs": 1}, 1200),
        ("d", 4, {"tp": 2, "pp": 1, "dp": 2, "mbs": 2}, 500),
        ("e", 4, {"tp": 1, "pp": 1, "dp": 4, "mbs": 2}, 550),
        ("f", 2, {"tp": 2, "pp": 1, "dp": 1, "mbs": 2}, 900),
    ]
    path = tmp_path / "runs.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for i, (_, gpus, plan, ms) in enumerate(runs):
            config = json.dumps({**shape, **plan})
            system = "A100 (node of 8)"
            writer.writerow(
                [
                    f"vtrain-single-{i:04}",
                    "train-step",
                    system,
                    gpus,
                    config,
                    ms,
                    "ms/iter",
                    "x",
                    "seen verbatim",
                    "visible",
                ]
            )
    return path


def test_regret_is_the_chosen_time_over_the_best(table, monkeypatch):
    named = {(2, 8): 0.7, (1, 8): 0.9, (4, 8): 1.1, (2, 4): 0.4, (1, 4): 0.6, (2, 2): 1.0}

    def predicted(case, _stack=None):
        return Prediction(named[case.plan["tp"], case.gpus], 1.0, case.seconds, 1)

    monkeypatch.setattr(bench, "predict_step", predicted)
    found, left_out = bench.groups_of([table], ["vtrain-single"])
    assert not left_out
    by = {one.m.size: one for one in found}
    assert set(by) == {3, 2}
    assert by[3].regret(bench.complexity) == pytest.approx(1000 / 800 - 1)
    assert by[3].quickest == pytest.approx(1000 / 800 - 1)
    assert by[3].random == pytest.approx((1000 + 800 + 1200) / 3 / 800 - 1)
    assert by[2].regret(bench.complexity) == 0
    done = CliRunner().invoke(bench.main, ["--only", "regret", "--data", str(table)])
    assert re.search(r"vtrain-single +all +2 +5 +12.50% +12.50% +25.00% +12.50%", done.output)
    assert "vtrain-multi     no group with two plans" in done.output


def test_repeats_of_a_plan_are_one_plan_with_their_mean(table, monkeypatch):
    with table.open("a", newline="") as file, table.open() as rows:
        again = list(csv.reader(rows))[2]
        csv.writer(file).writerow([again[0] + "b", *again[1:5], 1600, *again[6:]])
    monkeypatch.setattr(bench, "predict_step", lambda case, _=None: Prediction(1.0, 1.0, case.seconds, 1))
    [three] = [one for one in bench.groups_of([table], ["vtrain-single"])[0] if one.m.size == 3]
    assert sorted(three.measured) == pytest.approx([1.0, 1.2, 1.2])  # 800 and 1600 ms of one plan


def test_an_order_is_chosen_on_one_fold_and_scored_on_the_other(table, capsys, monkeypatch):
    monkeypatch.setattr(bench, "predict_step", lambda case, _=None: Prediction(1.0, 1.0, case.seconds, 1))
    found, _ = bench.groups_of([table], ["vtrain-single"])
    groups = [replace(one, fold=i) for i, one in enumerate(found)]
    monkeypatch.setattr(bench, "groups_of", lambda *_: (groups, ["odd"]))
    bench.print_regret([table], ["vtrain-single"])
    said = capsys.readouterr().out
    for fold in (0, 1):
        order = bench.chosen_on([groups[fold]])
        regret = groups[1 - fold].regret(bench.ORDERS[order])
        assert f"order chosen on fold {fold}: {order}; on the other fold: vtrain-single {regret:.2%}" in said
    assert "left out, 1 rows: odd" in said


def test_plans_on_a_chip_without_constants_are_compared_with_typical_ones(tmp_path):
    with (path := tmp_path / "runs.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for i, (pp, dp, seconds) in enumerate([(2, 4, 12), (1, 8, 10)]):
            config = {"model": "llama3-8b", "sequence_length": 8192, "gbs": 128, "mbs": 1, "tp": 1, "pp": pp, "dp": dp}
            cells = f"mbridge-{i}", "train-step", "DGX-H200", 8, json.dumps(config | {"precision": "BF16"}), seconds
            writer.writerow([*cells, "s", "x", "seen", "visible"])
    [found], left_out = bench.groups_of([path], ["mbridge-h200-llama3"])
    assert (found.m.size, left_out) == (2, [])


def test_speed_counts_what_it_says():
    task = bench.wide_task("llama3-405b")
    found, rates = bench.rates(task)
    assert found.size > 10_000
    assert all(rate > 0 for rate in rates.values())
    assert rates["plans with memory"] > rates["plans with memory and time"]


def test_a_peer_that_is_not_to_be_had_is_said(tmp_path):
    with pytest.raises(NoPeer, match="not a checkout"):
        measure_calculon(tmp_path / "x", tmp_path, 1)
    assert set(PUBLISHED) == {"mlsysim", "calculon"}


def test_calculon_is_run_by_the_python_given_with_its_present_signature(tmp_path):
    """A checkout in small: what our program imports, reads and calls, as at its revision caa4b11."""
    sources = {
        "calculon/__init__.py": "",
        "calculon/system.py": "class System:\n    def __init__(self, cfg):\n        self.cfg = cfg\n",
        "calculon/llm/__init__.py": "",
        "calculon/llm/llm.py": """
class Llm:
    class Application:
        def __init__(self, cfg): pass
    class Execution:
        @staticmethod
        def from_json(cfg): return cfg
    def __init__(self, app, log): pass
    def compile(self, system, execution): pass
    def run(self, system): import time; time.sleep(0); sum(range(10000))
""",
    }
    names = ["models/megatron-1T.json", "systems/a100_80g.json", "examples/3072_t4_p64_d12_mbs4_full.json"]
    for name, text in {**sources, **dict.fromkeys(names, "{}")}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    [rate] = measure_calculon(tmp_path / "none", tmp_path, 1, Path(sys.executable))
    assert 10 < rate < 1e6


def test_the_python_of_the_page_runs():
    head, _, rest = PAGE.read_text("utf-8").partition("```python\n")
    assert "## From Python" in head
    names = {}
    exec(rest.partition("```")[0], names)
    assert names["one"].gpus == names["best"].gpus == 256
    assert names["best"].strategy.schedule == "1f1b"
