"""The formulas of collectives: limits, identities, bounds, and counting by hand what they claim."""

import functools
import inspect
import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from hwlib import GB, MB, collectives, us
from hwlib.collectives import (
    CANDIDATES,
    IN_SWITCH,
    Routing,
    allgather_bytes,
    allreduce_bytes,
    alltoall_bytes,
    axis_levels,
    axis_time,
    bruck_alltoall_bound_time,
    bruck_alltoall_time,
    bus_factor,
    chain_broadcast_time,
    destination_fraction,
    destination_fraction_limit,
    double_tree_allreduce_time,
    exact_destination_fraction,
    hierarchical_allgather_time,
    hierarchical_allreduce_time,
    hierarchical_reduce_scatter_time,
    level_bandwidths,
    level_time,
    levels_allreduce_time,
    levels_switch_allreduce_time,
    mean_destinations,
    nvls_allreduce_bytes,
    nvls_allreduce_limit,
    nvls_allreduce_time,
    nvls_bus_factor,
    nvls_levels_allreduce_time,
    nvls_sharp_levels_allreduce_time,
    nvls_tree_allreduce_time,
    nvls_two_trees_allreduce_time,
    one_shot_allreduce_bytes,
    padded_bytes,
    ring_alltoall_bytes,
    switch_allreduce_limit,
    switch_allreduce_time,
    torus_allgather_time,
    tree_root_bytes,
)
from hwlib.notation import COLLECTIVES
from hwlib.specs import measured_allreduces
from hwlib.specs.cluster import Level
from tests.each import each

RANKS = (2, 3, 4, 7, 8, 16, 100)
W = 450 * GB
FUNCTIONS = {name: getattr(collectives, name) for name in collectives.__all__ if name.endswith("_time")}
TIMES = {name: f for name, f in FUNCTIONS.items() if {"n", "S", "alpha", "W"} <= set(inspect.signature(f).parameters)}
every_time = pytest.mark.parametrize("name", TIMES)
every_n = each("n", RANKS)


def time_of(name, n, S, alpha, W=W, m=4):
    f = TIMES[name]
    return f(n, S, alpha, W, m) if "m" in inspect.signature(f).parameters else f(n, S, alpha, W)


# Limits


@each("name", TIMES)
def test_one_rank_has_nobody_to_wait_for(name):
    assert time_of(name, 1, 1 * GB, 1 * us) == 0


@every_time
@every_n
def test_time_is_latency_plus_bytes(name, n):
    """A straight line in alpha and in S: whole rounds, and a share of S/W."""
    if name == "paired_allreduce_time":  # for a power of two of ranks
        n = 1 << (n - 1).bit_length()
    both = time_of(name, n, 1 * GB, 2 * us)
    latency, bytes_ = time_of(name, n, 0, 2 * us), time_of(name, n, 1 * GB, 0)
    assert both == pytest.approx(latency + bytes_)
    assert latency / (2 * us) == pytest.approx(round(latency / (2 * us)))
    assert time_of(name, n, 3 * GB, 0) == pytest.approx(3 * bytes_)
    assert time_of(name, n, 1 * GB, 2 * us, math.inf) == pytest.approx(latency)


@each("name", TIMES)
def test_bad_numbers_are_named(name):
    for at, value, sentence in [
        (0, 0, r"n \(ranks in the group\) is at least 1, got 0"),
        (1, -1, r"S \(size of the full buffer\) is at least 0 B, got -1"),
        (3, math.nan, r"W \(bandwidth, one direction\) is above 0 B/s, got nan"),
    ]:
        args = [8, 1 * GB, 1 * us, W]
        args[at] = value
        with pytest.raises(ValueError, match=sentence):
            time_of(name, *args)


