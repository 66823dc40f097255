"""Parameters, operations and caches of the models: to the last parameter, and against what papers print."""

import pytest

from hwlib import transformer
from hwlib.roofline import attention_decode_intensity, attention_prefill_intensity, matmul_flops, moe_critical_batch
from hwlib.specs import Model, accelerators, models
from hwlib.training import gpt_selective_flops
from hwlib.transformer import (
    active_parameters,
    attention_forward_flops,
    attention_parameters,
    attention_params,
    attention_step_flops,
    backward_flops,
    causal_attention_forward_flops,
    decoder_params,
    forward_flops,
    gpt_params,
    gpt_recompute_training_flops,
    gpt_training_flops,
    kv_bytes_per_token,
    kv_cache_bytes,
    kv_token_bytes,
    layer_params,
    llama_params,
    matmul_parameters,
    mla_params,
    mla_token_bytes,
    mlp_parameters,
    mlp_params,
    moe_active_params,
    moe_params,
    mtp_parameters,
    norm_parameters,
    parameter_count,
    parameter_groups,
    recompute_training_flops,
    recomputed_flops,
    router_parameters,
    step_flops,
    training_flops,
    window_attention_forward_flops,
)
from hwlib.units import KiB
from tests.hwlib.worked import Row, check

LLAMAS = [key for key in models if key.startswith("llama") and not models[key].moe]
GPTS = [key for key, one in models.items() if one.norm == "layer" and one.biases == "all"]
COUNTED = [
    key
    for key, one in models.items()
    if one.published_parameters and one.datum("published_parameters").source == "hugging-face-hub"
]
LLAMA70, DEEPSEEK, OSS120, OSS20 = (models[k] for k in ("llama3-70b", "deepseek-v3", "gpt-oss-120b", "gpt-oss-20b"))


COUNTS = {
    attention_parameters: (),
    mlp_parameters: (1024,),
    router_parameters: (),
    norm_parameters: (),
    parameter_groups: (),
    parameter_count: (),
    active_parameters: (),
    mtp_parameters: (),
    matmul_parameters: (),
    attention_step_flops: (8192, 8192),
    step_flops: (8192, 8192),
    recomputed_flops: (8192, 8192, "full"),
    kv_bytes_per_token: (),
    kv_cache_bytes: (8192,),
}


@pytest.mark.parametrize("count", COUNTS, ids=lambda count: count.__name__)
@pytest.mark.parametrize("key", ["llama3-70b", "deepseek-v3", "gpt-oss-120b"])
def test_a_count_takes_a_model_or_its_key(count, key):
    assert count(key, *COUNTS[count]) == count(models[key], *COUNTS[count])
    with pytest.raises(KeyError, match=r"model 'llama4'; .*llama3"):
        count("llama4", *COUNTS[count])


# To the last parameter


@pytest.mark.parametrize("key", COUNTED)
def test_a_checkpoint_holds_exactly_these(key):
    assert parameter_count(models[key]) == models[key].published_parameters


def test_most_models_are_counted_exactly():
    assert len(COUNTED) >= 14


@pytest.mark.parametrize("key", [key for key in models if key.startswith("megatron")])
def test_narayanan_prints_the_same_to_a_tenth_of_a_billion(key):
    assert round(parameter_count(models[key]), -8) == models[key].published_parameters


@pytest.mark.parametrize("key", ["gpt3-175b", "korthikanti-22b", "korthikanti-175b", "korthikanti-1t"])
def test_a_name_is_rounded(key):
    assert parameter_count(models[key]) == pytest.approx(models[key].published_parameters, rel=0.01)


@pytest.mark.parametrize("key", GPTS)
def test_narayanans_formula_leaves_out_the_last_norm(key):
    one = models[key]
    assert gpt_params(one.layers, one.width, one.vocab, one.positions) + 2 * one.width == pytest.approx(
        parameter_count(one), rel=1e-15
    )


