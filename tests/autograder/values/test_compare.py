import math

import numpy as np
import pytest

from autograder.values.compare import difference, equal, kinds


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
        (1.0, float("nan"), False),
        (float("inf"), float("nan"), False),
        (float("nan"), float("inf"), False),
        (float("-inf"), float("inf"), False),
        (1, float("nan"), False),
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
        (np.array([1.0, 2.0]), np.array([math.nan, 2.0])),
        (np.array(5.0), math.inf),
    ],
)
def test_what_is_too_large_to_compare_is_not_the_same(got, want):
    assert not equal(got, want, 1e-9)


@pytest.mark.parametrize("value", [np.array([math.inf, 1.0]), np.array([math.nan, -math.inf]), np.array([]), 1 + 2j])
def test_a_value_is_the_same_as_itself(value):
    assert equal(value, value, 1e-9)


@pytest.mark.parametrize("want", [(2e-6, 4e11), [2e-6, 4e11], np.array([2e-6, 4e11])])
@pytest.mark.parametrize("made", [tuple, list, np.array])
@pytest.mark.parametrize(
    ("values", "where"),
    [
        ([2e-6, 4e11], None),
        ([2e-6 * (1 + 1e-12), 4e11], None),
        ([0.5, 4e11], (0,)),
        ([0.0, 4e11], (0,)),
        ([2e-6, 4e14], (1,)),
        ([2.1e-6, 4e14], (0,)),
        ([2e-6], ()),
    ],
)
def test_the_elements_of_tuples_and_arrays_are_compared_each_by_itself(want, made, values, where):
    assert difference(made(values), want, 1e-9) == where


@pytest.mark.parametrize(
    ("got", "want", "same"),
    [
        (np.array([1e-13, 4e11]), (0.0, 4e11), True),
        (np.array([1e-3, 4e11]), (0.0, 4e11), False),
        ([1e-5, 4e11], np.array([0.0, 4e11]), True),  # what is left of 4e11 - 4e11
        ([1.0, 4e11], np.array([0.0, 4e11]), False),
        (np.array([1e-13, 0.0]), np.zeros(2), True),
        (np.array([1 + 1e-7, 2], "float32"), (1.0, 2.0), True),
        (np.array([True, False]), [True, False], True),
        ([np.array([1.0, 2.0])], [[1.0, 2.0]], True),
        (np.array([[1, 2], [3, 4]]), [(1, 2), (3, 4)], True),
    ],
)
def test_zero_is_met_as_nearly_as_rounding_leaves_it(got, want, same):
    assert equal(got, want, 1e-9) is same


@pytest.mark.parametrize(
    ("got", "want", "where"),
    [
        ([1, [2, 3]], [1, [2, 4]], (1, 1)),
        ({"a": (1, 2)}, {"a": (1, 3)}, ("a", 1)),
        ({"a": 1}, {"b": 1}, ()),
        ("ab", "ac", ()),
        (np.array([[1, 2], [3, 4]]), [(1, 2), (3, 5)], (1, 1)),
        ([1, [2]], [1, [2, 3]], (1,)),
    ],
)
def test_a_difference_is_found_where_it_is(got, want, where):
    assert difference(got, want, 1e-9) == where


@pytest.mark.parametrize("want", [(1.0, 2.0), [1.0, 2.0]])
def test_an_array_is_not_of_another_type_than_a_tuple(want):
    assert kinds(np.array([1.0, 3.0]), want) is None
    assert kinds(np.array([1.0]), want).reason == "other-length"
    assert kinds(np.array([1.0]), 1.0).reason == "other-type"
