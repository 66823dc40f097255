"""Worked questions on training over many chips, G-DP to G5.3 and the training chapters: each from the library.

Where an edition or a digest of the book is wrong, the row says what it did, and that the library does not.
"""

from math import ceil

import pytest

from hwlib.collectives import destination_fraction, outer_axis_allgather_time
from hwlib.parallel import (
    best_dp,
    critical_points,
    dp_bytes,
    dp_critical_batch,
    dp_exact_critical_batch,
    dp_moe_critical_batch,
    dp_moe_exact_critical_batch,
    ep_copies_bytes,
    ep_critical_width,
    ep_exact_critical_width,
    ep_far_critical_width,
    ep_limited_critical_width,
    mixed_critical_batch,
    mixed_serial_critical_batch,
    pp_layer_time,
    split_critical_batch,
    tp_critical_width,
    tp_limit,
    tp_nodes_limit,
    transfers,
    zero3_bytes,
)
from hwlib.roofline import compute_time
from hwlib.specs import accelerators, clusters, models, nodes
from hwlib.strategy import Strategy
from hwlib.transformer import parameter_count, training_flops
from hwlib.units import GB, TB
from tests.hwlib.worked import Row, check

H100, B200, GB200 = (accelerators[key] for key in ("h100-sxm", "b200-sxm", "gb200-nvl72"))
NODE, NEW, RACK, H800 = (nodes[key] for key in ("dgx-h100", "dgx-b200", "gb200-nvl72", "hgx-h800"))
C, W_NODE, W_OUT, NIC = H100.bf16_flops, NODE.scaleup_bandwidth, NODE.egress_bandwidth, NODE.nic_bandwidth
LEVELS = clusters["superpod-h100-4su"].levels
LLAMA, BIG, DEEPSEEK, OSS = (models[key] for key in ("llama3-70b", "llama3-405b", "deepseek-v3", "gpt-oss-120b"))
DAY = 86_400
C_V5P, W_V5P = 4.59e14, 1.8e11  # what the book takes for a chip, and for one axis of its torus, both ways

DATA = [
    Row("G-DP in a node", lambda: dp_critical_batch(C, W_NODE), 2200),
    Row("G-DP across", lambda: dp_critical_batch(C, W_OUT), 2475),
    Row("G-DP across, at the printed 989", lambda: dp_critical_batch(C, W_OUT), 2472),
    Row("G-DP on 16,384 GPUs", lambda: 16_384 * dp_critical_batch(C, W_OUT), 40e6, 0.02),
    Row("G-DP one rank a unit", lambda: dp_critical_batch(C, 12.8 * TB), 77, 0.01),
    Row("G-DP by levels, the worst", lambda: critical_points("llama3-70b", LEVELS, C)["spine"].dp, 2475),
    Row("G-DP of the draft, in a node", lambda: dp_critical_batch(C, W_NODE), 1098, 0.01, 2199,
        "it halves every all-reduce, as if switches always added"),
    Row("G-DP of the draft, across", lambda: dp_critical_batch(C, W_OUT), 1236, 0.01, 2474,
        "the same"),
    Row("G-DP X = 2", lambda: dp_exact_critical_batch(2, C, W_OUT), 1237),
    Row("G-MoE DP, gpt-oss", lambda: dp_moe_critical_batch(OSS.experts, OSS.experts_per_token, C, W_OUT), 79_200),
    Row("ZeRO-3 over DP, bytes of a step", lambda: zero3_bytes(1, 64) / dp_bytes(1, 64), 1.5, 1e-12),
    Row("FSDP of the draft: twice DP", lambda: zero3_bytes(1, 64) / dp_bytes(1, 64), 2, 0.01, 1.5,
        "two gathers and a scatter are three halves of an all-reduce; in each pass the bound is the same"),
    Row("H800", lambda: dp_critical_batch(C, H800.scaleup_bandwidth), 3300, 0.01, 4947,
        "it takes 300 GB/s: 400 both ways are 200 one way"),
    Row("H800, put right", lambda: dp_critical_batch(C, H800.scaleup_bandwidth), 4950),
]  # fmt: skip

