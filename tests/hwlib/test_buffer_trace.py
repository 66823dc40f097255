"""What each rank has between the steps: by hand for small rings, and for programs that fail or are not written."""

import pytest

from hwlib.algorithms import Step, blocks
from hwlib.simulate import watch


def test_an_allgather_fills_up_one_block_a_step():
    watched = watch("ring_allgather", 3)
    assert (watched.name, watched.collective, watched.failure) == ("ring_allgather", "all_gather", "")
    assert watched.steps == [
        [[1, 0, 0], [0, 10, 0], [0, 0, 100]],
        [[1, 0, 100], [1, 10, 0], [0, 10, 100]],
        [[1, 10, 100]] * 3,
    ]
    assert watched.run is not None
    assert watched.run.rounds == 2


def test_the_digits_of_a_sum_say_whose_shares_are_in_it():
    steps = watch("ring_reduce_scatter", 3).steps
    assert steps[0] == [[1] * 3, [10] * 3, [100] * 3]
    assert [steps[-1][rank][rank] for rank in range(3)] == [111] * 3
    assert watch("ring_allreduce", 4).steps[-1] == [[1111] * 4] * 4


def test_what_is_returned_counts_where_it_is_a_new_array():
    def apart(rank, n, x):
        got = yield Step(x, to=1 - rank, frm=1 - rank)
        return x + got

    assert watch(apart, 2, "all_reduce").steps == [[[1, 1], [10, 10]], [[11, 11], [11, 11]]]


def test_a_rank_that_has_ended_stays_as_it_was():
    def to_the_next(rank, n, x):
        if rank == 0:
            yield Step(x, to=1)
        if rank == 1:
            x[:] = yield Step(frm=0)
            yield Step(x, to=2)
        if rank == 2:
            x[:] = yield Step(frm=1)
        return x

    steps = watch(to_the_next, 3, "broadcast").steps
    assert [[row[0] for row in step] for step in steps] == [[1, 0, 0], [1, 1, 1], [1, 1, 1]]


def test_what_never_ends_is_watched_for_a_while():
    def again(rank, n, x):
        while True:
            yield Step(x, to=(rank + 1) % n, frm=(rank - 1) % n)

    watched = watch(again, 4, "all_reduce")
    assert watched.run is None
    assert " 1600 messages" in watched.failure
    assert 390 < len(watched.steps) < 410
    assert " 8 messages" in watch(again, 4, "all_reduce", limit=8).failure


def test_what_fails_is_watched_as_far_as_it_goes():
    def stops(rank, n, x):
        block = blocks(x, n)
        block[rank - 1][:] = yield Step(block[rank], to=(rank + 1) % n, frm=(rank - 1) % n)
        yield Step(frm=(rank - 1) % n)
        return x

    watched = watch(stops, 3, "all_gather")
    assert watched.run is None
    assert watched.failure.startswith("deadlock: rank 0, step 1, ")
    assert watched.steps[-1] == [[1, 0, 100], [1, 10, 0], [0, 10, 100]]

    def raises(rank, n, x):
        yield Step(x, to=n + rank)

    assert "rank 0, step 0: `to` " in watch(raises, 2, "all_gather").failure

    def divides(rank, n, x):
        yield Step(x, to=(rank + 1) % n, frm=(rank - 1) % n)
        return 1 // 0

    assert watch(divides, 2, "all_gather").failure.startswith("ZeroDivisionError: ")


def test_a_stub_is_no_error():
    def mine(rank, n, x): ...

    watched = watch(mine, 4, "reduce_scatter")
    assert watched.failure.startswith("mine has no `yield Step(...)`")
    assert watched.steps == [[[10**rank] * 4 for rank in range(4)]]


@pytest.mark.parametrize(("n", "collective"), [(4, "sum"), (0, "all_gather"), (16, "all_gather"), (2.5, "reduce")])
def test_what_cannot_be_watched_is_refused(n, collective):
    with pytest.raises(ValueError, match="watch: "):
        watch("ring_allgather", n, collective)


@pytest.mark.parametrize("n", [1, 15])
def test_from_one_rank_to_fifteen_are_watched(n):
    """A number of 64 bits holds fifteen digits exactly."""
    assert watch("ring_allreduce", n).steps[-1] == [[int("1" * n)] * n] * n


@pytest.mark.parametrize(
    ("collective", "begin"),
    [
        ("all_gather", [[1, 0], [0, 10]]),
        ("reduce_scatter", [[1, 1], [10, 10]]),
        ("all_reduce", [[1, 1], [10, 10]]),
        ("all_to_all", [[1, 1], [10, 10]]),
        ("broadcast", [[1, 1], [0, 0]]),
        ("reduce", [[1, 1], [10, 10]]),
        ("gather", [[1, 0], [0, 10]]),
        ("scatter", [[1, 1], [0, 0]]),
    ],
)
def test_what_the_ranks_of_a_collective_begin_with(collective, begin):
    def mine(rank, n, x): ...

    assert watch(mine, 2, collective).steps == [begin]


def test_before_its_first_step_a_program_that_fails_has_what_it_began_with():
    def fails(rank, n, x):
        yield 1 / 0

    def takes(rank, n, x, by):
        yield Step(x)

    assert watch(fails, 2, "reduce").steps == [[[1, 1], [10, 10]]]
    watched = watch(takes, 2, "gather")
    assert watched.failure.startswith("TypeError: ")
    assert watched.steps == [[[1, 0], [0, 10]]]
