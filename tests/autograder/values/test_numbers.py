import math
from fractions import Fraction

import numpy as np
import pytest

from autograder.values import encoding
from autograder.values.numbers import Unreadable, as_float, number, rounded, two_digits
from autograder.values.parsing import parse


@pytest.mark.parametrize(
    ("value", "want"),
    [
        (3, 3),
        (0.5, Fraction(1, 2)),
        (Fraction(1, 3), Fraction(1, 3)),
        (2 + 0j, 2),
        (np.array([[7]]), 7),
        (parse("2**10", ()), 1024),
        (10**500, 10**500),
    ],
)
def test_numbers_are_read_exactly(value, want):
    assert number(value) == want


@pytest.mark.parametrize(
    ("value", "reason", "named"),
    [
        (True, "truth-value", "True"),
        (float("nan"), "not-finite", "nan"),
        (float("-inf"), "not-finite", "-inf"),
        (1j, "complex", "complex"),
        (np.zeros(3), "several-numbers", "3"),
        ("3", "not-a-number", "`3`"),
        ([1], "not-a-number", "list"),
        (None, "not-a-number", "None"),
        (encoding.Callable("f"), "function", "`f`"),
        (parse("n", {"n"}), "letters", " n;"),
        (np.array([float("inf")]), "not-finite", "inf"),
    ],
)
def test_anything_else_is_said_to_be_what_it_is(value, reason, named):
    with pytest.raises(Unreadable, match=named) as error:
        number(value)
    assert error.value.reason == reason


def test_the_words_for_a_text():
    with pytest.raises(Unreadable, match="a text `3`; a number was expected"):
        number("3")


def test_a_number_beyond_floats_is_infinite():
    assert as_float(Fraction(-(10**400))) == float("-inf")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.8e-3, "3.8e-3"),
        (4.0, "4.0e0"),
        (-1.2e12, "-1.2e12"),
        (3.85, ""),
        (0, ""),
        (math.inf, ""),
        (0.1 + 0.2, "3.0e-1"),
    ],
)
def test_a_number_of_two_digits_is_written_with_them(value, text):
    assert two_digits(value) == text


@pytest.mark.parametrize(
    ("value", "near"),
    [
        (3.85e-3, [3.8e-3, 3.9e-3]),
        (412.0, [410.0]),
        (9.96, [10.0]),
        (-2.34, [-2.3]),
        (5.0, [5.0]),
        (0, []),
        (math.nan, []),
    ],
)
def test_a_number_is_rounded_to_its_neighbours(value, near):
    assert rounded(value) == near
