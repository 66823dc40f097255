"""AIConfigurator on rows of servers: a row in its words, its answers in their order, and errors by hand."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.planner.aiconfigurator_run import (
    MODELS,
    ComparedServer,
    Estimate,
    asked_rows,
    compared,
    drawn,
    estimates,
    question,
    seconds_of,
    table,
)
from benchmarks.planner.peers import NoPeer
from benchmarks.rows.published import ROWS, case_of, read_rows

PACKAGE = """
class Result:
    ttft, tpot, raw, backend_version = 100.0, 10.0, {"tokens/s/gpu": 50.0}, "1.2"
def cli_estimate(model_path, system_name, batch_size, **others):
    if system_name == "l40s":
        raise RuntimeError("no such data")
    result = Result()
    result.tpot = float(batch_size)
    return result
"""


@pytest.fixture(scope="module")
def rows():
    return [row for name in ("serving_inferencex", "serving_others") for row in asked_rows(ROWS / f"{name}.csv")]


def of(rows, name):
    return next(asked for asked in rows if asked[0].cells["id"] == name)


def test_a_server_in_its_words(rows):
    row, case, words = of(rows, "ix-dsr1-b200-trt-fp8-tp8-ep8-dpa1-1024-8192-c256-tput")
    assert words["model_path"] == "deepseek-ai/DeepSeek-R1"
    assert (words["system_name"], words["backend_name"], words["mode"]) == ("b200_sxm", "trtllm", "agg")
    assert (words["tp_size"], words["attention_dp_size"], words["batch_size"]) == (1, 8, 32)
    assert (words["moe_tp_size"], words["moe_ep_size"], words["moe_quant_mode"]) == (1, 8, "fp8_block")
    assert {words["isl"], words["osl"]} == {row.config["input"], row.config["output"]}
    assert question(replace(row, config=row.config | {"disaggregated": True}), case) is None
    assert question(replace(row, config=row.config | {"software": "lmdeploy"}), case) is None
    assert question(replace(row, system="MI300X"), case) is None
    assert question(replace(row, config=row.config | {"model": "falcon-180b"}), case) is None


def test_every_model_is_one_of_rows(rows):
    names = {row.config.get("model") for row in read_rows(ROWS)[0] if row.kind == "inference-serving"}
    assert set(MODELS) <= names
    assert len(rows) > 100


def test_rows_are_drawn_at_even_steps_of_each_software_and_chip(rows):
    some = drawn(rows, 3)
    counts = [(words["backend_name"], words["system_name"]) for _, _, words in some]
    assert max(map(counts.count, counts)) == 3
    assert set(counts) == {(words["backend_name"], words["system_name"]) for _, _, words in rows}
    assert drawn(rows, 10_000) == sorted(
        rows, key=lambda asked: counts.index((asked[2]["backend_name"], asked[2]["system_name"]))
    )


@pytest.mark.parametrize(
    ("end", "seconds"), [("-ttft", 0.1), ("-tpot", 0.01), ("-tput", None)], ids=["first token", "token", "rate"]
)
def test_what_it_says_is_of_what_was_measured(rows, end, seconds):
    row, case, _ = next(asked for asked in rows if asked[0].cells["id"].endswith(end))
    said = Estimate(100.0, 10.0, 2 * row.value, "1.2")
    assert seconds_of(row, case, said) == pytest.approx(seconds or case.seconds / 2)


def test_a_static_batch_takes_its_first_token_and_the_rest():
    path = ROWS / "serving_others.csv"
    row = next(row for row in read_rows(path)[0] if row.config.get("load") == "one request" and "tokens/s" in row.unit)
    case, said = case_of(row, path), Estimate(100.0, 10.0, 0.0, "1.2")
    assert seconds_of(row, case, said) == pytest.approx(0.1 + 0.01 * (row.config["output"] - 1))


def test_its_answers_stand_beside_ours(rows, tmp_path):
    for part in ("aiconfigurator/__init__.py", "aiconfigurator/cli/__init__.py"):
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / part).touch()
    (tmp_path / "aiconfigurator/cli/api.py").write_text(PACKAGE)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    token = [asked for asked in rows if asked[0].unit == "ms per output token"][:2]
    questions = [words for _, _, words in token]
    said = estimates([*questions, questions[0] | {"system_name": "l40s"}], python)
    assert said[0] == Estimate(100.0, float(questions[0]["batch_size"]), 50.0, "1.2")
    assert said[2] == "no such data"
    both, refused = compared([*token, token[0]], said)
    assert [pair.theirs * case.seconds for pair, (_, case, _) in zip(both, token, strict=True)] == pytest.approx(
        [words["batch_size"] / 1e3 for words in questions]
    )
    assert refused == [f"{token[0][0].cells['id']}: no such data"]


def test_a_python_without_it_is_named(tmp_path):
    with pytest.raises(NoPeer):
        estimates([], Path(sys.executable))


def test_errors_are_counted_by_what_ours_were_fitted_to(rows):
    row = rows[0][0]
    fitted, other = (replace(row, cells=row.cells | {"use": use}) for use in ("fit", "test"))
    lines = table([ComparedServer(fitted, 1.1, 0.8), ComparedServer(fitted, 0.9, 0.8), ComparedServer(other, 2.0, 1.0)])
    assert [line.split(" | ")[2:] for line in lines[2:]] == [
        ["1", "no", "100.0% (+100.0%)", "0.0% (+0.0%) |"],
        ["2", "yes", "10.0% (+0.0%)", "20.0% (-20.0%) |"],
        ["2", "yes", "10.0% (+0.0%)", "20.0% (-20.0%) |"],
        ["1", "no", "100.0% (+100.0%)", "0.0% (+0.0%) |"],
    ]
