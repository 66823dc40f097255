"""Worked questions on serving that no other file has: those that the scaling book leaves open, and what it says beside
its tables. A TPU v5e has 1.97e14 FLOP/s, 820 GB/s of memory, and two axes of 90 GB/s, both ways together.
"""

from math import ceil

import pytest

from hwlib.collectives import alltoall_bytes
from hwlib.inference import (
    batch_cache_time,
    batch_limit,
    cache_copies,
    cache_time,
    context_limit,
    decode_point,
    decode_points,
    decode_time,
    decode_token_rate,
    expert_decode_time,
    largest_batch,
    least_ranks,
    network_time,
    prefill_time,
    prompt_roofline_time,
    prompt_time,
    request_rate,
    small_batch_time,
    stationary_2d_time,
    step_bytes,
    tensor_decode_time,
    tensor_ranks_limit,
    weight_time,
)
from hwlib.roofline import critical_batch
from hwlib.specs import Model, accelerators, models
from hwlib.transformer import (
    active_parameters,
    forward_flops,
    kv_bytes_per_token,
    kv_token_bytes,
    logit_bytes,
    matmul_parameters,
    mlp_params,
    parameter_count,
)
from tests.hwlib.worked import Row, check

V5E, H100 = accelerators["tpu-v5e"], accelerators["h100-sxm"]
C, W, HBM, ICI = 1.97e14, 8.2e11, 16e9, 9e10
LLAMA8, LLAMA70, LLAMA405, DEEPSEEK = (models[k] for k in ("llama3-8b", "llama3-70b", "llama3-405b", "deepseek-v3"))
BOOK = Model.small(64, 4096, 32, 32128, ffn=16384, kv_heads=8, head_dim=256)
MOE = Model.small(
    64, 4096, 32, 32128, ffn=16384, kv_heads=8, head_dim=256, experts=16, experts_per_token=2, expert_ffn=16384
)
KV, KV8, KV70, KV405 = (kv_bytes_per_token(model, 1) for model in (BOOK, LLAMA8, LLAMA70, LLAMA405))


