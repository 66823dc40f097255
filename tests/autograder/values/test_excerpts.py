from fractions import Fraction

import numpy as np
import pytest

from autograder.values.compare import at, place
from autograder.values.encoding import Callable
from autograder.values.excerpts import LONG, element, excerpt, fitted, size_of, text_of


@pytest.mark.parametrize(
    ("value", "path", "text"),
    [
        ([1, 2], (1,), "[1, 2]"),
        ((5,), (0,), "(5,)"),
        (list(range(100)), (50,), "[…, 48, 49, 50, 51, 52, …]"),
        (list(range(100)), (99,), "[…, 97, 98, 99]"),
        (tuple(range(100)), (0,), "(0, 1, 2, …)"),
        (np.arange(100), (50,), "[…, 48, 49, 50, 51, 52, …]"),
        ("x" * 50 + "y" + "z" * 50, (50,), "…'" + "x" * 20 + "y" + "z" * 19 + "'…"),
        (dict.fromkeys(range(9), "a" * 20), (4,), "{…, 4: '" + "a" * 20 + "'}"),
        ([[0] * 99] * 9, (8, 98), "[…, " + ("[" + "0, " * 12 + "…], ") * 2 + "[…, 0, 0, 0]]"),
    ],
)
def test_an_excerpt_shows_the_place(value, path, text):
    assert excerpt(value, path) == text
    assert len(text) <= LONG


@pytest.mark.parametrize(
    ("got", "want", "path"),
    [
        ([1, 2, 3], [1, 2], (2,)),
        ([1, 3], [1, 2, 3], (1,)),
        ("abcd", "abxd", (2,)),
        ({"a": [1, "abc"]}, {"a": [1, "ab"]}, ("a", 1, 2)),
        (1, 2, ()),
        ("a", 1, ()),
    ],
)
def test_the_place_of_a_difference_goes_into_lists_and_texts(got, want, path):
    assert place(got, want, 1e-9) == path


def test_an_element_is_named_as_python_writes_it():
    assert element((1, "a", 0)) == "[1]['a'][0]"
    assert at({"x": [1, np.array([2, 3])]}, ("x", 1, 0)) == 2


@pytest.mark.parametrize(
    ("small", "large"), [((1,), (1, 2)), (("ab",), ("abc",)), ((2,), (10,)), (({1: 2},), ([1] * 3,))]
)
def test_fewer_and_shorter_arguments_are_smaller(small, large):
    assert size_of(small) < size_of(large)


def test_a_huge_integer_is_told_by_its_size():
    assert text_of(2**300) == "an integer of 301 bits"


def test_what_python_refuses_to_write_out_is_long():
    huge = Fraction(10**5000, 3)
    assert excerpt([1.0, huge, 2.0], (1,)) == f"[1, {text_of(huge)}, 2]"
    assert size_of([huge])[1] > LONG


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1 / 3, "0.3333333333"),
        (2**200 - 1, str(2**200 - 1)),
        (2**200, "an integer of 201 bits"),
        (np.arange(8), "array([0, 1, 2, 3, 4, 5, 6, 7])"),
        (np.arange(9), "array of shape (9,)"),
        (list(range(12)), str(list(range(12)))),
        (list(range(13)), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …]"),
        ((1,), "(1,)"),
        ((1, 2), "(1, 2)"),
        ((), "()"),
        ({n: n for n in range(12)}, str({n: n for n in range(12)})),
        ({n: n for n in range(13)}, str({n: n for n in range(12)})[:-1] + ", …}"),
        ({"a": [1.0]}, "{'a': [1]}"),
        (Fraction(1, 3), "0.3333333333"),
        (Callable("f"), "the function f"),
        ("a" * 198, repr("a" * 198)),
        ("a" * 199, "'" + "a" * 199),
        (None, "None"),
        (True, "True"),
        (1 + 2j, "(1+2j)"),
        (..., "ellipsis"),
    ],
)
def test_a_value_is_written_short(value, text):
    assert text_of(value) == text


@pytest.mark.parametrize(
    ("value", "numbers"),
    [(5, 1), ("", 1), ("abc", 3), ([], 0), ([1, "ab"], 3), ({"a": [1, 2]}, 3), (np.zeros((2, 3)), 6), (None, 1)],
)
def test_numbers_and_letters_are_counted(value, numbers):
    assert size_of(value)[0] == numbers


def test_a_text_of_a_hundred_letters_is_not_cut():
    for letters, cut in ((98, False), (99, True)):
        assert ("…" in excerpt("a" * letters, (50,))) is cut


@pytest.mark.parametrize(
    ("value", "path", "text"),
    [
        ([0] * 11 + [7], (11,), "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]"),
        ([0] * 15 + [7], (15,), "[…, 0, 0, 7]"),
        ([[0] * 12 + [7]], (0, 12), "[[…, 0, 0, 7]]"),
        ({n: n for n in range(13)}, (12,), "{…, 12: 12}"),
        (np.array([0] * 8 + [7]), (8,), "[…, 0, 0, 7]"),
    ],
)
def test_the_place_is_shown_where_a_short_value_is_cut_before_it(value, path, text):
    assert excerpt(value, path) == text


@pytest.mark.parametrize(
    ("values", "room", "text"),
    [
        ([1, 2], 6, "1, 2"),
        ([], 6, ""),
        (["a" * 50, 7, "x"], 30, "'aaaaaaaaaaaaaaaaaaaa…, 7, 'x'"),
        ([[0] * 12, [1] * 12, 3], 40, "[0, 0, 0, 0, 0, …, [1, 1, 1, 1, 1, …, 3"),
        ([{"K": [0] * 12, "last": "b" * 40}], 40, "{'K': [0, 0, 0,…, 'last': 'bbbbbbbb…}"),
        ([{"K": [0] * 12, "last": 3}, 5], 18, "{'K': [0, 0, 0…, 5"),
    ],
)
def test_values_that_are_too_long_are_cut_so_that_each_is_seen(values, room, text):
    assert fitted(values, room) == text
    assert len(text) <= room
