"""Which algorithm wins: the choice is the minimum of all, and the crossovers are where two times meet."""

import math
import random

import pytest

from hwlib import GB, KB, MB, collectives, us
from hwlib.collectives import (
    CANDIDATES,
    CHUNKS,
    IN_SWITCH,
    NCCL_PROTOCOLS,
    AlgorithmChoice,
    Protocol,
    binomial_broadcast_time,
    choose,
    crossover_bytes,
    direct_allreduce_time,
    one_shot_allreduce_time,
    ring_allreduce_time,
    ring_tree_crossover_bytes,
    tree_allreduce_time,
)

W = 450 * GB


def brute_force(collective, n, S, ways, in_switch):
    """The least time over every algorithm, protocol and number of chunks, by trying all."""
    functions = [*CANDIDATES[collective], *(IN_SWITCH.get(collective, ()) if in_switch else ())]
    times = []
    for f in functions:
        for _, alpha, share in ways:
            if "m" in getattr(f, "args", ()):
                times += [f(n, S, alpha, W * share, m) for m in CHUNKS]
            else:
                times.append(f(n, S, alpha, W * share))
    return min(times)


@pytest.mark.parametrize("in_switch", [False, True])
@pytest.mark.parametrize("collective", CANDIDATES)
def test_the_first_choice_is_the_fastest_of_all(collective, in_switch):
    rng = random.Random(collective)
    for _ in range(10):
        n, S = rng.choice([1, 2, 3, 8, 72, 1000]), 10 ** rng.uniform(0, 11)
        ranked = choose(collective, n, S, W=W, protocols=NCCL_PROTOCOLS, in_switch=in_switch)
        assert ranked == sorted(ranked)
        assert ranked[0].time == pytest.approx(brute_force(collective, n, S, NCCL_PROTOCOLS, in_switch))
        assert len({choice.algorithm for choice in ranked}) == len(ranked)
        for choice in ranked:
            f = getattr(collectives, f"{choice.algorithm}_time")
            (protocol,) = (p for p in NCCL_PROTOCOLS if p.name == choice.protocol)
            chunks = {"m": choice.m} if "m" in getattr(f, "args", ()) else {}
            assert f(n, S, protocol.alpha, W * protocol.payload_fraction, **chunks) == choice.time


@pytest.mark.parametrize(
    ("S", "algorithm"),
    [
        (1 * KB, "one_shot_allreduce"),
        (1 * MB, "direct_allreduce"),
        (1 * GB, "direct_allreduce"),
    ],
    ids=["1KB", "1MB", "1GB"],
)
def test_all_ports_at_once_win_behind_a_crossbar(S, algorithm):
    assert choose("all_reduce", 8, S, 2 * us, W)[0].algorithm == algorithm


@pytest.mark.parametrize(
    ("S", "algorithm", "protocol"),
    [(1 * KB, "double_tree_allreduce", "LL"), (16 * GB, "ring_allreduce", "Simple")],
    ids=["1KB", "16GB"],
)
def test_trees_and_low_latency_are_for_small_sizes(S, algorithm, protocol):
    """NCCL's own two algorithms over the network."""
    nccl = ("ring_allreduce", "double_tree_allreduce")
    best = choose("all_reduce", 64, S, W=50 * GB, protocols=NCCL_PROTOCOLS, only=nccl)[0]
    assert (best.algorithm, best.protocol) == (algorithm, protocol)


def test_the_switch_wins_for_large_arrays_of_many_ranks():
    assert choose("all_reduce", 8, 1 * GB, 2 * us, W, in_switch=True)[0].algorithm == "switch_allreduce"
    assert choose("all_reduce", 2, 1 * GB, 2 * us, W, in_switch=True)[0].algorithm != "switch_allreduce"


