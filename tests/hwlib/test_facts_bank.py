"""What this book's bank of exercises asks for in symbols, topic by topic: the library's formulas are those answers."""

from math import exp

import pytest
import sympy

from hwlib import parallel
from hwlib.collectives import allgather_bytes, allreduce_bytes, bus_factor
from hwlib.footprint import replicated_state_bytes, zero1_state_bytes, zero2_state_bytes, zero3_state_bytes
from hwlib.inference import cache_time, decode_time, freed_tokens, speculative_tokens
from hwlib.network import bus_bandwidth
from hwlib.parallel import (
    best_dp,
    dp_bytes,
    dp_critical_batch,
    dp_exact_critical_batch,
    dp_moe_exact_critical_batch,
    ep_critical_width,
    ep_far_critical_width,
    fsdp_kept_bytes,
    mixed_critical_batch,
    mixed_serial_critical_batch,
    pp_forward_time,
    split_critical_batch,
    tp_limit,
)
from hwlib.pipeline import bubble_overhead, interleaved_bubble_fraction, pipeline_bubble_fraction
from hwlib.specs import accelerators, models, nodes
from hwlib.training import model_utilization
from hwlib.transformer import (
    attention_forward_flops,
    attention_params,
    decoder_params,
    forward_flops,
    layer_activation_bytes,
    step_flops,
)

B, C, D, E, F, G, H, K, L, N, P, T, V, W = sympy.symbols("B C D E F G H K L N P T V W", positive=True)
dp, k, m, n, n_q, pp, tp, v, W_dp, W_tp = sympy.symbols("dp k m n n_q pp tp v W_dp W_tp", positive=True)
a, M = sympy.symbols("a M", positive=True)

