"""Calculon on rows: a step in its words, its answers in their order, and errors by hand."""

import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.planner.calculon_run import question, scored, seconds_of, steps_of
from benchmarks.rows.kept_rows import KEPT as DATA
from hwlib.specs import models

LLM = """
class Llm:
    class Error(Exception): pass
    class Application:
        def __init__(self, cfg): self.cfg = cfg
    class Execution:
        @staticmethod
        def from_json(cfg): return cfg
    def __init__(self, app, log): self.app = app.cfg
    def compile(self, system, plan):
        assert plan["pipeline_interleaving"] == 1
        self.seconds = self.app["num_blocks"] * plan["tensor_par"] * system.cfg["networks"][1]["bandwidth"]
    def run(self, system): pass
    def get_total_time(self): return self.seconds
"""


@pytest.fixture(scope="module")
def cases():
    return [case for case in steps_of([DATA]) if question(case)]


@pytest.fixture
def checkout(tmp_path):
    for name, text in {
        "calculon/__init__.py": "",
        "calculon/llm/__init__.py": "",
        "calculon/llm/llm.py": LLM,
        "calculon/system.py": "class System:\n    def __init__(self, cfg): self.cfg = cfg\n",
        "systems/a100_80g.json": '{"mem1": {"GiB": 80}, "networks": [{}, {"bandwidth": 25}]}',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_step_of_korthikanti_in_calculons_words(cases):
    """As its own validation has it: validation/seqsel/tab5/megatron-22B_seqsel.json."""
    model = models["korthikanti-22b"]
    plan = {"tp": 8, "pp": 1, "dp": 1, "micro": 4, "B": 4 * 2048, "T": 2048, "recompute": "selective", "sp": True}
    said = question(replace(cases[0], model=model, plan=plan))
    assert said["model"] == {
        "hidden": 6144,
        "feedforward": 24576,
        "seq_size": 2048,
        "attn_heads": 64,
        "attn_size": 96,
        "num_blocks": 48,
    }
    theirs = {
        "num_procs": 8, "tensor_par": 8, "data_par": 1, "batch_size": 4, "microbatch_size": 4,
        "fused_activation": False, "activation_recompute": "attn_only", "optimizer_sharding": False,
        "tensor_par_comm_type": "rs_ag", "seq_par_ag_redo": True, "tensor_par_net": 0,
    }  # fmt: skip
    assert {name: said["plan"][name] for name in theirs} == theirs


def test_what_calculon_has_no_words_for_is_left_out(cases):
    case = cases[0]
    for changed in ({"cp": 2}, {"zero": 3}, {"micro": 1.5}):
        assert question(replace(case, plan={**case.plan, **changed})) is None
    assert question(replace(case, chip="h100-sxm")) is None


def test_answers_are_those_of_the_steps_and_refusals_are_none(cases, checkout):
    some = [replace(cases[0], plan={**cases[0].plan, **more}) for more in ({"v": 1}, {"v": 2}, {"cp": 2})]
    first, *rest = seconds_of(some, checkout, Path(sys.executable))
    network = question(some[0])["network"]
    assert first == pytest.approx(some[0].model.layers * some[0].plan["tp"] * network)
    assert all(map(math.isnan, rest))


def test_errors_by_hand(cases):
    case = replace(cases[0], group="a", seconds=2.0)
    [(rows, mean, middle, _)] = scored([case] * 4, [1.0, 2.0, 2.0, math.nan]).values()
    assert (rows, mean, middle) == (3, pytest.approx(1 / 6), 0)
