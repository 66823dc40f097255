"""Kimi K3, MiniMax-M3 and Nemotron's searched layers: counts, caches, and what is refused."""

import pytest

from hwlib.planner import plan
from hwlib.planner.explain import unmeasured_words
from hwlib.serving_planner import plan_serving, question_of
from hwlib.serving_planner.explain import basis_words
from hwlib.serving_planner.layouts import layouts, server_of
from hwlib.specs import Model, SpecError
from hwlib.specs.state_mixer import Indexer
from hwlib.transformer import (
    active_parameters,
    attention_step_flops,
    cache_read_bytes,
    indexer_parameters,
    kv_cache_bytes,
    matmul_parameters,
    mixer_matrices,
    mixer_parameters,
    parameter_count,
)
from hwlib.transformer.layer_matrices import sublayers
from hwlib.transformer.stored_weights import stored_weight_bytes
from tests.each import each

FULL = [*range(4, 93, 4), 93]
K3 = {
    "model_type": "kimi_linear",
    "hidden_size": 7168,
    "intermediate_size": 33792,
    "num_hidden_layers": 93,
    "num_attention_heads": 96,
    "linear_attn_config": {
        "full_attn_layers": FULL,
        "kda_layers": [i for i in range(1, 94) if i not in FULL],
        "gate_lower_bound": -5.0,
        "use_full_rank_gate": True,
        "head_dim": 128,
        "num_heads": 96,
        "short_conv_kernel_size": 4,
    },
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "mla_use_output_gate": True,
    "attn_res_block_size": 12,
    "latent_moe_use_norm": True,
    "routed_expert_hidden_size": 3584,
    "moe_intermediate_size": 3072,
    "num_experts": 896,
    "num_experts_per_token": 16,
    "num_shared_experts": 2,
    "first_k_dense_replace": 1,
    "vocab_size": 163840,
    "max_position_embeddings": 1048576,
}
LISTED = [0] * 3 + [1] * 57
M3 = {
    "model_type": "minimax_m3",
    "hidden_size": 6144,
    "intermediate_size": 3072,
    "dense_intermediate_size": 12288,
    "shared_intermediate_size": 3072,
    "num_hidden_layers": 60,
    "moe_layer_freq": LISTED,
    "num_attention_heads": 64,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "num_local_experts": 128,
    "num_experts_per_tok": 4,
    "n_shared_experts": 1,
    "num_mtp_modules": 1,
    "sparse_attention_config": {
        "use_sparse_attention": True,
        "sparse_attention_freq": LISTED,
        "sparse_num_index_heads": 4,
        "sparse_index_dim": 128,
        "sparse_topk_blocks": 16,
        "sparse_block_size": 128,
    },
    "vocab_size": 200064,
    "max_position_embeddings": 1048576,
}


def block(group, times):
    return {"attention": {"n_heads_in_group": group, "no_op": group is None}, "ffn": {"ffn_mult": times}}


SEARCHED = [(8, 5.25)] * 48 + [(None, 1.3125)] * 10 + [(None, 1.0)] * 8 + [(None, 0.5)] * 6
SEARCHED += [(None, 2.625)] * 5 + [(8, 2.625), (None, 3.28125), (None, 5.25)]
NAS = {
    "model_type": "nemotron-nas",
    "hidden_size": 8192,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "block_configs": [block(*layer) for layer in SEARCHED],
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
}
FILES = {"Kimi K3": K3, "MiniMax-M3": M3, "Nemotron Super 49B": NAS}
MODELS = {name: Model.of_config(fields, name) for name, fields in FILES.items()}
# Billions of all parameters and of those of a token: Kimi K3's report (arXiv 2607.24653), the cards of the others;
# MiniMax-M3's total has its encoder of images
PRINTED = {"Kimi K3": (2800, 104), "MiniMax-M3": (428, 23), "Nemotron Super 49B": (49.9, 49.9)}


@each("name", FILES)
def test_the_counts_are_those_that_are_printed(name):
    model, (total, active) = MODELS[name], PRINTED[name]
    assert parameter_count(model) / 1e9 == pytest.approx(total, rel=0.008)
    least = (active_parameters(model) - 2 * model.vocab * model.width) / 1e9
    assert int(least) <= active < 1.02 * active_parameters(model) / 1e9
    counted = sum(layer.elements for layer in sublayers(model))
    assert 0.999 < (counted + 2 * model.vocab * model.width) / parameter_count(model) < 1
    assert stored_weight_bytes(model) == 2 * parameter_count(model)


