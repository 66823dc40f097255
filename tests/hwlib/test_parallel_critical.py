"""Where each axis hides, level by level; sequences on several ranks; experts whose loads are not even."""

import random
from itertools import pairwise

import numpy as np
import pytest
import sympy

from hwlib import parallel
from hwlib.collectives import mean_destinations
from hwlib.parallel import bounds, critical_points, tp_limit, transfers
from hwlib.specs import Model, accelerators, clusters, models
from hwlib.specs.cluster import Level

LEVELS = clusters["superpod-h100-4su"].levels
C = accelerators["h100-sxm"].bf16_flops
LLAMA, DEEPSEEK, OSS = (models[key] for key in ("llama3-70b", "deepseek-v3", "gpt-oss-120b"))


# Level by level


def test_a_dense_model_on_every_level():
    found = critical_points(LLAMA, LEVELS, C)
    assert [at.dp for at in found.values()] == pytest.approx([C / 450e9, C / 400e9, C / 400e9])
    assert found["node"].tp == tp_limit(LLAMA.ffn, C, 450e9, matrices=3)
    assert found["spine"].tp == tp_limit(LLAMA.ffn, C, 400e9, matrices=3), "beyond the worst level it gets no better"
    assert found["node"].ring == pytest.approx(C / 450e9 / 8), "eight query heads work on a key that moves"
    assert found["leaf"].ring == pytest.approx(C / 50e9 / 8)
    assert {(at.ep, at.sparse_dp / at.dp) for at in found.values()} == {(0, 1)}


def test_bounds_grow_outward():
    for key in ("deepseek-v3", "mixtral-8x7b", "gpt-oss-120b", "llama3-405b"):
        found = list(critical_points(models[key], LEVELS, C).values())
        for inner, outer in pairwise(found):
            assert inner.tp >= outer.tp
            assert all(getattr(inner, name) <= getattr(outer, name) for name in ("dp", "sparse_dp", "ep", "ring"))
            assert inner.ulysses <= outer.ulysses


def test_the_batch_of_a_sparse_model_is_what_the_book_prints():
    assert critical_points(OSS, LEVELS, C)["leaf"].sparse_dp == pytest.approx(79_200, rel=0.001)


@pytest.mark.parametrize(("depth", "name"), [(1, "node"), (2, "leaf"), (3, "spine")])
def test_at_its_critical_width_an_expert_takes_as_long_as_its_tokens_travel(depth, name):
    """Held against a plan's transfers, merged on their way, on the same levels."""
    levels, ranks = LEVELS[:depth], (8, 256, 1024)[depth - 1]
    model = DEEPSEEK.replace(experts=1024)
    width = critical_points(model, levels, C)[name].ep
    found = [x for x in transfers(model, B=2**20, dp=ranks, ep=ranks, dedup_dispatch=True) if x.axis == "ep"]
    exchange = sum(x.time(levels) for x in found) / (2 * model.moe_layers)  # forward and backward, of every layer
    assert exchange == pytest.approx(parallel.ep_math_time(2**20, model.width, width, 8, ranks, C))


def test_one_child_is_no_level():
    alone = critical_points(LLAMA, (Level("node", 8, 450e9), Level("leaf", 1, 1.0)), C)
    assert alone["leaf"] == alone["node"]


# Sequences on several ranks


def test_ulysses_against_attention():
    """The bound derived: neither the ranks nor the tokens are in it, but for the share that a rank keeps."""
    B, T, K, G, H, cp, rate, W = sympy.symbols("B T K G H cp C W", positive=True)
    comm = parallel.ulysses_time(B, K * G, K, H, cp, W)
    [bound] = bounds(comm, parallel.ulysses_math_time(B, T, K * G, H, cp, rate), "T")
    assert bound.side == ">="
    assert sympy.simplify(bound.value - parallel.ulysses_critical_tokens(G, cp, rate, W)) == 0
    assert parallel.ulysses_critical_tokens(8, 8, C, 450e9) == pytest.approx(7 / 8 * 9 / 8 * C / 450e9)


def test_a_ring_needs_so_many_tokens_on_a_rank_and_ulysses_in_a_sequence():
    """Sixteen ranks, as many key-value heads as heads: the ring wants 16 C/W in all, the exchanges less than 2 C/W."""
    ring = 16 * parallel.ring_critical_tokens(1, C, 50e9)
    assert ring / parallel.ulysses_critical_tokens(1, 16, C, 50e9) == pytest.approx(16 * 16 / 15 / 2)