TENSOR = [
    Row("G-TP in a node", lambda: tp_limit(28_672, C, W_NODE), 13.0),
    Row("G-TP across", lambda: tp_limit(28_000, C, W_OUT), 28_000 / 2475),
    Row("G-TP F = 28,000 in a node, 11-way", lambda: tp_limit(28_000, C, W_NODE), 11, 0.05, 12.7,
        "28,000/2,475 is the bound across nodes; in a node it is 28,000/2,200"),
    Row("G-TP over two nodes", lambda: tp_nodes_limit(28_000, 8, C, NIC), 19, 0.02),
    Row("G-TP of the draft, 9-way at F = 16k", lambda: tp_limit(16_384, C, W_NODE), 9.38, 0.01, 7.45,
        "F/1746 takes switches that add"),
    Row("G5.2.3 F/1995", lambda: tp_limit(LLAMA.ffn, C, W_NODE), 14.4, 0.01, 13.0,
        "a left-over of 898/450; the text has 2,200"),
    Row("MLP that 8 ranks keep busy, a digest's 250", lambda: tp_critical_width(8, C, W_NODE), 250, 0.01, 17_590,
        "eight times C/W, far above 250"),
]  # fmt: skip

EXPERTS = [
    Row("G-EP many nodes", lambda: ep_far_critical_width(C, NIC, matrices=2), 19_800),
    Row("G-EP DeepSeek, Z = 64, k = 8", lambda: ep_critical_width(8, 8, C, NIC, matrices=2), 17_325),
    Row("G-EP the same from a(Z - 8)/k", lambda: ep_critical_width(8, 8, C, NIC, matrices=2), C / W_OUT * 56 / 8, 1e-9),
    Row("G-EP three matrices, 8 bits out", lambda: ep_far_critical_width(C, NIC, b_disp=1), 9_900),
    Row("G-EP two matrices", lambda: ep_far_critical_width(C, NIC), 19_800, 0.01, 13_192,
        "experts have a gate, and so three matrices: half more work for the same bytes"),
    Row("G-EP copies as if none met", lambda: ep_exact_critical_width(
        8, 8, C, NIC, destination_fraction(8, 8), matrices=2), 17_325, 0.01, 11_365,
        "eight experts on eight nodes: a token has business on 66 % of them, not on all"),
    Row("four nodes at most for eight experts", lambda: ep_limited_critical_width(8, 4, C, NIC, b_disp=1), 4_950),
    Row("an expert of DeepSeek-V3", lambda: DEEPSEEK.expert_ffn, 2048, 0),
]  # fmt: skip

STAGES = [
    Row("G-PP a layer, m = 2(pp - 2)", lambda: pp_layer_time(1e6, 8192, 80, 28, 16, NIC),
        1.5 * 2 * 1e6 * 8192 / (NIC * 80), 1e-9),
    Row("G5.2.3 DP beside 8 stages", lambda: split_critical_batch(C, W_OUT, pp=8), 309),
    Row("G5.3 16-way", lambda: split_critical_batch(C, W_OUT, pp=2), 1_240),
    Row("G5.3 64-way", lambda: split_critical_batch(C, W_OUT, pp=8), 309),
    Row("DeepSeek-V3: 32 times the bound, over 16 stages", lambda: dp_moe_critical_batch(
        DEEPSEEK.experts, DEEPSEEK.experts_per_token, C, W_OUT) / 16, 4944),
    Row("DeepSeek-V3 with two replicas", lambda: dp_moe_exact_critical_batch(
        2, DEEPSEEK.experts, DEEPSEEK.experts_per_token, C, W_OUT) / 16, 4944, 0.01, 2474,
        "two replicas keep half of what they sum"),
    Row("DeepSeek-V3 GPUs", lambda: 64 * 16 * 2, 2048, 0),
    Row("DeepSeek-V3 batch", lambda: 4096 * 15_360, 62.9e6),
    Row("DeepSeek-V3 batch in the section on DP", lambda: 4096 * 15_360, 4e6, 0.01, 62.9e6,
        "a sequence has 4,096 tokens; a step has 15,360 of them"),
    Row("DeepSeek-V3 tokens a GPU", lambda: 4096 * 15_360 / 2048, 30_720, 0),
]  # fmt: skip

