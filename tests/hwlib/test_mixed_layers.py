"""Models of mixed layers: counts to the last parameter, states beside caches, and forms that give the same values."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from hwlib.calibrated.decode_parts import decode_parts, step_constants
from hwlib.calibrated.serving_mixers import PROMPT_SHARE, vector_rate
from hwlib.calibrated.serving_step import Server
from hwlib.footprint import footprint
from hwlib.footprint.trained import Adapters, matrix_share
from hwlib.inference import decode_point, largest_batch
from hwlib.launch import LaunchError, emit_training
from hwlib.parallel.transfers import sizes_of
from hwlib.planner import plan
from hwlib.planner.explain import unmeasured_words
from hwlib.serving_planner import plan_serving
from hwlib.serving_planner.anatomy import memory_parts
from hwlib.serving_planner.explain import basis_words
from hwlib.serving_planner.question import question_of
from hwlib.specs import Level, Model, SpecError, Stack, accelerators, models
from hwlib.specs.mixed_architectures import MIXED
from hwlib.specs.stack import stacks
from hwlib.specs.state_mixer import MIXERS, Indexer, StateMixer
from hwlib.steptime import step_time
from hwlib.steptime.compute_times import grouped_share
from hwlib.steptime.state_times import TRAINED_SHARE, attention_flops, mean_state_time
from hwlib.strategy import Strategy
from hwlib.transformer import (
    active_parameters,
    attention_step_flops,
    cache_read_bytes,
    chunked_delta_flops,
    chunked_mixer_flops,
    chunked_scan_flops,
    compressed_token_bytes,
    delta_rule_flops,
    expert_parameters,
    gated_delta_params,
    hyper_connection_flops,
    hyper_connection_params,
    hyper_stream_bytes,
    indexer_flops,
    indexer_matrices,
    indexer_parameters,
    kimi_delta_params,
    kv_bytes_per_token,
    kv_cache_bytes,
    latent_matrices,
    lightning_params,
    mamba1_params,
    mamba2_params,
    matmul_parameters,
    mixer_flops,
    mixer_kept_elements,
    mixer_matrices,
    mixer_parameters,
    mixer_state_bytes,
    mtp_parameters,
    native_sparse_tokens,
    parameter_count,
    parameter_groups,
    sequence_state_bytes,
    sparse_latent_flops,
    state_equal_tokens,
    state_matrix_bytes,
    state_scan_flops,
    state_step_time,
    step_flops,
    training_flops,
    with_mtp,
)
from tests.conftest import ROOT
from tests.each import each

LONG = 131072
# What `parameters` has is the count of Transformers 5.24's classes on the meta device, of the fields of the published
# file, with the router's bias, which these keep as a buffer; `billions` and `active` are what publishers print.
FAMILIES = json.loads((Path(__file__).parent / "data" / "mixed_layers.json").read_text("utf-8"))
MODELS = {name: Model.of_config(row["config"], name) for name, row in FAMILIES.items()}
STATEFUL = {name: model for name, model in MODELS.items() if model.mixer}


def model_with(**changes):
    """Qwen3-Next with other fields in its file; None takes one away."""
    return Model.of_config({**FAMILIES["Qwen3-Next 80B-A3B"]["config"], **changes}, "changed")


ALIKE = {"minimax", "minimax_text_01"}
"""Types whose layers are those of another one here."""
LATEST = {"minimax_m3", "minimax_m3_text", "deepseek_v4"}
"""Those that `test_latest_models` and `test_compressed_keys` have."""


@each("name", FAMILIES)
def test_the_count_is_that_of_the_class_and_of_its_publisher(name):
    exact, billions, active = (FAMILIES[name][what] for what in ("parameters", "billions", "active"))
    model = MODELS[name]
    assert parameter_count(model) == exact
    assert abs(exact / 1e9 - billions) < 0.025 * billions
    # Publishers round down, and leave tables out of the active count, or the output layer, without saying which.
    least = active_parameters(model) - 2 * model.vocab * model.width
    assert int(least / 1e9) <= active < 1.2 * active_parameters(model) / 1e9
    assert active_parameters(model) <= exact
    assert matmul_parameters(model) < exact


@each("name", FAMILIES)
def test_a_model_is_the_sum_of_its_layers(name):
    model = MODELS[name]
    assert model.state_layers + model.attention_layers == model.layers
    assert parameter_groups(model).states == model.state_layers * mixer_parameters(model)
    assert bool(parameter_groups(model).states) == bool(model.mixer)
    assert parameter_groups(model).total == sum(parameter_groups(model))


def torch_mixer(model):
    """A layer's state mixer as torch modules, from the fields of its record."""
    import torch
    from torch import nn

    x, D = model.mixer, model.width
    keys, values = x.key_heads * x.key_dim, x.heads * x.value_dim
    linear = lambda rows, columns: nn.Linear(rows, columns, bias=False)
    numbers = lambda n: nn.ParameterList([nn.Parameter(torch.empty(n))])
    convolution = lambda bias: nn.Conv1d(x.channels, x.channels, x.conv, groups=x.channels, bias=bias)
    output = linear(values, D)
    if x.kind == "gated-delta":
        parts = [linear(D, 2 * keys + 2 * values), linear(D, 2 * x.heads), convolution(False), numbers(x.heads)]
        return nn.ModuleList([*parts, numbers(x.heads), nn.RMSNorm(x.value_dim), output])
    if x.kind == "mamba2":
        parts = [linear(D, 2 * values + 2 * keys + x.heads), convolution(True)]
        return nn.ModuleList([*parts, *(numbers(x.heads) for _ in range(3)), nn.RMSNorm(values), output])
    if x.kind == "mamba1":
        steps = [linear(values, x.low_rank + 2 * x.key_dim), nn.Linear(x.low_rank, values)]
        norms = [nn.RMSNorm(n) for n in (x.low_rank, x.key_dim, x.key_dim)]
        own = [numbers(values * x.key_dim), numbers(values)]
        return nn.ModuleList([linear(D, 2 * values), convolution(True), *steps, *norms, *own, output])
    if x.kind == "lightning":
        return nn.ModuleList([linear(D, 3 * values), linear(D, values), nn.RMSNorm(values), output])
    gates = [linear(D, x.value_dim), linear(x.value_dim, keys), linear(D, x.value_dim), linear(x.value_dim, values)]
    parts = [linear(D, keys), linear(D, keys), linear(D, values), linear(D, x.heads), convolution(False)]
    return nn.ModuleList([*parts, *gates, numbers(keys), numbers(x.heads), nn.RMSNorm(x.value_dim), output])


