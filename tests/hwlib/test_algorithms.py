"""Every algorithm: the result is numpy's, the time its formula's, and the bytes what its docstring promises."""

import inspect
import math

import numpy as np
import pytest

from hwlib import collectives, network
from hwlib.algorithms import (
    ALGORITHMS,
    Step,
    algorithm,
    at_once,
    blocks,
    joined,
    pieces,
    record_of,
    ring_allreduce,
    within,
)
from hwlib.algorithms.grid import square_shape
from hwlib.simulate import SimulationError, lockstep
from tests.each import each
from tests.hwlib.inputs import expected, inputs_of

NAMES = sorted(ALGORITHMS)
TIMED = [name for name in NAMES if ALGORITHMS[name].time]
RANKS = (1, 2, 3, 4, 7, 8, 16)
ALPHA, W, ITEM = 2e-6, 50e9, 8


def options_of(name, n):
    """The options to try: every one by default, the ends of each by turns."""
    record = ALGORITHMS[name]
    yield {}
    if "root" in record.options:
        yield from ({"root": root} for root in {n - 1, n // 2} - {0})
    if "m" in record.options:
        yield from ({"m": m} for m in (1, 2, 5))
    if "inner" in record.options:
        yield from ({"inner": inner} for inner in (1, n))
    if "shape" in record.options:
        yield from ({"shape": shape} for shape in ((n,), (1, n, 1), (*square_shape(n), 1)))
        if n == 16:
            yield {"shape": (2, 2, 2, 2), "split": True}
        yield from ({"wrap": wrap, "split": split} for wrap in (False, (True, False)) for split in (False, True))


# Results

FEW = ((0, 0), (1, 1))  # numbers of elements: n times, and more
ALL = (*FEW, (0, 1), (0, 2), (0, 5), (1, -1), (1, 0), (3, -1), (0, 60))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("ranks", "counts"),
    [pytest.param((1, 3, 8), FEW, id="few"), pytest.param(RANKS, ALL, marks=pytest.mark.slow, id="all")],
)
def test_results_are_numpys(name, ranks, counts):
    for n, count in ((n, times * n + more) for n in ranks for times, more in counts):
        for options in options_of(name, n):
            xs = inputs_of(name, n, count, **options)
            before = [x.copy() for x in xs]
            run = lockstep(name, xs, **options)
            root = {"root": options["root"]} if "root" in options else {}
            for rank, want in enumerate(expected(name, xs, **root)):
                where = f"rank {rank} of {n}, {count} elements, {options}"
                if want is None:
                    assert run.outputs[rank] is None, where
                else:
                    np.testing.assert_array_equal(run.outputs[rank], want, err_msg=where)
            np.testing.assert_array_equal(xs, before)


@pytest.mark.parametrize("n", RANKS)
def test_a_ragged_alltoall_sends_what_the_table_says(n):
    counts = np.random.default_rng(n).integers(0, 4, (n, n)).tolist()
    xs = inputs_of("ragged_alltoall", n, 0, counts=counts)
    run = lockstep("ragged_alltoall", xs, counts=counts)
    for got, want in zip(run.outputs, expected("ragged_alltoall", xs, counts=counts), strict=True):
        np.testing.assert_array_equal(got, want)
    others = [sum(row) - row[i] for i, row in enumerate(counts)]
    assert run.sent_bytes == [ITEM * count for count in others]
    assert len(run.messages) == sum(counts[i][j] > 0 for i in range(n) for j in range(n) if i != j)


@each("name", NAMES)
def test_rows_of_matrices_and_other_dtypes_travel_too(name):
    xs = [np.arange(21 * 2, dtype=np.int32).reshape(21, 2) * (rank + 1) for rank in range(4)]
    flat = lockstep(name, [x.reshape(-1)[::2] for x in xs])
    for got, want in zip(lockstep(name, xs).outputs, flat.outputs, strict=True):
        if want is not None:
            assert got.dtype == np.int32
            np.testing.assert_array_equal(got[:, 0], want)


# Times

WHOLE = {
    "binomial_broadcast",
    "binomial_reduce",
    "direct_broadcast",
    "direct_reduce",
    "doubling_allreduce",
    "hierarchical_broadcast",
    "one_shot_allreduce",
    "send",
    "tree_allreduce",
}
CHUNKED = {"chain_broadcast", "chain_reduce", "switch_allreduce"}
# Where blocks are bundled, a bundle is full if only the last block is shorter, or (halving) from n elements on;
# the last block never moves if its owner is the root.
BUNDLED = {
    "bidirectional_ring_alltoall",
    "bruck_alltoall",
    "hierarchical_allgather",
    "hierarchical_alltoall",
    "hierarchical_reduce_scatter",
    "ring_alltoall",
    "torus_allgather",
    "torus_reduce_scatter",
}
ROOTED = {"binomial_gather", "binomial_scatter", "direct_gather", "direct_scatter", "scatter_allgather_broadcast"}
HALVED = {"bruck_allgather", "bruck_reduce_scatter", "doubling_allgather", "halving_reduce_scatter"}
SWITCHED = {"nvls_allreduce", "switch_allgather", "switch_reduce_scatter"}


def cut_into(name, n, m):
    """The number of equal blocks that the formula of an algorithm is about."""
    if name in WHOLE:
        return 1
    if name in CHUNKED:
        return m
    if name in SWITCHED:
        return n * m
    return {"double_tree_allreduce": 2 * m, "halving_doubling_allreduce": 2 ** (n.bit_length() - 1)}.get(name, n)


def is_exact(name, n, m, count, root):
    """Whether the formula is exact for so many elements, with S padded to equal blocks."""
    if name == "nvls_allreduce" and m < 3:
        return False
    if name in BUNDLED | ROOTED:
        only_the_last_is_short = count >= (n - 1) * -(-count // n)
        return count % n == 0 or (only_the_last_is_short and (name in BUNDLED or root == n - 1))
    if name in HALVED:
        return count >= n
    if name == "hierarchical_allreduce":
        outer, inner = square_shape(n)
        return -(-count // inner) == outer * -(-count // n)  # a rank's part has as many elements as its blocks
    if name == "halving_doubling_allreduce" and n & (n - 1) == 0:
        return count >= n
    if name in CHUNKED | SWITCHED | {"double_tree_allreduce", "halving_doubling_allreduce"}:
        return count % cut_into(name, n, m) == 0
    return True


def formula_time(name, n, count, m=4):
    record = ALGORITHMS[name]
    time = getattr(collectives, record.time, None) or getattr(network, record.time)
    S = collectives.padded_bytes(count, cut_into(name, n, m), ITEM) * (n if record.collective == "all_to_all" else 1)
    outer, inner = square_shape(n)
    known = {"n": n, "S": S, "alpha": ALPHA, "W": W, "m": m, "n_in": inner, "n_out": outer}
    known |= {"shape": (outer, inner), "wrap": True}
    known |= {"alpha_in": ALPHA, "alpha_out": ALPHA, "W_in": W, "W_out": W}
    letters = getattr(time, "args", None) or inspect.signature(time).parameters
    return time(**{letter: known[letter] for letter in letters})


@pytest.mark.parametrize("name", TIMED)
@each("n", [n for n in RANKS if n > 1])
def test_the_time_is_exactly_the_formulas(name, n):
    record, exact_and_uneven = ALGORITHMS[name], 0
    for m in (2, 3, 4) if "m" in record.options else (4,):
        power = 2 ** (n.bit_length() - 1)
        for count in (1, n - 1, n, n + 1, 5 * n - 1, 7 * power, 90, 144, 1000, 12 * n * m):
            for root in {0, n - 1} if "root" in record.options else {0}:
                options = {"m": m} if "m" in record.options else {}
                options |= {"root": root} if "root" in record.options else {}
                run = lockstep(name, inputs_of(name, n, count, **options), ALPHA, W, **options)
                time = formula_time(name, n, count, m)
                if is_exact(name, n, m, count, root):
                    assert run.time == pytest.approx(time, rel=1e-12, abs=0), (count, options)
                    exact_and_uneven += count % n > 0
                else:
                    assert run.time <= time * (1 + 1e-12), (count, options)
    # Equal shards of n*m, and of two trees for two ranks, are equal blocks, too.
    assert exact_and_uneven or name in SWITCHED or (name, n) == ("double_tree_allreduce", 2)


@pytest.mark.parametrize("shape", [(2, 2), (3, 4), (4, 3), (4, 4), (2, 3, 4), (5,)], ids=str)
@pytest.mark.parametrize("wrap", [True, False])
@pytest.mark.parametrize("name", ["torus_allgather", "torus_reduce_scatter"])
def test_the_axes_of_a_torus_take_the_time_of_their_rings(name, wrap, shape):
    n = math.prod(shape)
    for count in (7 * n, 7 * n - 1):
        run = lockstep(name, inputs_of(name, n, count), ALPHA, W, shape=shape, wrap=wrap)
        time = collectives.torus_allgather_time(shape, collectives.padded_bytes(count, n, ITEM), ALPHA, W, wrap)
        assert run.time == pytest.approx(time, rel=1e-12, abs=0)


@pytest.mark.parametrize("shape", [(3, 3), (5, 5), (3, 3, 3)], ids=str)
@pytest.mark.parametrize("name", ["torus_allgather", "torus_reduce_scatter"])
def test_a_split_array_keeps_the_links_of_all_axes_busy(name, shape):
    """Two directions of k axes: 2k links at once carry the (n - 1)/n of S that a rank gets."""
    n, k = math.prod(shape), len(shape)
    xs = inputs_of(name, n, n * k * 10)
    run = lockstep(name, xs, 0, W, shape=shape, split=True)
    assert run.time == pytest.approx((n - 1) / n * xs[0].nbytes / (2 * k * W), rel=1e-12, abs=0)
    both = lockstep("torus_allreduce", xs, 0, W, shape=shape, split=True)
    assert both.time == pytest.approx(2 * run.time, rel=1e-12, abs=0)


def test_two_steps_of_bandwidth_in_the_switch_instead_of_two_around_the_ring():
    xs = inputs_of("switch_allreduce", 8, 8 * 1024)
    S = xs[0].nbytes
    ring = lockstep("ring_allreduce", xs, 0, W)
    sharp = lockstep("switch_allreduce", xs, 0, W, m=1024)
    nvls = lockstep("nvls_allreduce", xs, 0, W, m=1024)
    assert ring.time == pytest.approx(2 * 7 / 8 * S / W, rel=1e-12, abs=0)
    assert sharp.time == pytest.approx(S / W, rel=2e-3, abs=0)
    assert nvls.time == pytest.approx(9 / 8 * S / W, rel=4e-3, abs=0)
    assert sharp.sent_bytes == sharp.received_bytes == [S] * 8
    assert nvls.sent_bytes == nvls.received_bytes == [S * 9 / 8] * 8


# Bytes and rounds, as in the docstrings


@pytest.mark.parametrize(
    ("name", "rounds", "share"),
    [
        ("ring_allgather", lambda n: n - 1, lambda n: (n - 1) / n),
        ("ring_reduce_scatter", lambda n: n - 1, lambda n: (n - 1) / n),
        ("ring_allreduce", lambda n: 2 * (n - 1), lambda n: 2 * (n - 1) / n),
        ("bidirectional_ring_allgather", lambda n: n // 2, lambda n: (n - 1) / n),
        ("doubling_allgather", math.log2, lambda n: (n - 1) / n),
        ("halving_doubling_allreduce", lambda n: 2 * math.log2(n), lambda n: 2 * (n - 1) / n),
        ("doubling_allreduce", math.log2, math.log2),
        ("bruck_reduce_scatter", math.log2, lambda n: (n - 1) / n),
        ("direct_allreduce", lambda n: 2, lambda n: 2 * (n - 1) / n),
        ("one_shot_allreduce", lambda n: 1, lambda n: n - 1),
        ("pairwise_alltoall", lambda n: n - 1, lambda n: (n - 1) / n),
        ("ring_alltoall", lambda n: n - 1, lambda n: (n - 1) / 2),
        ("bruck_alltoall", math.log2, lambda n: math.log2(n) / 2),
    ],
)
@each("n", [2, 4, 8, 16])
def test_rounds_and_bytes_per_rank(name, rounds, share, n):
    run = lockstep(name, inputs_of(name, n, 10 * n))
    size = 10 * n * ITEM
    assert run.rounds == rounds(n)
    assert run.sent_bytes == run.received_bytes == [share(n) * size] * n


@pytest.mark.parametrize("n", [5, 6, 7, 11, 31])
def test_no_rank_count_needs_more_than_the_least_rounds_and_bytes(n):
    for name in ("doubling_allgather", "halving_reduce_scatter"):
        run = lockstep(name, inputs_of(name, n, 4 * n))
        assert run.rounds == math.ceil(math.log2(n))
        assert run.sent_bytes == [(n - 1) * 4 * ITEM] * n


def test_a_hierarchy_keeps_bytes_inside_the_node():
    def leaving(name, **options):
        run = lockstep(name, inputs_of(name, 16, 160), **options)
        return sum(m.bytes for m in run.messages if m.src // 4 != m.dst // 4)

    flat, deep = leaving("direct_allreduce"), leaving("hierarchical_allreduce", inner=4)
    assert deep == 2 * 16 * 3 / 16 * 160 * ITEM  # each rank sends 3/4 of its quarter, and again
    assert flat == 4 * deep
    assert leaving("hierarchical_alltoall", inner=4) == leaving("direct_alltoall")


def test_every_port_is_busy_in_two_trees():
    xs = inputs_of("double_tree_allreduce", 15, 2 * 100 * 15)
    run = lockstep("double_tree_allreduce", xs, 0, W, m=1500)
    assert run.time == pytest.approx(2 * xs[0].nbytes / W, rel=3e-3, abs=0)
    assert max(run.sent_bytes) <= 2 * xs[0].nbytes


def test_all_ranks_round_alike():
    xs = list(np.random.default_rng(0).standard_normal((7, 50)).astype(np.float32))
    for name in NAMES:
        if ALGORITHMS[name].collective == "all_reduce":
            outputs = lockstep(name, xs).outputs
            assert all(np.array_equal(out, outputs[0]) for out in outputs), name


# The vocabulary


def test_blocks_cover_the_array():
    assert [len(block) for block in blocks(np.zeros(10), 4)] == [3, 3, 3, 1]
    assert [len(block) for block in blocks(np.zeros(5), 4)] == [2, 2, 1, 0]
    assert [len(block) for block in blocks(np.zeros(0), 2)] == [0, 0]
    with pytest.raises(ValueError, match=r"1 block, .* 0$"):
        blocks(np.zeros(3), 0)


def test_pieces_must_fit():
    assert [part.tolist() for part in pieces(np.arange(4), [1, 0, 3])] == [[0], [], [1, 2, 3]]
    with pytest.raises(ValueError, match=r"counts: \[1, 2\] .* 3, .* 4 elements"):
        pieces(np.arange(4), [1, 2])


@pytest.mark.slow  # to import torch takes two seconds
def test_torch_tensors_are_joined_by_torch():
    torch = pytest.importorskip("torch")
    out = lockstep("bruck_alltoall", [torch.arange(6) + 10 * rank for rank in range(3)]).outputs
    assert [x.tolist() for x in out] == [[0, 1, 10, 11, 20, 21], [2, 3, 12, 13, 22, 23], [4, 5, 14, 15, 24, 25]]
    assert joined([torch.zeros(2), torch.ones(1)]).tolist() == [0, 0, 1]


def test_a_group_plays_among_itself():
    def odd_ranks_only(rank, n, x):
        group = range(1, n, 2)
        if rank in group:
            yield from within(group, ring_allreduce(rank // 2, len(group), x))
        return x

    run = lockstep(odd_ranks_only, [np.array([1.0, rank]) for rank in range(6)])
    assert [x.tolist() for x in run.outputs] == [[1, 0], [3, 9], [1, 2], [3, 9], [1, 4], [3, 9]]


def test_programs_side_by_side_take_the_rounds_of_the_longest():
    def both(rank, n, x):
        left, right = blocks(x, 2)
        return (yield from at_once([ring_allreduce(rank, n, left), short(rank, right)]))

    def short(rank, x):
        if rank == 0:
            yield Step(x, to=1)
        return rank if rank else (yield from ())

    def receiving(rank, n, x):
        results = yield from both(rank, n, x) if rank != 1 else at_once([ring_allreduce(1, n, x[:2]), taking()])
        return results

    def taking():
        return (yield Step(frm=0)).tolist()

    run = lockstep(receiving, [np.full(4, float(rank)) for rank in range(4)])
    assert run.rounds == 6
    assert run.outputs[1][1] == [0, 0]
    assert all(out[0].tolist() == [6, 6] for out in run.outputs)


def test_the_registry_knows_its_functions():
    assert record_of(ring_allreduce) is record_of("ring_allreduce") is ALGORITHMS["ring_allreduce"]
    assert ALGORITHMS["chain_broadcast"].options == {"root": 0, "m": 4}
    assert record_of(lambda rank, n, x: None) is None
    with pytest.raises(ValueError, match=r"not 'all_add' over 'port'"):
        algorithm("all_add")


def test_a_name_that_no_algorithm_has_is_answered_with_those_like_it():
    with pytest.raises(KeyError, match=r"'ring_alreduce'; .* ring_allreduce "):
        ALGORITHMS["ring_alreduce"]
    with pytest.raises(KeyError, match=r"algorithm 0; .*ring_allreduce"):
        ALGORITHMS[0]
    assert ALGORITHMS.get("ring_alreduce") is None
    assert "ring_alreduce" not in ALGORITHMS


@each("name", NAMES)
def test_every_record_is_complete(name):
    record = ALGORITHMS[name]
    assert record.function.__doc__
    assert record.time or name in {"ragged_alltoall", "torus_allreduce"}
    assert record.time is None or hasattr(collectives, record.time) or hasattr(network, record.time)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("binomial_broadcast", {"root": 4}, "root: .*0 to 3, .* 4$"),
        ("direct_gather", {"root": -1}, "root: .*0 to 3, .* -1$"),
        ("hierarchical_allreduce", {"inner": 3}, "inner: .* 4, .* 3$"),
        ("torus_allgather", {"shape": (2, 3)}, r"shape: .* 4, .* \(2, 3\)$"),
        ("chain_broadcast", {"m": 0}, "1 block, .* 0$"),
        ("torus_allgather", {"wrap": [True]}, r"wrap: .* 2 axes, .* \[True\]$"),
        ("ragged_alltoall", {"counts": [[1] * 4] * 4}, "counts: .* 4, .* 8 elements"),
    ],
)
def test_bad_options_are_refused(name, options, message):
    with pytest.raises((ValueError, SimulationError), match=rf"(?m){message}"):
        lockstep(name, [np.zeros(8)] * 4, **options)
