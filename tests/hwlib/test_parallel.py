"""What parallel training sends: formulas against counting, and a plan's transfers against the formulas."""

import random
from itertools import product

import numpy as np
import pytest

from hwlib import parallel
from hwlib.collectives import destination_fraction, exact_destination_fraction, level_time, mean_destinations
from hwlib.parallel import (
    axis_bytes,
    axis_times,
    dp_exact_critical_batch,
    exposed_times,
    hiding_times,
    transfers,
)
from hwlib.specs import Model, accelerators, clusters, models
from hwlib.specs.cluster import Level
from hwlib.strategy import Strategy
from hwlib.transformer import (
    attention_step_flops,
    matmul_parameters,
    parameter_count,
    parameter_groups,
    step_flops,
)

SMALL = Model.small(layers=4, width=64, heads=8, kv_heads=4, vocab=256)
MOE = Model.small(layers=4, width=64, heads=8, vocab=256, experts=16, experts_per_token=4, expert_ffn=32)
P = parameter_count(SMALL)
LEVELS = clusters["superpod-h100-4su"].levels
C = accelerators["h100-sxm"].bf16_flops


# Formulas against counting, message by message


def hidden_by(model, **given):
    """`hiding_times` on ranks of C, with the degrees of a strategy as plain keywords."""
    degrees = {name: given.pop(name) for name in ("dp", "pp", "cp", "zero") if name in given}
    return hiding_times(model, Strategy.of(**degrees), C, **given)


