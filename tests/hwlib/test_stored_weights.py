"""Bytes of checkpoints by the formats that their files say, beside the sizes that are published."""

import json

import pytest

from hwlib.serving_planner import question_of
from hwlib.serving_planner.layouts import layouts, server_of
from hwlib.specs import Model, models
from hwlib.specs.module_names import IN_A_LAYER, NamePatterns, names_in
from hwlib.specs.weight_format import NVFP4, WeightFormat, integers
from hwlib.transformer import parameter_count
from hwlib.transformer.stored_weights import formats, stored_parts, stored_weight_bytes
from tests.each import each
from tests.hwlib.test_hf_config import FILES, LLAMA
from tests.hwlib.test_quantisation import AWQ, FP8

V3 = json.loads((FILES / "deepseek-v3.json").read_text("utf-8"))
OSS = json.loads((FILES / "gpt-oss-120b.json").read_text("utf-8"))
LLAMA2 = {
    "model_type": "llama",
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_attention_heads": 64,
    "num_hidden_layers": 80,
    "num_key_value_heads": 8,
    "vocab_size": 32000,
    "max_position_embeddings": 4096,
}
MIXTRAL = {
    "model_type": "mixtral",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "vocab_size": 32002,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
    "max_position_embeddings": 32768,
}
QWEN = {
    "model_type": "qwen3",
    "hidden_size": 5120,
    "intermediate_size": 25600,
    "num_attention_heads": 64,
    "head_dim": 128,
    "num_hidden_layers": 64,
    "num_key_value_heads": 8,
    "vocab_size": 151936,
    "max_position_embeddings": 40960,
}
QWEN_MOE = {
    "model_type": "qwen3_moe",
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "num_attention_heads": 32,
    "num_hidden_layers": 48,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "vocab_size": 151936,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "moe_intermediate_size": 768,
    "max_position_embeddings": 262144,
}
OSS_20 = OSS | {"num_hidden_layers": 24, "num_local_experts": 32, "layer_types": OSS["layer_types"][:24]}
DOLPHIN = "huggingface.co/TheBloke/dolphin-2.5-mixtral-8x7b-GPTQ, its card (GB, two digits behind the point)"


def gptq(bits, group):
    return {"quant_method": "gptq", "bits": bits, "group_size": group, "desc_act": True, "sym": True}


def packed(bits, group, **others):
    weights = {"num_bits": bits, "type": "int", "group_size": group, "strategy": "group", "symmetric": True}
    groups = {"group_0": {"targets": ["Linear"], "input_activations": None, "weights": weights}}
    return {"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": groups, **others}


# Fields, how the weights are stored, the published bytes, and who printed them
PUBLISHED = [
    (V3, V3["quantization_config"], 688_586_727_753, "deepseek-ai/DeepSeek-V3 at afb92e1f, all its safetensors files"),
    (OSS, OSS["quantization_config"], 65_248_815_744, "openai/gpt-oss-120b, total_size of its index"),
    (OSS_20, OSS["quantization_config"], 13_761_264_768, "openai/gpt-oss-20b, total_size of its index"),
    (QWEN, FP8, 34_335_541_248, "Qwen/Qwen3-32B-FP8, total_size of its index (its files: 34,322,567,640)"),
    (LLAMA2, AWQ, 36.61e9, "huggingface.co/TheBloke/Synthia-70B-v1.2b-AWQ, its card"),
    (MIXTRAL, gptq(4, -1), 23.81e9, DOLPHIN),
    (MIXTRAL, gptq(4, 128), 24.70e9, DOLPHIN),
    (MIXTRAL, gptq(4, 32), 27.42e9, DOLPHIN),
    (MIXTRAL, gptq(3, 128), 18.85e9, DOLPHIN),
    (MIXTRAL, gptq(8, -1), 47.04e9, DOLPHIN),
    (MIXTRAL, gptq(8, 128), 48.10e9, DOLPHIN),
    (
        QWEN_MOE,
        packed(4, 32, ignore=["lm_head", "re:.*mlp.gate$"]),
        18_094_507_352,
        "cyankiwi/Qwen3-30B-A3B-Instruct-2507-AWQ-4bit at 84455dc6, its four files; what it leaves out is typed",
    ),
    (
        V3,
        AWQ | {"group_size": 64},
        364_589_799_936,
        "github.com/kvcache-ai/sglang_awq, model.safetensors.index.json, total_size; its group is typed",
    ),
    (
        QWEN | {"hidden_size": 4096, "intermediate_size": 12288, "num_attention_heads": 32, "num_hidden_layers": 36},
        None,
        16_381_516_776,
        "Qwen/Qwen3-8B, its five files",
    ),
]


@each("checkpoint", PUBLISHED)
def test_the_bytes_of_a_published_checkpoint_follow_from_its_files(checkpoint):
    fields, stored, published, source = checkpoint
    assert source
    model = Model.of_config(fields | {"quantization_config": stored}, "m")
    assert stored_weight_bytes(model, "afb92e1f" in source, copied_tables=True) == pytest.approx(published, rel=0.0015)


def test_parts_are_all_of_a_checkpoint_and_16_or_32_bits_where_nothing_is_quantised():
    for key in models:
        assert stored_weight_bytes(key) == 2 * parameter_count(key)
    wide = Model.of_config(LLAMA | {"torch_dtype": "float32"}, "m")
    assert stored_weight_bytes(wide) == 4 * parameter_count(wide)
    model = Model.of_config(V3, "m")
    assert sum(stored_parts(model)) == stored_parts(model).total == stored_weight_bytes(model)
    assert stored_weight_bytes(Model.of_config(LLAMA | {"torch_dtype": "bfloat16"}, "m")) == 2 * parameter_count(wide)


