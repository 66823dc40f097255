import json
import re

import pytest
from click.testing import CliRunner

from autograder.cli import commands
from hwlib.options import TRAINING, named
from hwlib.planner import machine_of, plan
from hwlib.planner.certainty import certainty_record
from hwlib.specs import clusters, models, nodes
from tests.conftest import ROOT
from tests.hwlib.test_hf_config import LLAMA

DATA = ROOT / "tests" / "hwlib" / "data"


def run(*words):
    return CliRunner().invoke(commands.main, ["plan", *words])


SMALL = ["llama3-8b", "--cluster", "dgx-h100", "--batch", "1M"]


def test_the_question_of_the_manual():
    done = run("llama3-405b", "--cluster", "h100-superpod-16k", "--batch", "16M")
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert re.match("Llama 3.1 405B on 16,384 x H100 SXM5, 2,048 .* 8,192 tokens", lines[0])
    found = plan("llama3-405b", "h100-superpod-16k", B=2**24)
    assert lines[1].startswith("Llama 3.1 405B: 405,853,388,800 parameters; planned in bf16; ")
    assert found.table() in "\n".join([lines[0], *lines[2:]])
    assert str(found[0]) in done.output
    assert "The next plans, compared with the best:" in done.output
    assert "Rule of thumb: Llama 3.1 405B on 16,384 x H100 SXM5: a GPU has 1,024 tokens" in lines[-1]
    assert "Best plan for each other choice" not in done.output


def test_without_a_word_it_lists_what_can_be_asked():
    done = run()
    assert done.exit_code == 2
    assert set(models) | set(clusters) | set(nodes) <= set(re.findall(r"[\w.-]*\w", done.output))
    (example,) = re.findall("For example: gpubook plan (.*)", done.output)
    assert run(*example.split()).exit_code == 0


def test_without_a_word_it_says_how_to_ask_for_a_model_and_a_cluster_of_ones_own():
    said = run().output
    assert "config.json" in said
    (line,) = re.findall('--cluster "(.*?)"', said.replace("\n  ", " "))
    assert machine_of(line).gpus == 32
    assert "lab.toml" in said


def test_a_model_and_a_cluster_of_ones_own_are_read_and_said_back():
    model, lab = DATA / "configs" / "qwen3-8b.json", DATA / "clusters" / "lab.toml"
    done = run(str(model), "--cluster", str(lab), "--batch", "1M", "--tp", "1", "--count", "1", "--gpus", "8")
    assert done.exit_code == 0, done.output
    title, first, second, *_ = done.output.splitlines()
    stored = "the checkpoint is in bfloat16, as torch_dtype says"
    assert first == f"qwen3-8b: 8,190,735,360 parameters; {stored}; read from {model}"
    assert second == "the lab: 8 a node, 300 GB/s each"
    assert title.startswith("qwen3-8b on 8 x A100 80GB SXM")
    assert "$/step" in done.output
    line = "2x8 h20-sxm, network 8 x 400 Gbit/s"
    record = json.loads(run(SMALL[0], "--cluster", line, *SMALL[3:], "--json", "--tp", "1", "--pp", "1").output)
    assert (record["gpus"], record["stack"], record["fitted"]) == (16, "typical-h20-sxm", False)
    assert record["plans"][0]["cost"] is None


def test_why_tells_the_other_choices_and_reasons():
    done = run(*SMALL, "--why")
    assert "Best plan for each other choice:" in done.output
    assert "does not fit in memory" in done.output.partition("Rejected configurations:")[2]


def test_the_guide_is_silent_where_degrees_that_it_chooses_are_fixed():
    alone = ["--count", "1", "--cluster", "DGX H100"]
    assert "Rule of thumb:" in run(*SMALL, *alone, "--schedule", "1f1b", "--micro", "1").output
    for words in (["--tp", "8"], ["--cp", "1"], ["--zero", "1,3"], ["--recompute", "full"]):
        done = run(*SMALL, *alone, *words)
        assert done.exit_code == 0
        assert "Rule of thumb" not in done.output


def test_json_is_numbers():
    done = run(*SMALL, "--json", "--tp", "2,4", "--count", "3")
    record = json.loads(done.output)
    assert {one["tp"] for one in record["plans"]} <= {2, 4}
    assert len(record["plans"]) <= 3
    assert record["batch"] == 2**20
    assert record["plans"][0]["seconds"] > 0


def test_degrees_are_kept():
    words = ["--pp", "2", "--zero", "1", "--schedule", "1f1b", "--recompute", "full", "--micro", "1", "--no-sp"]
    record = json.loads(run(*SMALL, "--json", *words).output)
    for one in record["plans"]:
        assert (one["pp"], one["zero"], one["schedule"], one["recompute"], one["micro"]) == (2, 1, "1f1b", "full", 1)
        assert one["sp"] is False