@pytest.mark.parametrize("key", LLAMAS)
def test_the_formula_of_llama_is_exact(key):
    one = models[key]
    shape = one.layers, one.width, one.ffn, one.heads, one.kv_heads, one.head_dim, one.vocab
    assert llama_params(*shape) == parameter_count(one)
    assert decoder_params(*shape) == parameter_count(one) - parameter_groups(one).norms


def test_deepseeks_checkpoint_holds_its_tables_twice():
    # The safetensors of the Hugging Face page: bfloat16, 8-bit floats, and of the float32 the biases of 59 routers.
    bf16, fp8, router_biases = 3_918_786_560, 680_571_043_840, 59 * 256
    tables = 2 * DEEPSEEK.width * DEEPSEEK.vocab
    assert parameter_count(DEEPSEEK) + mtp_parameters(DEEPSEEK) + tables == bf16 + fp8 + router_biases
    assert round(parameter_count(DEEPSEEK), -9) == 671e9


@pytest.mark.parametrize(
    ("key", "embedding", "printed"),
    [
        ("mixtral-8x7b", True, 12.9e9),
        ("gpt-oss-120b", False, 5.13e9),
        ("gpt-oss-20b", False, 3.61e9),
        ("qwen3-235b-a22b", True, 22e9),
        ("qwen3-30b-a3b", True, 3.3e9),
        ("deepseek-v3", False, 36.6e9),
    ],
)
def test_active_parameters_as_printed(key, embedding, printed):
    assert active_parameters(models[key], embedding) == pytest.approx(
        printed, rel=0.02 if key.startswith("qwen3") else 0.002
    )


def test_a_dense_model_is_active_whole():
    assert active_parameters(LLAMA70) == parameter_count(LLAMA70)
    assert active_parameters(LLAMA70, embedding=False) == parameter_count(LLAMA70) - 128256 * 8192
    gpt = models["gpt3-175b"]
    assert active_parameters(gpt, embedding=False) == parameter_count(gpt)  # the table is the output layer


@pytest.mark.parametrize(
    ("model", "mlp", "attention", "tables"), [(OSS120, 114.71e9, 0.96e9, 1.16e9), (OSS20, 19.12e9, 0.64e9, 1.16e9)]
)
def test_the_groups_of_gpt_oss_as_its_card_prints_them(model, mlp, attention, tables):
    groups = parameter_groups(model)
    assert groups.experts + groups.router == pytest.approx(mlp, abs=5e6)
    assert groups.attention == pytest.approx(attention, abs=5e6)
    assert groups.embedding + groups.head == pytest.approx(tables, abs=5e6)
    assert groups.total == parameter_count(model)


def test_experts_in_letters():
    mixtral = models["mixtral-8x7b"]
    one, active = moe_params(4096, 14336, 8), moe_active_params(4096, 14336, 8, 2)
    groups = parameter_groups(mixtral)
    assert 32 * one == groups.experts + groups.router
    assert 32 * (one - active) == parameter_count(mixtral) - active_parameters(mixtral)
    assert moe_params(4096, 14336, 1) - 4096 == mlp_params(4096, 14336)


def test_multi_head_attention_is_four_squares():
    assert attention_params(12288, 96, 96, 128) == 4 * 12288**2
    assert layer_params(12288, 4 * 12288, 96, 96, 128, matrices=2) == 12 * 12288**2
    groups = parameter_groups(DEEPSEEK)
    norms = 61 * (1536 + 512)
    assert groups.attention - norms == 61 * mla_params(7168, 128, 1536, 512, 128, 64, 128)


# What the literature asks and answers