def test_many_chunks_approach_the_limits():
    chunks, S = 2**20, 1 * GB
    assert switch_allreduce_time(8, S, 0, W, chunks) == pytest.approx(switch_allreduce_limit(S, W), rel=1e-5)
    assert nvls_allreduce_time(8, S, 0, W, chunks) == pytest.approx(nvls_allreduce_limit(8, S, W), rel=1e-5)
    assert chain_broadcast_time(100, S, 0, W, chunks) == pytest.approx(S / W, rel=1e-3)
    assert double_tree_allreduce_time(100, S, 0, W, chunks) == pytest.approx(2 * S / W, rel=1e-4)


@pytest.mark.parametrize(
    ("limit", "exact"),
    [
        ("allgather_limit", "ring_allgather_time"),
        ("allreduce_limit", "ring_allreduce_time"),
        ("alltoall_limit", "direct_alltoall_time"),
        ("bidirectional_ring_allgather_limit", "bidirectional_ring_allgather_time"),
        ("bidirectional_ring_alltoall_limit", "bidirectional_ring_alltoall_time"),
    ],
)
def test_first_order_is_the_limit_of_many_ranks(limit, exact):
    first_order = getattr(collectives, limit)
    args = (10**6, 1 * GB, W) if limit == "alltoall_limit" else (1 * GB, W)
    assert time_of(exact, 10**6, 1 * GB, 0) == pytest.approx(first_order(*args), rel=1e-5)


# Identities