def test_shards_and_the_features_of_a_software_are_kept():
    words = ["llama3-8b", "--cluster", "8xdgx-h100", "--batch", "512x4096", "--zero", "3", "--shards", "8", "--json"]
    record = json.loads(run(*words, "--features", "torchtitan").output)
    assert (record["features"], record["gpus"]) == ("torchtitan", 64)
    assert {one["shards"] for one in record["plans"] if one["dp"] * one["cp"] > 8} == {8}


def test_the_release_the_dispatcher_and_modules_are_said_and_can_be_told():
    words = ["qwen3-30b-a3b", "--cluster", "2xdgx-h100", "--batch", "64x4096", "--dtype", "fp8", "--ep", "16", "--pp",
             "1", "--tp", "1", "--cp", "1", "--zero", "1", "--recompute", "moe_act+layernorm", "--json"]  # fmt: skip
    usual, copies, old = (
        json.loads(run(*words, *more).output) for more in ([], ["--no-merge"], ["--release", "26.02"])
    )
    assert (usual["release"], usual["dedup_dispatch"], usual["mtp"]) == ("26.04", True, None)
    assert {one["recompute"] for one in usual["plans"]} == {"layernorm+moe_act"}
    assert (copies["dedup_dispatch"], old["dedup_dispatch"], old["release"]) == (False, False, "26.02")
    assert usual["plans"][0]["seconds"] < copies["plans"][0]["seconds"] == old["plans"][0]["seconds"]
    assert "Megatron Core (April 2026)" in run(*words[:-1]).output.splitlines()[0]
    assert run(*words, "--release", "April").exit_code == 2


def test_several_numbers_of_gpus_give_a_front():
    done = run("llama3-8b", "--cluster", "superpod-h100-1su", "--batch", "4M", "--chips", "64,128,256", "--price", "2")
    title, model, terms, _, head, *lines = done.output.splitlines()
    assert model.startswith("Llama 3.1 8B: 8,030,261,248 parameters; planned in bf16; ")
    assert re.match("Llama 3.1 8B on 64, 128 or 256 x H100 SXM5, 512 .* 8,192 tokens", title)
    assert "stack megatron-core-h100" in terms
    assert "GPUs" in head
    assert "$/step" in head
    assert lines.index("") == 3
    listed = json.loads(run(*SMALL, "--gpus", "4,8", "--json").output)
    assert [one["gpus"] for one in listed] == [8, 4]


def test_a_front_has_the_error_to_expect_of_each_plan_by_its_own_number_of_gpus():
    words = ["llama3-8b", "--cluster", "superpod-h100-1su", "--batch", "4M", "--gpus", "8,256"]
    listed = json.loads(run(*words, "--json").output)
    assert [one["gpus"] for one in listed] == [256, 8]
    for one in listed:
        alone = plan("llama3-8b", "superpod-h100-1su", B=2**22, gpus=one["gpus"])
        assert one["error"] == certainty_record(alone.task, alone[0].strategy, alone[0].seconds)
    text = run(*words).output
    assert f"The first, on 256 GPUs:\n  Expected error ±{listed[0]['error']['most']:.0%}: 80% of" in text
    assert text.count("Expected error") == 1


def test_the_first_line_names_the_software_and_the_month_of_its_release():
    for words, software in (
        (["--count", "1"], ", with Megatron Core (April 2026)"),
        (["--gpus", "4,8"], ", with Megatron Core (April 2026)"),
        (["--cluster", "2xdgx-h100"], ", with Megatron Core (April 2026)"),
        (["--stack", "torchtitan-h100"], " per step"),
    ):
        first, second, *_ = run(*SMALL, *words).output.splitlines()
        assert first.endswith(software)
        assert len(first) <= 120
        assert "2026" not in second


def test_numbers_of_gpus_without_a_plan_are_named_beside_the_table():
    words = ["llama3-70b", "--cluster", "superpod-h100-1su", "--batch", "4M", "--chips", "8,100,256", "--json"]
    done = run(*words)
    assert done.exit_code == 0
    assert [one["gpus"] for one in json.loads(done.stdout)] == [256]
    eight, hundred = done.stderr.splitlines()
    assert eight.startswith("No plan on 8 GPUs: memory: Llama 3.1 70B ")
    assert hundred.startswith("No plan on 100 GPUs: gpus: 100 ")


def test_where_fewer_gpus_are_quicker_it_is_said():
    done = run("llama3-8b", "--cluster", "gb200-nvl72", "--batch", "2M", "--count", "1")
    line = next(line for line in done.output.splitlines() if line.startswith("On 64 of the 72 GPUs"))
    all_, few = (plan("llama3-8b", "gb200-nvl72", B=2**21, gpus=n)[0] for n in (72, 64))
    assert few.seconds < all_.seconds
    assert str(few) in line
    assert "\nOn " not in run(*SMALL).output


def test_a_closed_pipe_is_no_error(monkeypatch):
    def closed(*_):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("autograder.cli.plan.PlanQuery.search", closed)
    assert "Broken pipe" not in run(*SMALL).output