def test_blocks_of_a_ring_combine_to_attention():
    """Running maximum and sum, block by block: the same numbers, from cp - 1 blocks that come in."""
    rng = np.random.default_rng(0)
    T, H, cp = 24, 8, 4
    q, k, v = (rng.normal(size=(T, H)) for _ in range(3))
    scores = np.exp(q @ k.T)
    whole = scores / scores.sum(axis=1, keepdims=True) @ v
    received = 0
    for rank in range(cp):
        mine = q[rank * T // cp : (rank + 1) * T // cp]
        top, total, out = np.full((T // cp, 1), -np.inf), 0.0, 0.0
        for step in range(cp):
            block = (rank - step) % cp
            keys, values = (x[block * T // cp : (block + 1) * T // cp] for x in (k, v))
            received += (keys.nbytes + values.nbytes) * (step > 0)
            s = mine @ keys.T
            new = np.maximum(top, s.max(axis=1, keepdims=True))
            total = total * np.exp(top - new) + np.exp(s - new).sum(axis=1, keepdims=True)
            out = out * np.exp(top - new) + np.exp(s - new) @ values
            top = new
        assert out / total == pytest.approx(whole[rank * T // cp : (rank + 1) * T // cp])
    assert received == cp * parallel.ring_attention_bytes(T, 1, H, cp, b=8)


# Loads


@pytest.mark.parametrize(("ep", "B", "k", "near"), [(64, 32_000, 8, 0.75), (8, 16_000, 2, 0.5), (256, 25_600, 8, 0.75)])
def test_even_routing_that_is_drawn_is_not_even(ep, B, k, near):
    """The busiest rank over the mean, of some draws: under the formula, and near it where there are many ranks."""
    rng = np.random.default_rng(1)
    busiest = [np.bincount(rng.integers(ep, size=B * k), minlength=ep).max() / (B * k / ep) for _ in range(20)]
    over, bound = np.mean(busiest) - 1, parallel.drawn_imbalance(B, k, ep) - 1
    assert near * bound < over < bound
    assert parallel.drawn_imbalance(1e12, k, ep) == pytest.approx(1, abs=1e-3)
    assert parallel.drawn_imbalance(B, k, 1) == 1


@pytest.mark.parametrize(("headroom", "slots"), [(1.0, 8192), (1.25, 10_240), (2.0, 16_384)])
def test_the_capacity_of_switch_transformers(headroom, slots):
    """A batch of 2^20 tokens on 128 experts, with each of the three factors of their Table 1."""
    assert parallel.expert_capacity(2**20, 1, 128, headroom) == slots


def test_what_is_beyond_the_capacity_is_dropped():
    """Even routing, 1,000 tokens an expert: without room 1.3 % are dropped, with a fifth more none."""
    rng = random.Random(3)
    E, B = 64, 64_000
    loads = [0] * E
    for _ in range(B):
        loads[rng.randrange(E)] += 1
    dropped = lambda headroom: sum(max(0, x - parallel.expert_capacity(B, 1, E, headroom)) for x in loads) / B
    assert dropped(1.0) == pytest.approx((1000 / (2 * np.pi)) ** 0.5 / 1000, rel=0.25)
    assert dropped(1.2) == 0
    assert parallel.ep_imbalanced_time(1.0, 2.0, max(loads) / 1000) == pytest.approx(2 * max(loads) / 1000)


def test_experts_of_one_node_and_of_many():
    """DeepSeek's 2,048 hide in a node and not beyond, in every count."""
    at = critical_points(DEEPSEEK, LEVELS, C, b_disp=1)
    assert at["node"].ep < DEEPSEEK.expert_ffn < at["leaf"].ep
    far = parallel.ep_exact_critical_width(8, 32, C, 50e9, mean_destinations(32, 8, 256) / 32, b_disp=1)
    assert at["leaf"].ep == pytest.approx(far)
    small = Model.small(experts=4, experts_per_token=1, expert_ffn=64)
    assert critical_points(small, LEVELS[:1], C)["node"].ep == pytest.approx(
        parallel.ep_exact_critical_width(1, 8, C, 450e9, 1 / 8)
    )