@each("name", STATEFUL)
def test_torch_builds_a_mixer_of_as_many_parameters(name):
    torch = pytest.importorskip("torch")
    with torch.device("meta"):
        module = torch_mixer(MODELS[name])
    assert sum(p.numel() for p in module.parameters()) == mixer_parameters(MODELS[name])
    matrices = [m.weight.numel() for m in module if isinstance(m, torch.nn.Linear)]  # without their biases
    assert sum(matrices) == mixer_matrices(MODELS[name])


def test_an_indexer_has_the_matrices_of_the_reference_code():
    model = MODELS["DeepSeek-V3.2"]
    assert indexer_parameters(model) == 64 * 128 * 1536 + 7168 * 128 + 2 * 128 + 7168 * 64
    assert parameter_groups(model).attention == 61 * (187107328 + indexer_parameters(model))


@each("name", ["DeepSeek-V3.2", "GLM-5.2"])
def test_torch_builds_an_indexer_of_as_many_parameters(name):
    torch = pytest.importorskip("torch")
    model, x = MODELS[name], MODELS[name].indexer
    linear = lambda rows, columns: torch.nn.Linear(rows, columns, bias=False, device="meta")
    parts = [linear(model.q_lora, x.heads * x.dim), linear(model.width, x.dim), linear(model.width, x.heads)]
    norm = torch.nn.LayerNorm(x.dim, device="meta")
    numbers = sum(p.numel() for part in (*parts, norm) for p in part.parameters())
    assert numbers == indexer_parameters(model)
    assert sum(part.weight.numel() for part in parts) == indexer_matrices(model)


def test_the_page_lists_the_architectures_of_mixed_layers():
    (listed,) = re.findall(r"Of models whose layers differ: ([\w, ]+):", (ROOT / "docs/planning.md").read_text("utf-8"))
    assert listed.split(", ") == sorted(MIXED)
    assert {row["config"]["model_type"] for row in FAMILIES.values()} == set(MIXED) - ALIKE - LATEST


# Three forms, one value


class Counted:
    """Products of matrices, counted as they are done."""

    def __init__(self):
        self.flops = 0.0

    def product(self, a, b):
        self.flops += 2 * a.shape[0] * a.shape[1] * b.shape[1]
        return a @ b


def token_by_token(q, k, v, decay, beta, state, delta):
    """The recurrent form of one head: [T, d_v], and the state."""
    outputs = []
    for t in range(len(q)):
        state = decay[t][:, None] * state
        added = beta[t] * (v[t] - (k[t] @ state if delta else 0))
        state = state + np.outer(k[t], added)
        outputs.append(q[t] @ state)
    return np.array(outputs), state


