"""DeepSeek-V4: keys that are compressed over time, and hyper-connections; counts, cache, operations and bytes."""

import json
from pathlib import Path

import pytest

from hwlib.calibrated.serving_drafts import Drafting, draft_model
from hwlib.calibrated.serving_step import Server
from hwlib.constraints import KV_HEADS, Setting
from hwlib.footprint import footprint
from hwlib.footprint.trained import layer_matrices, matrix_share
from hwlib.launch import LaunchError, emit_training
from hwlib.parallel.transfers import transfers
from hwlib.planner import plan
from hwlib.planner.explain import unmeasured_words
from hwlib.serving_planner.explain import basis_words
from hwlib.serving_planner.precision import precisions, usual_dtype
from hwlib.serving_planner.question import question_of
from hwlib.specs import Model, SpecError, accelerators, models
from hwlib.specs.state_mixer import Compression
from hwlib.strategy import Strategy
from hwlib.transformer import (
    active_parameters,
    attention_step_flops,
    cache_read_bytes,
    compressed_step_flops,
    compressed_token_bytes,
    compressor_parameters,
    entries_read,
    entry_index_flops,
    indexer_parameters,
    kv_bytes_per_token,
    kv_cache_bytes,
    matmul_parameters,
    mean_entries,
    mtp_parameters,
    parameter_count,
    parameter_groups,
    sequence_state_bytes,
    step_flops,
    training_flops,
    with_mtp,
)
from hwlib.transformer.attention_kinds import attention_kinds
from hwlib.transformer.layer_counts import compressor_matrices, stream_matrices
from hwlib.transformer.layer_matrices import sublayers
from hwlib.transformer.sequence_memory import sequence_memory
from hwlib.transformer.stored_weights import formats, stored_weight_bytes
from tests.each import each

# `parameters` is the count of Transformers 5.24's class on the meta device, with the router's bias, which it keeps as a
# buffer; `billions` and `active` are those of the model card.
FAMILY = json.loads((Path(__file__).parent / "data" / "compressed_keys.json").read_text("utf-8"))
MODELS = {name: Model.of_config(row["config"], name) for name, row in FAMILY.items()}
FLASH, PRO = MODELS.values()
LONG, MILLION = 2**17, 2**20


def changed(**fields):
    """Flash with other fields in its file; None takes one away."""
    return Model.of_config({**FAMILY["DeepSeek-V4-Flash"]["config"], **fields}, "changed")


@each("name", FAMILY)
def test_the_count_is_that_of_the_class_and_of_its_publisher(name):
    row, model = FAMILY[name], MODELS[name]
    assert parameter_count(model) == row["parameters"]
    assert parameter_count(model) / 1e9 == pytest.approx(row["billions"], rel=0.02)
    assert round(active_parameters(model, embedding=False) / 1e9) == row["active"]
    assert sum(parameter_groups(model)) == row["parameters"]


@each("name", FAMILY)
def test_the_table_has_the_shape_of_the_file(name):
    row = models[name.lower()]
    assert parameter_count(row) == FAMILY[name]["parameters"]
    assert row.compression == MODELS[name].compression


@each("name", FAMILY)
def test_the_matrices_of_all_layers_are_those_that_a_token_is_multiplied_with(name):
    model = MODELS[name]
    matrices = [matrix for layer in sublayers(model) for matrix in layer.matrices]
    routed = sum(matrix.elements for matrix in matrices if matrix.part == "experts")
    taken = sum(matrix.elements for matrix in matrices) - routed + routed * model.experts_per_token // model.experts
    assert matmul_parameters(model) == taken + stream_matrices(model) + model.width * model.vocab


