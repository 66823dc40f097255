"""Cases that tell no wrong way from the right one."""

import pytest

from autograder.answers.weak_cases import round_results, untried


def product(n, m):
    if n < 1 or m < 2:
        raise ValueError(n, m)
    return n * m


@pytest.mark.parametrize(
    ("cases", "names"),
    [
        ([(1, 3), (3, 2)], []),
        ([(2, 3), (3, 2)], ["no 1 for n"]),  # m may not be 1
        ([(1, 4), (4, 2)], ["no odd prime for n", "no odd prime for m"]),
        ([(1, 9), (9, 25)], ["no odd prime for n", "no odd prime for m"]),
        ([(1, 9), (2, 7)], ["no odd prime for n"]),
        ([(4, 3), (4, 2)], []),  # the same in all
        ([(1.0, 3), (4, 2)], []),
        ([(True, 3), (4, 2)], []),
        ([(2,), (4, 3)], ["no odd prime for n", "no 1 for n"]),
    ],
)
def test_an_odd_prime_and_1_are_tried_of_each_whole_number(cases, names):
    assert [weakness[0] for weakness in untried(["n", "m"], cases, product)] == names


@pytest.mark.parametrize(
    ("results", "weak"),
    [
        ([0.001], True),
        ([0.000003, [(0.002,)]], True),
        ([0.0012345678], False),
        ([0.001, 0.0012345678], False),
        ([0.5], False),
        ([0.01], False),
        ([0.0], False),
        ([1], False),
        ([-0.001], True),
        ([-0.0012345678], False),
        ([], False),
    ],
)
def test_small_results_are_no_whole_microseconds(results, weak):
    assert bool(round_results(results)) is weak