NEW_CHIPS = [
    Row("G5.1 B200 in a node", lambda: dp_critical_batch(B200.bf16_flops, NEW.scaleup_bandwidth), 2500),
    Row("G5.1 B200 across", lambda: dp_critical_batch(B200.bf16_flops, NEW.egress_bandwidth), 5625),
    Row("GB200 across, at 2.25e15", lambda: dp_critical_batch(B200.bf16_flops, RACK.egress_bandwidth), 625),
    Row("GB200 across, at 2.5e15", lambda: dp_critical_batch(GB200.bf16_flops, RACK.egress_bandwidth), 694),
    Row("B200 of the draft", lambda: dp_critical_batch(B200.bf16_flops, NEW.scaleup_bandwidth), 549, 0.01, 2500,
        "the network doubled, and so did the arithmetic, 2.25 times"),
    Row("B200 of the draft, 18-way", lambda: tp_limit(16_384, B200.bf16_flops, NEW.scaleup_bandwidth), 18, 0.01, 6.55,
        "the same: a little less than on an H100, not twice as much"),
]  # fmt: skip


def gradient_bytes():
    """What a rank of the 405B run holds of the gradients."""
    found = transfers(BIG, Strategy.of(dp=128, tp=8, pp=16), B=2**24, m=16)
    return found[-1]


def decode_bytes(layer_tokens):
    """What a rank of 320 sends of so many of its tokens, one way, with a scale of 4 bytes for each 128 of 8 bits.

    The printed 15.1 MB come out for 256 tokens out, or for 128 both ways if the way back had 8 bits too.
    """
    model, ranks = DEEPSEEK, 320
    B = layer_tokens * ranks
    return ep_copies_bytes(B, model.width, model.experts_per_token, ranks, b_disp=1 + 4 / 128, b_comb=0)


RUNS = [
    Row("G5.2.1 at 10 bytes a parameter", lambda: ceil(70e9 * 10 / H100.hbm_bytes), 9, 0),
    Row("G5.2.1 at 16 bytes", lambda: ceil(70e9 * 16 / H100.hbm_bytes), 14, 0),
    Row("G5.2.1 at 16 bytes, of all parameters", lambda: ceil(parameter_count(LLAMA) * 16 / H100.hbm_bytes), 14, 0, 15,
        "70.0e9 fill 14 to the byte; there are 70.55e9"),
    Row("G5.2.2", lambda: compute_time(training_flops(70e9, 15e12), 4096 * C * 0.45) / DAY, 40),
    Row("G5.2.2 of older copies", lambda: compute_time(training_flops(70e9, 15e12), 4096 * C * 0.40) / DAY, 45, 0.01),
    Row("G5.2.3 ZeRO-1 in a node", lambda: 70e9 * 10 / 8, 87.5 * GB, 0),
    Row("G5.2.3 tokens a GPU", lambda: 4e6 / 4096, 976),
    Row("DeepSeek-V3 decoding, a layer: 256 tokens out", lambda: decode_bytes(256), 15.1e6),
    Row("DeepSeek-V3 decoding, all layers at 40 GB/s",
        lambda: DEEPSEEK.moe_layers * decode_bytes(256) / (40 * GB), 21.95e-3),
    Row("405B GPUs", lambda: 8 * 16 * 128, 16_384, 0),
    Row("405B tokens a GPU", lambda: 2**24 / 16_384, 1024, 0),
    Row("405B step at 41 %", lambda: compute_time(training_flops(405e9, 16e6), 16_384 * C * 0.41), 5.85),
    Row("405B gradients of a GPU", lambda: gradient_bytes().S, 6.3 * GB),
    Row("405B their all-reduce", lambda: gradient_bytes().sent_bytes / NIC, 0.25),
    Row("405B bound beside 16 stages", lambda: split_critical_batch(C, W_OUT, pp=16), 2475 / 16),
]  # fmt: skip

