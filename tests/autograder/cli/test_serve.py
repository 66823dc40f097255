import json
import re

import pytest
from click.testing import CliRunner

from autograder.cli import commands
from hwlib.serving_planner import plan_serving
from tests.hwlib.test_hf_config import LLAMA


def run(*words):
    return CliRunner().invoke(commands.main, ["serve", *words])


SMALL = ["llama3-8b", "--on", "dgx-h100", "--gpus", "2", "--prompt", "1000", "--output", "100"]


def test_the_answer_is_the_librarys():
    done = run(*SMALL, "--tpot", "20ms", "--ttft", "1s", "--price", "3.6")
    assert done.exit_code == 0, done.output
    found = plan_serving("llama3-8b", "dgx-h100", gpus=2, prompt=1000, output=100, tpot=0.02, ttft=1.0, price=0.001)
    model, rest = done.output.split("\n", 1)
    assert model.startswith("Llama 3.1 8B: 8,030,261,248 parameters; planned in bf16; ")
    assert rest == f"{found.table()}\n\n{found.explain()}\n"
    assert "$/M tokens" in done.output


def test_without_a_word_an_example_that_runs_is_shown():
    done = run()
    assert done.exit_code == 2
    (example,) = re.findall("For example: gpubook serve (.*)", done.output)
    assert run(*example.split(), "--json").exit_code == 0


def test_front_and_reasons_are_added_where_they_are_asked_for():
    done = run(*SMALL, "--front", "--why", "--tpot", "10ms")
    front = done.output.partition("Pareto front")[2].partition("Best plan")[0]
    assert len(front.splitlines()) > 4
    assert "a token takes longer than the limit" in done.output.partition("Rejected configurations:")[2]


def test_json_is_numbers_and_every_option_is_kept():
    words = [
        "--dtype",
        "fp8",
        "--kv-dtype",
        "bf16",
        "--stack",
        "tensorrt-llm-1.0",
        "--memory",
        "60GB",
        "--gap",
        "100ms",
    ]
    record = json.loads(run(*SMALL, *words, "--tp", "1", "--together", "--count", "1", "--json").output)
    asked = {"dtype": "fp8", "kv_dtype": "bf16", "stack": "tensorrt-llm-1.0", "memory": 60e9, "gpus": 2}
    assert record.items() >= asked.items()
    assert record["limits"] == {"ttft": None, "tpot": None, "gap": 0.1}
    (best,) = record["plans"]
    assert best["decode"]["tp"] == 1
    assert best["prefill"] is None
    assert best["longest_step"] <= 0.1
    assert best["cost_per_million"] is None


def test_a_trace_stands_for_lengths():
    record = json.loads(run("llama3-8b", "--on", "dgx-h100", "--gpus", "2", "--trace", "azure-code", "--json").output)
    assert record["prompt"] > 10 * record["output"]
    mixture = ["gpt-oss-20b", "--on", "dgx-h100", "--gpus", "4", "--prompt", "1K", "--output", "64", "--json"]
    record = json.loads(run(*mixture, "--attention-dp", "2", "--ep", "2", "--apart").output)
    assert record["prompt"] == 1024
    assert {one["decode"]["attention_dp"] for one in record["plans"]} == {2}
    assert all(one["prefill"]["replicas"] for one in record["plans"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["llama3-8b", "--on", "dgx-h100", "--prompt", "100"], "expected --prompt and --output"),
        ([*SMALL, "--tpot", "20 GB"], "not a time"),
        ([*SMALL, "--tpot", "0ms"], "above 0"),
        ([*SMALL, "--tpot", "0"], "above 0"),
        ([*SMALL, "--tpot", "50"], "'50' has no unit; expected 50 ms or 50 s"),
        ([*SMALL, "--ttft", "0.5"], "'0.5' has no unit"),
        ([*SMALL, "--gap", "200"], "'200' has no unit"),
        ([*SMALL, "--ttft", "soon"], "not a time"),
        ([*SMALL, "--tpot", "1us"], "tpot: a token takes at least"),
        ([*SMALL, "--prompt", "8x1024"], "is a batch"),
        ([*SMALL, "--memory", "72"], "has no unit"),
        ([*SMALL, "--on", "dgx-h1000"], "cluster: unknown cluster"),
    ],
)
def test_an_error_is_one_line_with_what_was_expected(words, says):
    done = run(*words)
    assert done.exit_code == 2
    assert says in done.output
    assert "Traceback" not in done.output


def test_the_first_line_says_the_precision_of_a_quantised_checkpoint_and_that_of_the_plan(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(LLAMA | {"quantization_config": {"quant_method": "awq", "bits": 4}}), "utf-8")
    words = [str(path), *SMALL[1:]]
    done = run(*words, "--emit", "vllm")
    assert "awq, 4 bit; planned in int4w" in " ".join(done.output.replace("\n#", "").split())
    for asked, dtype in (((), "int4w"), (("--dtype", "int4w"), "int4w"), (("--dtype", "bf16"), "bf16")):
        first, *_ = run(*words, *asked).output.splitlines()
        assert f"quantised (awq, 4 bit; planned in {dtype})" in first
        assert "parameters" in first
        assert "as quantization_config says" in first
        data = json.loads(run(*words, *asked, "--json").output)
        assert data["quantised"] == f"awq, 4 bit; planned in {dtype}"
        checkpoint = data["checkpoint"]
        assert checkpoint["parameters"] == checkpoint["active_parameters"] == 1_235_814_400
        assert (checkpoint["weights"], checkpoint["from"]) == ("int4 in groups of 128", "quantization_config")
        assert checkpoint["parts"] == dict.fromkeys(("attention", "mlp"), "int4 in groups of 128")
        assert 0.5 < checkpoint["bytes"] / checkpoint["parameters"] < 1
    left_out = {"quant_method": "awq", "bits": 4, "modules_to_not_convert": ["self_attn"]}
    path.write_text(json.dumps(LLAMA | {"quantization_config": left_out}), "utf-8")
    assert "(attention in 16 bits)" in run(*words).output.splitlines()[0]
    path.write_text(json.dumps(LLAMA | {"quantization_config": {"quant_method": "of tomorrow"}}), "utf-8")
    refused = run(*words)
    assert (refused.exit_code, "quant_method = 'of tomorrow'" in refused.output) == (2, True)
    path.write_text(json.dumps(LLAMA | {"quantization_config": {}}), "utf-8")
    assert "planned in" not in run(*words).output
    assert json.loads(run(*words, "--json").output)["quantised"] is None