def part_by_part(q, k, v, decay, beta, state, delta, chunk, counted):
    """The chunked form of the same; with one part of the whole sequence, the full form."""
    outputs = []
    for first in range(0, len(q), chunk):
        part = slice(first, first + chunk)
        grown = np.cumprod(decay[part], axis=0)
        queries, keys, back = q[part] * grown, k[part] * grown, k[part] / grown
        scores = np.tril(counted.product(queries, back.T))
        added = beta[part][:, None] * v[part]
        if delta:
            triangle = np.eye(chunk) + beta[part][:, None] * np.tril(counted.product(keys, back.T), -1)
            inverse = np.linalg.inv(triangle)
            counted.flops += chunk**3 / 3
            through = counted.product(inverse, beta[part][:, None] * keys)
            added = counted.product(inverse, added) - counted.product(through, state)
        outputs.append(counted.product(queries, state) + counted.product(scores, added))
        state = grown[-1][:, None] * (state + counted.product(back.T, added))
    return np.concatenate(outputs), state


FORMS = {"gated delta": (True, 1), "KDA": (True, 6), "Mamba-2": (False, 1), "KDA without the rule": (False, 6)}


@each("form", FORMS)
@pytest.mark.parametrize("chunk", [1, 4, 8, 16])
def test_recurrent_chunked_and_full_forms_agree(form, chunk):
    (delta, decays), rng = FORMS[form], np.random.default_rng(7)
    T, d_k, d_v = 16, 6, 5
    q, k, v = rng.normal(size=(T, d_k)), rng.normal(size=(T, d_k)), rng.normal(size=(T, d_v))
    k = k / np.linalg.norm(k, axis=1, keepdims=True)
    decay = np.broadcast_to(rng.uniform(0.7, 1.0, size=(T, decays)), (T, d_k))
    beta, state = rng.uniform(size=T), rng.normal(size=(d_k, d_v))
    counted = Counted()
    expected = token_by_token(q, k, v, decay, beta, state, delta)
    got = part_by_part(q, k, v, decay, beta, state, delta, chunk, counted)
    for ours, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
    if delta:
        assert counted.flops == pytest.approx(chunked_delta_flops(T, chunk, 1, d_k, d_v))
    else:
        assert counted.flops == pytest.approx(chunked_scan_flops(T, chunk, 1, 1, d_k, d_v))


def test_a_token_of_the_delta_rule_takes_two_operations_an_element_more():
    assert delta_rule_flops(10, 4, 8, 16) - state_scan_flops(10, 4, 8, 16) == 2 * 10 * 4 * 8 * 16
    # Of an element of a state, Megatron Bridge's flop_utils counts 7 for Mamba-2 and 8 for Gated DeltaNet.
    assert state_scan_flops(1, 1, 1, 1) == 5
    assert chunked_delta_flops(64, 64, 1, 128, 128) > delta_rule_flops(64, 1, 128, 128)
    assert chunked_scan_flops(1, 1e-9, 2, 1, 8, 16) == pytest.approx(4 * 2 * 8 * 16)


# State beside cache


def test_a_state_does_not_grow_and_a_cache_does():
    for name, model in STATEFUL.items():
        assert sequence_state_bytes(model) > 0, name
        assert kv_cache_bytes(model, 2 * LONG) == 2 * kv_cache_bytes(model, LONG)


def test_the_cache_at_128k_is_that_of_the_layers_with_attention():
    # Kimi Linear keeps a cache in 7 of 27 layers, "up to 75 %" less than with attention in all of them (kimi-linear).
    kimi = MODELS["Kimi Linear 48B-A3B"]
    alike = kimi.replace(pattern="", mixer=None)
    assert 1 - kv_cache_bytes(kimi, LONG) / kv_cache_bytes(alike, LONG) == pytest.approx(0.75, abs=0.015)
    assert kv_bytes_per_token(kimi) == 7 * 576 * 2
    nano = MODELS["Nemotron 3 Nano 30B-A3B"]
    assert kv_bytes_per_token(nano) == 6 * 2 * 2 * 128 * 2
    assert sequence_state_bytes(nano) == 23 * (64 * 64 * 128 * 4 + 3 * (4096 + 2 * 8 * 128) * 2)
    qwen = MODELS["Qwen3-Next 80B-A3B"]
    assert kv_cache_bytes(qwen, LONG) == 12 * 2 * 2 * 256 * 2 * LONG
    assert sequence_state_bytes(qwen) == 36 * (32 * 128 * 128 * 4 + 3 * 8192 * 2)
    minimax = MODELS["MiniMax-M1"]
    assert sequence_state_bytes(minimax) == 70 * 64 * 128 * 128 * 4


