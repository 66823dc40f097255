"""Models of `config.json` files: real ones to the last parameter, and no field that is passed over in silence."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from hwlib.planner import Allowed, PlanError, plan
from hwlib.planner.task import model_of
from hwlib.specs import Model, SpecError, models, read_config
from hwlib.specs.config_aliases import READERS
from hwlib.specs.mixed_architectures import MIXED
from hwlib.transformer import (
    active_parameters,
    attention_parameters,
    attention_step_flops,
    kv_bytes_per_token,
    matmul_parameters,
    mtp_parameters,
    parameter_count,
)
from hwlib.transformer.checkpoint_words import model_record
from tests.conftest import ROOT
from tests.each import each

FILES = Path(__file__).parent / "data" / "configs"
PUBLISHED = tomllib.loads((FILES / "published.toml").read_text("utf-8"))
LLAMA = {
    "model_type": "llama",
    "hidden_size": 2048,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 8192,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": True,
}
# Fields of files that are not kept here, with the parameters that the Hub, the paper or the model's card prints.
TOLD = {
    "Llama 3.2 1B": (1_235_814_400, LLAMA),
    "Falcon 7B": (6_921_720_704, {
        "model_type": "falcon", "hidden_size": 4544, "num_attention_heads": 71, "num_hidden_layers": 32,
        "num_kv_heads": 71, "multi_query": True, "new_decoder_architecture": False, "vocab_size": 65024}),
    "BLOOM": (176_247_271_424, {
        "model_type": "bloom", "n_embed": 14336, "n_layer": 70, "num_attention_heads": 112, "vocab_size": 250880}),
    "Pythia 6.9B": (6_857_302_016, {
        "model_type": "gpt_neox", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "intermediate_size": 16384, "max_position_embeddings": 2048, "vocab_size": 50432, "rotary_pct": 0.25}),
    "Gemma 2B": (2_506_172_416, {
        **LLAMA, "model_type": "gemma", "num_hidden_layers": 18, "num_attention_heads": 8, "num_key_value_heads": 1,
        "intermediate_size": 16384, "vocab_size": 256000, "tie_word_embeddings": None}),
    "SmolLM3": (3_075_098_624, {
        **LLAMA, "model_type": "smollm3", "num_hidden_layers": 36, "num_attention_heads": 16,
        "num_key_value_heads": 4, "intermediate_size": 11008}),
    "OLMo 2 7B": (7_298_617_344, {
        **LLAMA, "model_type": "olmo2", "hidden_size": 4096, "num_hidden_layers": 32, "num_key_value_heads": 32,
        "intermediate_size": 11008, "vocab_size": 100352, "tie_word_embeddings": False}),
    "phi-4": (14_659_507_200, {
        **LLAMA, "model_type": "phi3", "hidden_size": 5120, "num_hidden_layers": 40, "num_attention_heads": 40,
        "num_key_value_heads": 10, "intermediate_size": 17920, "vocab_size": 100352, "tie_word_embeddings": False}),
    "Qwen1.5 MoE A2.7B": (14_315_784_192, {
        **LLAMA, "model_type": "qwen2_moe", "num_hidden_layers": 24, "num_attention_heads": 16,
        "num_key_value_heads": 16, "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632,
        "num_experts": 60, "num_experts_per_tok": 4, "vocab_size": 151936, "tie_word_embeddings": False}),
    "DeepSeek-V2-Lite": (15_706_484_224, {
        **LLAMA, "model_type": "deepseek_v2", "num_hidden_layers": 27, "num_attention_heads": 16,
        "num_key_value_heads": 16, "intermediate_size": 10944, "moe_intermediate_size": 1408, "n_routed_experts": 64,
        "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1, "q_lora_rank": None,
        "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "vocab_size": 102400, "topk_method": "greedy", "tie_word_embeddings": False}),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_file_gives_the_published_count_to_the_last_parameter(name):
    row, model = PUBLISHED[name], read_config(FILES / f"{name}.json")
    assert parameter_count(model) + (mtp_parameters(model) if row.get("mtp") else 0) == row["parameters"]
    if row["counted"] == "index":
        assert row["parameters"] * row["bytes"] == row["total_size"]
    assert all(row[field] for field in ("repository", "revision", "licence", "counted"))


def test_twelve_files_of_twelve_architectures_are_kept():
    kinds = [json.loads(file.read_text("utf-8"))["model_type"] for file in sorted(FILES.glob("*.json"))]
    assert {file.stem for file in FILES.glob("*.json")} == set(PUBLISHED)
    assert len(set(kinds)) == len(kinds) == 12
    assert set(kinds) <= set(READERS)


def test_the_page_lists_the_architectures():
    (listed,) = re.findall(r"field `model_type`: (.*)\.\n", (ROOT / "docs" / "planning.md").read_text("utf-8"))
    page = (ROOT / "docs" / "planning.md").read_text("utf-8")
    (mixed,) = re.findall(r"Of models whose layers differ: (.*?): ", page)
    assert mixed.split(", ") == sorted(MIXED)
    assert listed.split(", ") == sorted(set(READERS) - {"RefinedWeb", "RefinedWebModel"} - set(MIXED))


@each("name", TOLD)
def test_other_published_counts_follow_from_the_fields_of_their_files(name):
    count, fields = TOLD[name]
    assert parameter_count(Model.of_config(fields, name)) == count


def test_a_checkpoint_of_falcon_180b_holds_its_tied_table_twice():
    fields = {
        "model_type": "falcon",
        "hidden_size": 14848,
        "num_attention_heads": 232,
        "num_hidden_layers": 80,
        "num_kv_heads": 8,
        "new_decoder_architecture": True,
        "vocab_size": 65024,
    }
    model = Model.of_config(fields, "Falcon 180B")
    assert model.tied
    assert parameter_count(model) + model.vocab * model.width == 179_522_565_120


@each("key", {"qwen3-8b": "qwen3-8b", "gpt-oss-120b": "gpt-oss-120b", "deepseek-v3": "deepseek-v3"})
def test_a_file_and_the_row_of_the_table_are_one_model(key):
    ours, row = read_config(FILES / f"{key}.json"), models[key]
    for what in (parameter_count, mtp_parameters, active_parameters, matmul_parameters, kv_bytes_per_token):
        assert what(ours) == what(row), what
    assert attention_step_flops(ours, 8192, 8192) == attention_step_flops(row, 8192, 8192)


def test_windows_are_of_the_layers_that_the_file_names():
    olmo, oss = (read_config(FILES / f"{name}.json") for name in ("olmo-3.1-32b-instruct", "gpt-oss-120b"))
    assert (olmo.window, olmo.window_layers, oss.window, oss.window_layers) == (4096, 48, 128, 18)
    qwen = {**LLAMA, "model_type": "qwen2", "sliding_window": 4096, "max_window_layers": 12}
    assert Model.of_config(qwen, "q").window_layers == 0
    assert Model.of_config(qwen | {"use_sliding_window": True}, "q").window_layers == 4
    mistral = {**LLAMA, "model_type": "mistral", "sliding_window": 4096}
    assert Model.of_config(mistral, "m").window_layers == 16
    gemma = {**LLAMA, "model_type": "gemma3_text", "num_hidden_layers": 26, "sliding_window": 512}
    assert Model.of_config(gemma, "g").window_layers == 22


def test_latent_attention_without_compressed_queries_has_one_matrix_for_them():
    lite = Model.of_config(TOLD["DeepSeek-V2-Lite"][1], "lite")
    compressed = lite.replace(q_lora=512)
    assert attention_parameters(lite) - 2048 * 16 * 192 == (
        attention_parameters(compressed) - 512 * (2048 + 16 * 192) - 512
    )


def test_layers_without_experts_are_counted_where_they_stand():
    fields = TOLD["Qwen1.5 MoE A2.7B"][1]
    assert Model.of_config(fields | {"decoder_sparse_step": 2}, "q").dense_layers == 12
    assert Model.of_config(fields | {"mlp_only_layers": [0, 5]}, "q").dense_layers == 2
    lite = TOLD["DeepSeek-V2-Lite"][1]
    assert Model.of_config(lite | {"moe_layer_freq": 2}, "l").dense_layers == 14  # the first, and every other
    assert Model.of_config(lite | {"decoder_sparse_step": 1}, "l").dense_layers == 1
    with pytest.raises(SpecError, match="decoder_sparse_step: expected 1"):
        Model.of_config(lite | {"decoder_sparse_step": 2}, "l")


@each("first", [26, 27, 100])
def test_a_model_of_whose_layers_few_or_none_have_experts_is_described(first):
    lite = Model.of_config(TOLD["DeepSeek-V2-Lite"][1] | {"first_k_dense_replace": first}, "l")
    assert lite.moe_layers == max(27 - first, 0)
    assert model_record(lite)["mtp_parameters"] == 0
    assert mtp_parameters(lite.replace(mtp_layers=1)) > attention_parameters(lite)


@each(
    "changed",
    [
        ({"model_type": "mamba2"}, r"config\.json: unknown model_type 'mamba2'"),
        ({"model_type": "llama9", "text_config": {}}, "'llama9'; by its fields it is nearest to llama"),
        ({"model_type": None}, "model_type missing; expected one of .*llama"),
        ({"vocab_size": None}, "vocab_size missing; expected a whole number of at least 1"),
        ({"vocab_size": "many"}, "vocab_size: expected a whole number of at least 1, got 'many'"),
        ({"num_hidden_layers": True}, "num_hidden_layers: .* got True"),
        ({"num_hidden_layers": 8193}, "layers is at most 8,192, got 8193"),
        ({"num_hidden_layers": 10**20}, "num_hidden_layers: expected .* and below 2\\^53, got 10"),
        ({"num_attention_heads": 30}, "hidden_size: expected a multiple of the 30 heads.* got 2048"),
        ({"num_key_value_heads": 5}, "kv_heads is a divisor of the 32 heads, got 5"),
        ({"mlp_bias": 1}, "mlp_bias: expected true or false, got 1"),
        ({"vision_config": {"depth": 24}}, "vision_config = .* is not understood.* expected.*hidden_size"),
        ({"layers_with_a_second_mlp": [3]}, r"layers_with_a_second_mlp = \[3\] is not understood"),
        ({"architectures": ["LlamaForSequenceClassification"]}, "architectures: expected .*ForCausalLM"),
        ({"is_encoder_decoder": True}, "is_encoder_decoder: expected False.* got True"),
        ({"model_type": "phi", "qk_layernorm": True}, "qk_layernorm: expected False.* got True"),
        ({"model_type": "qwen2", "num_key_value_heads": None}, "num_key_value_heads missing"),
        ({"model_type": "deepseek_v3"}, "kv_lora_rank missing"),
        ({"model_type": "exaone4", "sliding_window": 4096}, "layer_types missing"),
        ({"model_type": "olmo3", "sliding_window": 4096, "layer_types": ["full_attention"]}, "layer_types: .* 16 of"),
        (
            {"model_type": "gpt_oss", "num_local_experts": 4, "num_experts_per_tok": 1, "experts_per_token": 2},
            "experts_per_token: expected 1 as num_experts_per_tok, got 2",
        ),
        ({"model_type": "mpt", "d_model": 2048, "attn_config": {"qk_ln": True}}, "attn_config: qk_ln: "),
    ],
)
def test_what_is_not_understood_is_named_with_its_value(changed):
    fields, says = changed
    with pytest.raises(SpecError, match=says):
        Model.of_config(LLAMA | fields, "mine")


@each(
    "fields", [{"rope_scaling": {"factor": 8}}, {"some_new_field": None}, {"another": False}, {"eos_token_id": [1, 2]}]
)
def test_fields_that_no_parameter_follows_from_are_no_error(fields):
    assert parameter_count(Model.of_config(LLAMA | fields, "mine")) == 1_235_814_400


def test_the_planner_takes_a_file_or_its_folder(tmp_path):
    folder = tmp_path / "My-Model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA), "utf-8")
    for path in (folder, folder / "config.json"):
        model = model_of(str(path))
        assert (model.name, model.key, model.published_parameters) == ("My-Model", "my-model", 0)
    assert models.of(str(folder)) == read_config(folder)
    (folder / "config.json").write_text(json.dumps(LLAMA), "utf-8-sig")
    assert read_config(folder) == model_of(str(folder))
    (folder / "config.json").write_text("[]", "utf-8")
    with pytest.raises(PlanError, match=r"model: .*config\.json: expected .* an object of fields, got list"):
        model_of(str(folder))
    (folder / "config.json").write_text("{", "utf-8")
    with pytest.raises(PlanError, match=r"config\.json: expected .* JSON: .*line 1"):
        model_of(str(folder))
    with pytest.raises(PlanError, match=r"Qwen/Qwen3-8B: .*not fetched"):
        model_of("Qwen/Qwen3-8B")


@each("name", PUBLISHED)
def test_every_published_file_has_a_plan(name):
    simple = Allowed(cp=1, pp=(1, 8), micro=1, zero=1, schedule="1f1b", recompute=("none", "full"), v=1)
    found = plan(
        str(FILES / f"{name}.json"), "128 x dgx-b200", B=1024 * 2048, T=1024, gpus=1024, allowed=simple, count=1
    )
    assert found[0].gpus == 1024
    assert 0 < found[0].mfu < 1
