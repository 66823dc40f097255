"""Rows of serving: what each becomes, what is refused and why, and how near the kept constants come to kept rows."""

from statistics import fmean

import pytest

from benchmarks.fit.serving import fit, folds_report, mean_error, rows_of, servings, step_times, toml
from benchmarks.paths import DATA
from benchmarks.planner.serving_page import UNFITTED
from benchmarks.rows.published import case_of, read_rows
from benchmarks.rows.serving_rows import REQUESTS, Serving, serving_case, stack_of, unfitted_case
from benchmarks.rows.training_step import Unmodelled
from benchmarks.score.predictions import Prediction, predict
from hwlib.calibrated.serving import step_time
from hwlib.calibrated.serving_step import Work
from hwlib.specs.serving_stack import TYPICAL, TYPICAL_MOE, USUAL, serving_stacks
from tests.benchmarks.tables import written

KEPT = DATA / "serving.csv"
ROW = {
    "id": "trt1.0-llama3-70b-h200-tp2-fp8-1000-1000", "kind": "inference-serving", "system": "H200", "gpus": "2",
    "config": {
        "model": "llama3-70b", "dtype": "fp8", "kv_dtype": "fp8", "tp": 2, "input": 1000, "output": 1000,
        "load": "max", "software": "TensorRT-LLM", "version": "1.0",
    },
    "measured_value": "5000", "unit": "output tokens/s", "source": "s", "confidence": "seen verbatim", "use": "visible",
}  # fmt: skip


def case(tmp_path, config=None, **cells):
    path = written(tmp_path / "rows.csv", ROW | cells | {"config": ROW["config"] | (config or {})})
    [read], _ = read_rows(path)
    return case_of(read, path)


def test_a_row_of_a_queue_is_the_time_of_all_its_tokens(tmp_path):
    found = case(tmp_path)
    assert isinstance(found, Serving)
    assert (found.stack, found.known, found.group) == ("tensorrt-llm-1.0", False, "llama3-70b H200")
    assert found.seconds == REQUESTS[1000, 1000] * 1000 / 5000
    assert isinstance(predict(found), Prediction)


def test_units_of_one_row_say_the_same(tmp_path):
    total = case(tmp_path)
    each = case(tmp_path, measured_value="2500", unit="output tokens/s/GPU")
    both = case(tmp_path, measured_value="10000", unit="input+output tokens/s")
    twice = case(tmp_path, gpus="4", measured_value="10000")  # two servers
    assert total.seconds == each.seconds == both.seconds == twice.seconds
    assert total.time() == each.time()


def test_latencies_are_those_of_their_part(tmp_path):
    closed = {
        "load": "closed loop",
        "concurrency": 16,
        "model": "deepseek-r1",
        "tp": 8,
        "software": "SGLang",
        "input": 16000,
    }
    first = case(tmp_path, closed, unit="ms first token", measured_value="100", gpus="8")
    token = case(tmp_path, closed, unit="ms per output token", measured_value="20", gpus="8")
    assert (first.seconds, token.seconds) == (0.1, 0.02)
    assert first.known
    assert first.stack == "sglang"
    assert first.time() > token.time()
    shorter = case(
        tmp_path,
        closed | {"lengths": "uniform in 0.8 to 1.0 of input and output"},
        gpus="8",
        unit="ms first token",
        measured_value="100",
    )
    assert shorter.time() < first.time()


@pytest.mark.parametrize(
    ("software", "version", "load", "stack"),
    [
        ("TensorRT-LLM", "0.9.0", "static batch", "tensorrt-llm-0.9"),
        ("TensorRT-LLM", "0.14.0", "max", "tensorrt-llm-0.14"),
        ("TensorRT-LLM", "0.19.0", "max", "tensorrt-llm-0.19"),
        ("TensorRT-LLM", "1.0", "max", "tensorrt-llm-1.0"),
        ("TensorRT-LLM", "1.1-or-later", "max", "tensorrt-llm-1.1"),
        ("TensorRT-LLM", "release:1.3.0rc14", "closed loop", "tensorrt-llm-server"),
        ("SGLang", "v0.5.12", "closed loop", "sglang"),
        ("SGLang", "0.4.6.post1", "one request", "sglang-0.4"),
        ("vLLM", "0.6.3", "one request", "vllm-0.6"),
        ("gpt-fast (torch.compile)", "2024-09", "one request", "gpt-fast"),
    ],
)
def test_a_release_has_its_stack(software, version, load, stack):
    assert stack_of({"software": software, "version": version, "load": load}) == stack


