"""What ranks send and return is said by where its numbers come from, right or wrong."""

import math

import numpy as np
import pytest

from autograder.answers.algorithm import direct
from autograder.ranks.buffers import Case, before, drawn
from autograder.ranks.generators import Budget, remote_ranks
from autograder.ranks.rehearsal import ABSENT, FOREIGN, MOST_SHARES, Rehearsal, Shares
from hwlib.algorithms import Step
from hwlib.simulate import run_programs

CASE = Case(3, 3)
DRAWN = drawn(CASE, np.random.default_rng(1))


@pytest.fixture
def summed():
    """Three ranks with three blocks each, and the numbers that stand for them."""
    shares = Shares.of(DRAWN)
    return shares, shares.inputs(DRAWN)


def test_every_element_is_one_share(summed):
    shares, inputs = summed
    for rank, x in enumerate(inputs):
        assert [shares.read(value) for value in x.tolist()] == [[(block, rank)] for block in range(3)]


def test_a_sum_says_whose_it_is_and_how_often(summed):
    shares, (first, second, third) = summed
    assert shares(first) == "blocks 0, 1, 2 of rank 0"
    assert shares(second[1:2] + third[1:2]) == "block 1 of ranks 1+2"
    assert shares(third[2:] + third[2:] + first[2:]) == "block 2 of ranks 0+2+2"
    assert shares(first[:1] + second[1:2]) == "block 0 of rank 0 plus block 1 of rank 1"
    assert shares(np.concatenate([first[:1], second[1:]])) == "block 0 of rank 0; blocks 1, 2 of rank 1"


@pytest.mark.parametrize("odd", [lambda x: x / 3, lambda x: -x, lambda x: x * 1000, lambda x: x - 1, lambda x: x * x])
def test_what_is_no_sum_of_shares_is_said_to_be_none(summed, odd):
    shares, (first, *_) = summed
    assert shares(odd(first[:1] + first[1:2])) == FOREIGN


def test_a_share_that_is_added_too_often_is_not_taken_for_another(summed):
    shares, (first, *_) = summed
    for times in range(1, 200):
        read = shares.read(times * first[0])
        assert read is None or read == [(0, 0)] * times


def test_where_a_rank_has_its_own_block_alone_the_block_says_all():
    inputs = before("all_gather", Case(4, 4), np.random.default_rng(1))
    shares = Shares.of(inputs)
    made = shares.inputs(inputs)
    assert shares(made[2]) == f"{ABSENT}; block 2; {ABSENT}"
    assert shares(np.concatenate([made[1][1:2], made[0][:1]])) == "blocks 1, 0"
    assert math.isnan(made[0][3])


def test_too_many_shares_are_not_told_apart():
    side = math.isqrt(MOST_SHARES)
    assert Shares.of(drawn(Case(side, side), np.random.default_rng(1)))
    assert Shares.of(drawn(Case(side + 1, side + 1), np.random.default_rng(1))) is None


def test_messages_and_results_are_kept_as_far_as_they_go(summed):
    shares, inputs = summed

    def once(rank, n, x):
        got = yield Step(x[rank : rank + 1], to=(rank + 1) % n, frm=(rank - 1) % n)
        return None if rank == 2 else got

    kept = Rehearsal(direct(once), shares)
    run_programs(remote_ranks(kept, inputs, {}, Budget(100, 10_000)))
    assert list(kept.messages()) == [
        (0, "0 → 1", "block 0 of rank 0"),
        (0, "1 → 2", "block 1 of rank 1"),
        (0, "2 → 0", "block 2 of rank 2"),
    ]
    assert list(kept.returned(4, lambda value: value)) == [
        (0, "block 2 of rank 2"),
        (1, "block 0 of rank 0"),
        (2, "nothing"),
        (3, "–"),
    ]
