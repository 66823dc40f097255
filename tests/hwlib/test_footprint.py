"""Bytes on a rank: what papers print, sums that must hold, and arrays of plans."""

import re

import numpy as np
import pytest

from hwlib import planner
from hwlib.constraints import RuleError
from hwlib.footprint import (
    BFLOAT16_ADAM,
    DEEPSEEK_ADAM,
    FULL_ADAM,
    HALF_ADAM,
    MEGATRON_ADAM,
    MIXED_ADAM,
    SGD,
    footprint,
    replicated_state_bytes,
    state_bytes,
    unchecked_footprint,
    zero1_state_bytes,
    zero2_state_bytes,
    zero3_state_bytes,
)
from hwlib.specs import Model, accelerators, models
from hwlib.strategy import RECOMPUTE, SCHEDULES, Strategy, StrategyError
from hwlib.transformer import layer_activation_bytes, parameter_count, parameter_groups, swiglu_layer_activation_bytes
from hwlib.units import GB, GiB
from tests.hwlib.worked import Row, check

PARTS = ("weights", "gradients", "optimizer", "activations", "logits", "buffers", "total")
H100 = accelerators["h100-sxm"]
# Korthikanti 2022, Figure 1, as Calculon stores it (docs/references.bib: calculon): GiB of a GPU; plans of its Table 3.
FIGURE_1 = [  # model, plan, states, activations, activations with sequence parallelism and selective recomputation
    ("22b", {"tp": 8, "pp": 1, "v": 1, "micro": 4, "m": 1}, 45.5625, 59.25, 9.5625),
    ("175b", {"tp": 8, "pp": 8, "v": 3, "micro": 1, "m": 64}, 45.5625, 66.84375, 12.3515625),
    ("530b", {"tp": 8, "pp": 35, "v": 3, "micro": 1, "m": 280}, 31.640625, 114.0234375, 23.076171875),
    ("1t", {"tp": 8, "pp": 64, "v": 1, "micro": 1, "m": 512}, 32.958984375, 131.25, 26.5625),
]


# Against what is published


@pytest.mark.parametrize(("size", "plan", "states", "none", "selective"), FIGURE_1)
def test_the_memory_of_megatron(size, plan, states, none, selective):
    model = models[f"korthikanti-{size}"]
    old = footprint(model, dp=1, T=2048, sp=False, fused=False, stage=0, states=MEGATRON_ADAM, **plan)
    new = footprint(model, dp=1, T=2048, recompute="selective", fused=False, stage=0, states=MEGATRON_ADAM, **plan)
    assert old.activations / GiB == pytest.approx(none, rel=1e-6)
    assert new.activations / GiB == pytest.approx(selective, rel=1e-6)
    assert (old.activations + old.logits) / GiB == pytest.approx(none, rel=0.025)  # the figure leaves the ends out
    # The figure's states are those of a stage in the middle, where no table is; over all stages they are 1 % more.
    middle = footprint(model, dp=1, T=2048, stage=min(1, plan["pp"] - 1), states=MEGATRON_ADAM, **plan)
    mean = MEGATRON_ADAM.total * parameter_count(model) / (plan["tp"] * plan["pp"])
    assert middle.states / GiB == pytest.approx(states, rel=0.02 if plan["pp"] == 1 else 4e-4)
    assert mean / GiB == pytest.approx(states, rel=0.02)
    assert old.states == new.states > middle.states or plan["pp"] == 1


GPT = models["korthikanti-175b"]
GPT_STATES = lambda: footprint(GPT, dp=1, T=2048, tp=8, pp=8, v=3, stage=1, states=MEGATRON_ADAM).states / GiB
WORKED = [
    # ZeRO (rajbhandari2020), Figure 1: 7.5 billion parameters, 64 ranks
    Row("ZeRO-0", lambda: replicated_state_bytes(7.5e9), 120 * GB, 1e-3),
    Row("ZeRO-1", lambda: zero1_state_bytes(7.5e9, 64), 31.4 * GB, 2e-3),
    Row("ZeRO-2", lambda: zero2_state_bytes(7.5e9, 64), 16.6 * GB, 3e-3),
    Row("ZeRO-3", lambda: zero3_state_bytes(7.5e9, 64), 1.9 * GB, 0.02),
    # How to Scale Your Model: the states of Llama 2 13B and of a 70B model
    Row("N2", lambda: replicated_state_bytes(13e9, b_w=2, b_g=0, b_opt=8), 130 * GB),
    Row("70B states", lambda: replicated_state_bytes(70e9, b_w=2, b_g=0, b_opt=0), 140 * GB),
    Row("G5.2.1", lambda: replicated_state_bytes(70e9, b_w=2, b_g=0, b_opt=8) / H100.hbm_bytes, 700 / 80),
    Row("70B, 16 bytes", lambda: replicated_state_bytes(70e9) / H100.hbm_bytes, 14),
    # Where a tool errs: it divides the weights by tp and pp, and gradients, optimizer and activations by nothing
    Row("EleutherAI cookbook", GPT_STATES, 2873, right=45.5625, error="gradients, optimizer, activations undivided"),
]


