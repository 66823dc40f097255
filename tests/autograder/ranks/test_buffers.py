"""What the ranks of a collective hold before and after it, against collectives written out."""

import numpy as np
import pytest

from autograder.answers import Case
from autograder.ranks.buffers import AFTER, before
from hwlib.algorithms import ALGORITHMS, Step, blocks
from tests.autograder import lab
from tests.autograder.lab import judge, make


def direct_exchange(rank, n, x):
    """Every block to its rank at once; the root sends or takes those of the others."""
    others = [r for r in range(n) if r != rank]
    block = blocks(x, n)
    got = yield [Step(block[r], r, r) for r in others]
    parts = dict(zip(others, got, strict=True)) | {rank: block[rank]}
    return [parts[r] for r in range(n)]


def direct_gather(rank, n, x, root=0):
    block = blocks(x, n)
    if rank != root:
        yield Step(block[rank], root)
        return None
    for r in range(n):
        if r != root:
            block[r][:] = yield Step(None, None, r)
    return x


def direct_scatter(rank, n, x, root=0):
    block = blocks(x, n)
    if rank != root:
        return (yield Step(None, None, root))
    yield [Step(block[r], r) for r in range(n) if r != root]
    return block[root]


def direct_broadcast(rank, n, x, root=0):
    if rank != root:
        return (yield Step(None, None, root))
    yield [Step(x, r) for r in range(n) if r != root]
    return x


def direct_reduce(rank, n, x, root=0):
    if rank != root:
        yield Step(x, root)
        return None
    for r in range(n):
        if r != root:
            x += yield Step(None, None, r)
    return x


def shared_blocks(rank, n, x):
    block = blocks(x, n)
    got = yield [Step(block[rank], r, r) for r in range(n) if r != rank]
    for r, part in zip([r for r in range(n) if r != rank], got, strict=True):
        block[r][:] = part
    return x


SOLUTIONS = {
    "all_reduce": lab.ring,
    "reduce_scatter": ALGORITHMS["ring_reduce_scatter"].function,
    "all_gather": shared_blocks,
    "all_to_all": direct_exchange,
    "broadcast": direct_broadcast,
    "reduce": direct_reduce,
    "gather": direct_gather,
    "scatter": direct_scatter,
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32"])
@pytest.mark.parametrize("collective", AFTER)
def test_every_collective_says_what_it_begins_and_ends_with(collective, dtype):
    options = {"root": 1} if collective in ("broadcast", "reduce", "gather", "scatter") else {}
    cases = [Case(2, 8, dtype, options), Case(3, 7, dtype, options), Case(4, 2, dtype, options)]
    solution = SOLUTIONS[collective]
    exercise = make({"collective": collective, "cases": cases}, solution=solution, mistakes=())
    assert judge(exercise, solution).kind == "right", judge(exercise, solution)
    assert judge(exercise, lab.nothing).score == 0
    assert judge(exercise, lab.talks).score == 0


def test_blocks_are_those_of_the_library():
    for n, length in ((1, 5), (3, 7), (4, 2), (5, 0), (8, 64)):
        case, x = Case(n, length), np.arange(length)
        for rank, part in enumerate(blocks(x, n)):
            assert np.array_equal(x[case.block(rank)], part)
    assert Case(2, 8, "int32").size == 32


def test_what_is_not_there_yet_shows():
    rng = np.random.default_rng(0)
    gathered = before("all_gather", Case(3, 7), rng)
    assert [int(np.isfinite(x).sum()) for x in gathered] == [3, 3, 1]
    cast = before("broadcast", Case(3, 7, "int64", {"root": 2}), rng)
    assert [int((x > 0).sum()) for x in cast] == [0, 0, 7]
    assert all((x >= 1).all() for x in before("all_reduce", Case(4, 9, "int32"), rng))


def test_integers_do_not_overflow_in_a_sum_over_all_ranks():
    for dtype in ("int32", "int64"):
        inputs = before("all_reduce", Case(64, 100, dtype), np.random.default_rng(1))
        exact = sum(x.astype(object) for x in inputs)
        assert (AFTER["all_reduce"](Case(64, 100, dtype), inputs)[0] == exact).all()


def test_messages_cannot_be_packed():
    """The numbers fill their type: no narrower one, and no compression, holds them within the tolerance."""
    import zlib

    for dtype in ("float64", "int64"):
        raw = before("all_reduce", Case(2, 4096, dtype), np.random.default_rng(2))[0].tobytes()
        assert len(zlib.compress(raw, 9)) > 0.8 * len(raw)
