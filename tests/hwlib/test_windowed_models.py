"""Models whose layers with a window have other heads than those without: counts, caches and operations by kind."""

import pytest

from hwlib.planner import plan
from hwlib.planner.explain import unmeasured_words
from hwlib.serving_planner import plan_serving, question_of
from hwlib.serving_planner.layouts import layouts, server_of
from hwlib.specs import Model, SpecError
from hwlib.specs.state_mixer import HeadShape
from hwlib.transformer import (
    active_parameters,
    attention_step_flops,
    kv_bytes_per_token,
    kv_cache_bytes,
    matmul_parameters,
    parameter_count,
)
from hwlib.transformer.attention_kinds import attention_kinds
from hwlib.transformer.layer_matrices import sublayers
from hwlib.transformer.stored_weights import formats, stored_weight_bytes
from tests.each import each

SLIDING, FULL = "sliding_attention", "full_attention"
GEMMA = {
    "model_type": "gemma4_text",
    "hidden_size": 2816,
    "intermediate_size": 2112,
    "num_hidden_layers": 30,
    "layer_types": ([SLIDING] * 5 + [FULL]) * 5,
    "sliding_window": 1024,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 256,
    "global_head_dim": 512,
    "num_global_key_value_heads": 2,
    "attention_k_eq_v": True,
    "enable_moe_block": True,
    "num_experts": 128,
    "top_k_experts": 8,
    "moe_intermediate_size": 704,
    "hidden_size_per_layer_input": 0,
    "num_kv_shared_layers": 0,
    "use_bidirectional_attention": "vision",
    "vocab_size": 262144,
    "max_position_embeddings": 262144,
}
GEMMA_DENSE = GEMMA | {
    "hidden_size": 5376,
    "intermediate_size": 21504,
    "num_hidden_layers": 60,
    "layer_types": ([SLIDING] * 5 + [FULL]) * 10,
    "num_attention_heads": 32,
    "num_key_value_heads": 16,
    "num_global_key_value_heads": 4,
    "enable_moe_block": False,
}
MIMO = {
    "model_type": "mimo_v2_flash",
    "hidden_size": 4096,
    "intermediate_size": 16384,
    "num_hidden_layers": 48,
    "num_attention_heads": 64,
    "num_key_value_heads": 4,
    "head_dim": 192,
    "v_head_dim": 128,
    "swa_num_attention_heads": 64,
    "swa_num_key_value_heads": 8,
    "swa_head_dim": 192,
    "swa_v_head_dim": 128,
    "sliding_window": 128,
    "hybrid_layer_pattern": [0, *([1] * 4 + [0]), *([1] * 5 + [0]) * 7],
    "moe_layer_freq": [0] + [1] * 47,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "moe_intermediate_size": 2048,
    "topk_method": "noaux_tc",
    "add_swa_attention_sink_bias": True,
    "vocab_size": 152576,
    "max_position_embeddings": 262144,
}
STEP = {
    "model_type": "step3p7",
    "hidden_size": 4096,
    "intermediate_size": 11264,
    "num_hidden_layers": 45,
    "layer_types": [([FULL] + [SLIDING] * 3)[i % 4] for i in range(45)],
    "sliding_window": 512,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "first_k_dense_replace": 3,
    "num_experts": 288,
    "num_experts_per_tok": 8,
    "moe_intermediate_size": 1280,
    "share_expert_dim": 1280,
    "n_shared_experts": 1,
    "vocab_size": 128896,
    "max_position_embeddings": 65536,
}
FILES = {"Gemma 4 26B": GEMMA, "Gemma 4 31B": GEMMA_DENSE, "MiMo-V2-Flash": MIMO, "Step 3.7 Flash": STEP}
MODELS = {name: Model.of_config(fields, name) for name, fields in FILES.items()}
# Billions of all parameters and of those of a token, as the model cards print them
PRINTED = {
    "Gemma 4 26B": (25.2, 3.8),
    "Gemma 4 31B": (30.7, 30.7),
    "MiMo-V2-Flash": (309, 15),
    "Step 3.7 Flash": (196, 11),
}


@each("name", FILES)
def test_the_counts_are_those_that_are_printed(name):
    total, active = PRINTED[name]
    assert parameter_count(MODELS[name]) / 1e9 == pytest.approx(total, rel=0.002)
    assert active_parameters(MODELS[name]) / 1e9 == pytest.approx(active, rel=0.04)


def torch_gemma(c):
    """Modules of Gemma 4's language model as its class has them, from the fields of a file."""
    from torch import nn

    D, heads = c["hidden_size"], c["num_attention_heads"]
    linear = lambda into, out: nn.Linear(into, out, bias=False)
    mlp = lambda ffn: [linear(D, ffn), linear(D, ffn), linear(ffn, D)]
    parts = [nn.Embedding(c["vocab_size"], D), nn.RMSNorm(D)]
    for kind in c["layer_types"]:
        full = kind == FULL
        size = c["global_head_dim"] if full else c["head_dim"]
        groups = c["num_global_key_value_heads"] if full else c["num_key_value_heads"]
        parts += [linear(D, heads * size), linear(D, groups * size), linear(heads * size, D)]
        parts += [] if full else [linear(D, groups * size)]
        parts += [nn.RMSNorm(size), nn.RMSNorm(size), *(nn.RMSNorm(D) for _ in range(4)), *mlp(c["intermediate_size"])]
        if c["enable_moe_block"]:
            wide = c["moe_intermediate_size"]
            router = [linear(D, c["num_experts"]), nn.RMSNorm(D), nn.RMSNorm(c["num_experts"])]
            parts += [*router, *(nn.RMSNorm(D) for _ in range(3))]
            parts += [linear(c["num_experts"] * D, 3 * wide)]
    return nn.ModuleList(parts)