LLAMA13, V5E = models["llama2-13b"], accelerators["tpu-v5e"]
WORKED = [
    # How to Scale Your Model, chapters 4, 5 and 6
    Row("X1 params", lambda: decoder_params(64, 4096, 16384, 32, 32, 128, 32_000), 16e9, 0.01, 17.44e9,
        "4e3 and 16e3 stand for 4,096 and 16,384, and 16.6e9 is cut off to 16e9"),
    Row("X1 attention", lambda: attention_params(4096, 32, 32, 128) / layer_params(4096, 16384, 32, 32, 128), 1 / 4),
    Row("X1 cache, int8", lambda: kv_token_bytes(64, 32, 128, b=1), 512 * KiB),
    Row("X2", lambda: 128 * matmul_flops(64 / 4, 512 / 4, 256), 2 * 64 * 512 * 256 * 8, 1e-12),  # over Z repeated
    Row("X3", lambda: matmul_flops(5 * 6, 3 * 4, 7 * 8 * 9), 2 * 3 * 4 * 5 * 6 * 7 * 8 * 9, 1e-12),
    Row("X4 prefill", lambda: attention_prefill_intensity(8192, 8), 8192 * 8 / 9),
    Row("X4 decode", lambda: attention_decode_intensity(8192, 8), 8),
    Row("X6", lambda: attention_forward_flops(16 * 4096, 4096, 32, 128), 4 * 16 * 4096**2 * 32 * 128, 1e-12),
    Row("X8", lambda: moe_critical_batch(256, 8, V5E.bf16_flops, V5E.hbm_bandwidth, b_w=1), 3840, 0.02),
    Row("N1", lambda: parameter_count(LLAMA13), 13.0e9),
    Row("N2 states", lambda: 10 * parameter_count(LLAMA13), 130e9),
    Row("70B params", lambda: parameter_count(LLAMA70), 70.4e9),
    Row("70B MLPs", lambda: parameter_groups(LLAMA70).mlp, 56.3e9),
    Row("70B tables", lambda: parameter_groups(LLAMA70).embedding + parameter_groups(LLAMA70).head, 2.1e9),
    Row("70B attention", lambda: parameter_groups(LLAMA70).attention, 12e9, 0.02),
    Row("70B FLOP a token", lambda: training_flops(parameter_count(LLAMA70), 1), 4.2e11),
    Row("70B total", lambda: training_flops(parameter_count(LLAMA70), 15e12), 6.3e24),
    Row("70B cache, int8", lambda: kv_bytes_per_token(LLAMA70, b=1), 160 * KiB),
    Row("70B cache of 32k, int8", lambda: kv_cache_bytes(LLAMA70, 32768, b=1), 5.3e9, 0.02),
    Row("I1 params", lambda: decoder_params(64, 4096, 16384, 32, 8, 256, 32128), 18.4e9),
    Row("I1 cache, int8", lambda: kv_token_bytes(64, 8, 256, b=1), 262e3),
    Row("I5 total", lambda: (18.4e9 + 64 * 15 * mlp_params(4096, 16384)), 212e9),
    Row("I5 active", lambda: (18.4e9 + 64 * 1 * mlp_params(4096, 16384)), 31.2e9),
    Row("G5.2.1 memory of 70B", lambda: 10 * parameter_count(LLAMA70) / 80e9, 700 / 80),
    # Facts of this book's own bank, section 6 item 10
    Row("8B", lambda: parameter_count(models["llama3-8b"]), 8.03e9, 1e-3),
    Row("70B", lambda: parameter_count(LLAMA70), 70.6e9, 1e-3),
    Row("405B", lambda: parameter_count(models["llama3-405b"]), 405.9e9, 1e-3),
    Row("DeepSeek", lambda: parameter_count(DEEPSEEK), 670.9e9, 1e-3),
    Row("8B cache", lambda: kv_bytes_per_token(models["llama3-8b"]), 131e3),
    Row("70B cache", lambda: kv_bytes_per_token(LLAMA70), 328e3),
    Row("405B cache", lambda: kv_bytes_per_token(models["llama3-405b"]), 516e3),
    Row("DeepSeek cache", lambda: kv_bytes_per_token(DEEPSEEK), 70.3e3),
    Row("DeepSeek batch", lambda: 15360 * 4096, 62.9e6),
    Row("DeepSeek MFU, fp8 peak of an SXM module, 2.788 Mh", lambda: deepseek_mfu(1.979e15, 2.788e6), 0.165, 0.01),
    Row("DeepSeek MFU, fp8 peak of an SXM module, 2.664 Mh", lambda: deepseek_mfu(1.979e15, 2.664e6), 0.173, 0.01),
    # Where the source errs
    Row("DeepSeek's next token", lambda: mtp_parameters(DEEPSEEK), 11.5e9, 0.003, right=11.61e9,
        error="the layer alone: the matrix that joins two vectors to one is left out"),
    Row("DeepSeek's next token, the layer", lambda: mtp_parameters(DEEPSEEK) - 2 * 7168**2, 11.5e9, 0.003),
    Row("X7", lambda: deepseek_mfu(1.979e15, 2.788e6), 0.217, right=0.165, error="the H800's PCIe card, 1.513e15"),
    Row("X7 with its own peak", lambda: deepseek_mfu(1.513e15, 2.788e6), 0.217, 0.01),
    Row("DeepSeek batch, data-parallel section", lambda: 15360 * 4096, 4e6, right=62.9e6, error="one tenth and less"),
    Row("DeepSeek active, both tables", lambda: active_parameters(DEEPSEEK), 36.7e9, right=37.55e9,
        error="36.6e9 has one table, with both it is 37.6e9"),
]  # fmt: skip


