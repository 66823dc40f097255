"""Configurations in wrappers, under other names and with fields of copies: their language model, or where it leads."""

import json
import random
from contextlib import suppress

import pytest

from hwlib.specs import Model, SpecError, read_config
from hwlib.specs.config_aliases import ALIASES, READERS, known_kind
from hwlib.specs.config_fields import Config
from hwlib.specs.config_kin import nearest_kin
from hwlib.specs.config_parts import DEEPEST, LANGUAGE, size_words
from hwlib.transformer import active_parameters, mtp_parameters, parameter_count
from tests.each import each
from tests.hwlib.test_hf_config import LLAMA

VISION = {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "model_type": "qwen3_vl"}
# Qwen3-VL 8B: the text is Qwen3 8B, 8,190,735,360 parameters
TEXT = {
    "attention_bias": False,
    "head_dim": 128,
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "max_position_embeddings": 262144,
    "model_type": "qwen3_vl_text",
    "num_attention_heads": 32,
    "num_hidden_layers": 36,
    "num_key_value_heads": 8,
    "vocab_size": 151936,
}
WRAPPER = {
    "model_type": "qwen3_vl",
    "architectures": ["Qwen3VLForConditionalGeneration"],
    "text_config": TEXT,
    "tie_word_embeddings": False,
    "vision_config": VISION,
    "image_token_id": 151655,
}
EIGHT = 8_190_735_360
MINIMAX = {
    "model_type": "minimax_m2",
    "num_hidden_layers": 62,
    "hidden_size": 3072,
    "num_attention_heads": 48,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "intermediate_size": 1536,
    "vocab_size": 200064,
    "num_experts_per_tok": 8,
    "num_local_experts": 256,
    "max_position_embeddings": 196608,
    "use_qk_norm": True,
    "qk_norm_type": "per_layer",
    "use_routing_bias": True,
    "use_mtp": True,
    "num_mtp_modules": 3,
    "mtp_transformer_layers": 1,
    "shared_intermediate_size": 0,
    "attn_type_list": [1] * 62,
}
SCOUT = {
    "model_type": "llama4_text",
    "attention_chunk_size": 8192,
    "head_dim": 128,
    "hidden_size": 5120,
    "interleave_moe_layer_step": 1,
    "intermediate_size": 8192,
    "intermediate_size_mlp": 16384,
    "max_position_embeddings": 10485760,
    "num_attention_heads": 40,
    "num_experts_per_tok": 1,
    "num_hidden_layers": 48,
    "num_key_value_heads": 8,
    "num_local_experts": 16,
    "use_qk_norm": True,
    "vocab_size": 202048,
}
PHI = {
    "model_type": "phi-msft",
    "architectures": ["PhiForCausalLM"],
    "n_embd": 2560,
    "n_head": 32,
    "n_head_kv": None,
    "n_inner": None,
    "n_layer": 32,
    "n_positions": 2048,
    "resid_pdrop": 0.1,
    "rotary_dim": 32,
    "vocab_size": 51200,
    "flash_rotary": False,
    "img_processor": None,
    "layer_norm_epsilon": 1e-05,
    "tie_word_embeddings": False,
}


def of(fields):
    return Model.of_config(fields, "mine")


@each("part", LANGUAGE)
def test_the_language_model_of_a_wrapper_is_read_by_itself_and_what_it_leaves_out_is_told(part):
    fields = {**WRAPPER, part: TEXT} if part == "text_config" else {**WRAPPER, "text_config": None, part: TEXT}
    model = of(fields)
    assert parameter_count(model) == EIGHT
    (vision,) = model.beside
    least = 27 * (4 * 1152**2 + 2 * 1152 * 4304)
    assert vision == f"vision_config (27 layers of width 1,152, at least {least:,} parameters)"
    assert of(TEXT).beside == ()


def test_wrappers_within_wrappers_are_opened_and_each_tells_what_it_leaves_out():
    inner = {"text_config": TEXT, "audio_config": {"num_hidden_layers": 2, "d_model": 8, "encoder_ffn_dim": 32}}
    omni = {"model_type": "qwen3_omni_moe", "thinker_config": inner, "talker_config": {"hidden_size": 1024}}
    model = of(omni)
    assert parameter_count(model) == parameter_count(of(TEXT))
    assert [words.split()[0] for words in model.beside] == ["talker_config", "audio_config"]
    for depth, read in ((DEEPEST - 1, True), (DEEPEST, False)):
        nested = TEXT
        for _ in range(depth):
            nested = {"text_config": nested}
        if read:
            assert parameter_count(of(nested)) == EIGHT
        else:
            with pytest.raises(SpecError, match="wrappers"):
                of(nested)


