"""Speculative decoding of a server: measured acceptance, the time of a step with drafts, and the load up to which they
help.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import commands
from autograder.planned import answered
from hwlib.calibrated.serving import step_time
from hwlib.calibrated.serving_drafts import HEAD_VOCAB, MOST_DRAFTS, Drafting, draft_model
from hwlib.calibrated.serving_step import Nodes, Server
from hwlib.inference import speculative_tokens
from hwlib.launch import emit
from hwlib.planner import PlanError
from hwlib.serving_planner import plan_serving, play
from hwlib.serving_planner.drafting_gain import gain_at, gains, last_gaining
from hwlib.serving_planner.explain import LEAST_OVER, MOST_OVER
from hwlib.serving_planner.layouts import Layout, room, server_of
from hwlib.serving_planner.question import question_of
from hwlib.serving_planner.speculation import drafting_of
from hwlib.specs import Model, accelerators, measured_drafts, models
from hwlib.specs.draft_measurements import chain_acceptance
from hwlib.specs.serving_stack import USUAL, serving_stacks
from hwlib.transformer import mtp_parameters, sequence_state_bytes

ASKED = {"prompt": 2048, "output": 512}
MIXED = json.loads((Path(__file__).parent / "data" / "mixed_layers.json").read_text("utf-8"))
TIMED = [row for row in measured_drafts() if row.before]


@pytest.mark.parametrize(
    "row", [row for row in measured_drafts() if row.drafts], ids=lambda row: f"{row.target}-{row.data}"
)
def test_an_acceptance_gives_back_the_measured_tokens(row):
    assert speculative_tokens(row.acceptance, row.drafts) == pytest.approx(row.tokens, rel=1e-9)


def test_tokens_that_a_chain_cannot_give_are_refused():
    assert (chain_acceptance(1, 3), chain_acceptance(4, 3)) == (pytest.approx(0, abs=1e-9), pytest.approx(1, abs=1e-9))
    for tokens, drafts in ((0.99, 3), (4.01, 3), (2.0, 0)):
        with pytest.raises(ValueError, match="tokens a step"):
            chain_acceptance(tokens, drafts)
    with pytest.raises(ValueError, match="method of speculation"):
        measured_drafts(method="medusa")
    assert measured_drafts("llama3-405b") == ()


def test_drafting_has_bounds():
    for drafts, accept in ((1, 0.0), (MOST_DRAFTS, 1.0)):
        assert Drafting("mtp", drafts, accept).tokens == 1 + drafts * accept
    for method, drafts, accept in (("mtp", 0, 0.5), ("mtp", MOST_DRAFTS + 1, 0.5), ("mtp", 1, 1.01), ("ngram", 1, 0.5)):
        with pytest.raises(ValueError, match=r"expected|method"):
            Drafting(method, drafts, accept)


def timed_gain(row):
    """The gain that the step model gives for a measured row, of TensorRT-LLM's constants."""
    stack, apart = serving_stacks[USUAL], row.gpus > 1
    more = {"tp": row.gpus, "ep": row.gpus, "attention_dp": True, "dtype": "fp8_block", "nodes": Nodes(8, 50e9)}
    server = Server(
        models[row.target],
        accelerators[row.system],
        kernels=stack.kernels,
        drafting=Drafting(row.method, row.drafts, row.acceptance),
        **(more if apart else {}),
    )
    each, context = (row.requests // row.gpus, 67_584) if apart else (1, 600)
    before = step_time(stack, replace(server, drafting=None).step(each, context))
    return row.tokens * before / step_time(stack, server.step(each, context))


def test_gains_are_as_far_above_the_measured_ones_as_an_answer_says():
    over = [timed_gain(row) / (row.after / row.before) - 1 for row in TIMED]
    assert len(over) == 9
    assert LEAST_OVER < min(over) < LEAST_OVER + 0.02
    assert MOST_OVER - 0.02 < max(over) < MOST_OVER


def test_a_draft_layer_has_the_parameters_of_the_models_module():
    model = models["deepseek-v3"]
    plain = Server(model, accelerators["h200-sxm"], tp=8, ep=8, dtype="bf16")
    drafting = replace(plain, drafting=Drafting("mtp", 1, 0.85))
    assert drafting.weight_bytes() - plain.weight_bytes() == pytest.approx(2 * mtp_parameters(model) / 8, rel=0.001)
    head = draft_model(model, "eagle3")
    assert (head.layers, head.experts, head.vocab) == (1, 1, HEAD_VOCAB)
    assert draft_model(Model.small(vocab=HEAD_VOCAB - 1), "eagle3").vocab == HEAD_VOCAB - 1


def test_a_state_is_held_for_each_draft():
    model = Model.of_config(MIXED["Qwen3-Next 80B-A3B"]["config"], "next")
    server = Server(model, accelerators["h100-sxm"], tp=4)
    drafting = replace(server, drafting=Drafting("eagle3", 3, 0.7))
    assert drafting.state_bytes() == 4 * server.state_bytes() == sequence_state_bytes(model)
    assert drafting.step(64, 4096).attention > 2 * server.step(64, 4096).attention, "written after every draft"


def test_without_drafts_no_step_changes_and_with_them_a_step_is_longer():
    server = Server(models["llama3-70b"], accelerators["h100-sxm"], tp=4, dtype="fp8", kv_dtype="fp8")
    steps = [server, *(replace(server, drafting=Drafting("eagle3", k, 0.7)) for k in (1, 2, 4))]
    times = [step_time(serving_stacks[USUAL], one.step(16, 4096)) for one in steps]
    assert times == sorted(times)
    assert len(set(times)) == 4
    assert server.step(0, 0.0, 1, 2048).products < steps[1].step(0, 0.0, 1, 2048).products, "a head reads prompts too"


@pytest.mark.parametrize(
    ("model", "text"),
    [
        ("deepseek-v3", "medusa:1"),
        ("deepseek-v3", "mtp"),
        ("deepseek-v3", "mtp:0"),
        ("deepseek-v3", f"mtp:{MOST_DRAFTS + 1}"),
        ("deepseek-v3", "mtp:1@1.01"),
        ("deepseek-v3", "mtp:1@101%"),
        ("deepseek-v3", "mtp:1@.."),
        ("llama3-8b", "mtp:1"),
    ],
)
def test_drafts_that_cannot_be_are_refused(model, text):
    with pytest.raises(PlanError) as refused:
        drafting_of(models[model], text)
    assert refused.value.field == "speculate"


def test_drafts_are_read_with_the_measured_share_or_with_ones_own():
    assert drafting_of(models["deepseek-v3"], "mtp:1").accept == pytest.approx(0.875)
    assert drafting_of(models["deepseek-v3"], "mtp:1@0.8") == drafting_of(models["deepseek-v3"], "mtp:1@80%")
    assert drafting_of(models["deepseek-v3"], f"mtp:{MOST_DRAFTS}@1").tokens == MOST_DRAFTS + 1
    assert 0.5 < drafting_of(models["llama3-405b"], "eagle3:3").accept < 0.8, "of other models"


def test_drafts_help_up_to_a_load_that_is_told():
    q = question_of("llama3-8b", "dgx-h100", gpus=1, speculate="eagle3:5@0.5", prompt=256, output=256)
    layout = Layout(1, 1, 1)
    server, last = server_of(q, layout), last_gaining(q, layout)
    assert last is not None
    assert 1 <= last < room(q, server)
    assert gain_at(q, server, last) > 1 >= gain_at(q, server, last + 1)
    told = [row.gain for row in gains(q, layout)]
    assert told[0] > 1.5
    assert told == sorted(told, reverse=True)
    useless = question_of("llama3-8b", "dgx-h100", gpus=1, speculate="eagle3:3@0", **ASKED)
    assert last_gaining(useless, layout) == 0
    sure = question_of("llama3-70b", "dgx-h100", gpus=2, speculate="eagle3:1@1", **ASKED)
    assert last_gaining(sure, Layout(2, 1, 1)) is None
    assert gains(question_of("llama3-8b", "dgx-h100", gpus=1, **ASKED), layout) == ()


def test_a_plan_with_drafts_gives_more_within_a_tight_limit():
    asked = {"gpus": 2, "tpot": 0.018, **ASKED}
    plain, drafted = (
        plan_serving("llama3-70b", "dgx-h200", dtype="fp8", speculate=text, **asked) for text in (None, "eagle3:3")
    )
    assert drafted[0].gpu_rate > 1.2 * plain[0].gpu_rate
    assert drafted[0].tpot <= 0.018
    record = drafted.json()["speculation"]
    assert record["method"] == "eagle3"
    assert record["gains"][0]["gain"] > 1
    assert plain.json()["speculation"] is None
    with pytest.raises(ValueError, match="drafts"):
        play(drafted.question, drafted[0])


def test_the_command_and_the_page_tell_the_gain():
    asked = {"model": "llama3-8b", "cluster": "dgx-h100", "gpus": "1", "prompt": "256", "output": "256"}
    asked["speculate"] = "eagle3:5@0.5"
    words = [word for name, text in asked.items() if name != "model" for word in (f"--{name}", text)]
    shown = CliRunner().invoke(commands.main, ["serve", asked["model"], *words]).stdout
    page = answered("serve", asked)["html"]
    for text in (shown, page):
        assert "EAGLE-3 with 5 drafts a step" in text
        assert "Drafts stop to help beyond" in text


def test_software_is_told_of_drafts_or_that_it_is_not():
    asked = {"gpus": 8, "speculate": "mtp:2", **ASKED}
    plan = plan_serving("deepseek-v3", "dgx-h200", **asked)[0].plan
    told = emit(plan, "vllm")
    assert any(
        command.value("--speculative-config") == {"method": "mtp", "num_speculative_tokens": 2}
        for command in told.commands
    )
    assert any("drafts" in line for line in emit(plan, "trtllm").not_expressed)
    head = emit(plan_serving("llama3-8b", "dgx-h100", **{**asked, "gpus": 1, "speculate": "eagle3:3"})[0].plan, "vllm")
    assert any("$DRAFT" in line for line in head.to_add)