def test_a_price_is_by_the_hour():
    record = json.loads(run(*SMALL, "--json", "--price", "3.6").output)
    first = record["plans"][0]
    assert first["cost"] == pytest.approx(8 * first["seconds"] * 0.001)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("16M", (2**24, None)), ("4k", (4096, None)), ("1.5M", (3 * 2**19, None)), ("16777216", (2**24, None)),
     ("16,777,216", (2**24, None)), ("4e6", (4_000_000, None)), ("512x8192", (2**22, 8192)), ("1G", (2**30, None))],
)  # fmt: skip
def test_tokens(text, tokens):
    assert named(TRAINING)["batch"].reader.read(text) == tokens


def test_sequences_by_length_are_a_batch():
    record = json.loads(run(*SMALL[:3], "--batch", "64x4096", "--json").output)
    assert (record["batch"], record["sequence"]) == (2**18, 4096)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["llama4", *SMALL[1:]], "unknown model 'llama4'"),
        (["llama3-8b", "--cluster", "nowhere", "--batch", "1M"], "unknown cluster 'nowhere'"),
        ([*SMALL, "--tp", "3"], "tp: 3 "),
        ([*SMALL, "--pp", "64"], "pp: 64 stages "),
        ([*SMALL, "--tp", "two"], "whole numbers"),
        ([*SMALL, "--gpus", "1,024"], "expected 1024, "),
        ([*SMALL, "--memory", "72"], "'72' has no unit"),
        ([*SMALL, "--memory", "72000000000"], "has no unit"),
        ([*SMALL, "--memory", "72MB"], "72 MB. No cluster of up to 131,072 "),
        ([*SMALL, "--chips", "4,8", "--count", "2"], "count: "),
        ([*SMALL, "--chips", "4,8", "--why"], "why: "),
        ([*SMALL, "--memory", "72 s"], "'72 s' "),
        ([*SMALL, "--memory", "lots"], "lots"),
        ([*SMALL, "--chips", "9"], "8 of DGX H100, got 9"),
        ([*SMALL, "--schedule", "1f1b,,"], "expected words"),
        ([*SMALL, "--schedule", "gpipes"], "schedule: "),
        ([*SMALL, "--schedule", "zb_h1"], "schedule: Megatron Core has no schedule zb_h1; it has 1f1b"),
        ([*SMALL, "--features", "megatron"], "features: unknown features 'megatron'"),
        (["llama3-8b", "--cluster", "3 x nowhere", "--batch", "1M"], "unknown node 'nowhere'"),
        ([*SMALL, "--stack", "mine"], "unknown stack 'mine'"),
        ([*SMALL, "--dtype", "int3"], "unknown dtype 'int3'"),
        ([*SMALL, "--price", "-1"], "--price"),
        ([*SMALL[:4], "sixteen"], "'sixteen' "),
        ([*SMALL[:4], "1.0000001k"], "'1.0000001k' "),
        ([*SMALL[:4], "1000000"], "1,000,000 tokens "),
        ([*SMALL[:4], "64x4096", "--sequence", "8192"], "sequences of 4,096 tokens, not 8,192"),
        ([*SMALL, "--sequence", "2x4096"], "sequence: 2x4096 "),
        ([*SMALL, "--gpus", "4,16"], "from 1 to the 8 of DGX H100, got 16"),
        ([*SMALL, "--price", "inf"], "price: "),
        (["llama3-405b", *SMALL[1:]], "Smallest cluster"),
        (["./nowhere", *SMALL[1:]], "model: nowhere: No such file or directory; expected a config.json"),
        ([SMALL[0], "--cluster", "lab.toml", *SMALL[3:]], "cluster: lab.toml: No such file or directory"),
        ([SMALL[0], "--cluster", "4x8 h800", *SMALL[3:]], "cluster: 4x8 h800: network missing"),
        (["llama3-8b", "--batch", "1M"], "Missing option '--cluster'"),
    ],
)
def test_what_cannot_be_ends_in_a_sentence_and_2(words, says):
    done = run(*words)
    assert done.exit_code == 2, done.output
    assert says in done.output
    assert "Traceback" not in done.output
    assert "Error: " in done.output


@pytest.mark.parametrize("model", [key for key, model in models.items() if model.layers < 70 and key != "deepseek-v3"])
def test_every_model_of_a_few_layers_has_a_plan_somewhere(model):
    T = min(models[model].context, 4096)
    done = run(model, "--cluster", "superpod-h100-4su", "--batch", f"1024x{T}", "--count", "1")
    assert done.exit_code == 0, done.output


def test_the_first_line_of_a_run_from_a_quantised_checkpoint_says_the_precision_of_the_plan(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(LLAMA | {"quantization_config": {"quant_method": "fp8"}}), "utf-8")
    first, *_ = run(str(path), *SMALL[1:]).output.splitlines()
    assert "quantised: fp8, 8 bit; planned in bf16" in first
    assert json.loads(run(str(path), *SMALL[1:], "--json").output)["quantised"] == "fp8, 8 bit; planned in bf16"
    path.write_text(json.dumps(LLAMA | {"quantization_config": None}), "utf-8")
    assert "planned in" not in run(str(path), *SMALL[1:]).output
