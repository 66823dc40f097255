"""Rows of serving: what each becomes, what is refused and why, and how near the kept constants come to kept rows."""

from statistics import fmean

import pytest

from benchmarks.fit.serving import fit, folds_report, mean_error, rows_of, servings, step_times, toml
from benchmarks.paths import DATA
from benchmarks.planner.serving_page import UNFITTED
from benchmarks.rows.published import case_of, read_rows
from benchmarks.rows.row_chips import chip_of_words
from benchmarks.rows.serving_rows import REQUESTS, Serving, server_of, serving_case, stack_of, unfitted_case
from benchmarks.rows.training_step import Unmodelled
from benchmarks.score.predictions import Prediction, predict
from hwlib.calibrated.serving import step_time
from hwlib.calibrated.serving_step import Work
from hwlib.specs import accelerators
from hwlib.specs.serving_stack import TYPICAL, TYPICAL_MOE, USUAL, serving_stacks
from hwlib.transformer import parameter_count
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
EIGHT = {"kv_dtype": "fp8"}


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
    ("metric", "requests", "queued"),
    [
        ("mean first token, server and queue included", 640, True),
        ("mean first token, server and queue included", None, False),
        ("median time to first token, with queueing and server", 640, False),
        (None, 640, False),
    ],
)
def test_a_first_token_at_the_mean_of_a_run_is_that_with_its_queue(tmp_path, metric, requests, queued):
    closed = {"load": "closed loop", "concurrency": 64, "software": "SGLang"}
    lone = case(tmp_path, closed, unit="ms first token")
    printed = {name: x for name, x in (("metric", metric), ("requests", requests)) if x}
    found = case(tmp_path, closed | printed, unit="ms first token")
    assert (found.time() > 1.5 * lone.time()) is queued
    assert queued or found.time() == lone.time()
    token = case(tmp_path, closed | printed, unit="ms per output token")
    assert token.time() == case(tmp_path, closed, unit="ms per output token").time()


def test_a_printed_dtype_of_the_cache_counts_in_a_closed_loop(tmp_path):
    closed = {"load": "closed loop", "concurrency": 16, "model": "glm-5.2", "tp": 8, "software": "SGLang"}
    silent = {name: x for name, x in ROW["config"].items() if name != "kv_dtype"}
    caches = [server_of({**silent, **closed, **more}, accelerators["h200-sxm"]).kv_dtype for more in ({}, EIGHT)]
    assert caches == ["bf16", "fp8"]


@pytest.mark.parametrize(("dtype", "read"), [("fp8", "fp8"), ("fp8_block", "fp8_block")])
def test_scales_of_blocks_are_printed_or_not(dtype, read):
    config = ROW["config"] | {"model": "qwen3-next-80b-a3b", "dtype": dtype}
    server = server_of(config, accelerators["h200-sxm"])
    assert (server.dtype, server.kv_dtype) == (read, "fp8")
    config.pop("kv_dtype")
    assert server_of(config, accelerators["h200-sxm"]).kv_dtype == "fp8"


@pytest.mark.parametrize(("model", "typical"), [("qwen2.5-7b", False), ("qwen3-next-80b-a3b", True)])
def test_experts_of_vllm_have_typical_constants_by_whichever_name(tmp_path, model, typical):
    server = {"model": model, "software": "vLLM", "version": "0.11.0", "load": "closed loop", "concurrency": 64}
    found = case(tmp_path, server)
    assert (found.typical, found.stack) == (typical, USUAL if typical else "vllm-0.6")


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
        ({"scenario": "Offline", "input": None, "tp": None}, {}, "tp, nor input"),
        ({}, {"system": "Ascend 910B"}, "Ascend 910B"),
        ({"model": "llama9"}, {}, "llama9"),
        ({"dtype": "fp3"}, {}, "fp3"),
        ({"input": None}, {}, "input"),
        ({"output": None}, {}, "output"),
        ({"model": "minimax-m3", "experts": 256, "hidden": 3072}, {}, "vocab"),
        ({"model": "minimax-m2.5", "experts": 256, "hidden": 3072}, {}, "layers"),
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
    assert serving_case(row) == Unmodelled("the row does not give tp")


# Rows that no reader was written for


def test_a_chip_or_a_software_that_nothing_was_fitted_to_has_typical_constants(tmp_path):
    fitted = case(tmp_path)
    chip, software = case(tmp_path, system="MI300X"), case(tmp_path, {"software": "llama.cpp"})
    for typical in (chip, software):
        assert typical.typical
        assert typical.stack == USUAL
        assert predict(typical).typical == USUAL
    assert not fitted.typical
    assert chip.server.chip.key == "mi300x"