ROWS = [
    # I4, left open in the book: 18.4e9 weights of a byte on a 4 x 4 slice
    Row("I4 tensor parallelism over one axis", lambda: tensor_ranks_limit(16_384, C, ICI), 7.5, 0.01),
    Row("I4 over both", lambda: tensor_ranks_limit(16_384, C, 2 * ICI), 15, 0.01),
    Row("I4 sequences for each cache's ranks", lambda: 16 / BOOK.kv_heads, 2, 0),
    Row("I4 step of one sequence", lambda: small_batch_time(18.4e9, 1, 2048, KV, 16, W, 1) * 1e3, 1.44, 0.01),
    Row("I4 step with seven caches of 128,000", lambda: small_batch_time(18.4e9, 7, 128_000, KV, 16, W, 1) * 1e3, 19.3,
        0.01),
    Row("I5 cache", lambda: kv_bytes_per_token(MOE, 1), kv_bytes_per_token(BOOK, 1), 0),
    Row("I5 FLOP of 1,000 tokens", lambda: forward_flops(active_parameters(MOE), 1000), 2 * 31.2e9 * 1000),
    Row("I7 both cuts, of 72 ranks", lambda: stationary_2d_time(1, 4096, 16_384, 72, 3, 1), (128 / 72) ** 0.5 * 4096,
        1e-12),
    # What the book says of 70B beside its tables
    Row("70B caches of 240", lambda: 240 * 32_768 * KV70, 1.3e12, 0.015),
    Row("70B chips for 240", lambda: least_ranks(70e9, 240, 32_768, KV70, HBM, 1), 86, 0.01, 85,
        "1.29 TB are rounded to 1.3 first"),
    Row("70B lowest latency on 4 x 4", lambda: small_batch_time(70e9, 1, 2048, KV70, 16, W, 1) * 1e3, 5.5, 0.04),
    Row("70B tokens a ms at 2k", lambda: decode_token_rate(70e9, 120, 2048, KV70, 16, C, W, 1) / 16e3, 1, 0.12),
    Row("70B queries of 43 caches", lambda: request_rate(43, 512, 0.019), 4.42),
    Row("70B weights of 4 bits alone", lambda: weight_time(70e9, 4, W, 0.5) * 1e3, 10, 0.07),
    Row("70B MLPs of 240 tokens", lambda: forward_flops(80 * mlp_params(8192, 28_672), 240), 26e12, 0.05),
    Row("bytes below which eight chips wait for latency", lambda: 8 * 4.5e10 * 1e-6, 360e3, 1e-9),
    # 8B at 240 sequences of 8,192, weights and caches of a byte: left open
    Row("8B weights", lambda: parameter_count(LLAMA8), 8.03e9, 0.001),
    Row("8B caches", lambda: 240 * 8192 * KV8, 128.8e9, 0.001),
    Row("8B logits, the largest activation", lambda: 240 * logit_bytes(1, 1, LLAMA8.vocab), 123e6, 0.002),
    Row("8B chips", lambda: least_ranks(parameter_count(LLAMA8), 240, 8192, KV8, HBM, 1), 9, 0),
    # 405B, weights of a byte: left open
    Row("405B FLOP a token", lambda: forward_flops(parameter_count(LLAMA405), 1), 8.12e11, 0.001),
    Row("405B cache of a token", lambda: KV405, 258_048, 0),
    Row("405B chips", lambda: least_ranks(parameter_count(LLAMA405), 0, 0, 0, HBM, 1), 26, 0),
    Row("405B step on 32", lambda: weight_time(parameter_count(LLAMA405), 32, W, 1) * 1e3, 15.47, 0.001),
    Row("405B step on 64", lambda: weight_time(parameter_count(LLAMA405), 64, W, 1) * 1e3, 7.73, 0.001),
    Row("405B ranks over two axes", lambda: tensor_ranks_limit(LLAMA405.ffn, C, 2 * ICI), 48.6, 0.002),
    Row("405B ranks, activations of a byte", lambda: tensor_ranks_limit(LLAMA405.ffn, C, 2 * ICI, 1), 97.3, 0.002),
    # Of the bank: 70B in bf16 on eight H100
    Row("70B floor on H100", lambda: small_batch_time(70e9, 1, 1, 2 * KV70, 8, 3.35e12) * 1e3, 5.2, 0.01),
    Row("70B batch at 8k on H100", lambda: batch_limit(70e9, 8192, 2 * KV70, 8, 80e9), 186, 0),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_worked_question(row):
    check(row)


def test_i4_how_to_shard_it():
    """Eight ranks by heads, twice that by sequences; 16 ranks are at the limit of both axes, and a step of one sequence
    is its weights: all that moves for it takes less than a tenth.
    """
    assert tensor_ranks_limit(16_384, C, ICI) < 8 < tensor_ranks_limit(16_384, C, 2 * ICI) < 16
    sums = tensor_decode_time(64, 7, 4096, 16, 0, 2 * ICI, 1)
    heads = batch_cache_time(64, 7, 32, 256, 2, ICI, 1)
    step = small_batch_time(18.4e9, 7, 2048, KV, 16, W, 1)
    assert sums + heads < 0.1 * step


def test_queries_travel_to_the_caches_of_their_sequences():
    """Counted: a rank has n_q/n heads of all sequences, and must have all heads of B/n."""
    L, B, n_q, H, n = 3, 32, 16, 64, 8
    one_way = (B - B // n) * (n_q // n) * H * 2
    assert batch_cache_time(L, B, n_q, H, n, 1e9) * 1e9 == pytest.approx(2 * L * one_way)
    assert one_way == alltoall_bytes(n, 2 * B * n_q * H)
    assert batch_cache_time(L, B, n_q, H, 1, 1e9) == 0


def test_70b_of_32_tokens_waits_for_its_weights_on_32_chips():
    """Whole microseconds of one MLP of two matrices on 4 x 8: along one axis 11 for activations of 32 sequences, 18 for
    weights of a byte, 4 for arithmetic. Above the limit of 26 ranks, and memory still hides the network.
    """
    sums = tensor_decode_time(0.5, 32, 8192, 1e9, 0, ICI)  # one all-reduce, 4BD/W
    weights, math = weight_time(2 * 8192 * 28_672, 32, 8.1e11, 1), forward_flops(2 * 8192 * 28_672, 32) / (32 * C)
    assert [int(1e6 * t) for t in (sums, weights, math)] == [11, 18, 4]
    assert tensor_ranks_limit(28_672, C, 2 * ICI) < 32


def test_8b_needs_sixteen_chips():
    """Nine chips' worth of memory, and slices have eight or sixteen: eight hold 223 sequences."""
    fits = {n: largest_batch(LLAMA8, V5E, n=n, T_kv=8192, b_w=1, b_kv=1) for n in (8, 16)}
    assert fits[8] == 223 < 240 < fits[16]


def test_405b_within_15_milliseconds():
    """32 chips hold the weights, and take 15.5 ms to read them; 64 take 143 sequences of 8,192, bound by arithmetic:
    t n = B (T_kv S_kv/W + 2P/C). Twice the chips take twice the sequences, and their sums as long as the step.
    """
    given = {"T_kv": 8192, "b_w": 1, "b_kv": 1}
    within = [
        p for p in decode_points(LLAMA405, V5E, ranks=(32, 64), batches=range(1, 400), **given) if p.step_time <= 15e-3
    ]
    best = max(within, key=lambda p: p.B)
    chip = V5E.hbm_bandwidth
    assert (best.n, best.B, best.bound) == (64, 143, "arithmetic")
    assert int(15e-3 * 64 / (8192 * KV405 / chip + 2 * matmul_parameters(LLAMA405) / C)) == best.B
    assert best.n * best.rank_rate == pytest.approx(9581, rel=0.001)
    assert critical_batch(C, chip, 1) < best.B < largest_batch(LLAMA405, V5E, n=64, **given)
    assert not [p for p in within if p.n == 32]
    assert network_time(LLAMA405, B=287, tp=128, W_in=2 * ICI, b=1) > 0.8 * 15e-3


# Prefill and decode on their rooflines


def test_a_short_prompt_waits_for_the_weights():
    """Below the critical batch a prompt takes as long as one token; from there on it is arithmetic."""
    turn = critical_batch(C, W, 1)
    weights = weight_time(70e9, 8, W, 1)
    assert prompt_roofline_time(70e9, 1, 8, C, W, b_w=1) == weights
    assert prompt_roofline_time(70e9, turn, 8, C, W, b_w=1) == pytest.approx(weights)
    assert prompt_roofline_time(70e9, 4 * turn, 8, C, W, b_w=1) == pytest.approx(4 * weights)
    assert prompt_roofline_time(70e9, 8192, 16, C, W, 0.4, 1) == prefill_time(70e9, 8192, 16, C, 0.4)
    assert decode_time(70e9, 1, 0, KV70, 8, C, W, 1) == weights


def test_a_prompt_of_a_model_reads_its_weights_too():
    one = prompt_time(LLAMA70, H100, n=8, T_in=1, mfu=0.5)
    assert one == pytest.approx(step_bytes(LLAMA70, 1) / (8 * H100.hbm_bandwidth), rel=1e-4)
    assert prompt_time(LLAMA70, H100, n=8, T_in=1, mfu=0.5, b_w=1) == pytest.approx(one / 2, rel=1e-4)
    assert prompt_time(LLAMA70, H100, n=8, T_in=100) < 1.01 * prompt_time(LLAMA70, H100, n=8, T_in=1, mfu=0.5)
    few, many = (prompt_time(DEEPSEEK, H100, n=16, T_in=T) for T in (1, 64))
    assert few < 0.1 * many, "64 tokens meet most experts"


# Caches that many ranks keep


@pytest.mark.parametrize(
    ("K", "H", "tp", "batch", "context"),
    [
        (48, 128, 64, 128, 1320),
        (48, 128, 64, 512, 330),
        (1, 256, 64, 128, 660),
        (1, 256, 64, 512, 165),
        (1, 256, 1, 128, 43_000),
        (1, 256, 1, 512, 10_700),
    ],
)
def test_the_longest_contexts_of_palm(K, H, tp, batch, context):
    """Pope et al., Table 1: 30 % of 64 chips of 32 GiB; 48 heads, one head on every rank, one head cut by sequences."""
    copies = cache_copies(K, tp)
    ours = context_limit(1e-9, batch, copies * kv_token_bytes(118, K, H), 64, 0.3 * 32 * 2**30)
    assert ours == pytest.approx(context, rel=0.012)


def test_latent_attention_is_better_shared_by_sequences():
    """Eight ranks that share DeepSeek's heads keep its caches eight times, and read all of each."""
    given = {"n": 16, "T_kv": 8192, "b_w": 1}
    one, eight = (largest_batch(DEEPSEEK, H100, **given, copies=cache_copies(1, tp)) for tp in (1, 8))
    assert one // 8 == eight > 0
    read = lambda copies: decode_point(DEEPSEEK, H100, B=64, **given, copies=copies).step_time
    caches = cache_time(64, 8192, kv_bytes_per_token(DEEPSEEK), 16, H100.hbm_bandwidth)
    assert read(8) - read(1) == pytest.approx(7 * caches)
    assert max(p.B for p in decode_points(DEEPSEEK, H100, ranks=(16,), T_kv=8192, b_w=1, copies=8)) == eight
    assert cache_copies(8, 4) == 1


# Decoding over a network


def test_the_sums_of_a_dense_step():
    assert network_time(LLAMA70, B=32, tp=8, alpha=2e-6, W_in=450e9) == pytest.approx(
        tensor_decode_time(80, 32, 8192, 8, 2e-6, 450e9)
    )
    assert network_time(LLAMA70, B=32, W_in=450e9) == 0
    assert network_time(LLAMA70, B=32, tp=8, ep=8, W_in=450e9) == network_time(LLAMA70, B=32, tp=8, W_in=450e9)


def test_the_exchanges_of_deepseeks_decode_step():
    """22 of its 48 ms, for 88 tokens a rank; with four ranks to a group, of 352, and the sums of attention."""
    alone = network_time(DEEPSEEK, B=88, ep=144, W_in=160e9, W_out=40e9)
    assert alone == pytest.approx(21.95e-3, rel=0.001)
    four = network_time(DEEPSEEK, B=352, tp=4, ep=144, W_in=160e9, W_out=40e9)
    assert four - alone == pytest.approx(tensor_decode_time((61 + 3) / 2, 352, 7168, 4, 0, 160e9))
    late = network_time(DEEPSEEK, B=88, ep=144, alpha=5e-6, W_in=160e9, W_out=40e9)
    assert late - alone == pytest.approx(2 * 58 * 5e-6)
    assert network_time(DEEPSEEK, B=88, ep=144, W_in=40e9) == alone


def test_a_point_with_its_network():
    """Latency against throughput: more ranks make a step shorter until their sums cost more than they save."""

    def at(n):
        comm = network_time(LLAMA70, B=16, tp=n, alpha=10e-6, W_in=50e9)
        return decode_point(LLAMA70, H100, n=n, B=16, T_kv=2048, comm=comm, price=2 / 3600)

    points = [at(n) for n in (2, 4, 8, 16, 32, 64)]
    assert points[0].step_time > points[1].step_time > points[2].step_time
    assert points[-1].bound == "network"
    assert points[-1].step_time > 0.8 * points[-2].step_time, "twice the ranks for a fifth at most"
    assert [p.cost for p in points] == sorted(p.cost for p in points), "every rank more costs more a token"


def test_quantised_weights_and_caches():
    """Half the bytes halve a step where memory decides; weights alone help little where caches are most of it."""
    t = lambda b_w, b_kv, B=128: decode_point(LLAMA70, H100, n=8, B=B, T_kv=8192, b_w=b_w, b_kv=b_kv).step_time
    assert t(1, 1) == pytest.approx(t(2, 2) / 2)
    caches = cache_time(128, 8192, kv_token_bytes(80, 8, 128), 8, H100.hbm_bandwidth)
    assert t(2, 2) - t(2, 1) == pytest.approx(caches / 2)
    assert (t(2, 2) - t(1, 2)) / t(2, 2) < 0.2
    assert (t(2, 2, 1) - t(1, 2, 1)) / t(2, 2, 1) > 0.45


def test_the_exchange_is_that_of_the_formula():
    assert network_time(models["mixtral-8x7b"], B=64, ep=8, W_in=450e9) == pytest.approx(
        expert_decode_time(32, 64, 4096, 2, 450e9)
    )
    assert ceil(1e3 * expert_decode_time(58, 88, 7168, 8, 40e9)) == 22
