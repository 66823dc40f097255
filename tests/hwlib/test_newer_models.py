"""Architectures of 2025 and 2026 near older ones: counts of their classes, and fields that cannot be."""

import json
from pathlib import Path

import pytest

from hwlib.serving_planner import question_of
from hwlib.serving_planner.layouts import layouts, server_of
from hwlib.specs import Model, SpecError
from hwlib.specs.newer_architectures import NEWER
from hwlib.transformer import (
    active_parameters,
    chunked_mixer_flops,
    matmul_parameters,
    mixer_common_parameters,
    mixer_flops,
    mixer_parameters,
    mixer_shapes,
    parameter_count,
    sequence_state_bytes,
    step_flops,
)
from hwlib.transformer.layer_matrices import sublayers
from tests.conftest import ROOT
from tests.each import each

# Of each type the fields that its class in Transformers 5.24 writes by default, and what this counts on the meta
# device, with the router's bias where that is a buffer.
ROWS = json.loads((Path(__file__).parent / "data" / "newer.json").read_text("utf-8"))
NO_DEFAULT = {"dots1", "hunyuan_v1_dense"}
"""Types whose class has no shape of its own."""


def changed(kind, **fields):
    return Model.of_config({**ROWS[kind]["config"], **fields}, kind)


@each("kind", ROWS)
def test_the_count_is_that_of_the_class(kind):
    model = changed(kind)
    assert parameter_count(model) == ROWS[kind]["parameters"]
    assert matmul_parameters(model) < active_parameters(model) <= parameter_count(model)
    assert sum(layer.elements for layer in sublayers(model)) < parameter_count(model)
    assert step_flops(model, 4096, 4096) > 6 * matmul_parameters(model) * 4096


def test_every_type_has_a_row():
    assert set(ROWS) | NO_DEFAULT == set(NEWER)
    page = (ROOT / "docs/planning.md").read_text("utf-8")
    assert all(f" {kind}" in page for kind in NEWER)


@each("kind", ROWS)
def test_each_is_served(kind):
    question = question_of(changed(kind), "dgx-h200", prompt=1024, output=128)
    server = server_of(question, list(layouts(question))[-1])
    assert server.step(8, 1024).attention > 0


def wrong_fields(kind):
    """Each field of a row with values that hardly any can have."""
    for name, value in ROWS[kind]["config"].items():
        for wrong in (-1, "many", [], {}, 2**70, 3.5, None):
            if wrong != value and name != "model_type":
                yield name, wrong


@each("kind", ROWS)
def test_a_field_that_cannot_be_ends_in_a_sentence(kind):
    refused = 0
    for name, wrong in wrong_fields(kind):
        try:
            changed(kind, **{name: wrong})
        except SpecError:  # any other error fails this test
            refused += 1
    assert refused > 3 * len(ROWS[kind]["config"])