def test_the_cache_at_256k_is_what_its_authors_print():
    jamba = MODELS["Jamba 1.5 Mini"]
    assert kv_cache_bytes(jamba, 2**18) == 4 * 2**30  # Jamba (arXiv 2403.19887), table 1: 4 GB at 256K in 16 bits
    mixtral = models["mixtral-8x7b"]
    assert kv_cache_bytes(mixtral, 2**18) == 32 * 2**30  # its neighbour in that table


@pytest.mark.parametrize(
    ("name", "ranks", "kv_dtype", "multiple", "printed"),
    [
        ("qwen3.6-35b-a3b", 1, "bf16", 16, 1056),  # Qwen3.5-35B-A3B in vLLM 0.18.1rc1, the log in ROCm issue 6055
        ("nemotron-3-super", 4, "fp8", 128, 4224),  # vLLM's blog of 2026-04-21 on hybrid models
    ],
)
def test_a_state_is_as_large_as_the_cache_block_that_vllm_prints(name, ranks, kv_dtype, multiple, printed):
    """vLLM rounds the tokens of a block up until a layer's keys and values take as many bytes as a layer's state."""
    model = models[name]
    held = Server(model, accelerators["h200-sxm"], tp=ranks, kv_dtype=kv_dtype)
    equal = held.state_bytes() / model.state_layers / (held.token_bytes() / model.attention_layers)
    assert math.ceil(equal / multiple) * multiple == printed
    if ranks == 1:
        assert printed / equal - 1 == pytest.approx(0.0076, abs=5e-5)  # "padding mamba page size by 0.76%"


def test_a_state_equals_the_cache_of_some_hundred_tokens():
    state = state_matrix_bytes(32, 128, 128)
    assert state_equal_tokens(state, 2 * 2 * 256 * 2) == 1024
    assert state_step_time(1, state, 1e12) == pytest.approx(2 * 32 * 128 * 128 * 4 / 1e12)


def test_sparse_attention_keeps_all_keys_and_reads_the_best():
    model = MODELS["DeepSeek-V3.2"]
    latent, index = 61 * 576 * 2, 61 * (128 + 4)
    assert kv_bytes_per_token(model) == latent + index
    assert cache_read_bytes(model, LONG) == 2048 * latent + LONG * index
    assert cache_read_bytes(model, 2048) == 2048 * (latent + index)
    assert cache_read_bytes(model, 2049) - cache_read_bytes(model, 2048) == index
    shared = MODELS["GLM-5.2"].indexer
    assert shared.layers == 21
    assert kv_bytes_per_token(MODELS["GLM-5.2"]) == 78 * 576 * 2 + 21 * 132


def test_sparse_attention_is_full_up_to_its_keys():
    full = sum(min(i + 1, 4) for i in range(10))
    assert sparse_latent_flops(10, 10, 4, 1, 8, 2) == pytest.approx(2 * full * (2 * 8 + 2))
    assert sparse_latent_flops(10, 10, 10, 1, 8, 2) == sparse_latent_flops(10, 10, 99, 1, 8, 2)
    assert indexer_flops(10, 10, 3, 8) == 55 * 3 * 18


@each("name", FAMILIES)
def test_a_step_takes_its_matrices_and_what_lies_between(name):
    model = MODELS[name]
    between = attention_step_flops(model, LONG, LONG)
    assert step_flops(model, LONG, LONG) == training_flops(matmul_parameters(model), LONG) + 3 * between
    assert attention_step_flops(model, 8, 8) > 0


@pytest.mark.parametrize(("tokens", "read"), [(8192, 2048), (16384, 2560), (32768, 3584), (65536, 5632)])
def test_native_sparse_attention_reads_what_its_paper_prints(tokens, read):
    assert native_sparse_tokens(tokens, 16, 16, 64, 512) == read  # table 4 of yuan2025


def test_compressed_keys_take_a_tenth_of_the_latent_cache():
    # V4-Pro: 30 layers of stride 4 with an indexer of 128 elements in 4 bits, 31 of stride 128; entries of 512, of them
    # 64 in 16 bits and the rest in 8. The cache is "10 %" of that of V3.2 (deepseek-v4), which has 8 bits too.
    entry, index = 448 + 64 * 2, 128 / 2
    ours = compressed_token_bytes(30, entry + index, 4) + compressed_token_bytes(31, entry, 128)
    v32 = 61 * (512 + 64 * 2 + 4 * 4) + 61 * (128 + 4)
    assert ours / v32 == pytest.approx(0.10, abs=0.005)


