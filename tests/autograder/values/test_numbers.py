from fractions import Fraction

import numpy as np
import pytest

from autograder.values import encoding
from autograder.values.numbers import Unreadable, as_float, number
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
    ("value", "say"),
    [
        (True, "truth value"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (1j, "complex"),
        (np.zeros(3), "array of 3"),
        ("3", "a text `3`"),
        ([1], "a list"),
        (None, r"nothing \(None\)"),
        (encoding.Callable("f"), "`f` is a function"),
        (parse("n", {"n"}), "expression in n"),
        (np.array([float("inf")]), "inf"),
    ],
)
def test_anything_else_is_said_to_be_what_it_is(value, say):
    with pytest.raises(Unreadable, match=say):
        number(value)


def test_a_number_beyond_floats_is_infinite():
    assert as_float(Fraction(-(10**400))) == float("-inf")