TORUS = [
    Row("v5p, three axes", lambda: dp_critical_batch(C_V5P, 3 * W_V5P), 850),
    Row("N3 FSDP", lambda: 4096 * dp_critical_batch(C_V5P, 3 * W_V5P), 3.48e6),
    Row("N3 mixed", lambda: mixed_critical_batch(13_824, C_V5P, 2 * W_V5P, W_V5P), 235),
    Row("N3 mixed, as it was", lambda: mixed_critical_batch(13_824, C_V5P, 2 * W_V5P, W_V5P), 940, 0.01, 235,
        "the two axes move at once: it added their times"),
    Row("N3 mixed, one axis after the other",
        lambda: mixed_serial_critical_batch(13_824, C_V5P, 2 * W_V5P, W_V5P), 940),
    Row("N3 X_opt", lambda: best_dp(3e6, 13_824, 4096, 2 * W_V5P, W_V5P), 1333),
    Row("between pods", lambda: dp_critical_batch(C_V5P, 6.25e9), 73_440),
    Row("70B mixed", lambda: mixed_critical_batch(28_672, C_V5P, 2 * W_V5P, W_V5P), 113),
    Row("70B mixed, as it was", lambda: mixed_critical_batch(28_672, C_V5P, 2 * W_V5P, W_V5P), 453, 0.01, 113.4,
        "the same factor of four"),
    Row("70B tokens a chip", lambda: 2**22 / 8960, 468),
    Row("70B X_opt", lambda: best_dp(2**22, 28_672, 8960, 2 * W_V5P, W_V5P), 1618),
]  # fmt: skip

ROWS = DATA + TENSOR + EXPERTS + STAGES + NEW_CHIPS + RUNS + TORUS


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_worked_question(row):
    check(row)


def test_which_level_binds_as_inner_ranks_grow():
    """On H100 the cables between nodes decide for every Y; on NVL72 the rack's own links do up to Y = 4."""
    times = lambda Y, n_in, n_out, W_in, W_out: (
        outer_axis_allgather_time(1, Y, n_in, n_out, W_in, 1e30),
        outer_axis_allgather_time(1, Y, n_in, n_out, 1e30, W_out),
    )
    for Y in (1, 2, 4, 8):
        inside, across = times(Y, 8, 32, W_NODE, NIC)
        assert across > inside
    rack = [times(Y, 72, 8, RACK.scaleup_bandwidth, RACK.nic_bandwidth) for Y in (1, 2, 4, 8, 36)]
    assert [inside > across for inside, across in rack] == [True, True, True, False, False]


def test_a_batch_that_is_below_the_bound_and_was_used():
    """LLaMA-3 ran 16M tokens on 16,384 GPUs, below the 40M of plain data parallelism: 16 stages make it enough."""
    tokens = 2**24 / 16_384
    assert split_critical_batch(C, W_OUT, pp=16) < tokens < dp_critical_batch(C, W_OUT)


@pytest.mark.parametrize(
    ("gpus", "sequences", "pp", "tokens"), [(192, 192, 1, 4096), (768, 384, 2, 2048), (3072, 1536, 8, 2048)]
)
def test_the_runs_of_the_megatron_table_are_above_their_bounds(gpus, sequences, pp, tokens):
    """G5.3: 16B, 70B and 314B parameters, sequences of 4,096; in a node the model is split eight ways."""
    assert sequences * 4096 / gpus == tokens
    assert tokens > split_critical_batch(C, W_OUT, pp=pp)


def test_deepseek_is_bound_by_the_network_in_every_count():
    """The width that each way of counting asks for is above the 2,048 that an expert has."""
    counts = [row.ours() for row in EXPERTS[:-1]]
    assert min(counts) > 2 * DEEPSEEK.expert_ffn