def test_hyper_connections_have_the_parameters_of_the_class():
    # Transformers 5.24, DeepseekV4HyperConnection with 4 streams of 4096: fn [24, 16384], base [24], scale [3].
    assert hyper_connection_params(4096, 4) == 24 * 16384 + 24 + 3
    assert hyper_connection_flops(10, 4096, 4) == 10 * 2 * (24 * 4 * 4096 + (4 + 4 + 16) * 4096)
    assert hyper_stream_bytes(100, 2, 64, 4) == 4 * hyper_stream_bytes(100, 2, 64, 1) == 4 * 100 * 2 * 64 * 2


def test_a_decode_step_moves_states_beside_caches():
    model = Model.small(layers=4, width=256, heads=4)
    mixed = model.replace(pattern="SSAA", mixer=StateMixer("gated-delta", 4, 4, 64, 64, conv=4))
    parts = [decode_parts(x, "h100-sxm", B=8, T_kv=1000).cache for x in (model, mixed)]
    moved = 2 * 8 * sequence_state_bytes(mixed)
    assert parts[1] - parts[0] / 2 == pytest.approx(moved / step_constants("h100-sxm").W)


def test_mambas_first_form_has_a_state_for_each_channel():
    model = MODELS["Jamba 1.5 Mini"]
    assert mixer_parameters(model) == mamba1_params(4096, 8192, 16, 256, 4)
    assert sequence_state_bytes(model) == 28 * 8192 * (16 * 4 + 3 * 2)
    assert chunked_mixer_flops(model.mixer, 10) == mixer_flops(model.mixer, 10) == 10 * 5 * 8192 * 16
    assert (model.pattern[:8], model.moe_layers) == ("SSSSASSS", 16)
    dense = Model.of_config({**FAMILIES["Jamba 1.5 Mini"]["config"], "num_experts": 1}, "dense")
    assert not dense.moe
    assert parameter_count(
        Model.of_config({**FAMILIES["Jamba 1.5 Mini"]["config"], "mamba_dt_rank": "auto"}, "auto")
    ) == (parameter_count(model))


def test_states_cost_the_same_for_every_token():
    model = MODELS["Qwen3-Next 80B-A3B"]
    alone = model.replace(layers=3, pattern="SSS")
    assert attention_step_flops(alone, 4096, 4096) == 3 * delta_rule_flops(4096, 32, 128, 128)
    assert attention_step_flops(alone, 4096, 64) == attention_step_flops(alone, 4096, 4096)
    assert kv_bytes_per_token(alone) == 0


def test_the_module_for_the_next_token_has_attention():
    model = MODELS["Qwen3.5 397B-A17B"]
    longer = with_mtp(model)
    assert (longer.layers, longer.pattern[-1], longer.state_layers) == (61, "A", model.state_layers)
    sparse = with_mtp(MODELS["DeepSeek-V3.2"])
    assert sparse.indexer.layers == 62
    joined = 2 * 7168**2 + 3 * 7168
    assert mtp_parameters(MODELS["DeepSeek-V3.2"]) == parameter_count(sparse) - 671_877_944_064 + joined


# Refusals


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("full_attention_interval", 0),
        ("layer_types", ["full_attention"] * 47),
        ("layer_types", ["full_attention"] * 47 + ["sliding_attention"]),
        ("mamba_ssm_dtype", "float8"),
        ("attn_output_gate", False),
        ("mtp_use_dedicated_embeddings", True),
        ("shared_expert_intermediate_size", 700),
        ("linear_num_key_heads", 12),
        ("routed_expert_hidden_size", 1024),
    ],
)
def test_a_field_that_is_not_understood_is_named(field, value):
    with pytest.raises(SpecError, match="key_heads" if field == "linear_num_key_heads" else field):
        model_with(**{field: value})


def test_a_number_that_is_said_twice_agrees():
    fields = {**FAMILIES["GLM-5.2"]["config"], "layer_types": ["deepseek_sparse_attention"] * 78, "num_experts": 256}
    assert parameter_count(Model.of_config(fields, "twice")) == FAMILIES["GLM-5.2"]["parameters"]
    for odd in ({"num_experts": 255}, {"layer_types": ["full_attention"] * 78}, {"mlp_layer_types": ["sparse"] * 78}):
        with pytest.raises(SpecError, match=next(iter(odd))):
            Model.of_config({**fields, **odd}, "odd")


