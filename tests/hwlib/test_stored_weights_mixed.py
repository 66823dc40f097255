"""Bytes of checkpoints whose layers are not all attention: states, indexers, experts of a width of their own."""

import json
from pathlib import Path

import pytest

from hwlib.serving_planner import question_of
from hwlib.serving_planner.layouts import layouts, server_of
from hwlib.specs import Model
from hwlib.specs.module_names import IN_A_LAYER
from hwlib.transformer import mixer_matrices, parameter_count
from hwlib.transformer.layer_matrices import sublayers
from hwlib.transformer.stored_weights import formats, stored_parts, stored_weight_bytes
from tests.each import each

FILES = json.loads((Path(__file__).parent / "data" / "mixed_layers.json").read_text("utf-8"))
CONFIGS = {name: row["config"] for name, row in FILES.items()}
FP8 = {"quant_method": "fp8", "weight_block_size": [128, 128]}
NVFP4 = {"quant_method": "modelopt", "quant_algo": "NVFP4"}
NANO = next(name for name in CONFIGS if name.startswith("Nemotron 3 Nano"))
NEXT = "Qwen3-Next 80B-A3B"


def stored_as(name, quantised):
    return Model.of_config(CONFIGS[name] | {"quantization_config": quantised}, name)


@each("name", CONFIGS)
def test_a_quantised_model_of_mixed_layers_has_between_four_and_sixteen_bits_a_parameter(name):
    plain = Model.of_config(CONFIGS[name], name)
    parameters = parameter_count(plain)
    assert stored_weight_bytes(plain) == 2 * parameters
    for quantised, least, most in ((FP8, 8, 10.5), (NVFP4, 4.5, 8.5)):
        model = stored_as(name, quantised)
        assert min(stored_parts(model)) >= 0
        assert least < 8 * stored_weight_bytes(model) / parameters < most
        if model.mtp_layers:
            assert stored_weight_bytes(model) < stored_weight_bytes(model, mtp=True)


@each("name", CONFIGS)
def test_matrices_are_all_of_a_model_but_for_what_is_none(name):
    model = Model.of_config(CONFIGS[name], name)
    layers = list(sublayers(model))
    counted = sum(layer.elements for layer in layers)
    tables = model.vocab * model.width * (1 if model.tied else 2)
    assert 0.995 < (counted + tables) / parameter_count(model) < 1
    kinds = {matrix.kind for layer in layers for matrix in layer.matrices}
    assert kinds <= set(IN_A_LAYER)
    if model.mixer:
        assert [layer.elements for layer in layers].count(mixer_matrices(model)) >= model.state_layers


def test_blocks_that_are_numbered_by_themselves_are_left_out_by_their_own_number():
    blocks = CONFIGS[NANO]["hybrid_override_pattern"]
    experts = [i for i, block in enumerate(blocks) if block == "E"]
    attention = [i for i, block in enumerate(blocks) if block == "*"]
    states = [i for i, block in enumerate(blocks) if block == "M"]
    wide = stored_as(NANO, NVFP4 | {"exclude_modules": [f"backbone.layers.{i}.mixer*" for i in experts]})
    assert formats(wide)["experts"].plain
    assert not formats(wide)["attention"].plain
    narrow = stored_as(NANO, NVFP4 | {"exclude_modules": [f"backbone.layers.{i}" for i in attention + states]})
    assert formats(narrow)["attention"].plain
    assert not formats(narrow)["experts"].plain
    assert len(blocks) - 1 in {layer.number for layer in sublayers(narrow)}


@each(
    "names",
    [
        (["lm_head", "*.linear_attn.*"], True),
        (["lm_head", "model.layers.*.linear_attn.in_proj_ba"], False),
        (["lm_head", *[f"model.layers.{i}.linear_attn*" for i in range(48)]], True),
        (["lm_head", *[f"model.layers.{i}.self_attn*" for i in range(48)]], False),
    ],
)
def test_states_are_left_out_by_the_names_of_their_matrices(names):
    left_out, plain = names
    model = stored_as(NEXT, NVFP4 | {"exclude_modules": left_out})
    assert formats(model)["attention"].plain == plain
    assert not formats(model)["experts"].plain


def encoder_bytes(out):
    """Bytes in 16 bits of the encoder of images beside Qwen3.5 and 3.6, 27 layers of width 1152, and of its merger."""
    width, ffn, joined = 1152, 4304, 4 * 1152
    layer = 4 * width**2 + 2 * width * ffn + 9 * width + ffn
    merger = joined * (joined + out) + joined + out + 2 * width
    return 2 * (27 * layer + merger + 2 * 3 * 16**2 * width + width + 2304 * width)


INT4 = {"num_bits": 4, "type": "int", "group_size": 128, "strategy": "group", "symmetric": False}
STATES = [f"model.language_model.layers.{i}.linear_attn" for i in range(64) if (i + 1) % 4]
QWEN_36 = {
    "quant_method": "compressed-tensors",
    "format": "pack-quantized",
    "config_groups": {"group_0": {"targets": ["Linear"], "input_activations": None, "weights": INT4}},
    "ignore": ["lm_head", *STATES, *[f"{name}.in_proj_{part}" for name in STATES for part in "ab"]],
}
QWEN_9B = {
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "num_hidden_layers": 32,
    "num_attention_heads": 16,
    "linear_num_value_heads": 32,
    "layer_types": None,
}
# Changed fields of Qwen3.5 27B, how the weights are stored, bytes of the files, and whose
PUBLISHED = [
    ({}, QWEN_36, 18_698_467_264, "github.com/fantasylord/Qwen36 at 8a77d828, model.safetensors: Qwen3.6 27B"),
    (
        QWEN_9B,
        {"group_size": 64, "bits": 8, "mode": "affine"},
        10_426_433_504,
        "github.com/leo-kreisman/Qwen3.5-9B-MLX-8bit at 57b66137, total_size of its index",
    ),
]


@each("checkpoint", PUBLISHED)
def test_the_bytes_of_published_hybrids_follow_from_their_files(checkpoint):
    changed, quantised, published, source = checkpoint
    assert source
    model = Model.of_config(CONFIGS["Qwen3.5 27B"] | changed | {"quantization_config": quantised}, "m")
    images = encoder_bytes(model.width)
    assert stored_weight_bytes(model) + images == pytest.approx(published, rel=3e-4)


def test_a_server_of_a_quantised_hybrid_holds_the_bytes_of_its_checkpoint():
    model = stored_as(NANO, {"quant_method": "modelopt", "quant_algo": "FP8"})
    question = question_of(model, "dgx-b200", prompt=512, output=64)
    whole = next(server_of(question, layout) for layout in layouts(question) if layout.gpus == 1)
    assert whole.weight_bytes() == pytest.approx(stored_weight_bytes(model))
    assert parameter_count(model) < stored_weight_bytes(model) < 1.1 * parameter_count(model)