def test_a_layer_of_kda_with_one_matrix_for_its_gate():
    model = MODELS["Kimi K3"]
    rows, low = 96 * 128, 128
    matrices = 7168 * (5 * rows + low + 96) + low * rows
    assert mixer_matrices(model) == matrices
    assert mixer_parameters(model) == matrices + 4 * 3 * rows + rows + 96 + 128
    assert (model.expert_width, model.layer_norms, model.attention_gate) == (3584, 6, True)
    assert model.gains == 92 * 3584 + 2 * 7168


def test_an_index_of_blocks_reads_and_scores_for_groups_of_queries():
    model = MODELS["MiniMax-M3"]
    assert model.indexer == Indexer(4, 128, 2048, 57, weighted=False)
    assert indexer_parameters(model) == 6144 * (4 * 128 + 128) + 2 * 128
    T, pair = 131072, 2 * 2 * 4 * 128
    assert kv_cache_bytes(model, T) == T * (60 * pair + 57 * 2 * 128)
    assert cache_read_bytes(model, T) == 3 * T * pair + 57 * (2048 * pair + 2 * 128 * T)
    dense = Model.of_config(M3 | {"sparse_attention_config": {"use_sparse_attention": False}}, "m")
    assert dense.indexer is None
    assert attention_step_flops(model, T, T) < attention_step_flops(dense, T, T) / 4
    assert matmul_parameters(model) - matmul_parameters(dense) == 57 * 6144 * 640
    short = Model.of_config(
        M3 | {"sparse_attention_config": M3["sparse_attention_config"] | {"sparse_topk_blocks": 9**6}}, "m"
    )
    scored = attention_step_flops(short, T, T) - attention_step_flops(dense, T, T)
    assert scored == pytest.approx(57 * T * (T + 1) / 2 * 4 * 2 * 129)


def test_layers_without_attention_keep_no_cache_and_mlps_add_up():
    model = MODELS["Nemotron Super 49B"]
    assert (model.attention_layers, model.mlp_layers, model.state_layers) == (49, 80, 0)
    assert kv_cache_bytes(model, 1000) == 1000 * 49 * 2 * 2 * 8 * 128
    assert 80 * model.ffn + model.wider == 1642496
    attention = 2 * 8192 * 128 * (64 + 8)
    norms = 8192 * (49 * 2 + 31 + 1)
    assert parameter_count(model) == 49 * attention + 3 * 8192 * 1642496 + norms + 2 * 128256 * 8192


@each("name", FILES)
def test_answers_say_what_is_typed_or_a_mean(name):
    model = MODELS[name]
    words = {"Kimi K3": "keep a state", "MiniMax-M3": "indexers", "Nemotron Super 49B": "mean, 20,531 columns"}
    assert words[name] in unmeasured_words(model)
    assert words[name] in basis_words(question_of(model, "gb200-nvl72", prompt=1024, output=128))


@each("name", FILES)
def test_each_is_served_and_planned(name):
    model = MODELS[name]
    question = question_of(model, "gb200-nvl72", prompt=1024, output=128)
    server = server_of(question, list(layouts(question))[-1])
    assert server.step(8, 1024.0, 1.0, 1024.0).products > 0
    assert server.weight_bytes() > 0
    if name != "Kimi K3":
        assert plan_serving(model, "dgx-b300", prompt=1024, output=128)[0].gpu_rate > 0
    assert plan(model, "superpod-h100-4su", B=2**20, T=4096, count=1)[0].token_rate > 0


@each(
    "change",
    [
        (K3, {"topk_method": "greedy"}, "topk_method"),
        (M3, {"attention_output_gate": True}, "attention_output_gate"),
        (M3, {"qk_norm_type": "per_layer"}, "qk_norm_type"),
        (M3, {"shared_intermediate_size": 1024}, "shared_intermediate_size"),
        (M3, {"moe_layer_freq": [1, 0]}, "moe_layer_freq"),
        (M3, {"first_k_dense_replace": 4}, "first_k_dense_replace"),
        (M3, {"sparse_attention_config": {"sparse_unheard": 3}}, "sparse_unheard"),
        (NAS, {"block_configs": [block(8, 1.0)]}, "block_configs"),
        (NAS, {"block_configs": [block(8, 1.0)] * 79 + [block(4, 1.0)]}, "block_configs"),
        (NAS, {"block_configs": [block(8, 0)] * 80}, "ffn_mult"),
        (NAS, {"block_configs": [{"attention": {"window_length": 9}, "ffn": {}}] * 80}, "window_length"),
        (NAS, {"block_configs": [{"attention": {"n_heads_in_group": 8}, "ffn": {"no_op": True}}] * 80}, "no_op"),
    ],
)
def test_what_is_not_counted_is_refused_by_its_field(change):
    fields, others, name = change
    with pytest.raises(SpecError, match=name):
        Model.of_config(fields | others, "m")
