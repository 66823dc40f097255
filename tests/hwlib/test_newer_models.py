"""Architectures of 2025 and 2026 near older ones: counts of their classes, and fields that cannot be."""

import json
from pathlib import Path

import pytest

from hwlib.serving_planner import question_of
from hwlib.serving_planner.layouts import layouts, server_of
from hwlib.specs import Model, SpecError
from hwlib.specs.newer_architectures import NEWER
from hwlib.transformer import active_parameters, matmul_parameters, parameter_count, step_flops
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