@each(
    "wrong",
    [
        ({"memory_tokens": 16}, "memory_tokens"),
        ({"llm_config": TEXT}, "llm_config"),
        ({"text_config": "qwen3"}, "text_config"),
        ({"text_config": {**TEXT, "tie_word_embeddings": True}}, "tie_word_embeddings"),
        ({"text_config": {**TEXT, "vocab_size": 1}, "vocab_size": 2}, "vocab_size"),
        ({"text_config": {**TEXT, "layers_with_a_second_mlp": [3]}}, "text_config: layers_with_a_second_mlp"),
    ],
)
def test_a_field_of_a_wrapper_that_is_not_understood_is_named(wrong):
    fields, name = wrong
    with pytest.raises(SpecError, match=name):
        of(WRAPPER | fields)


def test_what_a_wrapper_says_holds_of_its_language_model():
    assert not of(WRAPPER).tied
    assert of(WRAPPER | {"tie_word_embeddings": True}).tied
    nameless = {name: value for name, value in TEXT.items() if name != "model_type"}
    assert parameter_count(of(WRAPPER | {"text_config": nameless})) == EIGHT
    with pytest.raises(SpecError, match="vocab_size missing"):
        of(WRAPPER | {"text_config": {name: value for name, value in TEXT.items() if name != "vocab_size"}})