def test_what_is_left_out_is_what_the_class_has():
    listed = ["full_attention" if i % 4 == 3 else "linear_attention" for i in range(48)]
    assert model_with(full_attention_interval=None).pattern == model_with(layer_types=listed).pattern == "SSSA" * 12
    assert model_with(layer_types=["full_attention"] * 48).mixer is None
    assert model_with(mamba_ssm_dtype=None).mixer.state_bytes == 4
    assert model_with(mamba_ssm_dtype="bfloat16").mixer.state_bytes == 2


@pytest.mark.parametrize("blocks", ["EM", "MEE", "M*EX", ""])
def test_blocks_without_a_mixer_before_them_are_refused(blocks):
    fields = {**FAMILIES["Nemotron 3 Nano 30B-A3B"]["config"], "hybrid_override_pattern": blocks}
    with pytest.raises(SpecError):
        Model.of_config({**fields, "num_hidden_layers": len(blocks) or 1}, "odd")


def test_blocks_may_be_words():
    fields = dict(FAMILIES["Nemotron 3 Nano 30B-A3B"]["config"])
    words = {"M": "mamba", "E": "moe", "*": "attention"}
    fields["layers_block_type"] = [words[block] for block in fields.pop("hybrid_override_pattern")]
    del fields["num_hidden_layers"]
    model = Model.of_config(fields, "words")
    assert parameter_count(model) == 31_577_940_288
    assert (model.layers, model.mlp_layers, model.state_layers) == (29, 23, 23)
    assert "52 blocks" in model.note


def test_kimis_lists_cover_every_layer_once():
    fields = json.loads(json.dumps(FAMILIES["Kimi Linear 48B-A3B"]["config"]))
    for wrong in ([4], [3, 4, 8, 12, 16, 20, 24, 27], [4, 8, 12, 16, 20, 24, 28], "all"):
        fields["linear_attn_config"]["full_attn_layers"] = wrong
        with pytest.raises(SpecError):
            Model.of_config(fields, "odd")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"pattern": "SA"}, "pattern"),
        ({"pattern": "XA" * 24}, "pattern"),
        ({"mixer": None}, "mixer"),
        ({"pattern": ""}, "mixer"),
        ({"dense_layers": 49}, "dense_layers"),
        ({"window_layers": 13}, "window_layers"),
        ({"indexer": Indexer(1, 1, 1, 1)}, "indexer"),
    ],
)
def test_a_model_whose_layers_do_not_fit_is_refused(changes, field):
    model = MODELS["Qwen3-Next 80B-A3B"]
    assert model.replace(dense_layers=48, window_layers=12).dense_layers == 48
    with pytest.raises(ValueError, match=f": {field} is"):
        model.replace(**changes)


