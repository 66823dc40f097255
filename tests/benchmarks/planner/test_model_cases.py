"""The page on models of today is what its commands print; Blackwell answers for every model of the tables."""

import re
from dataclasses import replace

import pytest

from benchmarks.planner.model_cases import HEAD, NODES, PAGE, SERVING, TRAINING, answer, block, cases, cells, line, ran
from hwlib.specs import models
from tests.each import each

ALL = {kind: list(cases(kind)) for kind in HEAD}
BLACKWELL = ("dgx-b200", "gb200-nvl72", "64xdgx-b200", "8xgb200-nvl72")
FEW = ("qwen3.5-397b-a17b", "kimi-linear-48b-a3b", "glm-5", "llama3-8b")


@each("case", [case for kind in HEAD for case in ALL[kind][::9]])
def test_rows_of_the_page_are_what_is_answered(case):
    assert line(case) in PAGE.read_text("utf-8"), "run python -m benchmarks.planner.model_cases"


@pytest.mark.nightly
@each("kind", HEAD)
def test_the_page_is_what_is_generated(kind):
    assert block(kind) in PAGE.read_text("utf-8"), "run python -m benchmarks.planner.model_cases"


@each("kind", HEAD)
def test_ten_models_are_asked_on_four_chips(kind):
    asked = {}
    for case in ALL[kind]:
        asked.setdefault(case.model, []).append(case.on)
    assert len(asked) >= 10
    assert all(chips == list(NODES) for chips in asked.values())
    rows = [row for row in PAGE.read_text("utf-8").splitlines() if row.startswith("| ")]
    assert len(rows) == sum(map(len, ALL.values())) + len(HEAD)


@each("case", [case for kind in HEAD for case in ALL[kind]])
def test_what_is_published_has_a_source_and_a_month(case):
    assert bool(case.printed) == bool(case.source) == bool(case.month)
    assert not case.month or re.fullmatch(r"202[56]-\d\d", case.month)
    assert case.printed or not case.rate
    assert "none found" in case.published or case.month in case.published


@each("case", [case for kind in HEAD for case in ALL[kind][5::20]])
def test_an_answer_begins_with_precision_and_software(case):
    status, text = ran(case.command)
    assert status == 0
    first, second = [words for words in text.splitlines() if words][:2]
    software = first if case.kind == TRAINING else text
    assert "Megatron Core" in software or "stack" in software
    assert f"planned in {case.dtype or 'bf16'}" in (second if case.kind == TRAINING else first)
    if models[case.model].mixed:
        assert "typed" in text


def test_a_question_that_has_no_answer_is_its_sentence():
    case = next(case for case in ALL[SERVING] if case.model == "kimi-k2.5")
    few = replace(case, gpus=1, dtype="bf16")
    assert "memory" in answer(few)
    assert cells(few)[3] == ""


def sentence_or_plan(key, node):
    """What is wrong with the answer of `gpubook plan` for a model and a node, empty of a plan and of one sentence."""
    status, text = ran(f"gpubook plan {key} --cluster {node} --batch 4M --count 1")
    if status == 0:
        return "" if "planned in" in text else f"{key} on {node}: no precision"
    refused = status == 2 and text.startswith("Error: ") and "\n" not in text.strip()
    return "" if refused else f"{key} on {node}: {status}, {text[-200:]}"


@each("key", FEW)
def test_blackwell_answers_or_says_why_not(key):
    assert [sentence_or_plan(key, node) for node in BLACKWELL[:2]] == ["", ""]


@pytest.mark.nightly
def test_blackwell_answers_for_every_model_of_the_tables():
    answers = [sentence_or_plan(key, node) for key in models for node in BLACKWELL]
    assert [wrong for wrong in answers if wrong] == []