ANSWERS = {
    "10 parameters of a model": (
        decoder_params(L, D, F, n_q, K, H, V),
        L * (3 * D * F + 2 * D * H * (n_q + K)) + 2 * V * D,
    ),
    "10 attention as dear as its projections, T = 2D": (
        attention_forward_flops(1, 2 * D, n_q, D / n_q),
        forward_flops(attention_params(D, n_q, n_q, D / n_q), 1),
    ),
    "10 attention again, 4BT^2NH": (attention_forward_flops(B * T, T, n_q, H), 4 * B * T**2 * n_q * H),
    "11 ZeRO-0, 16": (replicated_state_bytes(P) / P, 16),
    "11 ZeRO-1, 4 + 12/N": (zero1_state_bytes(P, dp) / P, 4 + 12 / dp),
    "11 ZeRO-2, 2 + 14/N": (zero2_state_bytes(P, dp) / P, 2 + 14 / dp),
    "11 ZeRO-3, 16/N": (zero3_state_bytes(P, dp) / P, 16 / dp),
    "11 batch of a rank, C/W": (dp_critical_batch(C, W), C / W),
    "11 of few ranks, (X - 1)/X": (dp_exact_critical_batch(dp, C, W), C / W * (dp - 1) / dp),
    "11 FSDP in a pass, no more than DP": (fsdp_kept_bytes(P, dp), dp_bytes(P, dp)),
    "11 FSDP in a step, half more": (parallel.zero3_bytes(P, dp), sympy.Rational(3, 2) * dp_bytes(P, dp)),
    "12 ranks of a layer, FW/C": (tp_limit(F, C, W), F * W / C),
    "12 an all-reduce is a scatter and a gather": (allreduce_bytes(tp, B), 2 * allgather_bytes(tp, B)),
    "12 activations, 34sbh + 5as^2b": (layer_activation_bytes(T, B, D, n_q), 34 * T * B * D + 5 * n_q * T**2 * B),
    "13 bubble": (pipeline_bubble_fraction(pp, m), (pp - 1) / (m + pp - 1)),
    "13 interleaved, over v": (bubble_overhead(pp, m, v), bubble_overhead(pp, m) / v),
    "13 interleaved, of the step": (interleaved_bubble_fraction(pp, m, v), pipeline_bubble_fraction(pp, v * m)),
    "13 a hop, 2BD/(W m)": (pp_forward_time(B, D, m, 2, W), m * 2 * B * D / (W * m)),
    "14 many nodes, 8a of two matrices": (ep_far_critical_width(8 * a * W, W, matrices=2), 8 * a),
    "14 three matrices, two thirds": (
        ep_far_critical_width(C, W),
        sympy.Rational(2, 3) * ep_far_critical_width(C, W, matrices=2),
    ),
    "14 (bd + bc)/6 times a": (ep_far_critical_width(a * W, W, b_disp=1, b_comb=2), (1 + 2) * a / 6),
    "15 X_opt": (best_dp(B, F, N, M * W, W), sympy.sqrt(B * N * M / F)),
    "15 not overlapped, four times": (
        mixed_serial_critical_batch(F, C, W_dp, W_tp),
        4 * mixed_critical_batch(F, C, W_dp, W_tp),
    ),
    "16 sparse, two replicas": (dp_moe_exact_critical_batch(2, E, k, C, W), E / k * C / W / 2),
    "17 stages share the sum": (split_critical_batch(C, W, pp=16), C / W / 16),
    "19 a step, of caches": (cache_time(B, T, 2 * K * H * L, n, W), B * T * 2 * K * H * L / (n * W)),
    "19 a step": (decode_time(P, B, T, K, 1, C, W, 2), B * T * K / W + sympy.Max(2 * B * P / C, 2 * P / W)),
    "19 freed, B(P + G)/G": (freed_tokens(B, P, G), B * (P + G) / G),
    "19 drafts, of four": (speculative_tokens(a, 4), 1 + a + a**2 + a**3 + a**4),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_in_symbols(name):
    ours, asked = (sympy.sympify(side) for side in ANSWERS[name])
    assert sympy.simplify(ours - asked) == 0


@pytest.mark.parametrize(("nodes", "k"), [(2, 8), (8, 8), (64, 8), (512, 2)])
def test_14_the_two_domains_of_experts(nodes, k):
    """F > a(Z - 8)/k while a token goes everywhere, and 8a of many nodes: a is of a node of eight ranks."""
    alpha, Z = 990e12 / 400e9, 8 * nodes
    ours = ep_critical_width(k, nodes, 990e12, 50e9, matrices=2)
    if k >= nodes:
        assert ours == pytest.approx(alpha * (Z - 8) / k)
    else:
        assert ours == pytest.approx(8 * alpha * (nodes - 1) / nodes)


def test_10_when_six_operations_a_parameter_are_not_all():
    """Long sequences and small vocabularies: attention is 6 % of 70B at 8,192, and four fifths at a million."""
    llama = models["llama3-70b"]
    share = lambda tokens: 1 - 6 * 70.55e9 / step_flops(llama, 1, tokens)
    assert 0.04 < share(8192) < 0.07
    assert share(2**20) > 0.8


def test_12_why_no_tensor_parallelism_over_two_nodes_of_llama():
    """13 ranks hide in a node, 11.6 across: eight is the power of two below, and 16 is above both."""
    chip, node = accelerators["h100-sxm"], nodes["dgx-h100"]
    inside, across = (tp_limit(28_672, chip.bf16_flops, x) for x in (node.scaleup_bandwidth, node.egress_bandwidth))
    assert 8 < across < inside < 16


def test_13_why_zero3_is_bad_beside_a_pipeline():
    """Weights are gathered for every microbatch: 64 of them send 64 times as much, and gradients once would do."""
    assert parallel.zero3_bytes(P, dp, 64) == 64 * parallel.zero3_bytes(P, dp)
    assert sympy.simplify(parallel.zero3_bytes(P, dp, 64) / dp_bytes(P, dp)) == 96


def test_20_utilisation_and_bandwidth_from_a_log():
    """405B: 400 TFLOP/s of 989.4; 16 GiB reduced in 62.6 ms by eight ranks are 480 GB/s in nccl-tests' count."""
    assert model_utilization(400e12, 1, 1, accelerators["h100-sxm"].bf16_flops) == pytest.approx(0.404, abs=0.001)
    assert bus_bandwidth(2**34, 62.63e-3, bus_factor("all_reduce", 8)) == pytest.approx(480e9, rel=0.001)


def test_6_and_14_distinct_destinations():
    """Z (1 - (1 - 1/Z)^k) of Z, drawn with repetition: k where Z is large, and 1 - exp(-k/Z) of them where both are."""
    from hwlib.collectives import destination_fraction

    Z = sympy.Symbol("Z", positive=True)
    assert sympy.simplify(destination_fraction(Z, 8) - (1 - (1 - 1 / Z) ** 8)) == 0
    assert 1e6 * destination_fraction(1e6, 8) == pytest.approx(8, rel=1e-4)
    assert destination_fraction(1000, 500) == pytest.approx(1 - exp(-0.5), rel=1e-3)