def test_ring_attention_passes_every_block_on_but_one():
    """Forward cp - 1 blocks of keys and values; backward as many, and gradients of cp blocks."""
    B, K, H, cp = 48, 2, 16, 4
    block = 2 * 2 * (B // cp) * K * H
    assert parallel.ring_attention_bytes(B, K, H, cp) == sum(block for _ in range(cp - 1))
    assert parallel.ring_attention_backward_bytes(B, K, H, cp) == sum(block for _ in range(cp - 1 + cp))


def test_ulysses_exchanges_heads_for_tokens():
    """Every rank counts the bytes of each tensor that belong to other ranks' heads, and to other ranks' tokens."""
    B, n_q, K, H, cp = 32, 8, 4, 16, 4
    sent = 0
    for heads in (n_q, K, K):  # queries, keys, values of my tokens, heads of others
        sent += 2 * (B // cp) * (heads - heads // cp) * H
    sent += 2 * (B - B // cp) * (n_q // cp) * H  # outputs of my heads, tokens of others
    assert parallel.ulysses_bytes(B, n_q, K, H, cp) == sent
    assert parallel.ulysses_layer_bytes(B, n_q, K, H, cp) == 2 * sent
    assert parallel.ulysses_max_ranks(K) == 4


def test_ulysses_sends_less_the_more_ranks_and_a_ring_does_not():
    """With as many key-value heads as heads: 4BD/cp against 2BD, from three ranks on."""
    ulysses = [parallel.ulysses_bytes(1024, 8, 8, 16, cp) for cp in (2, 4, 8)]
    ring = [parallel.ring_attention_bytes(1024, 8, 16, cp) for cp in (2, 4, 8)]
    assert ulysses[0] > ulysses[1] > ulysses[2]
    assert ring[0] < ring[1] < ring[2]
    assert ulysses[0] == ring[0]


def test_microbatches_cross_the_stages_one_behind_the_other():
    """Hop by hop: a microbatch waits for itself on the hop before, and for the one before it on this hop."""
    B, D, W = 4096, 512, 1e9
    for m, pp in ((1, 2), (4, 2), (8, 5), (3, 9)):
        done = np.zeros((m + 1, pp))
        for i in range(1, m + 1):
            for hop in range(1, pp):
                done[i, hop] = max(done[i - 1, hop], done[i, hop - 1]) + 2 * B * D / m / W
        assert parallel.pp_forward_time(B, D, m, pp, W) == pytest.approx(done[m, pp - 1])


def route(tokens, E, k, nodes, limit=None):
    """Experts of each token, drawn evenly; with a limit only on that many nodes, drawn evenly first."""
    rng = random.Random(7)
    for _ in range(tokens):
        allowed = range(E)
        if limit is not None:
            chosen = rng.sample(range(nodes), limit)
            allowed = [e for e in range(E) if e * nodes // E in chosen]
        yield rng.sample(allowed, k)


@pytest.mark.parametrize(("E", "k", "nodes"), [(256, 8, 8), (64, 4, 16), (32, 16, 4)])
def test_experts_are_dispatched_once_to_each_node(E, k, nodes):
    """A drawn routing, counted: copies that leave a node, for all tokens of a node."""
    tokens, D, n_in = 4000, 64, 8
    copies = sum(
        len({e * nodes // E for e in experts} - {i % nodes}) for i, experts in enumerate(route(tokens, E, k, nodes))
    )
    counted = copies / nodes * D * (2 + 2) / (n_in * 1e9)
    exact = parallel.ep_nodes_time(tokens, D, n_in, nodes, 1e9, exact_destination_fraction(nodes, k, E))
    assert counted == pytest.approx(exact, rel=0.03)
    drawn = parallel.ep_nodes_time(tokens, D, n_in, nodes, 1e9, destination_fraction(nodes, k))
    assert drawn == pytest.approx(exact, rel=0.06)
    assert parallel.ep_nodes_limit(tokens, D, k, n_in, nodes, 1e9) > exact


def test_plain_all_to_all_sends_a_copy_for_each_expert():
    E, k, ranks, tokens, D = 64, 8, 8, 4000, 64
    copies = sum(e * ranks // E != i % ranks for i, experts in enumerate(route(tokens, E, k, ranks)) for e in experts)
    assert parallel.ep_copies_bytes(tokens, D, k, ranks) == pytest.approx(copies / ranks * D * 4, rel=0.02)
    once = parallel.ep_bytes(tokens, D, ranks, exact_destination_fraction(ranks, k, E))
    assert once < parallel.ep_copies_bytes(tokens, D, k, ranks)


def test_node_limited_routing_is_an_upper_bound_near_what_is_drawn():
    """DeepSeek-V3: 8 of 256 experts, on at most 4 of 8 nodes. Now and then a chosen node has none of the eight."""
    E, k, nodes, limit, tokens, D = 256, 8, 8, 4, 4000, 64
    copies = sum(
        len({e * nodes // E for e in experts} - {i % nodes})
        for i, experts in enumerate(route(tokens, E, k, nodes, limit))
    )
    counted = copies / nodes * D * 4 / (8 * 1e9)
    bound = parallel.ep_limited_time(tokens, D, k, limit, 8, nodes, 1e9)
    share = exact_destination_fraction(4, 8, 128)
    assert counted == pytest.approx(share * bound, rel=0.02)
    assert counted < bound
    assert bound < parallel.ep_nodes_limit(tokens, D, k, 8, nodes, 1e9)


def test_all_wait_for_the_busiest_rank():
    assert parallel.ep_imbalanced_time(2.0, 3.0, 1) == 3.0
    assert parallel.ep_imbalanced_time(2.0, 3.0, 1.5) == 4.5


def test_a_start_and_the_cards_explain_deepeps_low_latency_dispatch():
    """Its README: 118 us on 16 H800, which sets the start, and then 155, 173 and 194 us on 32, 64 and 256."""
    fp8 = (7168 + 7168 / 128 * 4 + 16) / 7168
    time = lambda ranks, alpha: parallel.ep_latency_time(128 * ranks, 7168, 8, 8, ranks / 8, fp8, alpha, 50e9)
    start = 118e-6 - time(16, 0.0)
    for ranks, measured in ((32, 155e-6), (64, 173e-6), (256, 194e-6)):
        assert time(ranks, start) == pytest.approx(measured, rel=0.03)
    assert time(8, start) == start  # one node: nothing crosses a card


def test_the_spread_by_chance_is_that_of_drawn_counts():
    """1,024 choices a rank: DeepSeek-R1's most even layer after EPLB has 37.6, chance alone 31.5 (36 ranks)."""
    assert 1024 * parallel.drawn_spread(36 * 128, 8, 36) == pytest.approx(31.5, abs=0.1)
    random = np.random.default_rng(0)
    loads = random.multinomial(64 * 2, [1 / 8] * 8, size=4000)
    assert loads.std(axis=1).mean() / 16 == pytest.approx(parallel.drawn_spread(64, 2, 8), rel=0.05)
    assert parallel.drawn_spread(64, 2, 1) == 0


def test_zero_in_the_words_of_its_paper():
    """Stages 1 and 2 send what data parallelism does, 2 of the parameters; stage 3 sends 3."""
    assert parallel.zero1_bytes(P, 64) == parallel.zero2_bytes(P, 64) == parallel.dp_bytes(P, 64)
    assert parallel.zero3_bytes(P, 64) == pytest.approx(1.5 * parallel.dp_bytes(P, 64))
    assert parallel.fsdp_kept_bytes(P, 64) == parallel.dp_bytes(P, 64)
    assert parallel.zero2_bytes(P, 64, 9) == pytest.approx(5 * parallel.dp_bytes(P, 64))
    assert parallel.zero3_bytes(P, 64, 9) == pytest.approx(9 * parallel.zero3_bytes(P, 64))


def test_hybrid_sharding_ends_at_both_of_its_parts():
    assert parallel.hsdp_in_bytes(P, 8) == parallel.zero3_bytes(P, 8)
    assert parallel.hsdp_out_bytes(P, 1, 8) == parallel.dp_bytes(P, 8)
    inside, outside = parallel.hsdp_in_bytes(P, 8), parallel.hsdp_out_bytes(P, 8, 4)
    assert parallel.hsdp_comm_time(P, 8, 4, 450e9, 50e9) == pytest.approx(inside / 450e9 + outside / 50e9)


def test_what_nothing_hides_is_exposed():
    assert parallel.exposed_time(3.0, 2.0) == 1.0
    assert parallel.exposed_time(3.0, 2.0, 0.5) == 2.0
    assert parallel.overlapped_time(3.0, 2.0) == 3.0
    assert parallel.overlapped_time(1.0, 2.0) == 2.0
    assert exposed_times({"tp": 0.5, "dp": 0.75}, {"dp": 1.0}) == {"tp": 0.5, "dp": 0.0}


def test_the_best_mix_is_the_best_of_all():
    """Tried on a grid: no other split of 4,096 ranks has a smaller sum."""
    B, F, D, n = 3e6, 13_824, 5120, 4096
    grid = np.array([2.0**i for i in range(13)])
    times = parallel.mixed_dp_time(D, F, n / grid, 3.6e11) + parallel.mixed_tp_time(B, D, grid, 1.8e11)
    best = parallel.best_dp(B, F, n, 3.6e11, 1.8e11)
    assert grid[times.argmin()] == 1024
    assert 1024 < best < 2048
    assert times.min() >= 2 * parallel.mixed_comm_time(B, D, F, n, 3.6e11, 1.8e11)
    math = parallel.mixed_math_time(B, D, F, n, 4.59e14)
    assert parallel.mixed_time(B, D, F, n, 4.59e14, 3.6e11, 1.8e11) == math


# A plan's transfers


@pytest.mark.parametrize(
    ("zero", "expected"),
    [
        (0, parallel.dp_bytes(P, 8)),
        (1, parallel.zero1_bytes(P, 8)),
        (2, parallel.zero2_bytes(P, 8, 3)),
        (3, parallel.zero3_bytes(P, 8, 3)),
    ],
)
def test_data_parallel_transfers(zero, expected):
    assert axis_bytes(transfers(SMALL, B=8 * 96, dp=8, m=3, zero=zero)) == {"dp": pytest.approx(expected)}


def test_tensor_parallel_transfers():
    layers, B, D = SMALL.layers, 4096, SMALL.width
    plain = axis_bytes(transfers(SMALL, B=B, dp=1, tp=4, m=2, sp=False))
    assert plain == {"tp": pytest.approx(layers * parallel.tp_layer_bytes(B, D, 4))}
    sequence = axis_bytes(transfers(SMALL, B=B, dp=1, tp=4, m=2))
    assert sequence == {"tp": pytest.approx(layers * parallel.sp_layer_bytes(B, D, 4))}


def test_pipeline_and_context_transfers():
    B, D = 4096, SMALL.width
    found = axis_bytes(transfers(SMALL, B=B, dp=1, tp=2, pp=2, v=2, m=4))
    assert found["pp"] == pytest.approx(parallel.pp_bytes(B, D, 2, 2))
    found = axis_bytes(transfers(SMALL, B=B, dp=1, cp=4))
    forward = parallel.ring_attention_bytes(B, SMALL.kv_heads, SMALL.head_dim, 4)
    assert found["cp"] == pytest.approx(3 * SMALL.layers * forward)
    assert found["dp"] == pytest.approx(parallel.dp_bytes(P, 4)), "ranks of a sequence share weights too"


def test_a_plan_may_exchange_heads_instead():
    """Ulysses: bytes of its formula; with more ranks to a layer than key-value heads, those are copied."""
    B, one = 4096, SMALL
    found = axis_bytes(transfers(one, B=B, dp=1, cp=4, ulysses=True))["cp"]
    layer = parallel.ulysses_layer_bytes(B, one.heads, one.kv_heads, one.head_dim, 4)
    assert found == pytest.approx(one.layers * layer)
    ring = lambda tp: axis_bytes(transfers(one, B=B, dp=1, cp=4, tp=tp))["cp"]
    assert ring(4) == ring(1) / 4
    assert ring(8) == ring(4)


@pytest.mark.parametrize("sp", [False, True])
@pytest.mark.parametrize("shards", [None, 4])
def test_arrays_of_plans_send_what_each_of_them_sends(sp, shards):
    plans = list(product((4, 8), (1, 4), (1, 2), (1, 2), range(4)))
    names = ("dp", "tp", "pp", "cp", "zero")
    columns = {name: np.array(column, float) for name, column in zip(names, zip(*plans, strict=True), strict=True)}
    same = {"B": 8 * 4096, "m": 2, "ep": 2, "sp": sp, "shards": shards, "dedup_dispatch": True}
    many = axis_times(transfers(MOE, **same, **columns), LEVELS)
    for i, plan in enumerate(plans):
        each = axis_times(transfers(MOE, **same, **dict(zip(names, plan, strict=True))), LEVELS)
        assert {axis: t[i] for axis, t in many.items() if t[i]} == {axis: pytest.approx(t) for axis, t in each.items()}
    assert "64 plans" in repr(transfers(MOE, **same, **columns)[0])


@pytest.mark.parametrize("B", ["1M", None, 0, [4096]])
def test_a_batch_is_tokens(B):
    with pytest.raises(ValueError, match="transfers: B "):
        transfers(MOE, B=B, dp=8)


def test_arrays_that_cannot_be():
    with pytest.raises(ValueError, match=r"^dp: "):
        transfers(MOE, B=4096, dp=np.array([1.0, 1.5]))
    with pytest.raises(ValueError, match=r"^zero: "):
        transfers(MOE, B=4096, dp=8, zero=np.array([1, 4]))


def test_hybrid_sharding_has_copies_to_sum():
    """Shards on four ranks, and each rank's share summed over its two copies."""
    found = axis_bytes(transfers(SMALL, B=4096, dp=8, zero=3, shards=4))["dp"]
    assert found == pytest.approx(parallel.hsdp_in_bytes(P, 4) + parallel.hsdp_out_bytes(P, 4, 2))


def test_the_busiest_rank_of_experts():
    even, uneven = (axis_bytes(transfers(MOE, B=4096, dp=8, ep=4, expert_imbalance=x))["ep"] for x in (1, 1.5))
    assert uneven == 1.5 * even


@pytest.mark.parametrize(("ep", "copies"), [(8, 2), (4, 4 * (1 - 6 * 5 / (8 * 7))), (2, 2 * (1 - 4 * 3 / (8 * 7)))])
def test_mixtrals_two_experts_are_not_the_same_one(ep, copies):
    """Two of eight experts: on eight ranks always on two of them, 58.72 MB of 4,096 tokens; on fewer sometimes on one.

    A rank keeps the copies of its own experts.
    """
    model = models["mixtral-8x7b"]
    (dispatch,) = (x for x in transfers(model, B=8 * 4096, dp=8, ep=ep, dedup_dispatch=True) if x.what == "dispatch")
    sent = 4096 * copies * (1 - 1 / ep) * model.width * 2
    assert dispatch.sent_bytes / dispatch.calls == pytest.approx(sent)
    if ep == 8:
        assert sent == pytest.approx(58.72e6, rel=1e-4)


def test_expert_transfers():
    """Dispatch and combine, forward and backward; experts' gradients go to those that hold the same ones."""
    B, D, k = 4096, MOE.width, MOE.experts_per_token
    found = transfers(MOE, B=B, dp=8, ep=4)
    one_pass = parallel.ep_copies_bytes(B / 2, D, k, 4)
    assert axis_bytes(found)["ep"] == pytest.approx(2 * MOE.layers * one_pass)
    groups = parameter_groups(MOE)
    dense = parallel.dp_bytes(groups.total - groups.experts, 8)
    assert axis_bytes(found)["dp"] == pytest.approx(dense + parallel.dp_bytes(groups.experts / 4, 2))
    assert "experts, 1 x all-reduce" in repr(found[-1])


def test_experts_merged_on_the_way():
    """One copy a rank, and one a node: what the formulas say of four nodes of eight, and of all 32 ranks."""
    levels = (Level("node", 8, 1e15), Level("leaf", 4, 8 * 50e9))
    model = MOE.replace(experts=32)
    B, D, k = 4096 * 32, MOE.width, MOE.experts_per_token
    found = [x for x in transfers(model, B=B, dp=32, ep=32, dedup_dispatch=True) if x.axis == "ep"]
    one_pass = parallel.ep_nodes_time(B, D, 8, 4, 50e9, mean_destinations(4, k, 32) / 4)
    assert sum(x.time(levels) for x in found) == pytest.approx(2 * MOE.layers * one_pass)
    one_pass = parallel.ep_bytes(B, D, 32, mean_destinations(32, k, 32) / 32)
    assert axis_bytes(found)["ep"] == pytest.approx(2 * MOE.layers * one_pass)
    plain = [x for x in transfers(model, B=B, dp=32, ep=32) if x.axis == "ep"]
    kept = mean_destinations(4, k, 32) / k
    assert kept < 0.71
    assert sum(x.time(levels) for x in found) == pytest.approx(kept * sum(x.time(levels) for x in plain))


def test_routing_to_few_nodes_in_a_plan():
    """DeepSeek-V3: eight experts a token, of 64 ranks on eight nodes; of four nodes at most, and fewer on average."""
    levels = (Level("node", 8, 1e15), Level("leaf", 8, 8 * 50e9))
    model, B = models["deepseek-v3"], 4096 * 64
    plan = {"B": B, "dp": 64, "ep": 64}
    exchange = lambda **more: sum(x.time(levels) for x in transfers(model, **plan, **more) if x.axis == "ep")
    one_pass = parallel.ep_limited_time(B, model.width, 8, 4, 8, 8, 50e9)
    limited = exchange(dedup_dispatch=True, n_lim=4)
    assert limited == pytest.approx(2 * model.moe_layers * one_pass * mean_destinations(8, 8, 256, 4) / 4)
    assert limited < 2 * model.moe_layers * one_pass
    assert exchange(dedup_dispatch=True, n_lim=8) == exchange(dedup_dispatch=True) < exchange() == exchange(n_lim=4)
    assert limited / exchange(dedup_dispatch=True) == pytest.approx(
        mean_destinations(8, 8, 256, 4) / mean_destinations(8, 8, 256)
    )
    columns = {"B": B, "dp": np.array([64.0, 64.0]), "ep": 64, "dedup_dispatch": True, "n_lim": 4}
    assert list(sum(x.time(levels) for x in transfers(model, **columns) if x.axis == "ep")) == pytest.approx(
        2 * [limited]
    )


def test_a_limit_of_nodes_holds_beside_tensor_parallelism_over_whole_nodes():
    """Each rank that shares experts in a node of its own: a token visits nodes, not ranks of a node."""
    levels = (Level("node", 8, 1e15), Level("leaf", 8, 8 * 50e9))
    plan = {"B": 4096 * 64, "dp": 8, "tp": 8, "ep": 8, "dedup_dispatch": True}
    free, limited = (
        sum(x.time(levels) for x in transfers(models["deepseek-v3"], **plan, n_lim=n_lim) if x.axis == "ep")
        for n_lim in (0, 4)
    )
    assert limited / free == pytest.approx(mean_destinations(8, 8, 256, 4) / mean_destinations(8, 8, 256))


def test_one_rank_sends_nothing():
    assert transfers(SMALL, B=1024, dp=1) == ()
    assert axis_times((), LEVELS) == {}


def test_times_are_those_of_the_levels():
    """Tensor parallelism stays in its node; gradients of eight shards at once cross nodes, and units."""
    found = transfers(models["llama3-70b"], B=2**22, dp=128, tp=8, sp=False)
    tensor, gradients = found
    node = (Level("node", 8, 450e9),)
    assert tensor.time(LEVELS) == pytest.approx(tensor.calls * level_time("all_reduce", tensor.S, node))
    assert tensor.time(LEVELS) == pytest.approx(tensor.sent_bytes / 450e9)
    assert gradients.time(LEVELS) == pytest.approx(2 * 31 / 32 * 8 * gradients.S / 400e9)
    assert axis_times(found, LEVELS) == {"tp": tensor.time(LEVELS), "dp": gradients.time(LEVELS)}


def test_the_critical_batch_is_where_the_times_meet():
    """The bound of the levels, and a plan on it: the all-reduce takes as long as the backward pass."""
    bound = dp_exact_critical_batch(32, C, 400e9, 2)  # of the leaf, the worse of the two levels
    model = models["llama3-70b"]
    [gradients] = transfers(model, B=256 * 4096, dp=256)
    backward = parallel.dp_backward_time(parameter_count(model), 256 * bound, 256, C)
    assert gradients.time(LEVELS[:2]) == pytest.approx(backward)


def test_a_step_of_data_parallelism_is_arithmetic_from_the_critical_batch_on():
    """6PB/C from there on; below it the all-reduce takes the place of the backward pass."""
    P, C, W = 3e9, 989e12, 400e9
    bound = parallel.dp_exact_critical_batch(64, C, W)
    at, below = (parallel.dp_step_time(P, 512 * tokens, 512, 64, C, W) for tokens in (bound, bound / 2))
    assert at == pytest.approx(6 * P * bound / C)
    assert below == pytest.approx(P * bound / C + parallel.dp_comm_time(P, 64, W))


@pytest.mark.parametrize(("zero", "share"), [(0, 2 / 3), (1, 1), (2, 1), (3, 1)])
def test_gradients_hide_beside_what_is_left_to_compute(zero, share):
    """Of one microbatch the whole backward pass; of four, with sums once a step, that of the last."""
    plan = {"B": 2**20, "T": 8192, "dp": 64, "zero": zero}
    model, math = models["llama3-70b"], step_flops(models["llama3-70b"], 2**20, 8192) / (64 * C)
    assert hidden_by(model, **plan)["dp"] == pytest.approx(share * math)
    four = hidden_by(model, m=4, **plan)["dp"]
    assert four == pytest.approx({0: 1 / 6, 1: 1 / 4, 2: 3 / 4, 3: 1}[zero] * math)


def test_at_the_critical_batch_nothing_of_the_gradients_is_exposed():
    """The bound of the levels counts matrices only: attention is extra, and a tenth fewer tokens are too few."""
    levels, model = LEVELS[:2], models["llama3-70b"]
    bound = dp_exact_critical_batch(32, C, 400e9, 2) * parameter_count(model) / matmul_parameters(model)
    exposed = lambda tokens: exposed_times(
        axis_times(transfers(model, B=256 * tokens, dp=256), levels),
        hidden_by(model, B=256 * tokens, T=1, dp=256),
    )["dp"]
    assert exposed(bound) < 1e-3 * exposed(bound / 10) < exposed(0.9 * bound)


def test_what_can_hide_on_other_axes():
    model, plan = models["deepseek-v3"], {"B": 2**20, "T": 4096, "dp": 8, "pp": 2, "cp": 2}
    one, eight = (hidden_by(model, m=m, **plan) for m in (1, 8))
    whole = step_flops(model, 2**20, 4096) / (32 * C)
    assert (one["tp"], one["ep"], one["pp"]) == (0, 0, 0)
    assert eight["pp"] == pytest.approx(7 / 8 * whole)
    assert hidden_by(model, paired=True, **plan)["ep"] == pytest.approx(whole)
    assert one["cp"] == eight["cp"] == pytest.approx(3 * attention_step_flops(model, 2**20, 4096) / (32 * C))
    assert hidden_by(model, ulysses=True, **plan)["cp"] == 0
    with pytest.raises(ValueError, match=r"^zero: .* 4$"):
        hidden_by(model, zero=4, **plan)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"zero": 4}, "^zero: .* 4$"),
        ({"dp": 0}, "^dp: .* 0$"),
        ({"tp": 1.5}, "^tp: .* 1.5$"),
        ({"ep": 3}, "^ep: .* dp.cp = 8 .*16 experts, .* 3$"),
        ({"pp": 8}, "pp.v: .* 4 layers .* 8$"),
        ({"m": 0.5}, "m .* 0.5$"),
        ({"expert_imbalance": 0.5}, "expert_imbalance .* 0.5$"),
        ({"expert_imbalance": "even"}, "expert_imbalance .*'even'$"),
    ],
)
def test_plans_that_cannot_be(change, message):
    with pytest.raises(ValueError, match=message):
        transfers(MOE, **({"B": 1024, "dp": 8} | change))


def test_a_plan_that_does_not_fit_the_machine():
    [gradients] = transfers(SMALL, B=1024, dp=2048)
    with pytest.raises(ValueError, match=r"\b1024\b"):
        gradients.time(LEVELS)


def test_pieces_follow_one_another():
    """In one piece they are one after the other; in many the longer one decides; a start is paid for each."""
    assert parallel.split_time(3.0, 2.0, 1, 0) == 5.0
    assert parallel.split_time(3.0, 2.0, 8, 0) == pytest.approx(3.0 + 2.0 / 8)
    assert parallel.split_time(2.0, 3.0, 8, 0) == pytest.approx(3.0 + 2.0 / 8)
    assert parallel.split_time(3.0, 2.0, 10**9, 0) == pytest.approx(3.0)
    best = min(range(1, 100), key=lambda m: parallel.split_time(3.0, 2.0, m, 0.02))
    assert best == pytest.approx((2.0 / 0.02) ** 0.5)