def deepseek_mfu(C, hours):
    """Of 14.8 T tokens at 37 G active parameters, as the question counts."""
    return training_flops(37e9, 14.8e12) / (hours * 3600 * C)


@pytest.mark.parametrize("row", WORKED, ids=lambda row: row.id)
def test_worked(row):
    check(row)


def test_attention_overtakes_its_projections():
    # X5: scores and weighted values need as many operations as the four projections do, from T = 2D on.
    D = 4096
    share = attention_forward_flops(1, 2 * D, 32, 128) / forward_flops(attention_params(D, 32, 32, 128), 1)
    assert share == 1


# Operations


def test_a_backward_pass_is_two_forward_passes():
    assert backward_flops(7e9, 100) == 2 * forward_flops(7e9, 100)
    assert training_flops(7e9, 100) == 6 * 7e9 * 100
    assert recompute_training_flops(7e9, 100) == 8 * 7e9 * 100


@pytest.mark.parametrize("key", GPTS)
def test_the_papers_formulas_are_the_models_step(key):
    one = models[key]
    B, T = 4 * one.context, one.context
    ours = step_flops(one, B, T, causal=False)
    assert gpt_training_flops(B, T, one.layers, one.width, one.vocab) == pytest.approx(ours, rel=1e-12)
    layers = ours - training_flops(one.width * one.vocab, B)
    recomputed = gpt_recompute_training_flops(B, T, one.layers, one.width, one.vocab)
    assert recomputed == pytest.approx(ours + layers / 3, rel=1e-12)
    assert recomputed_flops(one, B, T, "full", causal=False) == pytest.approx(layers / 3, rel=1e-12)
    attention = recomputed_flops(one, B, T, "selective", causal=False)
    selective = gpt_selective_flops(B, T, one.layers, one.width, one.vocab)
    assert attention == pytest.approx(selective - ours, rel=1e-9)
    assert recomputed_flops(one, B, T) == 0
    with pytest.raises(ValueError, match=r"recompute 'some'; .*none"):
        recomputed_flops(one, B, T, "some")


def test_the_table_of_narayanan_in_teraflops():
    # 174.6B on 1024 GPUs at 140 TFLOP/s: 34 days for 300 billion tokens; 1T on 3072 at 163: 84 days for 450 billion.
    for size, tokens, gpus, rate, days in ((175, 300e9, 1024, 140e12, 34), (1000, 450e9, 3072, 163e12, 84)):
        seconds = recompute_training_flops(size * 1e9, tokens) / (gpus * rate)
        assert seconds / 86400 == pytest.approx(days, rel=0.02)