@each(
    "left_out",
    [
        (["model.layers.*.self_attn*"], {"attention"}),
        (
            ["re:.*self_attn.*", "re:.*shared_experts.*", r"re:.*mlp\.(gate|up|gate_up|down)_proj.*"],
            {"attention", "shared_experts", "mlp"},
        ),
        (["language_model.model.layers.%d.self_attn*" % layer for layer in range(61)], {"attention"}),  # noqa: UP031
        (["self_attn"], {"attention"}),
        (["gate", "lm_head"], set()),  # the router, and not gate_proj
        ([f"model.layers.{layer}.mlp.experts" for layer in range(61)], {"experts"}),
        ([f"model.layers.{layer}.mlp" for layer in range(61)], {"mlp", "experts", "shared_experts"}),
        (["*.mlp.shared_experts.*"], {"shared_experts"}),
        (["model.layers.1*"], set()),  # 11 layers of 61
    ],
)
def test_layers_that_are_left_out_stay_in_16_bits(left_out):
    names, plain = left_out
    config = {"quant_method": "modelopt", "quant_algo": "NVFP4", "exclude_modules": names}
    model = Model.of_config(V3 | {"quantization_config": config}, "m")
    assert {part for part, form in formats(model).items() if form.plain} - {"rest"} == plain
    every = Model.of_config(V3 | {"quantization_config": config | {"exclude_modules": ["norm"]}}, "m")
    assert stored_weight_bytes(model) > stored_weight_bytes(every)


def test_gptq_leaves_out_what_its_rules_take_away():
    rules = {"-:.*self_attn.*": {}, "-:.*shared_expert.*": {}}
    stored = formats(Model.of_config(V3 | {"quantization_config": gptq(4, 128) | {"dynamic": rules}}, "m"))
    assert {part for part, form in stored.items() if form.plain} == {"attention", "shared_experts", "rest"}
    other = gptq(4, 128) | {"dynamic": {"+:.*down.*": {"bits": 8}}}
    assert not Model.of_config(V3 | {"quantization_config": other}, "m").quantisation.known


def test_a_layer_is_not_another_whose_number_begins_alike():
    one, ten = NamePatterns(["model.layers.1.mlp"]), NamePatterns(["model.layers.1*"])
    assert one.match(names_in(1, "up"))
    assert not one.match(names_in(10, "up"))
    assert ten.match(names_in(10, "up"))
    assert not ten.match(names_in(2, "up"))
    for kind in IN_A_LAYER:
        assert NamePatterns(["re:.*layers.*"]).match(names_in(0, kind))
        assert not NamePatterns(["re:.*visual.*", "visual", "visual*"]).match(names_in(0, kind))


def test_groups_of_other_formats_are_of_the_modules_that_they_name():
    layers = {
        f"model.layers.{n}.mlp.{name}_proj": {"quant_algo": "W4A16_NVFP4"}
        for n in range(16)
        for name in ("gate", "up", "down")
    }
    attention = {f"model.layers.{n}.self_attn.q_proj": {"quant_algo": "FP8"} for n in range(16)}
    config = {"quant_algo": "MIXED_PRECISION", "quantized_layers": layers | attention}
    model = Model.of_config(LLAMA | {"hf_quant_config.json": {"quantization": config}}, "m")
    assert str(formats(model)["mlp"]) == "nvfp4 in groups of 16"
    assert formats(model)["attention"].plain or formats(model)["attention"].bits == 8
    assert (model.quantisation.bits, model.quantisation.nearest) == (4, ("int4w",))
    mlp, wide = 3 * 2048 * 8192 * 16, parameter_count(model)
    assert stored_weight_bytes(model) == pytest.approx(2 * wide - mlp * 1.4375 - 16 * 2048**2, rel=1e-4)


def test_a_format_adds_up():
    assert WeightFormat("fp8", 8, rows=128, columns=128, beside=4).stored_bytes(129, 128) == 129 * 128 + 8
    assert NVFP4.stored_bytes(16, 32) == 16 * 32 / 2 + 16 * 2 + 8
    assert integers(4, 128, True).stored_bytes(2, 256) == 256 + 2 * 2 * 2.5
    assert integers(4, 0, False).stored_bytes(2, 256) == 256 + 2 * 2


@each(
    "case",
    [
        # how an 8B or a mixture is stored, the precision on H100, and a GPU's weights of all, in bytes a parameter
        (AWQ, "int4w", 0.52),
        (FP8, "fp8", 1.0),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}, "int4w", 0.5625),
    ],
)
def test_a_server_holds_the_bytes_of_its_checkpoint(case):
    config, dtype, each_parameter = case
    model = Model.of_config(LLAMA2 | {"quantization_config": config}, "m")
    question = question_of(model, "dgx-h100", prompt=512, output=64)
    assert question.dtype == dtype
    whole = next(server_of(question, layout) for layout in layouts(question) if layout.gpus == 1)
    assert whole.weight_bytes() == pytest.approx(stored_weight_bytes(model))
    tables = 2 * model.vocab * model.width
    assert whole.weight_bytes() == pytest.approx(
        each_parameter * (parameter_count(model) - tables) + 2 * tables, rel=0.005
    )
    asked = question_of(model, "dgx-h100", dtype="bf16", prompt=512, output=64)
    assert not asked.precisions.get("stored")
    assert "planned in bf16" in str(asked)


@each("cache", [("FP8", "dgx-h100", "fp8"), ("FP8", "dgx-a100", "bf16"), (None, "dgx-h100", "bf16")])
def test_the_cache_has_the_type_that_the_file_names(cache):
    name, node, kv_dtype = cache
    config = {"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_quant_algo": name}
    model = Model.of_config(LLAMA | {"quantization_config": config}, "m")
    assert question_of(model, node, prompt=512, output=64).kv_dtype == kv_dtype
