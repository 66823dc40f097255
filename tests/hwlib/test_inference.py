"""Serving in letters: what the scaling book, DeepSeek and papers print, and where they err."""

import pytest

from hwlib.inference import (
    batch_limit,
    best_drafts,
    best_width_ranks,
    budget_chunk_tokens,
    cache_bound_token_rate,
    cache_time,
    context_limit,
    decode_time,
    decode_token_rate,
    expert_decode_bytes,
    expert_decode_time,
    first_token_time,
    free_chunk_tokens,
    freed_tokens,
    latent_decode_intensity,
    least_ranks,
    mean_lost_tokens,
    page_lost_fraction,
    paged_bytes,
    prefill_ranks_ratio,
    prefill_servers_ratio,
    prefill_time,
    reread_tokens,
    reserved_lost_fraction,
    scaled_weight_bytes,
    small_batch_time,
    speculative_critical_batch,
    speculative_speedup,
    speculative_tokens,
    speculative_work,
    stationary_1d_time,
    stationary_2d_ranks,
    stationary_2d_time,
    tensor_decode_time,
    tensor_ranks_limit,
    token_cost,
    transfer_bandwidth,
    two_batch_step_time,
    weight_time,
)
from hwlib.roofline import critical_batch, moe_critical_batch
from hwlib.specs import Model, models
from hwlib.training import run_cost, token_rate
from hwlib.transformer import active_parameters, kv_bytes_per_token, kv_token_bytes, parameter_count
from tests.hwlib.worked import Row, check

V5E, V5E_W, V5E_HBM = 1.97e14, 8.2e11, 16e9
LLAMA13, LLAMA70, LLAMA405 = (models[k] for k in ("llama2-13b", "llama3-70b", "llama3-405b"))
DEEPSEEK = models["deepseek-v3"]
# The model of the scaling book's questions on inference, and the same with experts
BOOK = Model.small(64, 4096, 32, 32128, ffn=16384, kv_heads=8, head_dim=256)
BOOK_MOE = Model.small(
    64, 4096, 32, 32128, ffn=16384, kv_heads=8, head_dim=256, experts=16, experts_per_token=2, expert_ffn=16384
)
KV70 = kv_bytes_per_token(LLAMA70, 1)


def llama13_time(B, K=40):
    """Printed in GiB and TiB, computed in GB and TB: 8 chips, bfloat16, 8192 tokens of context."""
    return small_batch_time(13e9, B, 8192, kv_token_bytes(40, K, 128), 8, V5E_W) * 1e3


def caches(chips, b):
    """Sequences of 8192 tokens on v5e chips, weights and cache of b bytes."""
    return batch_limit(70e9, 8192, b * KV70, chips, V5E_HBM, b)


def queries(chips, b):
    """Queries of 512 tokens a second and chip, memory being full: a step takes the 19 ms in which it is read."""
    return caches(chips, b) / (512 * 0.019 * chips)