def test_a_mask_saves_half():
    full, causal = attention_forward_flops(8192, 8192, 64, 128), causal_attention_forward_flops(8192, 8192, 64, 128)
    assert causal / full == 8193 / 16384
    assert causal_attention_forward_flops(1, 1, 64, 128) == attention_forward_flops(1, 1, 64, 128)


@pytest.mark.parametrize(("T", "window"), [(1, 1), (7, 3), (7, 7), (7, 20), (256, 128)])
def test_a_window_counts_the_keys_one_by_one(T, window):
    keys = sum(min(i + 1, window) for i in range(T))
    assert window_attention_forward_flops(T, T, window, 8, 64) == pytest.approx(4 * keys * 8 * 64, rel=1e-14)
    one = Model.small(layers=4, heads=8, head_dim=64, window=window, window_layers=3)
    every = sum(range(1, T + 1))
    assert attention_step_flops(one, T, T) == pytest.approx(4 * (3 * keys + every) * 8 * 64, rel=1e-14)
    assert attention_step_flops(one, T, T, causal=False) == 4 * 4 * T * T * 8 * 64


def test_latent_attention_folded_and_unfolded_are_sums_of_their_products():
    T, S, n, r, nope, rope, v = 3, 50, 4, 24, 16, 8, 12
    up = n * S * r * (nope + v)
    assert transformer.mla_unfolded_flops(T, S, n, r, nope, rope, v) == 2 * (up + n * T * S * (nope + rope + v))
    queries, outputs = n * T * nope * r, n * T * r * v
    pairs = n * T * S * (r + rope) + n * T * S * r
    assert transformer.mla_folded_flops(T, S, n, r, nope, rope, v) == 2 * (queries + pairs + outputs)
    attention = transformer.mla_attention_forward_flops(S, S, n, nope, rope, v)
    assert transformer.mla_unfolded_flops(S, S, n, r, nope, rope, v) == attention + 2 * up


def test_the_step_of_a_model_with_experts():
    # gpt-oss: attention's matrices, the router, four experts and the output, in 36 layers.
    active = 36 * (2 * 2880 * 64 * 72 + 128 * 2880 + 4 * 3 * 2880**2) + 2880 * 201088
    assert matmul_parameters(OSS120) == active
    assert step_flops(OSS120, 1e6, 4096) == 6e6 * active + 3 * attention_step_flops(OSS120, 1e6, 4096)
    latent = attention_step_flops(DEEPSEEK, 1, 4096, causal=False)
    assert latent == 61 * 2 * 4096 * 128 * (128 + 64 + 128)
    assert attention_step_flops(DEEPSEEK, 1, 4096) == latent * 4097 / 8192


def test_a_step_takes_arrays():
    import numpy as np

    B, T = np.array([1e6, 4e6]), np.array([4096, 8192])
    for one in (LLAMA70, DEEPSEEK, OSS20):
        assert step_flops(one, B, T).tolist() == [step_flops(one, b, t) for b, t in zip(B, T, strict=True)]


# Caches


def test_grouped_queries_share_the_cache():
    assert kv_bytes_per_token(LLAMA70.replace(kv_heads=64)) == 8 * kv_bytes_per_token(LLAMA70)
    assert kv_bytes_per_token(DEEPSEEK) == mla_token_bytes(61, 512, 64)
    unfolded = 61 * 128 * (192 + 128) * 2
    assert unfolded / kv_bytes_per_token(DEEPSEEK) == pytest.approx(71.1, abs=0.05)


def test_windowed_layers_stop_keeping():
    short, long = kv_cache_bytes(OSS120, 128), kv_cache_bytes(OSS120, 131072)
    assert short == 128 * kv_bytes_per_token(OSS120)
    assert long == 2 * 2 * 8 * 64 * 18 * (131072 + 128)
    assert kv_cache_bytes(LLAMA70, 8192) == 8192 * kv_bytes_per_token(LLAMA70)