@each("name", ["Gemma 4 26B", "Gemma 4 31B"])
def test_torch_builds_a_model_of_as_many_parameters(name):
    torch = pytest.importorskip("torch")
    with torch.device("meta"):
        modules = torch_gemma(FILES[name])
    assert parameter_count(MODELS[name]) == sum(p.numel() for p in modules.parameters())


def test_caches_and_operations_are_those_of_each_kind():
    gemma, mimo = MODELS["Gemma 4 31B"], MODELS["MiMo-V2-Flash"]
    assert [(kind.layers, kind.window) for kind in attention_kinds(gemma)] == [(50, 1024), (10, 0)]
    assert kv_bytes_per_token(gemma) == 2 * 2 * (50 * 16 * 256 + 10 * 4 * 512)
    assert kv_cache_bytes(gemma, 131072) == 2 * 2 * (50 * 16 * 256 * 1024 + 10 * 4 * 512 * 131072)
    assert kv_cache_bytes(mimo, 131072) == 2 * (192 + 128) * (39 * 8 * 128 + 9 * 4 * 131072)
    full = 4 * 131072**2 / 2 * 10 * 32 * 512
    assert attention_step_flops(gemma, 131072, 131072) == pytest.approx(full, rel=0.1)
    for name, model in MODELS.items():
        matrices = sum(layer.elements for layer in sublayers(model))
        tables = model.vocab * model.width
        routed = model.moe_layers * (model.experts - model.experts_per_token) * 3 * model.width * model.expert_ffn
        assert matrices - routed + tables == matmul_parameters(model), name


@each("name", FILES)
def test_each_is_served_and_planned(name):
    model = MODELS[name]
    assert ("other heads" in unmeasured_words(model)) == bool(model.full_heads)
    assert plan_serving(model, "dgx-b200", prompt=1024, output=128)[0].gpu_rate > 0
    assert plan(model, "superpod-h100-4su", B=2**20, T=4096, count=1)[0].token_rate > 0
    question = question_of(model, "dgx-b200", prompt=1024, output=128, dtype="bf16", kv_dtype="bf16")
    server = server_of(question, next(layout for layout in layouts(question) if layout.gpus == 1))
    assert server.sequence_bytes(4096) == pytest.approx(kv_cache_bytes(model, 4096))
    assert stored_weight_bytes(model) == 2 * parameter_count(model)


def test_experts_beside_an_mlp_are_left_out_by_their_own_names():
    names = [f"model.language_model.layers.{i}.{part}*" for i in range(30) for part in ("mlp", "router", "self_attn")]
    config = {"quant_method": "modelopt", "quant_algo": "NVFP4", "exclude_modules": ["lm_head", *names]}
    stored = formats(Model.of_config(GEMMA | {"quantization_config": config}, "m"))
    assert {part for part, form in stored.items() if form.plain} == {"attention", "shared_experts", "rest"}


@each(
    "change",
    [
        (GEMMA, {"hidden_size_per_layer_input": 256}, "hidden_size_per_layer_input"),
        (GEMMA, {"hidden_size_per_layer_input": None}, "hidden_size_per_layer_input"),
        (GEMMA, {"num_kv_shared_layers": 10}, "num_kv_shared_layers"),
        (GEMMA, {"use_bidirectional_attention": "all"}, "use_bidirectional_attention"),
        (GEMMA, {"intermediate_size": 2113}, "intermediate_size"),
        (GEMMA, {"num_global_key_value_heads": 3}, "kv_heads"),
        (MIMO, {"hybrid_layer_pattern": [0, 1]}, "hybrid_layer_pattern"),
        (MIMO, {"moe_layer_freq": [2] * 48}, "moe_layer_freq"),
        (STEP, {"use_head_wise_attn_gate": True}, "use_head_wise_attn_gate"),
        (STEP, {"share_expert_dim": 640}, "share_expert_dim"),
        (STEP, {"attention_other_setting": {"attention_type": FULL}}, "attention_type"),
    ],
)
def test_what_is_not_counted_is_refused_by_its_field(change):
    fields, others, name = change
    with pytest.raises(SpecError, match=name):
        Model.of_config(fields | others, "m")


def test_other_heads_of_layers_with_a_window_are_counted():
    other = {"attention_type": SLIDING, "num_attention_heads": 96, "num_attention_groups": 8, "head_dim": 128}
    model = Model.of_config(STEP | {"attention_other_setting": other}, "m")
    assert (model.heads, model.full_view.heads, model.window_layers) == (96, 64, 33)
    assert parameter_count(model) - parameter_count(MODELS["Step 3.7 Flash"]) == 33 * 2 * 32 * 128 * 4096
    assert Model.of_config(STEP | {"attention_other_setting": None}, "m").full_heads is None
    with pytest.raises(ValueError, match="full_heads"):
        Model.small(full_heads=HeadShape(8, 8, 64))
    for wrong in ({"heads": 0}, {"kv_heads": 3}, {"v_dim": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            HeadShape(**{"heads": 8, "kv_heads": 8, "head_dim": 64} | wrong)