@pytest.mark.parametrize("row", WORKED, ids=lambda row: row.id)
def test_worked(row):
    check(row)


def test_what_the_cookbook_adds_up():
    P = 2 * 51200 * 12288 + 12288 * 2048 + (8 * 96 + 2) * 12288 + 12 * 96 * 12288**2
    activations = 96 * layer_activation_bytes(2048, 1, 12288, 96)
    assert (2 * P / 64 + (4 + 12) * P + activations) / GiB == pytest.approx(2873, abs=1)


def test_the_states_are_megatrons_unless_others_are_given_by_name_or_in_bytes():
    usual, given, less = (
        footprint("llama3-8b", dp=1, T=4096, **more) for more in ({}, {"states": (2, 4, 12)}, {"states": MIXED_ADAM})
    )
    assert usual == given
    assert usual.gradients == 2 * less.gradients == 4 * parameter_count("llama3-8b")


def test_states_of_a_parameter():
    assert [s.total for s in (MIXED_ADAM, MEGATRON_ADAM, FULL_ADAM, BFLOAT16_ADAM, SGD)] == [16, 18, 16, 8, 12]
    assert (HALF_ADAM.total, DEEPSEEK_ADAM.total) == (20, 13)


@pytest.mark.parametrize(
    ("states", "alone", "fixed", "shared"),
    [(HALF_ADAM, 20, 4, 16), (MEGATRON_ADAM, 18, 6, 12), (FULL_ADAM, 16, 8, 8)],
    ids=["fp16", "bf16", "fp32"],
)
def test_the_bytes_of_megatrons_distributed_optimizer(states, alone, fixed, shared):
    """Its manual's table: bytes a parameter, alone and on each of d ranks."""
    assert replicated_state_bytes(1, *states) == alone
    for d in (1, 8, 64):
        assert zero1_state_bytes(1, d, *states) == fixed + shared / d
    one = footprint(models["llama3-8b"], dp=64, T=4096, zero=1, states=states)
    assert one.states == pytest.approx((fixed + shared / 64) * parameter_count(models["llama3-8b"]))


# Sums that must hold


