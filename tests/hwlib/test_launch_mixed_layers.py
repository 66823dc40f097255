"""Serving commands of models whose layers keep a state or pick their keys, and what the answers' data has of them."""

import json
from pathlib import Path

import pytest

from hwlib.launch import LaunchError, emit
from hwlib.launch.mixed_layers import SERVED, served_words
from hwlib.planner import plan
from hwlib.serving_planner import plan_serving, question_of
from hwlib.specs import Model, models
from hwlib.specs.listed_layers import kinds_of
from hwlib.specs.state_mixer import MIXERS
from hwlib.transformer import active_parameters, kv_bytes_per_token, sequence_state_bytes
from hwlib.transformer.checkpoint_words import model_record, model_words

FAMILIES = json.loads((Path(__file__).parent / "data" / "mixed_layers.json").read_text("utf-8"))
MODELS = {name: Model.of_config(row["config"], name) for name, row in FAMILIES.items()}
MODELS["DeepSeek-V4-Flash"] = models["deepseek-v4-flash"]
NEXT = MODELS["Qwen3-Next 80B-A3B"]


def test_every_kind_of_layer_is_listed_of_one_software_at_least():
    listed = {kind for kinds in SERVED.values() for kind in kinds}
    assert set(MIXERS) <= listed
    assert {kind for model in MODELS.values() for kind in kinds_of(model)} <= listed


@pytest.mark.parametrize("name", sorted(MODELS))
@pytest.mark.parametrize("software", sorted(SERVED))
def test_a_software_says_what_it_lists_or_which_other_does(name, software):
    model = MODELS[name]
    if all(kind in SERVED[software] for kind in kinds_of(model)):
        assert len(served_words(model, software)) == len(kinds_of(model)) > 0
    else:
        with pytest.raises(LaunchError, match="expected vllm"):
            served_words(model, software)
    assert served_words(models["llama3-8b"], software) == ()


def test_a_hybrid_is_started_with_both_and_kimi_linear_with_one():
    asked = {"prompt": 2048, "output": 256, "gpus": 4}
    plan = plan_serving(NEXT, "dgx-h200", **asked)[0].plan
    for software in SERVED:
        assert any("Qwen3NextForCausalLM" in line for line in emit(plan, software).to_add)
    kimi = plan_serving(MODELS["Kimi Linear 48B-A3B"], "dgx-h200", **asked)[0].plan
    assert emit(kimi, "vllm").commands
    with pytest.raises(LaunchError, match="kimi-delta"):
        emit(kimi, "trtllm")


def test_the_data_of_a_model_have_its_state_its_cache_and_its_active_parameters():
    record = plan_serving(NEXT, "dgx-h200", prompt=2048, output=256, gpus=4).json()["checkpoint"]
    assert record == model_record(NEXT)
    assert (record["state_layers"], record["state_bytes"]) == (36, sequence_state_bytes(NEXT))
    assert record["cache_bytes_per_token"] == kv_bytes_per_token(NEXT)
    assert record["active_parameters"] == active_parameters(NEXT)
    assert "36 of 48 layers keep a state, 77.3 MB of a sequence" in model_words(NEXT, "bf16")
    plain = model_record(models["llama3-8b"])
    assert (plain["state_layers"], plain["state_bytes"]) == (0, 0)
    assert "state" not in model_words(models["llama3-8b"], "bf16")


def test_modules_for_multi_token_prediction_are_counted_where_they_are_used():
    v3 = models["deepseek-v3"]
    assert "are not counted" in model_words(v3, "fp8")
    assert "are counted beside these" in model_words(v3, "fp8", mtp=True)
    assert "multi-token" not in model_words(models["llama3-8b"], "bf16", mtp=True)
    asked = {"prompt": 2048, "output": 256}
    drafts = {how: question_of(v3, "dgx-h200", speculate=how, **asked) for how in (None, "mtp:1", "eagle3:1@0.7")}
    assert [question.counts_mtp for question in drafts.values()] == [False, True, False]
    trained = [plan(v3, "superpod-h100-4su", B=2**22, mtp=mtp).task.counts_mtp for mtp in (True, False)]
    assert trained == [True, False]
    assert not plan(models["llama3-8b"], "dgx-h100", B=2**20).task.counts_mtp


def test_what_lists_compressed_keys_is_named():
    flash = models["deepseek-v4-flash"]
    for software, where in (("vllm", "API pages"), ("trtllm", "Blackwell alone")):
        (words,) = served_words(flash, software)
        assert where in words
        assert "DeepseekV4ForCausalLM" in words
