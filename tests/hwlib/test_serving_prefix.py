"""Prompts whose beginning is in the cache: whole pages are reused, and of layers that keep a state up to one kept."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import commands
from autograder.planned import answered
from hwlib.calibrated.serving_step import Server
from hwlib.inference import prefix_state_bytes, reused_tokens
from hwlib.launch import emit
from hwlib.planner import PlanError
from hwlib.serving_planner import plan_serving, play
from hwlib.serving_planner.prefix import PAGE, prefix_of, prefix_words
from hwlib.specs import Model, accelerators, models
from hwlib.transformer import sequence_state_bytes

MIXED = json.loads((Path(__file__).parent / "data" / "mixed_layers.json").read_text("utf-8"))
NEXT = Model.of_config(MIXED["Qwen3-Next 80B-A3B"]["config"], "next")
LLAMA = models["llama3-8b"]
ASKED = {"prompt": 4096, "output": 256, "gpus": 2}


def test_a_prefix_is_reused_up_to_the_last_page_or_state():
    assert [reused_tokens(tokens, 528) for tokens in (0, 527, 528, 552, 1055, 1056)] == [0, 0, 528, 528, 528, 1056]
    assert [prefix_state_bytes(tokens, 528, 10) for tokens in (527, 528, 1056)] == [0, 10, 20]


@pytest.mark.parametrize(
    ("model", "prefix", "every", "reused"),
    [
        (LLAMA, 1024, None, 1024),
        (LLAMA, PAGE - 1, None, 0),
        (LLAMA, 4096, None, 4096 - PAGE),  # the last token is computed
        (NEXT, 1024, None, 0),
        (NEXT, 1024, 1024, 1024),
        (NEXT, 1023, 1024, 0),
        (NEXT, 4096, 4096, 0),
        (NEXT, 4096, 4095, 4095),
    ],
)
def test_what_is_reused_of_a_prefix(model, prefix, every, reused):
    assert prefix_of(model, 4096, prefix, every).reused == reused


def test_a_prefix_that_cannot_be_is_refused():
    assert prefix_of(LLAMA, 4096, None, None) is None
    for model, prefix, every, field in (
        (LLAMA, 4097, None, "prefix"),
        (LLAMA, 1024, 512, "state_every"),
        (NEXT, None, 512, "state_every"),
    ):
        with pytest.raises(PlanError) as refused:
            prefix_of(model, 4096, prefix, every)
        assert refused.value.field == field


def test_a_step_reads_what_is_not_reused_and_attends_to_all():
    whole, part, rest = (Server(LLAMA, accelerators["h100-sxm"], prefix=prefix) for prefix in (0.0, 6144.0, 0.0))
    reads, reused = whole.step(0, 0.0, 1, 8192), part.step(0, 0.0, 1, 8192)
    alone = rest.step(0, 0.0, 1, 2048)
    assert reused.products == alone.products
    assert alone.attention < reused.attention < reads.attention
    assert reused.sheet < reads.sheet
    assert Server(LLAMA, accelerators["h100-sxm"], prefix=9000.0).unread(8192) == 1


def test_states_beyond_a_kept_one_are_read_alone():
    reads, reused = (
        Server(NEXT, accelerators["h100-sxm"], tp=4, prefix=p).step(0, 0.0, 1, 8192) for p in (0.0, 4096.0)
    )
    assert reused.attention < reads.attention
    assert reused.products < 0.7 * reads.products


def test_a_plan_gains_by_a_prefix_unless_a_state_forbids_it():
    plain, with_prefix = (plan_serving(LLAMA, "dgx-h100", prefix=p, **ASKED) for p in (None, 3072))
    assert with_prefix[0].gpu_rate > 1.2 * plain[0].gpu_rate
    asked = ASKED | {"gpus": 4}
    none, forbidden, kept = (
        plan_serving(NEXT, "dgx-h100", prefix=p, state_every=k, **asked)
        for p, k in ((None, None), (3072, None), (3072, 1024))
    )
    assert forbidden[0].gpu_rate == none[0].gpu_rate
    assert kept[0].gpu_rate > none[0].gpu_rate
    assert "none is reused: 36 of 48 layers keep a state" in forbidden.explain()
    assert kept.json()["prefix"] == {"tokens": 3072, "reused": 3072.0, "state_every": 1024}
    assert none.json()["prefix"] is None
    with pytest.raises(ValueError, match="prefix"):
        play(kept.question, kept[0])


def test_kept_states_are_said_with_their_bytes():
    prefix = prefix_of(NEXT, 8192, 4096, 512)
    (sentence,) = prefix_words(NEXT, prefix)
    assert f"{8 * sequence_state_bytes(NEXT) / 1e6:.0f} MB" in sentence
    assert prefix_words(NEXT, None) == []


def test_vllm_is_told_what_is_reused():
    for model, prefix, every, words in (
        (LLAMA, 1024, None, {"--enable-prefix-caching": None}),
        (NEXT, 1024, None, {"--no-enable-prefix-caching": None}),
        (NEXT, 1024, 512, {"--mamba-block-size": 512, "--mamba-cache-mode": "align"}),
    ):
        plan = plan_serving(model, "dgx-h100", prefix=prefix, state_every=every, **ASKED | {"gpus": 4})[0].plan
        given = {argument.name: argument.value for argument in emit(plan, "vllm").commands[0].arguments}
        assert words.items() <= given.items()
        assert any("cache" in line for line in emit(plan, "trtllm").not_expressed)


def test_the_command_and_the_page_say_what_is_reused(tmp_path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(MIXED["Qwen3-Next 80B-A3B"]["config"]), "utf-8")
    asked = ["--on", "dgx-h100", "--prompt", "2048", "--output", "128", "--gpus", "4", "--prefix", "1024"]
    shown = CliRunner().invoke(commands.main, ["serve", str(file), *asked]).stdout
    page = answered(
        "serve",
        {
            "model": "llama3-8b",
            "cluster": "dgx-h100",
            "gpus": "4",
            "prompt": "2048",
            "output": "128",
            "prefix": "1024",
            "config": file.read_text("utf-8"),
        },
    )["html"]
    for text in (shown, page):
        assert "none is reused" in text