@pytest.mark.parametrize(
    "key", ["llama3-8b", "llama3-405b", "mixtral-8x7b", "gpt-oss-120b", "deepseek-v3", "gpt3-175b"]
)
@pytest.mark.parametrize("pp", [1, 2, 4, 16])
def test_the_stages_together_hold_the_model(key, pp):
    model = models[key]
    stages = [footprint(model, dp=1, T=4096, pp=pp, stage=i) for i in range(pp)]
    groups = parameter_groups(model)
    copy = groups.embedding if model.tied and pp > 1 else 0  # a tied table is on the first stage and on the last
    total = sum(one.weights for one in stages) / 2 - copy
    assert total == pytest.approx(parameter_count(model), rel=1e-12) or -(-model.layers // pp) * pp > model.layers + 2
    assert total >= parameter_count(model) * (1 - 1e-12)
    assert all(one.optimizer == 3 * one.gradients == 6 * one.weights for one in stages)


def test_405b_gives_its_ends_a_layer_less():
    layer = (models["llama3-405b"].replace(layers=1), models["llama3-405b"].replace(layers=2))
    one = parameter_count(layer[1]) - parameter_count(layer[0])
    stages = [footprint(models["llama3-405b"], dp=1, T=8192, tp=8, pp=16, stage=i) for i in (0, 1, 14, 15)]
    assert [round(s.weights * 8 / 2 / one, 1) for s in stages] == [7.7, 8.0, 8.0, 7.7]
    chunked = [footprint(models["llama3-405b"], dp=1, T=8192, tp=8, pp=16, v=8, stage=i).weights for i in (0, 1)]
    assert chunked == [stages[0].weights, stages[1].weights]


@pytest.mark.parametrize(
    ("zero", "formula"), [(0, None), (1, zero1_state_bytes), (2, zero2_state_bytes), (3, zero3_state_bytes)]
)
def test_zero_is_its_formula(zero, formula):
    one = footprint(models["llama3-70b"], dp=64, T=4096, zero=zero, states=MIXED_ADAM)
    P = parameter_count(models["llama3-70b"])
    assert one.states == pytest.approx(formula(P, 64) if formula else replicated_state_bytes(P), rel=1e-12)
    assert (one.buffers > 0) == (zero >= 2)
    assert footprint(models["llama3-70b"], dp=1, T=4096, zero=zero).buffers == 0


def test_context_parallel_ranks_share_states_and_tokens():
    one, two = (footprint(models["llama3-70b"], dp=64 // cp, cp=cp, T=65536, zero=3) for cp in (1, 8))
    assert one.states == two.states
    assert one.activations == 8 * two.activations
    part = footprint(models["llama3-70b"], dp=64, T=65536, zero=3, shards=8)
    assert part.states == 8 * one.states


def test_experts_are_spread_and_their_states_less_shared():
    model = models["mixtral-8x7b"]
    groups = parameter_groups(model)
    one, eight = (footprint(model, dp=64, ep=ep, T=4096, zero=1) for ep in (1, 8))
    assert one.weights - eight.weights == 2 * groups.experts * 7 / 8
    assert one.optimizer == eight.optimizer
    alone = footprint(model, dp=8, ep=8, T=4096, zero=1)
    assert alone.optimizer == pytest.approx(12 * ((groups.total - groups.experts) / 8 + groups.experts / 8), rel=1e-12)


def test_more_ranks_than_key_value_heads_repeat_them():
    one = models["llama3-70b"]
    eight, sixteen = (footprint(one, dp=1, tp=tp, T=4096) for tp in (8, 16))
    norms = 2 * parameter_groups(one).norms
    repeated = 2 * one.layers * 2 * 8 * one.head_dim * one.width
    assert 16 * (sixteen.weights - norms) - 8 * (eight.weights - norms) == pytest.approx(repeated)


# Activations


def test_a_gpt_layer_is_korthikantis_and_a_llama_layer_ours():
    gpt, llama = models["gpt3-175b"], models["llama3-8b"]
    T = 2048
    one = footprint(gpt, dp=1, T=T, fused=False)
    assert one.activations == 96 * layer_activation_bytes(T, 1, 12288, 96)
    statistics = 4 * 32 * T * 32  # fused attention keeps a number in single precision for each head and token
    two = footprint(llama, dp=1, T=T)
    assert two.activations == 32 * swiglu_layer_activation_bytes(T, 1, 4096, 14336, 32, 8, 128) + statistics
    assert two.logits == 4 * T * (4096 + 128256)
    assert one.logits == T * (12288 + 4 * 12288 + 4 * 50257)  # and the mask after the embedding


def test_recomputing_brings_one_layer_back():
    model = models["llama3-8b"].replace(dropout=True)
    none, selective, full = (footprint(model, dp=1, T=4096, fused=False, recompute=how) for how in RECOMPUTE)
    scores = 5 * 32 * 4096**2
    assert (none.buffers, selective.buffers) == (0, scores)
    assert none.activations - selective.activations == 32 * scores
    assert full.activations == 32 * 2 * 4096 * 4096
    assert full.buffers == none.activations / 32
    assert none.states == selective.states == full.states
    fused = [footprint(model, dp=1, T=4096, recompute=how) for how in ("none", "selective")]
    assert fused[0] == fused[1]


def test_experts_keep_their_copies():
    dense = Model.small(layers=1, width=64, heads=4, ffn=128)
    moe = dense.replace(experts=8, experts_per_token=2, expert_ffn=128)
    one, two = (footprint(model, dp=1, T=100).activations for model in (dense, moe))
    assert two - one == 100 * (2 * 3 * 128 + 4 * 2 * 64 + 8 * 8)
    shared = footprint(moe.replace(shared_experts=1), dp=1, T=100).activations
    assert shared - two == 100 * 2 * 3 * 128
    small, large = (footprint(moe, dp=4, ep=ep, T=100).activations for ep in (1, 4))
    assert small == large


def test_latent_attention_keeps_what_it_unfolds():
    model = models["deepseek-v3"]
    one = footprint(model, dp=1, T=1, stage=0, pp=61, m=1).activations  # a dense layer
    kept = 8 * 7168 + 2 * (2 * (1536 + 512) + 64) + 2 * 128 * (2 * 192 + 2 * 128) + 4 * 128 + 2 * 3 * 18432
    assert one == kept


# Pipelines


def in_flight_of_1f1b(pp, m, stage):
    """The most microbatches that a stage holds, by walking its schedule."""
    warm = min(pp - stage - 1, m)
    order = "F" * warm + "FB" * (m - warm) + "B" * warm
    return high_water(order)


def in_flight_of_interleaved(pp, m, v, stage):
    """The most chunks that a rank holds in Megatron's interleaved schedule."""
    warm = min((v - 1) * pp + 2 * (pp - stage - 1), m * v)
    return high_water("F" * warm + "FB" * (m * v - warm) + "B" * warm)


def high_water(order):
    held = most = 0
    for action in order:
        held += 1 if action == "F" else -1
        most = max(most, held)
    return most


@pytest.mark.parametrize("pp", [1, 2, 4, 8])
@pytest.mark.parametrize("factor", [1, 2, 5])
def test_in_flight_is_the_schedules_high_water(pp, factor):
    model, m = Model.small(layers=32), pp * factor
    layer = unchecked_footprint(model, dp=1, T=128).activations / 32
    for stage in range(pp):
        at = {"dp": 1, "T": 128, "pp": pp, "m": m, "stage": stage}
        held = lambda **plan: unchecked_footprint(model, **at, **plan).activations / layer  # noqa: B023
        assert held() == in_flight_of_1f1b(pp, m, stage) * 32 / pp
        assert held(schedule="gpipe") == m * 32 / pp
        for v in (2, 4):
            assert held(v=v) == pytest.approx(in_flight_of_interleaved(pp, m, v, stage) * 32 / (pp * v))


def test_zero_bubble_schedules():
    model = Model.small(layers=32)
    plain, h1, zbv, dual = (
        [footprint(model, dp=1, T=128, pp=4, m=16, schedule=how, stage=i) for i in range(4)] for how in SCHEDULES[1:]
    )
    worst = plain[0].activations
    assert [one.activations for one in h1] == [one.activations for one in zbv] == [worst] * 4
    assert [one.activations for one in dual] == [worst * 5 / 4] * 4  # deepseek-v3, Table 2: PP + 1
    layers = 2 * 8 * (parameter_count(model.replace(layers=2)) - parameter_count(model.replace(layers=1)))
    assert [one.weights - two.weights for one, two in zip(dual, h1, strict=True)][1] == layers
    assert zbv[0].logits > 0 == zbv[3].logits  # the V brings the last stage back to the first rank
    assert [one.logits > 0 for one in dual] == [True, False, False, True]
    assert sum(one.weights for one in zbv) == pytest.approx(sum(one.weights for one in h1))
    assert footprint(model, dp=1, T=128, pp=4, m=16, schedule="gpipe", stage="last").logits == 16 * h1[3].logits


def test_the_worst_stage_is_one_of_them():
    for key, plan in (
        ("llama3-405b", {"pp": 16, "v": 8}),
        ("deepseek-v3", {"pp": 16}),
        ("deepseek-v3", {"pp": 32, "recompute": "full"}),  # no stage of experts only among the first two and the last
        ("mixtral-8x7b", {"pp": 4, "recompute": "full"}),
        ("gpt3-175b", {"pp": 8, "m": 1}),
        ("llama3-8b", {"pp": 4, "schedule": "gpipe", "m": 8}),
    ):
        totals = [footprint(models[key], dp=8, tp=8, T=8192, stage=i, **plan).total for i in range(plan["pp"])]
        worst = footprint(models[key], dp=8, tp=8, T=8192, **plan)
        assert worst.total == max(totals)
        assert footprint(models[key], dp=8, tp=8, T=8192, stage="last", **plan).total == totals[-1]


# Arrays of plans


def plans(n, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "dp": rng.integers(1, 9, n),
        "tp": 2 ** rng.integers(0, 5, n),
        "pp": 2 ** rng.integers(0, 4, n),
        "cp": 2 ** rng.integers(0, 3, n),
        "ep": 2 ** rng.integers(0, 3, n),
        "v": rng.integers(1, 4, n),
        "zero": rng.integers(0, 4, n),
        "sp": rng.random(n) < 0.5,
        "micro": rng.integers(1, 4, n),
        "m": rng.integers(8, 64, n),
        "recompute": np.array(RECOMPUTE)[rng.integers(0, 3, n)],
        "schedule": rng.integers(0, 5, n),
        "T": rng.choice([2048, 8192], n),
    }


@pytest.mark.parametrize("key", ["llama3-70b", "deepseek-v3", "gpt-oss-20b", "gpt3-175b"])
@pytest.mark.parametrize("stage", ["worst", "last", 1])
def test_many_plans_are_each_plan(key, stage):
    many = plans(60)
    for fused in (True, False):
        together = unchecked_footprint(models[key], stage=stage, fused=fused, **many)
        assert repr(together) == "<Footprint of 60 plans>"
        for i in range(60):
            one = unchecked_footprint(models[key], stage=stage, fused=fused, **{name: x[i] for name, x in many.items()})
            for part in PARTS:
                value = np.broadcast_to(getattr(together, part), 60)[i]
                assert value == pytest.approx(getattr(one, part), rel=1e-12)


def test_blocks_of_plans_are_the_plans():
    many = plans(20_000)
    together = unchecked_footprint(models["mixtral-8x7b"], **many)
    tail = unchecked_footprint(models["mixtral-8x7b"], **{name: x[-100:] for name, x in many.items()})
    for part in PARTS:
        assert getattr(together, part)[-100:] == pytest.approx(np.broadcast_to(getattr(tail, part), 100), rel=1e-15)
    for dp, micro in ((20, 30), (200, 300)):
        degrees, sequences = np.arange(1, dp + 1)[:, None], np.arange(1, micro + 1)
        table = unchecked_footprint(models["llama3-8b"], dp=degrees, micro=sequences, T=4096)
        assert table.total.shape == (dp, micro)
        assert table.total[7, 3] == unchecked_footprint(models["llama3-8b"], dp=8, micro=4, T=4096).total


def test_integers_do_not_overflow():
    micro = np.array([2**20], dtype=np.int32)
    assert footprint(models["llama3-405b"], dp=1, T=2**20, micro=micro).total[0] > 1e18


# Words and errors


def test_words_and_their_positions_are_the_same():
    for i, word in enumerate(SCHEDULES):
        one, two = (footprint(models["llama3-8b"], dp=2, pp=4, m=8, T=4096, schedule=how) for how in (word, i))
        assert one == two
    plain = footprint(models["llama3-8b"], dp=8, zero=3, T=8192, recompute="full")
    assert repr(plain) == (
        "<Footprint: weights 2.008 GB, gradients 4.015 GB, optimizer 12.05 GB, activations 2.147 GB, "
        "logits 4.337 GB, buffers 2.887 GB, total 27.44 GB>"
    )


@pytest.mark.parametrize(
    "plan",
    [
        {"dp": 0},
        {"dp": "8"},
        {"tp": np.array([1, 0])},
        {"zero": 4},
        {"recompute": "some"},
        {"schedule": "1f1"},
        {"schedule": np.array(["1f1b", "none"])},
        {"recompute": 999},
        {"micro": float("nan")},
    ],
    ids=str,
)
def test_a_degree_that_cannot_be_is_named(plan):
    [field] = plan
    with pytest.raises(StrategyError) as caught:
        footprint(models["llama3-8b"], **({"dp": 1, "T": 4096} | plan))
    assert caught.value.field == field


@pytest.mark.parametrize("given", [{"stage": "first"}, {"stage": -1}, {"states": 16}, {"T": 0}, {"m": "8"}], ids=str)
def test_what_else_cannot_be_is_named(given):
    [name] = given
    with pytest.raises(ValueError, match=f"footprint: {name} .* got {re.escape(repr(given[name]))}"):
        footprint(models["llama3-8b"], **({"dp": 1, "T": 4096} | given))


@pytest.mark.parametrize(
    ("name", "weight", "gradient", "optimizer"),
    [
        # bytes of 16-bit (2), 32-bit (4) and 8-bit (1) numbers: a copy and two moments, unless the docstring differs
        ("mixed", 2, 2, 4 + 4 + 4),
        ("megatron", 2, 4, 4 + 4 + 4),
        ("half", 2, 2, 4 + 4 + 4 + 4),
        ("deepseek", 1, 4, 4 + 2 + 2),
        ("full", 4, 4, 4 + 4),
        ("bfloat16", 2, 2, 2 + 2),
        ("bf16", 2, 2, 2 + 2),
        ("8bit", 2, 2, 1 + 1),
        ("fp8-moments", 2, 4, 4 + 1 + 1),
        ("muon", 2, 4, 4 + 4),
        ("sgd", 4, 4, 4),
    ],
)
def test_the_states_of_a_parameter(name, weight, gradient, optimizer):
    states = state_bytes.STATES[name]
    assert states == (weight, gradient, optimizer)
    assert states.total == weight + gradient + optimizer


def test_what_each_stage_of_zero_divides():
    """Of ten parameters among four ranks, in mixed precision unless other bytes are given."""
    assert len(state_bytes.STATES) == 11
    assert state_bytes.replicated_state_bytes(10) == 160
    assert state_bytes.zero1_state_bytes(10, 4) == (2 + 2 + 3) * 10
    assert state_bytes.zero2_state_bytes(10, 4) == (2 + 0.5 + 3) * 10
    assert state_bytes.zero3_state_bytes(10, 4) == 40
    own = {"b_w": 4, "b_g": 8, "b_opt": 16}
    assert state_bytes.replicated_state_bytes(10, **own) == 280
    assert state_bytes.zero1_state_bytes(10, 4, **own) == (4 + 8 + 4) * 10
    assert state_bytes.zero2_state_bytes(10, 4, **own) == (4 + 2 + 4) * 10
    assert state_bytes.zero3_state_bytes(10, 4, **own) == 70


# What cannot be


@pytest.mark.parametrize(
    ("degrees", "field", "would"),
    [
        ({"tp": 3}, "tp", (1, 2, 4, 8, 16, 32)),
        ({"tp": 16}, None, ()),
        ({"pp": 33}, "pp", range(1, 33)),
        ({"pp": 32}, None, ()),
        ({"dp": 4, "ep": 2}, "ep", (1,)),
        ({"cp": 3, "dp": 2}, "cp", (1, 2, 4)),
        ({"pp": 4, "v": 5}, "v", (1, 2, 3, 4, 8)),
        ({"pp": 4, "v": 8}, None, ()),
        ({"dp": 8, "zero": 0, "shards": 4}, "zero", (1, 2, 3)),
        ({"dp": 8, "zero": 3, "shards": 3}, "shards", (1, 2, 4, 8)),
        ({"pp": 4, "v": 2, "m": 6}, "micro", ()),
        ({"pp": 4, "v": 2, "m": 8}, None, ()),
        ({"pp": 4, "v": 2}, None, ()),
        ({"pp": 4, "schedule": "zbv", "m": 6}, "schedule", ()),
        ({"pp": 4, "schedule": "zbv", "m": 7}, None, ()),
        ({"tp": np.array([1, 2, 3, 4])}, "tp", (1, 2, 4, 8, 16, 32)),
        ({"tp": np.array([1, 2, 4]), "dp": np.array([1, 2, 3])}, None, ()),
    ],
)
def test_a_strategy_that_breaks_a_rule_has_no_footprint(degrees, field, would):
    """Of a model alone: its own rules, and the values that would do as all else is; also of columns."""
    ask = lambda **changed: footprint("llama3-8b", **{"T": 8192} | degrees | changed)
    if field is None:
        assert np.all(ask().total > 0)
        return
    with pytest.raises(RuleError) as error:
        ask()
    assert error.value.field == field
    assert error.value.refusal.would == tuple(would)
    for value in would:
        assert ask(**{field: value}).total > 0
    assert np.all(unchecked_footprint("llama3-8b", **{"T": 8192} | degrees).total > 0)


def test_the_footprint_of_a_task_obeys_every_rule_of_its_plans():
    found = planner.plan("llama3-8b", "dgx-h100", B=2**20)
    best = found[0].strategy
    assert footprint(found.task, best) == found[0].memory
    changed = {"tp": {"tp": 3}, "batch": {"dp": 3}, "micro": {"micro": 3}, "recompute": {"recompute": "op"}}
    for field, degrees in changed.items():
        with pytest.raises(RuleError) as error:
            footprint(found.task, Strategy.of(best, **degrees))
        assert error.value.field == field
    columns = Strategy.of(dp=np.array([4, 3]), tp=2, zero=1)
    with pytest.raises(RuleError):
        footprint(found.task, columns)
    assert footprint(found.task, columns[:1]).total == footprint(found.task, columns[0]).total
