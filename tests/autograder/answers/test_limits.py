"""Limits of a run: who is allowed how much, and who breaks it."""

import operator

import pytest

from autograder.answers.limits import Limit, at_most, exactly
from autograder.ranks.buffers import Case

CASE = Case(4, 100)  # of 8 bytes each


@pytest.mark.parametrize(
    ("limit", "allowed"),
    [
        (at_most(), 60.0),
        (at_most(times=1.5), 90.0),
        (exactly(), 60.0),
        (Limit(True, times=2), 120.0),
        (exactly(lambda n, S: n * S), 3200.0),
        (at_most(lambda n, S: S, times=3), 800.0),
        (at_most(lambda case: case.n), 4.0),
        (at_most(lambda case, rank: case.n + rank), 6.0),
    ],
)
def test_what_is_allowed_comes_from_the_function_or_from_the_solution(limit, allowed):
    got = limit.allowed(CASE, 60, 2)
    assert got == allowed
    assert type(got) is float


def test_without_a_rank_it_is_the_first():
    assert at_most(lambda case, rank: 10 + rank).allowed(CASE, 0) == 10


@pytest.mark.parametrize(
    ("of", "names", "by_rank"),
    [
        (None, [], False),
        (lambda n, S: 1, ["n", "S"], False),
        (lambda case: 1, ["case"], False),
        (lambda case, rank: 1, ["case", "rank"], True),
    ],
)
def test_each_rank_has_a_limit_where_the_function_takes_it(of, names, by_rank):
    assert exactly(of).takes == names
    assert exactly(of).by_rank is by_rank


@pytest.mark.parametrize(
    ("got", "allowed", "too_much", "too_little"),
    [
        (100.0, 100.0, False, False),
        (100.0 + 5e-8, 100.0, False, False),  # within a billionth
        (100.0 + 2e-7, 100.0, True, False),
        (100.0 - 5e-8, 100.0, False, False),
        (100.0 - 2e-7, 100.0, False, True),
        (9e-10, 0.0, False, False),
        (2e-9, 0.0, True, False),
        (-2e-9, 0.0, False, True),
        (101, 100, True, False),
        (99, 100, False, True),
        (-100.0 + 5e-8, -100.0, False, False),
    ],
)
def test_a_limit_is_broken_beyond_rounding_and_from_below_where_it_is_exact(got, allowed, too_much, too_little):
    assert at_most().broken(got, allowed) is too_much
    assert exactly().broken(got, allowed) is (too_much or too_little)


def test_the_busiest_rank_takes_most_and_the_first_that_breaks_its_own_limit_is_named():
    assert at_most(times=2).busiest(CASE, [3, 7, 5], [1, 2, 4], max) == (1, 7.0, 8.0)
    assert at_most().busiest(CASE, [3, 7, 5], [1, 2, 4], sum) == (1, 15.0, 7.0)
    own = at_most(lambda case, rank: case.n + 2 * rank)
    assert own.busiest(CASE, [4, 7, 9], [0, 0, 0], max) == (1, 7.0, 6.0)
    assert own.busiest(CASE, [4, 6, 8], [0, 0, 0], max) == (0, 4.0, 4.0)


def test_the_words_of_a_limit():
    assert (exactly().words, at_most().words) == ("", "at most ")
    assert (exactly().exact, at_most().exact) == (True, False)
    assert exactly(operator.mul).of is operator.mul
