"""What a model has beside its sizes is emitted, or said: no gain is left out without a word."""

import pytest

from hwlib.launch import emit_training
from hwlib.launch.core_settings import shape_fields, shape_losses
from hwlib.launch.torchtitan import beside_its_sizes
from hwlib.planner import plan
from hwlib.specs import Model, models
from hwlib.specs.state_mixer import HeadShape

MOE = {"experts": 4, "experts_per_token": 2, "expert_ffn": 64, "shared_experts": 1}
BESIDE = [
    {"qk_norm": True},
    {"qk_norm": True, "qk_norm_full": True},
    {"layer_norms": 4},
    {"layer_norms": 1},
    {"norm": "gain"},
    {"norm": "layer"},
    {"embedding_norm": True},
    {"biases": "mlp"},
    {"biases": "qkv"},
    {"head_bias": True},
    {"sinks": True},
    {"attention_gate": True},
    {"shared_values": True},
    {"wider": 128},
    {"gains": 256},
    {"window": 64, "window_layers": 4},
    {"window": 64, "window_layers": 2, "full_heads": HeadShape(4, 4, 64)},
    {**MOE, "router_bias": True},
    {**MOE, "shared_gate": True},
    {**MOE, "expert_width": 128},
]


@pytest.mark.parametrize("fields", BESIDE, ids=lambda fields: list(fields)[-1])
def test_what_a_model_has_beside_its_sizes_is_emitted_or_said(fields):
    plain = Model.small(**(MOE if "experts" in fields else {}))
    model = plain.replace(**fields)
    lost = shape_losses(model) != shape_losses(plain)
    assert lost or shape_fields(model, 128) != shape_fields(plain, 128)
    assert len(beside_its_sizes(model)) > len(beside_its_sizes(plain))
    assert beside_its_sizes(Model.small()) == []


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("gemma3-27b", ("4 norms a layer", "gains of queries and keys for a head")),
        ("olmo3-32b", ("gains of queries and keys for all heads",)),
        ("minimax-m2.5", ("gains of queries and keys for all heads",)),
    ],
)
def test_torchtitans_model_is_asked_for_with_its_gains(key, words):
    searched = plan(models[key], "superpod-h100-4su", B=2**22, gpus=64)
    asked = " ".join(emit_training(searched.task, searched[0], "torchtitan").to_add)
    assert "my_model_spec()" in asked
    assert all(text in asked for text in words)
