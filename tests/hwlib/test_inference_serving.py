"""Serving models of the tables on chips of the tables: what is read, what fits, and which points are best."""

import random

import pytest

from hwlib.inference import (
    Point,
    batch_limit,
    decode_point,
    decode_points,
    decode_time,
    expert_share,
    largest_batch,
    pareto,
    prompt_time,
    step_bytes,
    weight_bytes,
)
from hwlib.specs import Model, accelerators, models
from hwlib.transformer import forward_flops, kv_bytes_per_token, matmul_parameters, parameter_count

H100, V5E = accelerators["h100-sxm"], accelerators["tpu-v5e"]
LLAMA, DEEPSEEK, OSS = (models[k] for k in ("llama3-70b", "deepseek-v3", "gpt-oss-120b"))


@pytest.mark.parametrize(("key", "gibibytes"), [("gpt-oss-120b", 60.8), ("gpt-oss-20b", 12.8)])
def test_checkpoints_of_gpt_oss_are_as_large_as_its_card_says(key, gibibytes):
    assert weight_bytes(models[key], b_expert=4.25 / 8) / 2**30 == pytest.approx(gibibytes, rel=0.002)


def test_a_dense_step_reads_all_but_the_embedding():
    table = LLAMA.vocab * LLAMA.width
    assert step_bytes(LLAMA, 1) == step_bytes(LLAMA, 1000) == 2 * (parameter_count(LLAMA) - table)
    tied = Model.small(tied=True)
    assert step_bytes(tied, 1) == weight_bytes(tied), "the embedding is the output layer"


def test_experts_that_are_read_against_a_draw():
    rng, E, k, B = random.Random(6), DEEPSEEK.experts, DEEPSEEK.experts_per_token, 32
    seen = [len({e for _ in range(B) for e in rng.sample(range(E), k)}) / E for _ in range(300)]
    assert sum(seen) / 300 == pytest.approx(expert_share(DEEPSEEK, B), rel=0.01)
    assert expert_share(DEEPSEEK, 1) == pytest.approx(k / E)
    assert expert_share(LLAMA, 1) == 1
    assert step_bytes(DEEPSEEK, 1, 1) < 0.06 * step_bytes(DEEPSEEK, 10_000, 1)
    assert step_bytes(OSS, 1e6, b_expert=0.53125) == pytest.approx(
        weight_bytes(OSS, b_expert=0.53125) - 2 * OSS.vocab * OSS.width
    )


def test_what_fits_is_what_the_formula_says():
    given = parameter_count(LLAMA), 8192, kv_bytes_per_token(LLAMA), 8, H100.hbm_bytes
    assert largest_batch(LLAMA, H100, n=8, T_kv=8192) == batch_limit(*given) == 185
    assert largest_batch(LLAMA, H100, n=8, T_kv=8192, b_w=1, b_kv=1) > 2 * 185
    assert largest_batch(LLAMA, H100, n=1, T_kv=8192) == 0
    assert largest_batch(LLAMA, H100, n=8, T_kv=8192, reserve=0.1) < 185
    assert largest_batch(OSS, H100, n=4, T_kv=131072) > 1.9 * batch_limit(
        weight_bytes(OSS) / 2, 131072, kv_bytes_per_token(OSS), 4, H100.hbm_bytes, 2
    ), "half of its layers keep a window only, and caches are what a long context needs"


@pytest.mark.parametrize("B", [1, 64, 4096])
def test_a_point_is_the_formula(B):
    read = step_bytes(LLAMA, B) / 2
    point = decode_point(LLAMA, H100, n=8, B=B, T_kv=8192)
    formula = decode_time(read, B, 8192, kv_bytes_per_token(LLAMA), 8, H100.bf16_flops, H100.hbm_bandwidth)
    assert point.step_time == pytest.approx(formula, rel=1e-3)
    assert point.sequence_rate * B == pytest.approx(point.rank_rate * 8)


def test_what_bounds_a_step():
    at = lambda B, T_kv, **more: decode_point(LLAMA, H100, n=8, B=B, T_kv=T_kv, **more)
    assert at(1, 128).bound == "weights"
    assert at(64, 32768).bound == "cache"
    assert at(2048, 16).bound == "arithmetic"
    assert at(1, 128, comm=0.1).bound == "network"
    assert at(1, 128, comm=0.1).step_time == pytest.approx(at(1, 128).step_time + 0.1)
    hourly = at(64, 2048, price=2 / 3600)
    assert hourly.cost * hourly.rank_rate * 3600 == pytest.approx(2), "a rank makes its rent's worth"
    assert at(64, 2048).cost == 0


def test_prefill_of_a_long_prompt_takes_its_attention_too():
    short, long = (prompt_time(LLAMA, H100, n=8, T_in=T, mfu=0.5) for T in (512, 131072))
    matrices = forward_flops(matmul_parameters(LLAMA), 1) / (8 * 0.5 * H100.bf16_flops)
    assert short == pytest.approx(512 * matrices, rel=0.01)
    assert long > 1.5 * 131072 * matrices


def test_pareto_keeps_what_no_other_beats():
    points = decode_points(LLAMA, H100, ranks=(4, 8, 16), T_kv=8192, comm=2e-3, price=2 / 3600)
    best = pareto(points)
    beats = lambda a, b: (
        a.sequence_rate >= b.sequence_rate
        and a.rank_rate >= b.rank_rate
        and (a.sequence_rate, a.rank_rate) != (b.sequence_rate, b.rank_rate)
    )
    assert best
    assert all(any(beats(a, b) for a in points) != (b in best) for b in points)
    rates = [(p.sequence_rate, p.rank_rate) for p in best]
    assert rates == sorted(rates, key=lambda r: (-r[0], r[1]))
    assert [p.cost for p in best] == sorted((p.cost for p in best), reverse=True), "slower is cheaper"
    assert pareto([]) == []


def test_points_are_those_that_fit():
    points = decode_points(LLAMA, H100, ranks=(1, 2, 8), T_kv=8192, batches=(1, 16, 1000))
    assert {(p.n, p.B) for p in points} == {(2, 1), (8, 1), (8, 16)}
    assert all(isinstance(p, Point) for p in points)
    assert max(p.B for p in decode_points(LLAMA, H100, ranks=(8,), T_kv=8192)) == 185


def test_it_says_what_is_missing():
    with pytest.raises(ValueError, match=r"TPU v5e .*\bfp8\b.*; .*bf16"):
        decode_point(LLAMA, V5E, n=8, B=1, T_kv=1, dtype="fp8")
    with pytest.raises(ValueError, match="B=0"):
        decode_point(LLAMA, V5E, n=8, B=0, T_kv=1)