INT4 = "its weights of 4 bits are 45 GB, and 70e9 of them are 35 GB"
ROWS = [
    # The scaling book, chapter 7
    Row("quiz B=4", lambda: small_batch_time(30e9, 4, 8192, 100e3, 16, V5E_W, 1) * 1e3, 2.5, 0.02),
    Row("quiz B=256", lambda: decode_time(30e9, 256, 8192, 100e3, 16, V5E, 8.1e11, 1) * 1e3, 21),
    *(Row(f"13B B={B}", lambda B=B: llama13_time(B), printed, 0.003)
      for B, printed in [(1, 4.98), (8, 12.13), (16, 20.30), (32, 36.65), (64, 69.33), (240, 249.09)]),
    *(Row(f"13B GQA B={B}", lambda B=B: llama13_time(B, 8), printed, 0.003)
      for B, printed in [(1, 4.17), (8, 5.60), (16, 7.23), (32, 10.50), (64, 17.04), (240, 52.99)]),
    Row("13B tokens", lambda: decode_token_rate(13e9, 64, 8192, kv_token_bytes(40, 8, 128), 8, V5E, V5E_W), 3756.62,
        0.003),
    Row("I1 parameters", lambda: parameter_count(BOOK), 18.4e9),
    Row("I1 cache", lambda: kv_bytes_per_token(BOOK, 1), 262e3),
    Row("I2", lambda: batch_limit(18.4e9, 128_000, kv_bytes_per_token(BOOK, 1), 16, V5E_HBM, 1), 7),
    Row("I2 of 2^17", lambda: batch_limit(18.4e9, 2**17, kv_bytes_per_token(BOOK, 1), 16, V5E_HBM, 1), 7, 0.01, 6,
        "a context of 128k is taken for 128,000 tokens; of 2^17 tokens six fit"),
    Row("I2 one head", lambda: batch_limit(18.4e9, 128_000, kv_token_bytes(64, 1, 256, 1), 16, V5E_HBM, 1), 56),
    Row("I3", lambda: weight_time(18.4e9, 16, 8.1e11, 1) * 1e3, 1.4, 0.02),
    Row("I5 total", lambda: parameter_count(BOOK_MOE), 212e9),
    Row("I5 active", lambda: active_parameters(BOOK_MOE), 31.2e9),
    Row("I5 batch", lambda: moe_critical_batch(16, 2, V5E, V5E_W), 1920),
    Row("I7", lambda: stationary_2d_ranks(4096, 4 * 4096), 72),
    Row("I7 older", lambda: stationary_2d_ranks(4096, 4 * 4096), 81, 0.01, 72, "128*(3/4)^2 is 72"),
    Row("I7 width", lambda: best_width_ranks(4096, 4 * 4096, 128), 4, 1e-9),
    Row("T1", lambda: weight_time(200e9, 32, 1.23e12) * 1e3, 10, 0.02),
    # Chapter 8: Llama 3 70B
    Row("70B cache", lambda: KV70 / 1024, 160, 1e-9),
    Row("70B cache at 32k", lambda: 32768 * KV70, 5.3e9, 0.015),
    Row("70B of 32 at 8k", lambda: 70e9 + 32 * 8192 * KV70, 112e9),
    Row("70B chips", lambda: least_ranks(70e9, 32, 8192, KV70, V5E_HBM, 1), 8),
    Row("70B step", lambda: small_batch_time(70e9, 32, 8192, KV70, 8, V5E_W, 1) * 1e3, 17, 0.015),
    Row("70B tokens", lambda: decode_token_rate(70e9, 32, 8192, KV70, 8, V5E, V5E_W, 1) / 8, 235, 0.015),
    *(Row(f"70B critical {b_w} at {c:.3g}", lambda c=c, b=b_w: critical_batch(c, V5E_W, b), printed)
      for c, b_w, printed in [(V5E, 2, 240), (V5E, 1, 120), (2 * V5E, 1, 240)]),
    *(Row(f"70B caches {chips}", lambda n=chips, b=b: caches(n, b), 43) for chips, b in [(16, 2), (8, 1), (4, 0.5)]),
    Row("70B caches 8 older", lambda: caches(8, 1), 52, 0.01, 43, "128 GB less 70 GB are 58 GB, and not 68 GB"),
    Row("70B caches 4 older", lambda: caches(4, 0.5), 67, 0.01, 43, "29 GB of caches of 0.67 GB; " + INT4),
    Row("70B chips int4", lambda: 70e9 * 0.5 / V5E_HBM, 2.81, 0.01, 2.19, INT4),
    Row("70B full memory", lambda: V5E_HBM / V5E_W * 1e3, 19, 0.03),
    *(Row(f"70B QPS {chips} of {b}", lambda n=chips, b=b: queries(n, b), printed, 0.025)
      for chips, b, printed in [(16, 2, 0.27), (8, 1, 0.55), (4, 0.5, 1.11), (32, 2, 0.44), (16, 1, 0.90),
                                (8, 0.5, 1.80)]),
    *(Row(f"70B QPS {chips} of {b} older", lambda n=chips, b=b: queries(n, b), old, 0.025, right, error)
      for chips, b, old, right, error in [(8, 1, 0.66, 0.55, "52 caches"), (4, 0.5, 1.72, 1.11, "67 caches"),
                                          (32, 2, 0.51, 0.44, "161 caches: 186 GB free on 512 GB with weights of 140"),
                                          (16, 1, 1.03, 0.90, "doubled from too many"),
                                          (8, 0.5, 2.06, 1.80, "doubled from too many")]),
    Row("70B ranks", lambda: tensor_ranks_limit(28672, V5E, 2 * 9e10), 26),
    Row("70B ranks older", lambda: tensor_ranks_limit(28672, V5E, 2 * 9e10), 22, 0.01, 26.2,
        "it takes 2550 FLOP a byte, of a v5p; a v5e has 2190"),
    Row("70B prefill", lambda: prefill_time(70e9, 8192, 16, V5E, 0.4), 0.91),
    Row("70B freed", lambda: freed_tokens(32, 8192, 4096), 96, 1e-9),
    Row("70B servers", lambda: prefill_servers_ratio(32, 512, 0.019, 0.91), 3),
    Row("70B on H100", lambda: weight_time(70e9, 8, 3.35e12) * 1e3, 5.2),
    # Pope et al.: PaLM 540B on 64 TPU v4, prefill of 512 sequences at 76 %, and 64 sequences at 28.5 ms a token
    Row("PaLM prefill", lambda: prefill_time(540e9, 512 * 2048, 64, 275e12, 0.76), 85.2),
    Row("PaLM decode MFU", lambda: prefill_time(540e9, 64, 64, 275e12, 1) / 28.5e-3, 0.14, 0.02),
    # DeepSeek: a day of serving
    Row("DeepSeek rent", lambda: run_cost(226.75 * 8, 2 / 3600, 86400), 87_072, 1e-6),
    Row("DeepSeek ratio", lambda: 1 / prefill_ranks_ratio(608, 168, 73.7, 14.8), 1.4, 0.02),
    Row("DeepSeek nodes", lambda: 608e9 / 86400 / 73.7e3 + 168e9 / 86400 / 14.8e3, 226.75, 0.001),
    Row("DeepSeek cents", lambda: 100e6 * token_cost(8, 2 / 3600, 14.8e3), 30, 0.005),
    Row("DeepSeek layer", lambda: expert_decode_bytes(88, 7168, 8) / 1e6, 15.1, 0.003),
    Row("DeepSeek share", lambda: expert_decode_time(58, 88, 7168, 8, 40e9) * 1e3, 21.95, 0.001),
    # DeepSeek's own estimate: 32 tokens, 9 experts, a width of 7K
    Row("V3 exchange", lambda: expert_decode_time(1, 32, 7000, 9, 50e9) * 1e6, 120.96, 1e-6),
    Row("V3 step", lambda: two_batch_step_time(61, 32, 7000, 9, 50e9) * 1e3, 14.76, 0.001),
    Row("V3 rate", lambda: 1 / two_batch_step_time(61, 32, 7000, 9, 50e9), 67, 0.015),
    Row("V3 NVL72", lambda: two_batch_step_time(61, 32, 7000, 9, 900e9) * 1e3, 0.82, 0.001),
    Row("V3 layers", lambda: two_batch_step_time(58, 32, 7168, 9, 50e9) * 1e3, 14.76, 0.01, 14.37,
        "7K is 7168, and three of the 61 layers have no experts"),
    # Leviathan, table 1: speed and operations at no cost of drafts
    *(Row(f"drafts {a} {d}", lambda a=a, d=d: speculative_speedup(a, d, 0), printed, 0.003)
      for a, d, printed in [(0.6, 2, 1.96), (0.7, 3, 2.53), (0.8, 2, 2.44), (0.8, 5, 3.69), (0.9, 2, 2.71),
                            (0.9, 10, 6.86)]),
    *(Row(f"draft work {a} {d}", lambda a=a, d=d: speculative_work(a, d), printed, 0.004)
      for a, d, printed in [(0.6, 2, 1.53), (0.7, 3, 1.58), (0.8, 2, 1.23), (0.8, 5, 1.63), (0.9, 2, 1.11),
                            (0.9, 10, 1.60)]),
    # Pages, transfers, weights of few bits
    Row("OPT-13B token", lambda: kv_token_bytes(40, 40, 128) / 1024, 800, 1e-9),
    Row("OPT-13B sequence", lambda: paged_bytes(2048, 16, kv_token_bytes(40, 40, 128)) / 1e9, 1.6, 0.01, 1.678,
        "1.56 GiB, rounded and printed as GB"),
    Row("OPT-66B prompt", lambda: 512 * kv_token_bytes(64, 72, 128) / 1e9, 1.13, 0.01, 1.208,
        "1.13 GiB, printed as GB"),
    Row("OPT-66B transfer", lambda: 8 * transfer_bandwidth(10, 512, kv_token_bytes(64, 72, 128)) / 1e9, 90, 0.01, 96.6,
        "from the same GiB"),
    Row("MXFP4", lambda: 8 * scaled_weight_bytes(0.5, 1, 32), 4.25, 1e-9),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_what_the_literature_prints(row):
    check(row)


# Questions that the scaling book leaves open


def test_mixture_on_128_chips():
    """Chapter 7, question 6: weights of a byte on 8 x 16 chips, and the smallest slice."""
    assert weight_time(212e9, 128, V5E_W, 1) * 1e3 == pytest.approx(2.02, rel=0.005)
    assert pytest.approx(14.34e9, rel=0.001) == V5E_HBM - 212e9 / 128
    assert least_ranks(212e9, 0, 0, 0, V5E_HBM, 1) == 14, "so 16, a slice of 4 x 4"


def test_llama_405b_on_one_chip_after_the_other():
    """Chapter 8, question 1: seconds on n chips, times n: bound by arithmetic and by weights of a byte."""
    P = parameter_count(LLAMA405)
    assert pytest.approx(8.1e11, rel=0.003) == 2 * P
    assert prefill_time(P, 1, 1, V5E, 1) * 1e3 == pytest.approx(4.12, rel=0.002)
    assert weight_time(P, 1, V5E_W, 1) == pytest.approx(0.495, rel=0.001)


# DeepSeek's decode step


def test_the_48_milliseconds_of_a_decode_step():
    """14.8 thousand tokens a second on 8 GPUs at 21 a second for each: 88 sequences of 4989 tokens a GPU, 48 ms."""
    B = 14.8e3 / 8 / 21
    assert pytest.approx(88, rel=0.002) == B
    step = B / (14.8e3 / 8) * 1e3
    assert step == pytest.approx(48, rel=0.01)
    assert token_rate(88, 0.0476) == pytest.approx(14.8e3 / 8, rel=0.002)
    network = expert_decode_time(58, B, 7168, 8, 40e9) * 1e3
    cache = cache_time(B, 4989, kv_bytes_per_token(DEEPSEEK), 1, 3.35e12) * 1e3
    # On each of 144 GPUs: two of 288 experts and the shared one, attention of all layers, in fp8
    experts, attention = 58 * 3 * 3 * 7168 * 2048, 61 * 187e6
    weights = weight_time(experts + attention, 1, 3.35e12, 1) * 1e3
    assert (network, cache, weights) == pytest.approx((22.0, 9.2, 5.7), abs=0.1)
    assert 10 < step - (network + cache + weights) < 12, "launches, waiting for the slowest, and all else"
    assert 0.45 < network / step < 0.47


# Limits, and the same in other words


def test_decode_lies_between_its_bounds():
    few, many = (decode_token_rate(70e9, B, 8192, KV70, 8, V5E, V5E_W, 1) for B in (1, 100_000))
    assert few == pytest.approx(1 / small_batch_time(70e9, 1, 8192, KV70, 8, V5E_W, 1))
    assert many < cache_bound_token_rate(8192, KV70, 8, V5E_W)
    assert decode_token_rate(70e9, 1e6, 0, KV70, 8, V5E, V5E_W, 1) == pytest.approx(8 * V5E / (2 * 70e9))
    assert batch_limit(70e9, 8192, KV70, 4, V5E_HBM, 1) == 0, "the weights alone do not fit"
    assert context_limit(70e9, 43, KV70, 8, V5E_HBM, 1) >= 8192
    assert context_limit(70e9, 44, KV70, 8, V5E_HBM, 1) < 8192


def test_latent_attention_serves_all_heads_with_a_byte():
    exact = latent_decode_intensity(128, DEEPSEEK.kv_lora, DEEPSEEK.rope_dim)
    assert exact == pytest.approx(128 * 1088 / 576)
    assert latent_decode_intensity(128, 512, 1e-9) == pytest.approx(256), "twice the heads, but for the position"
    assert exact < critical_batch(989.4e12, 3.35e12) < 1.3 * exact, "near the ridge of an H800"


def test_pages():
    lost = [-T % 16 for T in range(1, 16 * 50 + 1)]
    assert sum(lost) / len(lost) == mean_lost_tokens(16)
    assert mean_lost_tokens(16) / (161 + 338) < 0.04, "ShareGPT's prompts and answers: less than 4 %, as vLLM says"
    assert page_lost_fraction(17, 16) == 15 / 32
    assert (page_lost_fraction(4096, 16), page_lost_fraction(100, 1)) == (0, 0)
    assert reserved_lost_fraction(499, 2048) == pytest.approx(0.756, abs=0.001)


def test_drafts_against_the_sum_and_their_limits():
    assert speculative_tokens(0.8, 5) == pytest.approx(sum(0.8**i for i in range(6)))
    assert speculative_tokens(0, 5) == 1
    assert speculative_tokens(1 - 1e-9, 5) == pytest.approx(6)
    assert speculative_speedup(0.8, 0, 0.1) == pytest.approx(1)
    best = best_drafts(0.8, 0.1)
    assert max(range(20), key=lambda d: speculative_speedup(0.8, d, 0.1)) == best
    assert best_drafts(0.3, 0.5) == 0, "where drafts cost more than they bring, none"
    assert best_drafts(1, 0, most=9) == 9
    assert speculative_critical_batch(V5E, V5E_W, 4) == pytest.approx(critical_batch(V5E, V5E_W) / 5)


def test_chunks_read_again_what_was_before():
    T_in, chunk = 8192, 512
    assert reread_tokens(T_in, chunk) == sum(range(0, T_in, chunk))
    assert reread_tokens(T_in, T_in) == reread_tokens(T_in, 2 * T_in) == 0
    assert free_chunk_tokens(100, V5E, V5E_W) == pytest.approx(critical_batch(V5E, V5E_W) - 100)
    assert free_chunk_tokens(500, V5E, V5E_W) == 0
    chunk = budget_chunk_tokens(70e9, 32, 2048, KV70, 8, V5E, V5E_W, t_step=0.1)
    both = decode_time(70e9, 32 + chunk, 0, 0, 8, V5E, V5E_W, 1) + cache_time(32, 2048, KV70, 8, V5E_W)
    assert both == pytest.approx(0.1)
    assert budget_chunk_tokens(70e9, 32, 2048, KV70, 8, V5E, V5E_W, t_step=1e-3) == 0


def test_a_queue_before_prefill():
    assert first_token_time(0.5, 1e-9) == pytest.approx(0.5)
    assert first_token_time(0.5, 1) == pytest.approx(0.75), "half busy: half of its own time in the queue"
    assert first_token_time(0.5, 1.99) > 25


def test_ratios_of_tokens_and_of_times_agree():
    T_in, T_out, B, t_step, t_in = 8192, 512, 32, 0.019, 0.91
    assert prefill_ranks_ratio(T_in, T_out, T_in / t_in, B / t_step) == pytest.approx(
        prefill_servers_ratio(B, T_out, t_step, t_in)
    )


def test_two_cuts_of_the_weights_meet_at_72_ranks():
    D, F, B, W = 4096, 4 * 4096, 64, 9e10
    both = lambda n: stationary_2d_time(B, D, F, n, best_width_ranks(D, F, n), W)
    assert both(72) == pytest.approx(stationary_1d_time(B, D, W))
    assert both(288) == pytest.approx(both(72) / 2), "the root of the ranks"
    least = min(stationary_2d_time(B, D, F, 128, x, W) for x in (1, 2, 4, 8, 16, 32))
    assert least == stationary_2d_time(B, D, F, 128, best_width_ranks(D, F, 128), W)


def test_tensor_parallel_decode_is_mostly_latency():
    given = dict(L=80, B=32, D=8192, n=8, W=450e9)  # noqa: C408
    assert tensor_decode_time(**given, alpha=0) / tensor_decode_time(**given, alpha=5e-6) < 0.3
    assert tensor_decode_time(**{**given, "n": 1}, alpha=5e-6) == 0