def test_large_arrays_get_more_chunks():
    chunks = [choose("broadcast", 16, S, 2 * us, W, only=["chain_broadcast"])[0].m for S in (1 * MB, 1 * GB)]
    assert chunks[0] < chunks[1]


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: choose("gossip", 8, 1, 1, 1), KeyError, "collective .*all_gather, .*'gossip'"),
        (lambda: choose("all_reduce", 8, 1, 1, 1, only=["magic"]), KeyError, "only .*ring_allreduce, .*'magic'"),
        (lambda: choose("all_reduce", 0, 1, 1, 1), ValueError, "n .* 0$"),
        (lambda: choose("all_reduce", 8, 1, W=1), ValueError, "give .*alpha.*protocols"),
        (lambda: choose("all_reduce", 8, 1, 1, 1, NCCL_PROTOCOLS), ValueError, "give .*alpha.*protocols"),
        (lambda: choose("all_reduce", 8, 1, W=1, protocols=[Protocol("x", math.nan, 1)]), ValueError, "alpha"),
        (lambda: crossover_bytes(ring_allreduce_time, tree_allreduce_time, 0, 1, 1), ValueError, "got 0"),
        (lambda: crossover_bytes(ring_allreduce_time, "tree", 8, 1, 1), TypeError, "second .*'tree'$"),
    ],
    ids=["collective", "algorithm", "ranks", "no alpha", "two alphas", "nan", "crossover", "name"],
)
def test_a_choice_between_nothing(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()


# Crossovers


@pytest.mark.parametrize("n", [3, 4, 7, 8, 64, 1000])
def test_the_ring_overtakes_the_tree_where_their_times_meet(n):
    S = ring_tree_crossover_bytes(n, 5 * us, 50 * GB)
    ring, tree = (f(n, S, 5 * us, 50 * GB) for f in (ring_allreduce_time, tree_allreduce_time))
    if S:
        assert ring == pytest.approx(tree)
    assert crossover_bytes(tree_allreduce_time, ring_allreduce_time, n, 5 * us, 50 * GB) == pytest.approx(S)
    smaller, larger = S / 2, 2 * S + 1
    assert tree_allreduce_time(n, smaller, 5 * us, 50 * GB) <= ring_allreduce_time(n, smaller, 5 * us, 50 * GB)
    assert ring_allreduce_time(n, larger, 5 * us, 50 * GB) < tree_allreduce_time(n, larger, 5 * us, 50 * GB)


@pytest.mark.parametrize("n", [1, 2])
def test_up_to_two_ranks_a_ring_is_never_slower_than_a_tree(n):
    assert ring_tree_crossover_bytes(n, 5 * us, 50 * GB) == 0


def test_crossovers_that_are_everywhere_or_nowhere():
    assert crossover_bytes(one_shot_allreduce_time, direct_allreduce_time, 8, 0, W) == 0
    assert crossover_bytes(direct_allreduce_time, one_shot_allreduce_time, 8, 2 * us, W) == math.inf
    meet = crossover_bytes(one_shot_allreduce_time, direct_allreduce_time, 8, 2 * us, W)
    assert one_shot_allreduce_time(8, meet, 2 * us, W) == pytest.approx(direct_allreduce_time(8, meet, 2 * us, W))
    assert crossover_bytes(binomial_broadcast_time, binomial_broadcast_time, 8, 2 * us, W) == 0


def test_a_choice_says_its_time_and_in_how_many_chunks():
    """Of 100 bytes over 2 B/s: four ranks pass 25 bytes on three times; a line of five forwards 4 chunks or more."""
    assert choose("all_gather", 4, 100, 0, 2, only=["ring_allgather"]) == [
        AlgorithmChoice(37.5, "ring_allgather", "", 1)
    ]
    assert choose("all_gather", 4, 100, 3, only=["ring_allgather"])[0].time == 9
    (chain,) = choose("broadcast", 5, 100, 3, 2, only=["chain_broadcast"])
    assert chain == (min((5 + m - 2) * (3 + 50 / m) for m in CHUNKS), "chain_broadcast", "", 8)
    assert AlgorithmChoice(1.0, "x") == (1.0, "x", "", 1)
    assert (CHUNKS[0], CHUNKS[-1], len(CHUNKS)) == (4, 4096, 11)


@pytest.mark.parametrize(
    ("protocol", "alpha", "payload"), [("LL", 1e-6, 0.5), ("LL128", 2e-6, 0.9375), ("Simple", 6e-6, 1)]
)
def test_the_protocols_of_nccl(protocol, alpha, payload):
    """LL sends 4 bytes of data in 8, LL128 120 in 128 (Hu et al., 2025)."""
    (row,) = [row for row in NCCL_PROTOCOLS if row.name == protocol]
    assert (row.alpha, row.payload_fraction) == (alpha, payload)
    best = choose("all_reduce", 8, 1e6, W=50e9, protocols=[row], only=["ring_allreduce"])[0]
    assert best.time == pytest.approx(14 * (alpha + 1e6 / 8 / (50e9 * payload)))
    assert best.protocol == protocol


@pytest.mark.parametrize(
    ("ahead", "gain", "size"), [(3, 2, 0), (0, 2, 0), (-3, 2, 1.5), (-3, 0, math.inf), (3, -2, math.inf)]
)
def test_a_crossover_is_where_two_lines_meet(ahead, gain, size):
    """The second is `ahead` by so many seconds without bytes, and gains so much a byte."""

    def first(n, S, alpha, W):
        return 7 + ahead + (5 + gain) * S

    def second(n, S, alpha, W):
        return 7 + 5 * S

    for alpha in (0, 1.0):
        assert crossover_bytes(first, second, 4, alpha, 8.0) == pytest.approx(size)