def test_a_mixer_says_what_is_wrong_with_it():
    assert StateMixer("lightning", 4, 2, 8, 8).channels == 64
    for wrong in ({"kind": "rwkv"}, {"heads": 0}, {"heads": True}, {"key_heads": 3}, {"conv": -1}, {"chunk": 0.5}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            StateMixer(**{"kind": "mamba2", "heads": 4, "key_heads": 2, "key_dim": 8, "value_dim": 8, **wrong})
    with pytest.raises(ValueError, match="top"):
        Indexer(1, 1, 0, 1)


def test_formulas_of_one_layer_give_the_sizes_that_papers_print():
    # kimi-linear: a KDA layer of 32 heads of 128 in a model of width 2304; minimax01: 64 heads of 128 in 6144.
    assert kimi_delta_params(2304, 32, 128, 128, 4) == mixer_parameters(MODELS["Kimi Linear 48B-A3B"])
    assert lightning_params(6144, 64, 128, 128) == 5 * 6144 * 8192 + 8192
    assert mamba2_params(2688, 64, 8, 128, 64, 4) == mixer_parameters(MODELS["Nemotron 3 Nano 30B-A3B"])
    assert gated_delta_params(2048, 32, 16, 128, 128, 4) == 33_718_464


# Servers


def server(name, **options):
    return Server(MODELS[name], accelerators["h200-sxm"], **options)


def test_a_sequence_keeps_state_beside_its_cache():
    alone = server("Qwen3-Next 80B-A3B")
    assert alone.token_bytes() == kv_bytes_per_token(MODELS["Qwen3-Next 80B-A3B"])
    assert alone.sequence_bytes(0) == alone.state_bytes() == sequence_state_bytes(MODELS["Qwen3-Next 80B-A3B"])
    assert alone.sequence_bytes(1000) - alone.sequence_bytes(0) == 1000 * alone.token_bytes()
    shared = server("Qwen3-Next 80B-A3B", tp=4)
    assert shared.state_bytes() == alone.state_bytes() / 4  # 32 heads of states; but 2 heads of keys have two copies
    assert shared.token_bytes() == alone.token_bytes() / 2
    assert server("DeepSeek-V3.2", tp=8).token_bytes() == kv_bytes_per_token(MODELS["DeepSeek-V3.2"])


@each("name", FAMILIES)
def test_a_server_holds_the_matrices_of_its_model(name):
    model = MODELS[name]
    groups = parameter_groups(model)
    small = groups.norms + groups.router - model.moe_layers * latent_matrices(model)
    assert server(name).weight_bytes() / 2 == pytest.approx(parameter_count(model) - small, rel=1e-3)


def test_a_long_context_costs_a_state_nothing():
    model = MODELS["Qwen3-Next 80B-A3B"].replace(layers=3, pattern="SSS")
    alone = Server(model, accelerators["h200-sxm"])
    assert alone.step(16, 1000).attention == alone.step(16, 100_000).attention > 0
    assert alone.step(32, 1000).attention > alone.step(16, 1000).attention
    assert alone.step(0, 0, 1, 8192).attention == pytest.approx(2 * alone.step(0, 0, 1, 4096).attention, rel=0.1)


def test_sparse_attention_pays_for_its_indexer_only_beyond_its_keys():
    alone = server("DeepSeek-V3.2")
    seen, far = alone.step(16, 2048).attention, alone.step(16, 65536).attention
    full = Server(MODELS["DeepSeek-V3.2"].replace(indexer=None), accelerators["h200-sxm"])
    assert full.step(16, 2048).attention < seen < far < 0.5 * full.step(16, 65536).attention
    assert alone.step(0, 0, 1, 65536).attention < full.step(0, 0, 1, 65536).attention


def test_experts_of_narrower_vectors_are_between_two_matrices():
    model = MODELS["Nemotron 3 Super 120B-A12B"]
    assert latent_matrices(model) == 2 * 4096 * 1024
    assert expert_parameters(model) == 2 * 1024 * 2688
    wide = model.replace(expert_width=0)
    assert expert_parameters(wide) == 4 * expert_parameters(model)
    fast, slow = Server(model, accelerators["h200-sxm"]), Server(wide, accelerators["h200-sxm"])
    assert fast.step(64, 1000).experts < slow.step(64, 1000).experts
    assert fast.weight_bytes() < slow.weight_bytes()


def test_experts_reach_a_share_of_the_rate_by_their_narrower_side():
    model, stack = MODELS["Nemotron 3 Super 120B-A12B"], stacks["megatron-core-2606-gb300"]
    plan = Strategy.of(dp=64, ep=8)
    shares = {x: grouped_share(model.replace(expert_width=x), stack, plan, 8192) for x in (1024, 2048, 2688, 4000, 0)}
    assert shares[1024] < shares[2048] < shares[2688] == shares[4000] == shares[0]
    assert shares[1024] / shares[0] == pytest.approx(1024 / (1024 + stack.w_E) * (2688 + stack.w_E) / 2688)


def test_states_stand_beside_caches_in_what_a_server_says():
    served = plan_serving(
        MODELS["Qwen3-Next 80B-A3B"], "dgx-h200", prompt=8192, output=1024, gpus=4, fixed={"tp": (4,)}, apart=False
    )
    q, best = served.question, served.best[0]
    held = memory_parts(q, best)
    assert held["states"] == pytest.approx(best.plan.decode.batch * 36 * mixer_state_bytes(q.model.mixer) / 4)
    assert sum(held.values()) <= q.memory
    assert "36 of 48 layers keep a state" in basis_words(q)
    plain = question_of("llama3-8b", "dgx-h200", prompt=8192, output=1024)
    assert "state" not in basis_words(plain)


def test_a_batch_that_fits_has_room_for_states():
    model = MODELS["Nemotron 3 Nano 30B-A3B"]
    free = 141e9 - 2 * parameter_count(model)
    each_sequence = kv_cache_bytes(model, 1000) + sequence_state_bytes(model)
    most = largest_batch(model, "h200-sxm", n=1, T_kv=1000)
    assert most == int(free // each_sequence)
    here, there = (decode_point(model, "h200-sxm", n=1, B=64, T_kv=T) for T in (1, 1001))
    assert there.step_time - here.step_time == pytest.approx(64 * kv_cache_bytes(model, 1000) / 4.8e12)


# Training


@each("name", FAMILIES)
def test_ranks_of_a_plan_hold_the_parameters_of_the_model(name):
    model = MODELS[name]
    held = footprint(model, T=4096, states=(1, 0, 0))
    assert float(held.weights) == pytest.approx(parameter_count(model), rel=1e-9)
    shared = footprint(model, T=4096, states=(1, 0, 0), tp=2)
    assert 0.5 * parameter_count(model) <= float(shared.weights) < 0.53 * parameter_count(model)


@each("name", STATEFUL)
def test_a_step_computes_what_the_model_asks_for(name):
    model = MODELS[name]
    ideal = Stack.ideal("h100-sxm")
    seconds = step_time(model, ideal, (Level("node", 8, 450e9),), B=2**20, T=4096, dp=8)
    least = float(step_flops(model, 2**20, 4096)) / 8 / ideal.accelerator.bf16_flops
    states = 3 * model.layers * mean_state_time(model, ideal.accelerator, 2**20 / 8, 1, 1.0)
    assert least < seconds.compute < 1.25 * least + states


def test_a_longer_sequence_costs_states_nothing():
    model = MODELS["Qwen3-Next 80B-A3B"].replace(layers=4, pattern="SSSS")
    h100 = accelerators["h100-sxm"]
    expected = chunked_delta_flops(2**17, 64, 32, 128, 128) / 2 / h100.fp32_flops
    assert mean_state_time(model, h100, 2**17, 2, 1e15) == pytest.approx(expected)
    assert mean_state_time(model, h100, 2**17, 2, math.inf) == 0
    assert mean_state_time(models["llama3-8b"], h100, 2**17, 1, 1e15) == 0
    assert vector_rate(accelerators["l40s"]) == accelerators["l40s"].bf16_flops / 16
    assert set(TRAINED_SHARE) == set(PROMPT_SHARE) == set(MIXERS)
    assert attention_flops(model, 4096, 4096, True) == 0


def test_activations_grow_with_what_states_keep():
    mixer = MODELS["Qwen3-Next 80B-A3B"].mixer
    assert mixer_kept_elements(mixer) == 2 * 8192 + 3 * 4096 + 64 * 32
    assert mixer_kept_elements(MODELS["Nemotron 3 Nano 30B-A3B"].mixer) == 6144 + 2 * 4096
    assert mixer_kept_elements(MODELS["MiniMax-M1"].mixer) == 3 * 8192 + 3 * 8192
    model = Model.small(layers=4, width=256, heads=4)
    stateful = model.replace(pattern="SSSS", mixer=StateMixer("gated-delta", 4, 4, 64, 64, conv=4))
    grown = [footprint(x, T=1024, states=(0, 0, 0)).activations for x in (model, stateful)]
    attention = 2 * (4 * 256 + 0) + 4 * 4
    assert grown[1] - grown[0] == 4 * 1024 * (2 * mixer_kept_elements(stateful.mixer) - attention)


def test_adapters_stand_beside_the_matrices_that_are_there():
    model = MODELS["Qwen3.5 27B"]
    queries = Adapters(16, ("q",)).parameters(model)
    assert queries == 16 * 16 * (5120 + 2 * 24 * 256)
    assert Adapters(16, ("up",)).parameters(model) == 16 * 64 * (5120 + 17408)
    lone = MODELS["Nemotron-H 56B"]
    assert Adapters(1, ("up",)).parameters(lone) == 54 * (8192 + 32768)
    assert matrix_share(MODELS["GLM-5.2"], True, "indexers") == 21 / 78


def test_only_layers_with_attention_exchange_keys_between_ranks():
    model = MODELS["Kimi Linear 48B-A3B"]
    keys = [sizes_of(x, 1024, 1, 1, 2, 1).keys for x in (model, model.replace(pattern="", mixer=None))]
    assert keys[0] == pytest.approx(7 / 27 * keys[1])
    narrow = MODELS["Nemotron 3 Super 120B-A12B"]
    copies = [sizes_of(x, 1024, 1, 1, 1, 8).copies for x in (narrow, narrow.replace(expert_width=0))]
    assert copies[1] == 4 * copies[0]


def test_a_plan_says_what_is_typed_of_such_layers_and_is_not_emitted():
    found = plan(MODELS["Qwen3-Next 80B-A3B"], "superpod-h100-4su", B=2**22, gpus=256)
    assert "36 of 48 layers keep a state" in found.explain()
    with pytest.raises(LaunchError, match="several kinds"):
        emit_training(found.task, found[0], "megatron")
    assert "indexers" in unmeasured_words(MODELS["GLM-5"])
    assert unmeasured_words(models["llama3-8b"]) == ""