@pytest.mark.parametrize(
    ("config", "cells", "reason"),
    [
        ({"speculation": 3}, {}, "speculation"),
        ({"scenario": "Offline"}, {}, "not printed"),
        ({}, {"system": "MI300X"}, "MI300X"),
        ({"model": "llama9"}, {}, "llama9"),
        ({"dtype": "fp3"}, {}, "fp3"),
        ({"software": "llama.cpp"}, {}, "llama.cpp"),
        ({"load": "server, latency limited"}, {}, "latency limited"),
        ({"tp": 1, "dtype": "fp16", "kv_dtype": "fp16"}, {"system": "A100"}, "cache holds no"),
        ({}, {"unit": "images/s"}, "images"),
        ({}, {"unit": "output tokens/s/node"}, "node"),
    ],
)
def test_what_cannot_be_modelled_says_why(tmp_path, config, cells, reason):
    found = case(tmp_path, config, **cells)
    assert isinstance(found, Unmodelled)
    assert reason in found.reason


def test_a_plan_that_is_not_printed_is_not_guessed(tmp_path):
    [row], _ = read_rows(one_row(tmp_path))
    del row.config["tp"]
    assert serving_case(row) == Unmodelled("the plan is not printed")


def one_row(tmp_path):
    case(tmp_path)
    return tmp_path / "rows.csv"


# The kept rows


@pytest.fixture(scope="module")
def kept():
    return servings(KEPT)


def test_kept_rows_are_as_near_as_the_docs_say(kept):
    """docs/fidelity.md: 12 % over all rows; a few of each set are within half as much again."""
    assert len(kept) >= 20
    errors = [abs(case.time() / case.seconds - 1) for _, case in kept]
    assert fmean(errors) < 0.18
    plain = [abs(predict(case).plain / case.seconds - 1) for _, case in kept]
    assert fmean(plain) > 2 * fmean(errors)


def test_typical_errors_are_those_of_published_servers_on_chips_without_a_fit():
    rows = read_rows(UNFITTED)[0]
    stack = serving_stacks[USUAL]
    errors = {False: [], True: []}
    for case in (unfitted_case(row, stack) for row in rows):
        errors[bool(case.server.model.moe)].append(abs(case.time(stack) / case.seconds - 1))
    assert min(map(len, errors.values())) >= 30
    assert [round(fmean(errors[moe]), 2) for moe in (False, True)] == [TYPICAL, TYPICAL_MOE]


def test_a_fit_finds_constants_that_made_the_times(kept):
    """Times made with other constants are found again."""
    stack = serving_stacks["tensorrt-llm-1.0"]
    cases = rows_of(stack, kept)
    truth = stack.replace(t_layer=8e-5, eta=0.7, eta_E=0.5)
    made = [Serving(c.server, c.stack, c.steps, c.time(truth), c.known, c.group) for c in cases]
    found = fit(stack, made, {"t_layer": 8e-5, "eta": 1.0, "eta_E": 1.0}, pull=1e-4)
    assert found.eta == pytest.approx(0.7, rel=0.03)
    assert mean_error(found, made) < 0.02


def test_many_steps_at_once_are_each_step(kept):
    import numpy as np

    stack = serving_stacks["sglang"]
    works = [work for _, case in kept for _, work in case.steps]
    assert step_times(stack, Work(*np.array(works).T)) == pytest.approx([step_time(stack, work) for work in works])


def test_folds_are_of_pairs_of_model_and_chip():
    rows = list(folds_report(KEPT))
    assert rows[-2][0].endswith("batch known")
    assert rows[-1][0].endswith("all")
    assert all(len(row) == 6 for row in rows)


def test_a_row_inferred_is_not_fitted(tmp_path):
    case(tmp_path, confidence="batch inferred")
    pairs = servings(tmp_path / "rows.csv")
    assert len(pairs) == 1
    assert rows_of(serving_stacks["tensorrt-llm-1.0"], pairs) == []


def test_an_entry_is_written_as_it_is_read():
    from benchmarks.fit.serving import ServingFit
    from hwlib.specs.serving_stack import read_serving_stacks

    for key in ("tensorrt-llm-1.0", "sglang", "gpt-fast"):
        stack = serving_stacks[key]
        [again] = read_serving_stacks("t.toml", toml(ServingFit(stack, 10, stack.error)))
        assert again == stack