def modules_of_attention(stride):
    """One layer's attention in modules of torch, as section 2.3 of deepseek-v4 has it."""
    import torch
    from torch import nn

    x = FLASH
    index = x.indexer

    def compressor(width, over):
        return [nn.Linear(x.width, over * width, bias=False), nn.Linear(x.width, over * width, bias=False)], [
            nn.Parameter(torch.empty(stride, over * width)),
            nn.Parameter(torch.empty(width)),
        ]

    linear = [
        nn.Linear(x.width, x.q_lora, bias=False),
        nn.Linear(x.q_lora, x.heads * x.head_dim, bias=False),
        nn.Linear(x.width, x.head_dim, bias=False),
        nn.Linear(x.heads * x.head_dim // x.compression.groups, x.compression.groups * x.compression.rank, bias=False),
        nn.Linear(x.compression.groups * x.compression.rank, x.width, bias=False),
    ]
    loose = [nn.Parameter(torch.empty(n)) for n in (x.q_lora, x.head_dim, x.heads)]
    for width in [x.head_dim] * (stride > 0) + [index.dim] * (stride == 4):
        more_linear, more_loose = compressor(width, 2 if stride == 4 else 1)
        linear, loose = linear + more_linear, loose + more_loose
    if stride == 4:
        linear.append(nn.Linear(x.q_lora, index.heads * index.dim, bias=False))
        linear.append(nn.Linear(x.width, index.heads, bias=False))
    return nn.ModuleList(linear), nn.ParameterList(loose)


@pytest.mark.parametrize("stride", [0, 4, 128])
def test_a_layer_has_the_parameters_of_its_modules(stride):
    import torch

    with torch.device("meta"):
        linear, loose = modules_of_attention(stride)
    size = sum(p.numel() for p in linear.parameters()), sum(p.numel() for p in loose.parameters())
    layer = next(k for k in range(FLASH.layers) if FLASH.compression.strides[k] == stride)
    matrices = list(sublayers(FLASH))[2 * layer].matrices
    assert sum(matrix.elements for matrix in matrices) == size[0]
    alone = FLASH.replace(layers=1, hashed_layers=0, window_layers=int(not stride), **of_one(stride))
    assert parameter_groups(alone).attention == sum(size)


def of_one(stride):
    """The fields of a model of one such layer."""
    x = FLASH.compression
    only = Compression((stride,), x.sparse, x.groups, x.rank)
    return {"compression": only, "indexer": None if stride != 4 else type(FLASH.indexer)(64, 128, 512, 1)}


def test_what_compresses_is_in_the_layers_of_its_stride():
    assert [(kind.layers, kind.stride, kind.picked) for kind in attention_kinds(FLASH)] == [
        (2, 0, 0),
        (21, 4, 512),
        (20, 128, 0),
    ]
    assert [kind.layers for kind in attention_kinds(PRO)] == [30, 31]
    assert compressor_parameters(FLASH, 0) == compressor_matrices(FLASH, 0) == 0
    assert compressor_parameters(FLASH, 4) == 4 * 4096 * 512 + 4 * 1024 + 512
    assert compressor_parameters(FLASH, 128) == 2 * 4096 * 512 + 128 * 512 + 512
    assert indexer_parameters(FLASH) == 4 * 4096 * 128 + 4 * 256 + 128 + 1024 * 64 * 128 + 4096 * 64


# Cache


def test_the_cache_of_a_million_tokens_is_what_its_server_prints():
    # vLLM's note of April 2026: 9.62 GiB a sequence of 1M tokens of Pro in bf16, with the indexers' keys in 16 bits.
    keys = compressed_token_bytes(30, (512 + 128) * 2, 4) + compressed_token_bytes(31, 512 * 2, 128)
    assert MILLION * keys / 2**30 == pytest.approx(9.62, abs=0.005)
    ours = kv_bytes_per_token(PRO) - 30 * (128 + 4) / 4 + 30 * 128 * 2 / 4
    assert ours == keys


def test_the_cache_is_the_share_of_the_one_before_that_its_authors_print():
    before = kv_cache_bytes("deepseek-v3.2", MILLION, b=1)
    for model, printed in ((PRO, 0.10), (FLASH, 0.07)):
        assert kv_cache_bytes(model, MILLION, b=1) / before == pytest.approx(printed, abs=0.03)


def test_a_window_is_kept_whole_and_entries_grow():
    for tokens in (1, 100, 128):
        kept = FLASH.layers * tokens * 1024 + tokens * kv_bytes_per_token(FLASH)
        assert kv_cache_bytes(FLASH, tokens) == pytest.approx(kept)
    grown = kv_cache_bytes(FLASH, LONG + 128) - kv_cache_bytes(FLASH, LONG)
    assert grown == pytest.approx(128 * kv_bytes_per_token(FLASH))
    memory = sequence_memory(FLASH, LONG)
    assert memory.index == pytest.approx(21 * 132 * LONG / 4)
    assert memory.cache + memory.index == kv_cache_bytes(FLASH, LONG)
    assert memory.state == sequence_state_bytes(FLASH) == sequence_state_bytes(FLASH, b=1)


def test_unfinished_entries_have_two_numbers_in_32_bits():
    sparse = 2 * 4 * 2 * (2 * 4) * (512 + 128)
    assert sequence_state_bytes(FLASH) == 21 * sparse + 20 * 2 * 4 * 128 * 512


def test_a_decode_step_reads_the_window_and_what_is_picked():
    assert entries_read(1000, 4, 512, 128) == 128 + 250
    assert entries_read(4 * 512, 4, 512, 128) == entries_read(LONG, 4, 512, 128) == 128 + 512
    assert entries_read(100, 4, 512, 128) == 125
    index = 21 * 132 * LONG / 4
    keys = 43 * 128 + 21 * 512 + 20 * LONG / 128
    # Of a token whose entry is not complete a step writes its own numbers, and all of an entry are read when it is.
    unfinished = 21 * 2 * 2 * (2 * 4) * (512 + 128) + 20 * 2 * 4 * 512
    assert cache_read_bytes(FLASH, LONG) == pytest.approx(2 * unfinished + keys * 1024 + index)


# Operations


@pytest.mark.parametrize(("tokens", "stride", "top"), [(64, 4, 8), (64, 4, 100), (32, 4, 8), (512, 128, 9), (24, 8, 1)])
def test_the_mean_of_entries_is_that_of_every_token(tokens, stride, top):
    every = [min((t + 1) // stride, top) for t in range(tokens)]
    assert mean_entries(tokens, stride, top) == pytest.approx(sum(every) / tokens)


def test_no_entry_is_read_before_one_is_complete():
    assert mean_entries(1, 4, 8) == mean_entries(2, 4, 8) == 0
    assert mean_entries(4, 4, 8) == pytest.approx(1 / 4)
    assert entry_index_flops(1, 100, 128, 64, 128) == 0


@each("name", FAMILY)
def test_a_step_takes_its_matrices_and_what_lies_between(name):
    model = MODELS[name]
    between = attention_step_flops(model, LONG, LONG)
    assert step_flops(model, LONG, LONG) == training_flops(matmul_parameters(model), LONG) + 3 * between
    assert 0 < compressed_step_flops(model, LONG, LONG) < between


def test_the_operations_of_a_token_are_the_share_that_its_authors_print():
    # One token behind 1M, of Pro 27 % and of Flash 10 % of those of V3.2, in operations of 8 bits; here all count once.
    def one_token(model):
        longer = attention_step_flops(model, MILLION + 128, MILLION + 128) - attention_step_flops(
            model, MILLION, MILLION
        )
        return 2 * matmul_parameters(model) + longer / 128

    before = one_token(models["deepseek-v3.2"])
    assert one_token(PRO) / before == pytest.approx(0.27, abs=0.03)
    assert one_token(FLASH) / before == pytest.approx(0.10, abs=0.03)


# Modules for multi-token prediction, and precision


def test_a_module_has_a_window_alone():
    # A layer without a compressor; two matrices of D x D, three norms, and weights to read the streams with.
    more = parameter_count(with_mtp(FLASH)) - parameter_count(FLASH)
    assert mtp_parameters(FLASH) == more + 2 * 4096**2 + 3 * 4096 + 4 * (4 * 4096 + 1) + 1
    assert with_mtp(FLASH).compression.strides[-1] == 0
    assert with_mtp(FLASH).indexer == FLASH.indexer


def test_the_files_have_the_bytes_that_the_hub_prints():
    # 865 GB of Pro, and 158 billion of Flash where two weights of 4 bits count as one, with all scales (April 2026).
    assert stored_weight_bytes(PRO, mtp=True) == pytest.approx(865e9, rel=0.005)
    experts = 44 * 256 * 3 * 4096 * 2048
    packed = parameter_count(FLASH) + mtp_parameters(FLASH) - experts / 2 + experts / 32
    assert packed == pytest.approx(158e9, rel=0.005)


def test_experts_have_four_bits_and_compressors_sixteen():
    by_part = formats(FLASH)
    assert {part: form.name for part, form in by_part.items()} == {
        "attention": "fp8",
        "experts": "mxfp4",
        "shared_experts": "fp8",
        "rest": "16 bits",
    }
    assert FLASH.quantisation.in_layer(2, "compressor").plain
    assert FLASH.quantisation.in_layer(2, "index weights").plain
    assert FLASH.quantisation.in_layer(2, "index q").name == "fp8"
    assert FLASH.quantisation.bits == 4
    base = changed(expert_dtype="fp8")
    assert formats(base)["experts"].name == "fp8"
    assert (base.quantisation.bits, base.quantisation.own, FLASH.quantisation.own) == (8, "fp8", "mxfp4")
    inside = {**FAMILY["DeepSeek-V4-Flash"]["config"]["quantization_config"], "expert_dtype": "fp4"}
    assert formats(changed(expert_dtype=None, quantization_config=inside))["experts"].name == "mxfp4"


NVFP4 = {
    "quant_method": "fp8",
    "quant_algo": "MIXED_PRECISION",
    "weight_block_size": [128, 128],
    "ignore": ["*.attn.*", "*.ffn.shared_experts.*", "head", "mtp.*"],
    "quantized_layers": {f"layers.{i}.ffn.experts": {"quant_algo": "NVFP4", "group_size": 16} for i in range(61)},
}


def test_what_modelopt_leaves_alone_keeps_its_blocks():
    config = {**FAMILY["DeepSeek-V4-Pro"]["config"], "quantization_config": NVFP4}
    model = Model.of_config(config, "NVFP4")
    assert {part: form.name for part, form in formats(model).items() if part != "rest"} == {
        "attention": "fp8",
        "experts": "nvfp4",
        "shared_experts": "fp8",
    }
    assert model.quantisation.bits == 4
    # 913 GB (the Hub, May 2026), of which 26 billion of the module keep the 4 bits and scales that they had.
    module = stored_weight_bytes(PRO, mtp=True) - stored_weight_bytes(PRO)
    assert stored_weight_bytes(model) + module == pytest.approx(913e9, rel=0.005)
    beside = {"quantization": {name: NVFP4[name] for name in ("quant_algo", "quantized_layers")}}
    beside["quantization"]["exclude_modules"] = [
        f"layers.{i}.{part}" for i in range(61) for part in ("attn", "ffn.gate")
    ]
    both = Model.of_config({**config, "hf_quant_config.json": beside}, "NVFP4")
    assert formats(both) == formats(model)


# Files


def test_kinds_of_layers_are_read_from_either_list():
    kinds = {0: "sliding_attention", 4: "compressed_sparse_attention", 128: "heavily_compressed_attention"}
    listed = [kinds[stride] for stride in FLASH.compression.strides]
    assert changed(layer_types=listed, compress_ratios=None).compression == FLASH.compression
    usually = changed(compress_ratios=None).compression.strides
    assert usually[:5] == (128, 128, 128, 4, 128)
    rates = {"compressed_sparse_attention": 8, "heavily_compressed_attention": 256}
    half = changed(compress_ratios=[2 * ratio for ratio in FLASH.compression.strides], compress_rates=rates)
    assert set(half.compression.strides) == {0, 8, 256}
    hashed = changed(num_hash_layers=None, mlp_layer_types=["hash_moe"] * 2 + ["moe"] * 41)
    assert parameter_count(hashed) == parameter_count(FLASH) + 256
    assert changed(num_hash_layers=None).hashed_layers == 3
    assert Model.of_config({**FAMILY["DeepSeek-V4-Flash"]["config"], "model_type": "deepseek_ref"}, "x").streams == 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("compress_ratios", [0] * 42),
        ("compress_ratios", [3] * 43),
        ("compress_ratios", 4),
        ("compress_rates", {"compressed_sparse_attention": 128}),
        ("compress_rate_csa", 0),
        ("layer_types", ["full_attention"] * 43),
        ("mlp_layer_types", ["dense"] * 43),
        ("o_groups", 7),
        ("o_groups", None),
        ("hc_mult", None),
        ("hc_mult", 0),
        ("sliding_window", None),
        ("num_key_value_heads", 2),
        ("expert_dtype", "fp2"),
        ("index_topk", None),
        ("swa_extra_width", 7),
    ],
)
def test_a_field_that_cannot_be_is_named(name, value):
    with pytest.raises(SpecError, match=name):
        changed(**{name: value})


# How ranks divide it, and how long it takes


def test_a_rank_holds_all_parameters_and_tp_divides_heads_alone():
    whole = footprint(FLASH, T=4096, states=(1, 0, 0))
    shared = footprint(FLASH, T=4096, states=(1, 0, 0), tp=2)
    assert whole.states == pytest.approx(parameter_count(FLASH), rel=2e-4)  # without what reads the streams at the end
    own = FLASH.layers * (64 * 512 * (1024 + 1024) + 8 * 1024 * 4096 + 64)
    assert parameter_count(FLASH) - 2 * shared.states < parameter_count(FLASH) - whole.states + 2 * own
    assert shared.states > whole.states / 2


def test_matrices_of_an_optimizer_are_those_of_the_layers():
    counted = sum(
        FLASH.layers * matrix_share(FLASH, True, name) * rows * columns * (FLASH.experts if name == "experts" else 1)
        for name, shapes in layer_matrices(FLASH, True).items()
        for rows, columns in shapes
    )
    expected = [m.elements for layer in sublayers(FLASH) for m in layer.matrices if m.kind != "router"]
    assert counted == pytest.approx(sum(expected))


def test_streams_are_kept_and_sent_side_by_side():
    plain = FLASH.replace(streams=0)
    kept = [footprint(model, T=4096, states=(0, 0, 0)).activations for model in (plain, FLASH)]
    assert kept[1] - kept[0] == pytest.approx(FLASH.layers * 4096 * 4096 * 4 * 2 * 2)
    sent = [[t.S for t in transfers(model, pp=2, B=2**20) if t.axis == "pp"] for model in (plain, FLASH)]
    assert sent[1][0] == 4 * sent[0][0]
    gathered = [t.S for t in transfers(FLASH, cp=2, B=2**20) if t.what == "keys and values"]
    assert gathered[0] == pytest.approx(2 * 2**20 * kv_bytes_per_token(FLASH, 1) / FLASH.layers)


@pytest.mark.parametrize(("tp", "allowed"), [(8, True), (16, False)])
def test_tensor_parallelism_divides_the_groups_of_heads(tp, allowed):
    assert bool(KV_HEADS.holds(Setting(FLASH, gpus=tp), Strategy(tp=tp))) == allowed
    assert "8 groups" in KV_HEADS.sentence(Setting(FLASH, gpus=tp), Strategy(tp=tp))


def server(model, **others):
    return Server(model, accelerators["b200-sxm"], **{"tp": 8, "dtype": "fp8_block", "kv_dtype": "fp8", **others})


def test_a_decode_step_hardly_grows_with_its_context():
    here = server(FLASH)
    seconds = [here.step(32, context).attention for context in (2**12, 2**17, 2**20)]
    assert seconds[0] < seconds[1] < seconds[2] < 256 * seconds[0]
    plain = models["deepseek-v3.2"]
    assert here.sequence_bytes(LONG) < server(plain).sequence_bytes(LONG) / 5
    assert here.sequence_bytes(LONG) == pytest.approx(
        kv_cache_bytes(FLASH, LONG, b=1) + sequence_state_bytes(FLASH), rel=1e-9
    )


def test_a_prompt_takes_its_operations():
    here = server(PRO)
    times = [here.step(0, 0, 1, tokens) for tokens in (2**13, 2**16)]
    assert all(work.attention > work.attention_least > 0 for work in times)
    assert 8 < times[1].attention / times[0].attention < 64


def test_a_draft_has_a_window_alone():
    drafting = Drafting("mtp", 1, 0.8)
    layer = draft_model(FLASH, "mtp")
    assert (layer.compression.strides, layer.indexer, layer.window_layers, layer.streams) == ((0,), None, 1, 4)
    head = draft_model(FLASH, "eagle3")
    assert (head.compression, head.streams, head.moe) == (None, 0, False)
    here = server(FLASH, drafting=drafting)
    assert here.sequence_bytes(LONG) - server(FLASH).sequence_bytes(LONG) == pytest.approx(128 * 512)


@pytest.mark.parametrize(("chip", "experts"), [("h200-sxm", "mxfp4"), ("b200-sxm", "mxfp4_fp8")])
def test_it_is_served_in_the_precision_of_its_files(chip, experts):
    chosen = accelerators[chip]
    dtype = usual_dtype(FLASH, chosen)
    assert dtype == "mxfp4"
    has = precisions(FLASH, chosen, dtype, "fp8")
    assert (has["dtype"], has["expert_dtype"]) == ("fp8_block", experts)
    held = [Server(FLASH, chosen, tp=tp, **has).weight_bytes() for tp in (1, 8)]
    assert held[0] == pytest.approx(stored_weight_bytes(FLASH), rel=0.005)
    assert held[0] / 8 < held[1] < 1.05 * held[0] / 8  # every rank has what compresses


def test_what_is_typed_is_said():
    question = question_of(PRO, "dgx-b200", prompt=8192, output=256)
    assert "128 tokens beside a window" in basis_words(question)
    assert "4 residual streams" in basis_words(question)
    assert "typed" in unmeasured_words(PRO)


def test_no_training_program_is_asked_for_it():
    found = plan(FLASH, "superpod-h100-4su", B=2**22, gpus=256)
    with pytest.raises(LaunchError):
        emit_training(found.task, found[0], "megatron")


@pytest.mark.parametrize("fields", [{}, {"num_key_value_heads": 2}, {"qk_rope_head_dim": 0, "topk_method": "greedy"}])
def test_a_successor_is_told_as_nearest_to_it(fields):
    # One value that is not known does not hide the fields that are.
    with pytest.raises(SpecError, match="nearest to deepseek_v4"):
        changed(model_type="deepseek_v41", engram_layers=3, **fields)
