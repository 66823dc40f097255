import math

import numpy as np
import pytest

from autograder.values.compare import equal


@pytest.mark.parametrize(
    ("got", "want", "same"),
    [
        (1, 1, True),
        (1.0, 1, True),
        (1, True, False),
        (True, 1, False),
        (True, True, True),
        ("a", "a", True),
        ("a", "b", False),
        (None, None, True),
        ([1, 2], (1, 2), True),
        ([1], [1, 2], False),
        ({"a": 1.0}, {"a": 1}, True),
        ({"a": 1}, {"b": 1}, False),
        (1 + 1e-12, 1.0, True),
        (1 + 1e-6, 1.0, False),
        (0.0, 0, True),
        (1e-3, 0, False),
        (float("inf"), float("inf"), True),
        (1.0, float("inf"), False),
        (float("nan"), float("nan"), True),
        (float("nan"), 1.0, False),
        (1j, 1j, True),
        ("1", 1, False),
        ([True], [1], False),
        (np.arange(3), np.arange(3), True),
        ([0, 1, 2], np.arange(3), True),
        (np.arange(3), [0, 1, 2], True),
        (np.arange(4), np.arange(3), False),
        (np.arange(3.0) + 1e-12, np.arange(3.0), True),
        (np.array([1.0, 2.1]), np.array([1.0, 2.0]), False),
        ([[1], [2, 3]], np.arange(3), False),
        ("x", np.arange(3), False),
        (10**400, 10**400, True),
    ],
)
def test_equal(got, want, same):
    assert equal(got, want, 1e-9) is same


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (complex(1.7e308, 1.7e308), 1.0),
        (complex(-1.7e308, 0), 1.7e308),
        (10**400, 1j),
        (complex(math.nan, 0), 1.0),
        (np.array([1.0, 2.0]), np.array([math.inf, 1.0])),
        (np.array([math.inf, 2.0]), np.array([math.inf, 1.0])),
        (np.array(5.0), math.inf),
    ],
)
def test_what_is_too_large_to_compare_is_not_the_same(got, want):
    assert not equal(got, want, 1e-9)


@pytest.mark.parametrize("value", [np.array([math.inf, 1.0]), np.array([math.nan, -math.inf]), np.array([]), 1 + 2j])
def test_a_value_is_the_same_as_itself(value):
    assert equal(value, value, 1e-9)
