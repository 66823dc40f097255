"""A published run has the seconds and bytes that it is scored with when somebody asks `gpubook plan` for its plan."""

import json
import math
import shlex
from itertools import pairwise

import pytest
from click.testing import CliRunner

from autograder.cli.commands import main as gpubook
from autograder.planned.filling import the_plan
from benchmarks.planner.one_path import CLOSE, ask, compared, table, unsaid, words_of
from benchmarks.rows.kept_rows import KEPT as SAMPLE
from benchmarks.rows.published import ROWS, PublishedRow, steps
from benchmarks.rows.reader_names import reader_of
from benchmarks.rows.training_rows import training_case
from benchmarks.rows.training_step import TrainingStep
from benchmarks.score.predictions import Prediction, predict
from hwlib.planner import SoftwareSettings
from hwlib.specs import measured_plans, models, stacks
from hwlib.steptime.published import predicted_step, published_strategy, published_time

KEPT = [case for _, case in steps(SAMPLE)]
PAGE = ["--" + name for name in ("cluster", "batch", "dtype", "release", "tp", "pp", "cp", "ep", "v", "micro", "zero")]
BRIDGE = {"gbs": 8192, "seq": 4096, "mbs": 1, "tp": 1, "pp": 8, "cp": 1, "vp": 3, "ep": 32, "precision": "MXFP8"}


def bridge(model, system="DGX-GB200", gpus=256, unit="tokens/s/GPU", value=7280, **cells):
    named = {"id": "mbridge-1", "confidence": "seen"}
    config = {"model": model} | BRIDGE | cells
    reader = reader_of("train-step", "mbridge-1", config)
    return training_case(
        PublishedRow(1, "mbridge", "train-step", system, gpus, config, value, unit, "s", named, reader=reader)
    )


def close(x, y):
    return math.isclose(x, y, rel_tol=CLOSE)


def test_every_kept_run_costs_the_same_by_the_command():
    scored = [case for case in KEPT if isinstance(predict(case), Prediction) and not unsaid(case)]
    assert len(scored) == len(list(compared(SAMPLE))) > 0
    for case in scored:
        asked = ask(case)
        assert close(asked.seconds, predict(case).time), shlex.join(asked.words)
        assert close(asked.memory, case.memory()), shlex.join(asked.words)
    assert {case.model.key in models for case in scored} == {True, False}


@pytest.mark.slow
def test_every_published_run_costs_the_same_by_the_command():
    """All rows of the project, those that no constant was fitted to among them."""
    found = list(compared(ROWS))
    asked = [one for one in found if not isinstance(one, str)]
    assert len(asked) > 2000
    reasons = [one for one in found if isinstance(one, str) and not one.startswith("some layers of a rank recomputed")]
    assert len(reasons) < 20
    assert all(one.equal for one in asked)


@pytest.mark.parametrize("run", measured_plans(), ids=lambda run: run.key)
def test_every_plan_of_the_book_costs_the_same_by_the_command(run):
    s = published_strategy(run)
    plan = s.degrees | {"B": run.B, "T": run.T, "fused": run.fused, "dtype": run.dtype}
    plan = {name: x for name, x in plan.items() if x is not None}
    software = SoftwareSettings(stack=stacks[run.stack], dtype=run.dtype, fused=run.fused)
    seconds = published_time(run)
    case = TrainingStep("", run.stack, run.chip, run.shape, run.levels, plan, seconds, run.gpus, software)
    assert close(ask(case).seconds, float(predicted_step(run).total))
    assert close(ask(case).memory, case.memory())


@pytest.mark.parametrize(
    ("model", "cells", "stack", "merged"),
    [
        ("Qwen3_235B_A22B", {"release": "26.08"}, "megatron-core-2606-gb200", True),
        ("Qwen3_235B_A22B", {"release": "26.04.01"}, "megatron-core-gb200", True),
        ("Qwen3_235B_A22B", {"release": "26.08", "precision": "BF16"}, "megatron-core-gb200", True),
        ("Qwen3_235B_A22B", {"release": "26.08", "system": "DGX-B300"}, "megatron-core-2606-b300", True),
        ("Qwen3_235B_A22B", {"release": "26.06", "system": "DGX-B300"}, "megatron-core-b300", True),
        ("Qwen3_235B_A22B", {"release": "26.04", "system": "DGX-B300"}, "megatron-core-b300", False),
        ("GPT OSS 120B", {"release": "26.04", "vp": 1, "pp": 1}, "megatron-core-gb200", False),
        ("DeepSeekV3", {"release": "26.06", "pp": 4, "vp": 4, "ep": 64}, "megatron-core-2606-gb200", True),
    ],
)
def test_a_run_with_experts_costs_the_same_by_the_command(model, cells, stack, merged):
    case = bridge(model, **cells)
    asked = ask(case)
    assert (asked.task.stack.key, asked.task.software.dedup_dispatch) == (stack, merged)
    assert (close(asked.seconds, predict(case).time), close(asked.memory, case.memory())) == (True, True)


def test_modules_for_multi_token_prediction_are_those_of_the_row():
    cells = {"release": "26.06", "pp": 4, "vp": 4, "ep": 64}
    trained, without = (bridge(name, **cells) for name in ("DeepSeekV3", "DeepSeekV3 (w/o MTP)"))
    assert (trained.plan["mtp"], without.plan["mtp"]) == (True, False)
    assert "--no-mtp" in words_of(without)
    for case in (trained, without):
        assert close(ask(case).seconds, predict(case).time)
    assert predict(without).time < predict(trained).time


def test_the_words_are_what_the_command_answers_and_the_page_too():
    case = bridge("Qwen3_235B_A22B", release="26.08")
    words = words_of(case)
    plans = json.loads(CliRunner().invoke(gpubook, ["plan", *words, "--json"]).output)["plans"]
    assert close(plans[0]["seconds"], predict(case).time)
    assert close(plans[0]["bytes"]["total"], case.memory())
    assert (words[5], words[-2]) == ("--dtype", "--release")
    options = {name.removeprefix("--"): x for name, x in pairwise(words) if name in PAGE}
    _, filled = the_plan({"model": words[0], "sp": "yes", **options})
    assert close(filled.seconds, predict(case).time)


def test_what_no_option_says_is_not_asked():
    assert unsaid(bridge("Llama3_70B", ep=1, stage="LoRA", release="26.02")) == "adapters beside frozen matrices"
    assert unsaid(bridge("Llama3_70B", ep=1, release="26.02")) == ""


def test_the_table_has_a_line_for_each_kind():
    found = [one for one in compared(SAMPLE) if not isinstance(one, str)]
    lines = table(found)
    assert len(lines) - 2 == len({one.kind for one in found})
    assert all(one.equal and close(one.scored, one.asked) for one in found)