def test_shapes_that_no_class_has_by_itself():
    dense = {"model_type": "hunyuan_v1_dense", "hidden_size": 4096, "intermediate_size": 14336, "vocab_size": 128167}
    dense |= {"num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128}
    model = Model.of_config({**dense, "max_position_embeddings": 32768, "tie_word_embeddings": True}, "Hunyuan 7B")
    layer = 2 * 4096 * (4096 + 1024) + 3 * 4096 * 14336 + 2 * 4096 + 2 * 128
    assert parameter_count(model) == 32 * layer + 4096 * (128167 + 1)


def test_laguna_may_have_other_heads_in_layers_with_a_window():
    kinds = ["full_attention", "sliding_attention", "sliding_attention", "sliding_attention"] * 10
    heads = [48, 64, 64, 64] * 10
    model = changed("laguna", layer_types=kinds, num_attention_heads_per_layer=heads)
    assert (model.heads, model.full_heads.heads, model.window_layers) == (64, 48, 30)
    more = 30 * 16 * (2 * 128 * 2048 + 2048)  # queries, outputs and gates of the heads more
    assert parameter_count(model) == ROWS["laguna"]["parameters"] + more
    with pytest.raises(SpecError, match="num_attention_heads_per_layer"):
        changed("laguna", layer_types=kinds, num_attention_heads_per_layer=heads[::-1])


def test_layers_without_experts_are_counted_of_either_field():
    listed = ["dense"] * 3 + ["sparse"] * 44
    assert changed("glm4_moe_lite", mlp_layer_types=listed).dense_layers == 3
    assert changed("glm4_moe_lite", mlp_layer_types=None, first_k_dense_replace=2).dense_layers == 2
    with pytest.raises(SpecError, match="mlp_layer_types"):
        changed("glm4_moe_lite", mlp_layer_types=listed, first_k_dense_replace=2)
    with pytest.raises(SpecError, match="mlp_layer_types"):
        changed("glm4_moe_lite", mlp_layer_types=["wide"] * 47)


LING = {"model_type": "bailing_hybrid", "num_hidden_layers": 42, "hidden_size": 2560, "vocab_size": 157184}
LING |= {"first_k_dense_replace": 2, "intermediate_size": 6144, "num_attention_heads": 32, "num_key_value_heads": 32}
LING |= {"kv_lora_rank": 512, "q_lora_rank": None, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}
LING |= {"head_dim": 128, "gated_attention_proj_granularity_type": "head_wise", "short_conv_kernel_size": 4}
LING |= {"rope_theta": 6000000, "rotary_dim": 64, "rope_interleave": True, "no_kda_lora": True, "kda_safe_gate": True}
LING |= {"kda_lower_bound": -5.0, "num_experts": 512, "num_experts_per_tok": 8, "num_shared_experts": 1}
LING |= {"moe_intermediate_size": 768, "moe_shared_expert_intermediate_size": 768, "norm_topk_prob": True}
LING |= {"n_group": 8, "topk_group": 4, "layer_group_size": 6, "max_position_embeddings": 262144}


def test_ling_has_the_same_layers_by_its_publishers_fields():
    model = Model.of_config(LING, "Ling 3.0 Flash")
    assert parameter_count(model) == ROWS["bailing_hybrid"]["parameters"]
    assert [i for i in range(42) if model.pattern[i] == "A"] == [5, 11, 17, 23, 29, 35, 41]
    assert mixer_parameters(model) == sum(n * k for n, k in mixer_shapes(model)) + 4 * 12288 + 32 * 129 + 128
    assert sequence_state_bytes(model) == 35 * (32 * 128 * 128 * 4 + 3 * 12288 * 2)
    assert mixer_common_parameters(model) == 128


def test_a_short_convolution_keeps_its_last_tokens_alone():
    model = changed("lfm2_moe")
    assert (model.state_layers, model.attention_layers) == (18, 6)
    assert mixer_parameters(model) == 4 * 2048**2 + 3 * 2048
    assert sequence_state_bytes(model) == 18 * 2 * 2048 * 2
    assert mixer_flops(model.mixer, 10) == 10 * 2 * 2048 * 4 == chunked_mixer_flops(model.mixer, 10)
    small = {"model_type": "lfm2", "vocab_size": 65536, "hidden_size": 1024, "num_hidden_layers": 16}
    small |= {"num_attention_heads": 16, "num_key_value_heads": 8, "max_position_embeddings": 128000, "block_dim": 1024}
    small |= {"conv_L_cache": 3, "full_attn_idxs": [2, 5, 8, 10, 12, 14], "block_ff_dim": 6656}
    assert parameter_count(Model.of_config(small, "LFM2 350M")) == 354483968  # of the class, from the published file
    windowed = changed("lfm3")
    assert (windowed.window_layers, windowed.window, windowed.state_layers) == (5, 256, 13)


PUBLISHED = {
    "Solar-Open-100B": (102_651_799_552, 102, 12),
    "GLM-4.7-Flash": (29_943_393_920, 30, 3),
    "Hy3, tiny": (2_408_840, 0, 0),
    "Trinity, tiny": (7_638_952, 0, 0),
}
"""Of files as they are published the count of the class, and the billions of the card, in all and of a token."""


@each("name", PUBLISHED)
def test_a_published_file_is_read_as_it_is(name):
    files = json.loads((Path(__file__).parent / "data" / "newer_files.json").read_text("utf-8"))
    count, billions, active = PUBLISHED[name]
    model = Model.of_config(files[name], name)
    assert parameter_count(model) == count
    assert abs(count / 1e9 - billions) < 0.7
    assert abs(active_parameters(model, embedding=False) / 1e9 - active) < 1