@pytest.mark.parametrize(
    ("system", "key", "bandwidth"),
    [
        ("MI250X (one GCD)", "mi250x-gcd", 1.6384e12),
        ("8x MI325X OAM", "mi325x", 6.0e12),
        ("Inferentia2 (inf2.48xlarge)", "inferentia2", 820e9),
        ("Trainium2 (trn2.48xlarge)", "trainium2", 2.9e12),
    ],
)
def test_the_words_of_a_system_name_its_chip(system, key, bandwidth):
    chip = chip_of_words(system)
    assert (chip.key, chip.hbm_bandwidth) == (key, pytest.approx(bandwidth, rel=0.01))


def test_a_name_that_has_another_chips_in_it_is_not_that_chip():
    keys = [chip_of_words(system).key for system in ("H100 NVL", "GH200", "A100 PCIe")]
    assert keys == ["h100-nvl", "gh200", "a100-80gb-pcie"]


@pytest.mark.parametrize("system", ["", "Ascend 910B", "a node of eight", "MI210"])
def test_words_without_a_chip_are_named(system):
    with pytest.raises(ValueError, match="names no chip"):
        chip_of_words(system)


def test_ranks_are_chips_where_cores_are_printed_and_links_without_a_rate_make_a_bound(tmp_path):
    neuron = {"tp": None, "tp_cores": 32, "batch": 1, "load": "static batch", "software": "Transformers NeuronX"}
    config = {key: x for key, x in (ROW["config"] | neuron).items() if x is not None} | {"dtype": "bf16"}
    path = written(tmp_path / "rows.csv", ROW | {"system": "Trainium (trn1.32xlarge)", "gpus": "16", "config": config})
    found = case_of(read_rows(path)[0][0], path)
    assert (found.server.tp, found.server.chip.key) == (16, "trainium1")
    assert found.bound
    assert "bound" in predict(found).typical
    assert not case(tmp_path, system="MI300X").bound


def test_experts_are_read_by_the_shape_that_a_row_prints(tmp_path):
    shape = {"hidden": 3072, "layers": 62, "heads": 48, "kv_heads": 8, "head_dim": 128, "experts": 256, "topk": 8}
    load = {
        "load": "closed loop",
        "concurrency": 16,
        "software": "vLLM",
        "version": "nightly 2026-02",
        "tp": 8,
        "ep": 8,
    }
    found = case(tmp_path, shape | load | {"model": "minimax-m2.5", "ff": 1536}, gpus="8")
    model = found.server.model
    assert (model.experts, model.experts_per_token, model.vocab, model.kv_heads) == (256, 8, 200064, 8)
    assert parameter_count(model) == pytest.approx(229e9, rel=0.01)
    assert found.server.dtype == "fp8_block"
    assert found.typical  # vLLM was fitted to dense models alone


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
        errors[bool(case.server.model.moe)].append(case.time(stack.typical(case.server.chip)) / case.seconds - 1)
    assert min(map(len, errors.values())) >= 30
    sizes = [round(fmean(map(abs, errors[moe])), 2) for moe in (False, True)]
    assert sizes == [TYPICAL, TYPICAL_MOE]
    assert abs(fmean(errors[True])) < 0.05


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


TIMED = ROW | {"kind": "inference", "system": "A100-40GB FasterTransformer", "gpus": "1", "measured_value": "63.17"}
THIRTEEN = {"model": "13B", "ctx": 512, "batch": 1, "tp": 1}


def test_a_prompt_and_a_token_behind_it_are_a_server_without_a_queue(tmp_path):
    def timed(unit, value, **config):
        path = written(tmp_path / "rows.csv", TIMED | {"unit": unit, "measured_value": value, "config": config})
        return case_of(read_rows(path)[0][0], path)

    prompt, token = timed("ms prefill", "63.17", **THIRTEEN), timed("ms/token decode", "22", **THIRTEEN)
    assert parameter_count(prompt.server.model) == pytest.approx(12.9e9, rel=0.02)
    assert prompt.server.chip.key == "a100-40gb-sxm"
    assert predict(prompt).typical == USUAL
    assert max(predict(prompt).error, predict(token).error) < 0.25
    assert "hidden" in timed("ms prefill", "63", **THIRTEEN | {"model": "14B"}).reason
    assert timed("ms prefill", "63", **{**THIRTEEN, "tp": None}).reason == "the row does not give tp"
    assert "ctx" in timed("input tokens/s/node", "73700", model="deepseek-r1").reason