def test_what_a_wrapper_leaves_out_is_that_of_the_class():
    gemma = {"hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024}
    model = of(
        {"model_type": "gemma3", "text_config": gemma | {"model_type": "gemma3_text"}, "mm_tokens_per_image": 256}
    )
    assert parameter_count(model) == 3_880_263_168  # 4.30 B with the part for images
    vicuna = {"model_type": "llama", "max_position_embeddings": 4096, "vocab_size": 32064}
    assert parameter_count(of({"model_type": "llava", "text_config": vicuna, "image_token_index": 32000})) == (
        6_738_415_616 + 2 * 64 * 4096
    )
    with pytest.raises(SpecError, match="hidden_size missing"):
        of(vicuna)


def test_a_model_whose_vision_stands_among_its_own_fields_is_read_where_its_type_does_so():
    fields = LLAMA | {"model_type": "qwen2_vl", "architectures": ["Qwen2VLForConditionalGeneration"]}
    model = of(
        fields
        | {"vision_config": {"depth": 32, "embed_dim": 1280, "hidden_size": 2048, "mlp_ratio": 4}, "vision_token_id": 3}
    )
    assert (parameter_count(model), model.biases) == (parameter_count(of(LLAMA | {"model_type": "qwen2"})), "qkv")
    assert model.beside[0].startswith("vision_config (32 layers of width 1,280, at least 629,145,600")
    with pytest.raises(SpecError, match="vision_config"):
        of(LLAMA | {"vision_config": {"depth": 24}})


@each("part", [({}, "v"), ({"depth": "x", "hidden_size": 3}, "v"), ({"depth": 2, "hidden_size": True}, "v")])
def test_a_part_whose_size_is_not_told_is_named_alone(part):
    fields, name = part
    assert size_words(name, fields) == name


def test_published_counts_of_other_names():
    minimax, scout, phi = of(MINIMAX), of(SCOUT), of(PHI)
    assert parameter_count(minimax) == 228_689_764_864  # 229 B on the Hub
    assert mtp_parameters(minimax) > 3 * parameter_count(minimax) / 63
    assert parameter_count(scout) == 107_769_861_120  # 109 B with the part for images, 17 B a token
    assert round(active_parameters(scout) / 1e9) == 17
    maverick = of(SCOUT | {"interleave_moe_layer_step": 2, "num_local_experts": 128})
    assert round(parameter_count(maverick) / 1e9) == 401  # 400 B, 17 B a token
    assert round(active_parameters(maverick) / 1e9) == 17
    assert parameter_count(phi) == 2_779_683_840  # the same as in the file without legacy names
    for wrong in ({"attn_type_list": [0] * 62}, {"qk_norm_type": "per_head"}, {"shared_intermediate_size": 8}):
        with pytest.raises(SpecError, match=next(iter(wrong))):
            of(MINIMAX | wrong)


def test_an_alias_reads_what_it_stands_for():
    for alias, kind in ALIASES.items():
        assert known_kind(kind) in READERS, alias
        assert alias not in READERS, alias
    qwen = LLAMA | {"model_type": "qwen3_moe", "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64}
    assert of(qwen | {"use_qk_norm": True}).qk_norm
    with pytest.raises(SpecError, match="use_qk_norm"):
        of(qwen | {"use_qk_norm": False})


@each(
    "key",
    [
        {"sliding_window": 4096, "sliding_window_size": 4096},
        {"_commit_hash": "a1b2", "attn_implementation": "sdpa"},
        {"model_max_length": 4096, "eos_token": "</s>", "base_model": "m"},
    ],
)
def test_fields_that_copies_add_are_harmless(key):
    for kind in ("mistral", "gemma2"):
        fields = LLAMA | {"model_type": kind}
        assert parameter_count(of(fields | key)) == parameter_count(of(fields))
    with pytest.raises(SpecError, match="sliding_window_size"):
        of(LLAMA | {"model_type": "mistral", "sliding_window": 4096, "sliding_window_size": 1024})


@each(
    "fields",
    [
        # a known type under another name, one that needs more, and one with parts of its own
        (TEXT | {"model_type": "llama_of_tomorrow"}, "qwen3", ()),
        (MINIMAX | {"model_type": "llama5", "index_topk": 2048}, "minimax_m2", ("index_topk",)),
        (
            LLAMA
            | {
                "model_type": "qwen9",
                "kv_lora_rank": 512,
                "q_lora_rank": 8,
                "qk_nope_head_dim": 128,
                "qk_rope_head_dim": 64,
                "v_head_dim": 128,
                "n_routed_experts": 8,
                "num_experts_per_tok": 2,
                "moe_intermediate_size": 8,
                "index_topk": 2048,
            },
            "deepseek_v2",
            ("index_topk",),
        ),
    ],
)
def test_an_unknown_type_leads_on_to_the_one_nearest_by_structure(fields):
    config, kind, unread = fields
    kin = nearest_kin(Config("c", {**config}), READERS)
    assert kin.unread == unread
    alike = nearest_kin(Config("c", {**config, "model_type": kind}), {kind: READERS[kind]})
    assert kin.distance == alike.distance
    with pytest.raises(SpecError) as error:
        of(config)
    assert f"nearest to {kin.kind}" in str(error.value)
    assert all(name in str(error.value) for name in unread)


def test_a_refusal_names_what_the_nearest_type_needs():
    with pytest.raises(SpecError, match=r"unknown model_type 'other'; .* needs .*vocab_size"):
        of({"model_type": "other", "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2})
    with pytest.raises(SpecError, match="model_type missing"):
        of({"hidden_size": 8})


def test_hostile_and_cut_files_end_in_a_sentence():
    rng = random.Random(3)
    odd = [None, True, -1, 0, 2**70, 1e400, float("nan"), "x" * 10_000, [], [[]], {}, {"a": {}}, "\n", ["a"], [1] * 62]
    files = [WRAPPER, MINIMAX, SCOUT, PHI, LLAMA]
    for _ in range(600):
        fields = json.loads(json.dumps(rng.choice(files)))
        holder = fields["text_config"] if "text_config" in fields and rng.random() < 0.6 else fields
        for _ in range(rng.randint(1, 3)):
            name = rng.choice([*holder, *LANGUAGE, "vision_config", "model_type", "quantization_config"])
            holder[name] = rng.choice(odd)
            if holder is not fields and rng.random() < 0.2:
                fields["text_config"] = rng.choice(odd)
        with suppress(SpecError):
            of(fields)


def test_a_cut_file_ends_in_a_sentence(tmp_path):
    path, text = tmp_path / "config.json", json.dumps(WRAPPER)
    for content in (text[: len(text) // 2], "", "[" * 100_000, '{"a": ' * 100_000, "null"):
        path.write_text(content, "utf-8")
        with pytest.raises(SpecError, match=r"config\.json: expected"):
            read_config(path)
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(SpecError, match=r"config\.json: expected"):
        read_config(path)


def test_the_size_of_what_joins_images_to_the_text_is_not_the_language_models():
    # The class of Kimi K2.5 in Transformers writes it beside both parts.
    joined = {**WRAPPER, "projection_hidden_size": 1152, "projection_layer_norm_eps": 1e-5}
    assert parameter_count(Model.of_config(joined, "joined")) == EIGHT
    with pytest.raises(SpecError, match="projection_layers"):
        Model.of_config({**joined, "projection_layers": 2}, "joined")