@every_n
@pytest.mark.parametrize(
    ("whole", "parts"),
    [
        ("ring_allreduce_time", ("ring_reduce_scatter_time", "ring_allgather_time")),
        (
            "bidirectional_ring_allreduce_time",
            ("bidirectional_ring_reduce_scatter_time", "bidirectional_ring_allgather_time"),
        ),
        ("direct_allreduce_time", ("direct_reduce_scatter_time", "direct_allgather_time")),
        ("tree_allreduce_time", ("binomial_reduce_time", "binomial_broadcast_time")),
        ("scatter_allgather_broadcast_time", ("binomial_scatter_time", "ring_allgather_time")),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_what_is_made_of_two_takes_as_long_as_both(whole, parts, n):
    args = (n, 1 * GB, 2 * us)
    assert time_of(whole, *args) == pytest.approx(sum(time_of(part, *args) for part in parts))


@pytest.mark.parametrize("n", [2, 4, 8, 1024])
def test_halving_and_doubling_is_an_allreduce_for_powers_of_two(n):
    parts = (time_of(part, n, 1 * GB, 2 * us) for part in ("halving_reduce_scatter_time", "doubling_allgather_time"))
    assert time_of("halving_doubling_allreduce_time", n, 1 * GB, 2 * us) == pytest.approx(sum(parts))


@pytest.mark.parametrize("name", ["halving_doubling_allreduce_time", "doubling_allreduce_time"])
@pytest.mark.parametrize(("n", "power"), [(3, 2), (7, 4), (9, 8), (1000, 512)])
def test_extra_ranks_cost_two_rounds_of_the_whole_buffer(name, n, power):
    extra = time_of(name, n, 1 * GB, 2 * us) - time_of(name, power, 1 * GB, 2 * us)
    assert extra == pytest.approx(2 * (2 * us + 1 * GB / W))


@pytest.mark.parametrize("shape", [(8, 4), (1, 8), (8, 1)])
def test_a_hierarchy_is_a_reduce_scatter_and_an_allgather(shape):
    args = (*shape, 1 * GB, 1 * us, 450 * GB, 5 * us, 50 * GB)
    both = hierarchical_reduce_scatter_time(*args) + hierarchical_allgather_time(*args)
    assert hierarchical_allreduce_time(*args) == pytest.approx(both)


def test_an_nvls_tree_takes_what_was_measured_on_512_gpus():
    # By hand, in us: 6.06 + 7 x 1.6 inside the node, 6 doublings of 46; 2 x 511/512 of 128 MiB and 7 buffers, of
    # 8 MiB x 16/17 each, at 375 GB/s, are 714 + 294. NVIDIA measured 1,275 (210.2 GB/s; GTC24 S62129, slide 35).
    t = nvls_tree_allreduce_time(8, 64, 2**27, 6.06 * us, 1.6 * us, 46 * us, 375 * GB, 2**23)
    assert t / us == pytest.approx(6.06 + 11.2 + 276 + 714 + 294, abs=2)
    assert t == pytest.approx(1275 * us, rel=0.03)


@pytest.mark.parametrize("name", ["nvls_tree_allreduce_time", "nvls_sharp_allreduce_time"])
def test_an_allreduce_over_nodes_ends_at_the_ports_and_begins_at_the_latency(name):
    time = functools.partial(getattr(collectives, name), t0=6 * us, alpha_in=2 * us, alpha_out=46 * us)
    for nodes in (1, 2, 64):
        latency = collectives.call_latency(8, nodes, 6 * us, 2 * us, 46 * us)
        assert latency == pytest.approx((6 + 7 * 2 + 46 * math.log2(nodes)) * us)
        assert time(8, nodes, S=0, W=W, S_stage=8e6) == pytest.approx(latency)
        n, large = 8 * nodes, 1e15
        assert bus_factor("all_reduce", n) * large / time(8, nodes, S=large, W=W, S_stage=8e6) == pytest.approx(W)
    assert time(1, 1, S=1 * GB, W=W, S_stage=8e6) == pytest.approx(6 * us)


def test_switches_that_reduce_fill_one_buffer_and_a_tree_one_for_each_doubling():
    args = (1 * GB, 0, 0, 0, W, 8e6)
    tree, sharp = (
        [getattr(collectives, f"nvls_{kind}_allreduce_time")(8, nodes, *args) for nodes in (1, 2, 16)]
        for kind in ("tree", "sharp")
    )
    assert tree[:2] == sharp[:2]
    buffer = 2 * 127 / 128 * 8e6 * (1 - 8e6 / (1 * GB + 8e6)) / W
    assert tree[2] - sharp[2] == pytest.approx(3 * buffer)


def test_a_hierarchy_of_one_level_is_a_ring():
    ring = time_of("ring_allreduce_time", 8, 1 * GB, 1 * us, 450 * GB)
    assert hierarchical_allreduce_time(8, 1, 1 * GB, 1 * us, 450 * GB, 5 * us, 50 * GB) == pytest.approx(ring)
    assert hierarchical_allreduce_time(1, 8, 1 * GB, 5 * us, 50 * GB, 1 * us, 450 * GB) == pytest.approx(ring)


# Bounds: what no algorithm can beat


@pytest.mark.parametrize("collective", CANDIDATES)
@every_n
def test_no_algorithm_beats_the_bytes_that_must_move(collective, n):
    least = {
        "all_gather": allgather_bytes,
        "reduce_scatter": allgather_bytes,
        "gather": allgather_bytes,
        "scatter": allgather_bytes,
        "all_reduce": allreduce_bytes,
        "all_to_all": alltoall_bytes,
    }.get(collective, lambda _n, S: S)
    for f in CANDIDATES[collective]:
        for m in (1, 8, 4096):
            assert time_of(f.__name__, n, 1 * GB, 0, m=m) >= least(n, 1 * GB) / W * (1 - 1e-12)


@every_n
def test_a_switch_that_adds_needs_every_byte_once_each_way(n):
    for f in IN_SWITCH["all_reduce"]:
        assert time_of(f.__name__, n, 1 * GB, 0, m=2**12) >= 1 * GB / W


# Counting


@pytest.mark.parametrize("n", [1, *RANKS, 1000])
def test_bruck_counts_the_blocks_of_every_bit(n):
    rounds = math.ceil(math.log2(n))
    bits = sum(bin(distance).count("1") for distance in range(n))
    assert bruck_alltoall_time(n, n * n, 0, 1) == pytest.approx(bits)
    assert bruck_alltoall_time(n, 0, 1, 1) == rounds
    bound = bruck_alltoall_bound_time(n, 1 * GB, 2 * us, W)
    assert bruck_alltoall_time(n, 1 * GB, 2 * us, W) <= bound * (1 + 1e-12)
    if n & (n - 1) == 0:
        assert bruck_alltoall_time(n, 1 * GB, 2 * us, W) == pytest.approx(bound)


def test_bruck_wants_whole_ranks():
    with pytest.raises(ValueError, match=r"n .*whole.*\b2\.5$"):
        bruck_alltoall_time(2.5, 1, 1, 1)


@pytest.mark.parametrize(("N", "n", "padded"), [(10, 4, 12), (12, 4, 12), (1, 8, 8), (0, 8, 0), (9, 1, 9)])
def test_padding(N, n, padded):
    assert padded_bytes(N, n, 1) == padded
    assert padded_bytes(N, n) == 2 * padded


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_destinations_by_listing_every_draw(n, k):
    draws = list(itertools.product(range(n), repeat=k))
    share = Fraction(sum(len(set(draw)) for draw in draws), n * len(draws))
    assert destination_fraction(n, k) == pytest.approx(float(share))
    assert destination_fraction_limit(n, k) >= float(share) - 1e-12


@pytest.mark.parametrize(("n", "k", "E"), [(2, 2, 4), (4, 3, 8), (3, 4, 6), (4, 8, 8)])
def test_destinations_of_different_experts_by_listing_every_set(n, k, E):
    sets = list(itertools.combinations(range(E), k))
    share = sum(len({expert // (E // n) for expert in chosen}) for chosen in sets) / (n * len(sets))
    assert exact_destination_fraction(n, k, E) == pytest.approx(share)
    assert exact_destination_fraction(n, k, E) >= destination_fraction(n, k)


def test_many_experts_are_as_good_as_independent_draws():
    assert exact_destination_fraction(64, 8, 64 * 10**4) == pytest.approx(destination_fraction(64, 8), rel=1e-4)


@pytest.mark.parametrize(
    ("n", "k", "E", "n_lim"), [(3, 3, 6, 1), (3, 3, 6, 2), (3, 4, 6, 2), (3, 2, 6, 3), (6, 3, 6, 2)]
)
def test_limited_destinations_by_listing_every_order(n, k, E, n_lim):
    """Experts from the best to the worst, in every order: the places of the first few places' k best ones."""
    visited = []
    for order in itertools.permutations(range(E)):
        allowed = list(dict.fromkeys(e // (E // n) for e in order))[:n_lim]
        visited.append(len({e // (E // n) for e in [e for e in order if e // (E // n) in allowed][:k]}))
    assert mean_destinations(n, k, E, n_lim) == pytest.approx(float(np.mean(visited)), rel=1e-12)


@pytest.mark.parametrize(("E", "k", "nodes", "n_lim"), [(256, 8, 8, 4), (160, 6, 8, 3), (64, 6, 8, 3), (256, 8, 8, 8)])
@pytest.mark.parametrize("spread", [0.0, 2.0])
def test_limited_destinations_of_a_router_that_judges_nodes_by_sums(E, k, nodes, n_lim, spread):
    """DeepSeek-V3's rule, drawn: even scores, and scores of which few are far above the others."""
    rng = np.random.default_rng(0)
    tokens, each_node = 20_000, E // nodes
    scores = rng.random((tokens, E)) if not spread else np.exp(spread * rng.standard_normal((tokens, E)))
    best = np.sort(scores.reshape(tokens, nodes, each_node))[:, :, -max(k // n_lim, 1) :].sum(2)
    allowed = np.zeros((tokens, nodes), bool)
    np.put_along_axis(allowed, np.argsort(-best)[:, :n_lim], True, 1)
    scores = np.where(np.repeat(allowed, each_node, 1), scores, -1.0)
    chosen = np.argpartition(-scores, k)[:, :k] // each_node
    counted = sum(float((chosen == node).any(1).mean()) for node in range(nodes))
    mean = mean_destinations(nodes, k, E, n_lim)
    assert 0.996 * counted < mean < 1.01 * counted
    assert mean < n_lim


def test_destinations_at_the_ends():
    """One place has all; an expert a place, or fewer, has k; a limit of all places is none; a limit of one is one."""
    assert mean_destinations(1, 8, 256) == 1
    assert mean_destinations(256, 8, 256) == mean_destinations(1000, 8, 256) == pytest.approx(8)
    assert mean_destinations(8, 8, 256, 8) == mean_destinations(8, 8, 256)
    assert mean_destinations(8, 8, 256, 7) < mean_destinations(8, 8, 256)
    assert mean_destinations(8, 8, 256, 1) == 1
    assert mean_destinations(2, 8, 256, 4) == mean_destinations(2, 8, 256)
    assert mean_destinations(10**6, 8, 10**6, 4) == pytest.approx(4, rel=1e-9)


@pytest.mark.parametrize("n_lim", [0, 1, 4, 100])
def test_columns_of_places_have_the_destinations_of_each(n_lim):
    n = np.array([1.0, 2, 4, 8, 64, 256, 1024])
    found = mean_destinations(n, 8, 256, n_lim)
    assert list(found) == pytest.approx([mean_destinations(int(x), 8, 256, n_lim) for x in n], rel=1e-12)


@pytest.mark.parametrize(("n", "k", "E"), [(3, 1, 8), (4, 9, 8), (0, 1, 8), (4, 1.5, 8)])
def test_experts_that_do_not_fit(n, k, E):
    with pytest.raises(ValueError, match="exact_destination_fraction: "):
        exact_destination_fraction(n, k, E)


@every_n
def test_bytes_of_a_rank(n):
    assert allreduce_bytes(n, GB) == pytest.approx(2 * allgather_bytes(n, GB))
    assert alltoall_bytes(n, GB) == pytest.approx(allgather_bytes(n, GB) / n)
    assert ring_alltoall_bytes(n, GB) == pytest.approx(sum(n - 1 - r for r in range(n - 1)) * GB / n**2)
    assert one_shot_allreduce_bytes(n, GB) == pytest.approx(n / 2 * allreduce_bytes(n, GB))
    assert tree_root_bytes(n, GB) == math.ceil(math.log2(n)) * GB
    assert nvls_allreduce_bytes(n, GB) == pytest.approx(GB + GB / n)


@pytest.mark.parametrize(
    ("collective", "factor"),
    [("all_reduce", 1.75), ("all_gather", 0.875), ("reduce_scatter", 0.875), ("all_to_all", 0.875), ("broadcast", 1),
     ("reduce", 1), ("send", 1), ("gather", 0.875), ("scatter", 0.875)],
)  # fmt: skip
def test_bus_factors_of_nccl_tests(collective, factor):
    assert bus_factor(collective, 8) == factor
    assert nvls_bus_factor(8) == 1.125


def test_bus_factor_of_what_does_not_exist():
    with pytest.raises(KeyError, match=r"collective .*all_gather, .*'allreduce'"):
        bus_factor("allreduce", 8)
    with pytest.raises(ValueError, match=r"n .* 0$"):
        bus_factor("all_reduce", 0)


# Levels and tori

LEVELS = (Level("node", 8, 450e9), Level("leaf", 32, 400e9), Level("spine", 4, 12.8e12))


def split(inner, size):
    """The levels of an axis found rank by rank: who differs from its neighbours on the axis, and at which level."""
    group = [position * inner for position in range(size)]
    below, found = 1, []
    for level in LEVELS:
        above = below * level.size
        children = len({rank // max(below, inner) for rank in group if rank // above == 0})
        if children > 1:
            found.append((level.name, children, level.bandwidth * max(below, inner) / below))
        below = above
    return found


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16, 64, 256, 1024])
@each("inner", [1, 2, 8, 16, 256])
def test_the_levels_of_an_axis(size, inner):
    if size * inner > 1024:
        return
    assert list(axis_levels(LEVELS, size, inner)) == split(inner, size)
    assert math.prod(level.size for level in axis_levels(LEVELS, size, inner)) == size


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_arrays_of_axes_take_the_time_of_each(collective):
    fits = [(n, i) for n in (1, 2, 4, 8, 16, 64, 256, 1024) for i in (1, 2, 8, 16, 256) if n * i <= 1024]
    size, inner = np.array(fits, float).T
    S = np.linspace(1e6, 1e9, len(fits))
    found = axis_time(collective, S, LEVELS, size, inner)
    for i, (n, others) in enumerate(fits):
        expected = level_time(collective, S[i] * others, axis_levels(LEVELS, n, others)) if n > 1 else 0
        assert found[i] == pytest.approx(expected, rel=1e-12)
        assert axis_time(collective, S[i], LEVELS, n, others) == pytest.approx(expected, rel=1e-12)


def test_merged_copies_over_axes_of_any_width():
    """Beside axes that go further, one within a level costs what it costs alone, and a single rank nothing."""
    size, inner, routing = np.array([1.0, 4, 64]), np.array([8.0, 2, 1]), Routing(8, 64)
    found = axis_time("all_to_all", 1e9, LEVELS, size, inner, routing)
    assert found[0] == 0
    assert list(found) == [
        axis_time("all_to_all", 1e9, LEVELS, n, i, routing) for n, i in zip(size, inner, strict=True)
    ]


def test_arrays_of_axes_may_cut_nodes_in_unequal_parts():
    """Twelve ranks, one a node: three eighths of a leaf, which has 32."""
    found = axis_time("all_gather", 1e9, LEVELS, np.array([8.0, 12, 16]), 8)
    assert found == pytest.approx([7 / 8 * 8e9 / 400e9, 11 / 12 * 8e9 / 400e9, 15 / 16 * 8e9 / 400e9])
    with pytest.raises(ValueError, match=r"1024 ranks.*\b2048"):
        axis_time("all_gather", 1e9, LEVELS, np.array([8.0, 2048]))
    with pytest.raises(KeyError, match="all_reduce"):
        axis_time("allreduce", 1e9, LEVELS, 8)


@pytest.mark.parametrize(
    ("size", "inner", "sentence"),
    [
        (2048, 1, "size . inner .*1024 ranks"),
        (3, 1, "axis of 3 with 1 .*level 'node'"),
        (4, 3, "axis of 4 with 3 .*level 'node'"),
        (12, 1, "axis of 12 with 1 .*level 'leaf'"),
        (0, 1, "size .* 0$"),
        (2, 1.5, "inner .* 1.5$"),
    ],
)
def test_an_axis_that_does_not_fit(size, inner, sentence):
    with pytest.raises(ValueError, match=sentence):
        axis_levels(LEVELS, size, inner)


def test_levels_that_are_none():
    with pytest.raises(ValueError, match=r"level 'x': bandwidth .*nan$"):
        level_bandwidths([Level("x", 8, math.nan)])
    with pytest.raises(ValueError, match=r"level 'x': size .* 0$"):
        level_bandwidths([Level("x", 0, 1.0)])
    with pytest.raises(ValueError, match=r"\bS .* -1$"):
        level_time("all_gather", -1, LEVELS)
    with pytest.raises(KeyError, match="'gossip'"):
        level_time("gossip", 1, LEVELS)
    assert level_bandwidths([Level("alone", 1, 1.0)]) == (math.inf,)
    assert level_time("all_reduce", GB, ()) == 0


def test_times_over_levels_agree_with_their_formulas():
    sizes, widths = [level.size for level in LEVELS], [level.bandwidth for level in LEVELS]
    assert level_time("all_reduce", GB, LEVELS) == pytest.approx(levels_allreduce_time(GB, sizes, widths))
    assert level_time("all_reduce", GB, LEVELS, True) == pytest.approx(levels_switch_allreduce_time(GB, widths))
    with pytest.raises(ValueError, match="shorter"):
        levels_allreduce_time(GB, sizes, widths[:2])


def test_an_alltoall_over_levels_by_counting_pairs():
    levels = (Level("node", 4, 3.0), Level("leaf", 3, 2.0), Level("spine", 2, 1.0))
    n, worst = 24, []
    for below, level in zip((1, 4, 12), levels, strict=True):
        crossing = sum(a // below == 0 != b // below for a in range(n) for b in range(n))
        worst.append(crossing / n**2 / level.bandwidth)
    assert level_time("all_to_all", 1.0, levels) == pytest.approx(max(worst))


@pytest.mark.parametrize("wrap", [True, False, (True, False)])
def test_a_torus_gathers_axis_by_axis(wrap):
    first, second = wrap if isinstance(wrap, tuple) else (wrap, wrap)
    name = {True: "bidirectional_ring_allgather_time", False: "line_allgather_time"}
    axes = time_of(name[first], 4, GB / 6, 1 * us, 45e9) + time_of(name[second], 6, GB, 1 * us, 45e9)
    assert torus_allgather_time((4, 6), GB, 1 * us, 45e9, wrap) == pytest.approx(axes)


def test_the_longest_axis_of_a_torus_comes_last():
    rng = random.Random(0)
    for _ in range(20):
        shape = sorted(rng.sample([2, 4, 6, 8, 10, 16], 3))
        times = {order: torus_allgather_time(order, 100 * MB, 0, 45e9) for order in itertools.permutations(shape)}
        assert times[tuple(shape)] <= min(times.values()) * (1 + 1e-12)


def test_a_torus_with_too_many_ways_round():
    with pytest.raises(ValueError, match=r"wrap .*\b2 .* 3$"):
        torus_allgather_time((4, 4), 1, 1, 1, (True, True, False))


@pytest.mark.parametrize("shape", [(0, 4), (4, 0)])
def test_a_torus_without_ranks_is_refused_as_a_ring_is(shape):
    with pytest.raises(ValueError, match="at least 1, got 0"):
        torus_allgather_time(shape, 1, 1, 1)


NODE = {"n_in": 8, "W_in": 450 * GB, "W_out": 50 * GB}


def test_switches_inside_the_nodes_and_rings_between():
    outside = (LEVELS[1]._replace(bandwidth=8 * NODE["W_out"]),)
    assert nvls_levels_allreduce_time(GB, n_out=32, **NODE) == pytest.approx(level_time("all_reduce", GB, outside))
    wide = {**NODE, "W_out": 5000 * GB}
    assert nvls_levels_allreduce_time(GB, n_out=32, **wide) == pytest.approx(nvls_allreduce_limit(8, GB, 450 * GB))


@pytest.mark.parametrize("n_out", [4, 8, 16, 32, 64])
def test_the_largest_measured_allreduces_of_two_trees_reach_the_same_share_of_the_limit(n_out):
    n = 8 * n_out
    measured = max(row.bus_bandwidth for row in measured_allreduces("h100-sxm", n, "NVLSTree"))
    limit = bus_factor("all_reduce", n) * GB / nvls_two_trees_allreduce_time(GB, **NODE)
    assert measured / limit == pytest.approx(0.94, abs=0.02)


def test_switches_that_reduce_at_every_level_carry_the_sum_once():
    assert nvls_sharp_levels_allreduce_time(GB, **NODE) == pytest.approx(GB / (400 * GB))
    assert 2 * nvls_sharp_levels_allreduce_time(GB, **NODE) == pytest.approx(nvls_two_trees_allreduce_time(GB, **NODE))
