"""Pars, limits and where a total goes: what reaches a par, and which terms are told."""

import math

import pytest

from autograder.answers import goals
from autograder.answers.fields import EXACT, SHOWN_ITEMS, Field, shown_number
from autograder.answers.goals import Breakdown, Known, Par
from autograder.declaration import DeclarationError
from autograder.values.numbers import Unreadable


@pytest.mark.parametrize(
    ("total", "most", "reached"),
    [
        (100.0, False, True),
        (100 * (1 + 0.9 * goals.ROUNDING), False, True),
        (100 * (1 + 1.1 * goals.ROUNDING), False, False),
        (100 * (1 - 0.9 * goals.ROUNDING), True, True),
        (100 * (1 - 1.1 * goals.ROUNDING), True, False),
        (50.0, False, True),
        (50.0, True, False),
        (math.nan, False, False),
        (math.nan, True, False),
    ],
)
def test_a_par_is_reached_up_to_rounding(total, most, reached):
    assert goals.reaches(total, 100.0, most=most) is reached


@pytest.mark.parametrize(
    ("total", "parts", "told"),
    [
        (4.0, {"a": 1.0, "b": 3.0}, "It consists of b 3 (75 %), a 1 (25 %)."),
        (1.0, {"a": 0.5, "b": 0.5, "c": 0.0}, "It consists of a 0.5 (50 %), b 0.5 (50 %)."),
        (1.0, {"a": 2.0, "b": -1.0}, "It consists of a 2 (200 %)."),
        (1.0, {}, ""),
        (0.0, {"a": 1.0}, ""),
        (math.inf, {"a": 1.0}, ""),
    ],
)
def test_a_total_is_told_by_its_largest_terms(total, parts, told):
    assert goals.terms(Breakdown(total, parts), "1") == told


def test_so_many_terms_are_told():
    parts = {f"t{at}": 1.0 for at in range(goals.MOST_TERMS + 1)}
    told = goals.terms(Breakdown(9.0, parts), "1")
    assert f"t{goals.MOST_TERMS - 1} " in told
    assert f"t{goals.MOST_TERMS} " not in told


@pytest.mark.parametrize(("most", "best", "holder"), [(False, 2.0, "her"), (True, 8.0, "him")])
def test_the_best_known_value_is_the_least_or_the_most(most, best, holder):
    known = [Known(8.0, "him"), Known(lambda n: n, "her"), Known(5.0, "them")]
    made = goals.goals_of({"n": 2}, [Par(2, lambda n, best: best * n), Par(1, 9.0, "a table")], known, [], most=most)
    assert (made["best"], made["holder"]) == (best, holder)
    assert made["pars"] == [[2, 2 * best, ""], [1, 9.0, "a table"]]
    with pytest.raises(ValueError, match="a finite number was expected"):
        goals.goals_of({"n": math.inf}, [], [Known(lambda n: n, "?")], [], most=most)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (EXACT - 1, f"{EXACT - 1:,}"),
        (EXACT, "about 1e+15"),
        (1234.5, "1234.5"),
        (99_998.5, "99998"),
        (99_999.4, "99,999"),
        (10**400, "more than 1e308"),
        (-2.5, "-2.5"),
    ],
)
def test_a_number_is_shown_however_large_it_is(value, shown):
    assert shown_number(value, "1") == shown


COUNT = Field("how many", 1, 8, whole=True)
MANY = Field("how many each", 0, 8, items=2)


@pytest.mark.parametrize(
    ("field", "value", "read"),
    [
        (COUNT, 1, 1),
        (COUNT, "8", 8),
        (MANY, [8], [8.0]),
        (MANY, (0, 8), [0.0, 8.0]),
        (Field("", 0, 1, options=("x",)), " x ", "x"),
    ],
)
def test_a_field_takes_what_lies_within(field, value, read):
    assert field.read(value) == read


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        (COUNT, 0, "out-of-range"),
        (COUNT, 9, "out-of-range"),
        (COUNT, 1.5, "not-whole"),
        (MANY, 8, "not-a-list"),
        (MANY, "8", "not-a-list"),
        (MANY, {}, "not-a-list"),
        (MANY, [], "no-items"),
        (MANY, [1, 2, 3], "too-many-items"),
        (MANY, [1, 9], "out-of-range"),
        (Field("", 0, 1, options=("x",)), "y", "not-an-option"),
    ],
)
def test_a_field_refuses_the_rest_with_its_reason(field, value, reason):
    with pytest.raises(Unreadable) as refused:
        field.read(value)
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("changes", "good"),
    [
        ({}, True),
        ({"items": 1000}, True),
        ({"items": 1001}, False),
        ({"items": -1}, False),
        ({"items": 1.0}, False),
        ({"least": 8}, False),
        ({"least": 7.999}, True),
        ({"most": math.inf}, False),
        ({"least": -math.inf}, False),
        ({"least": math.nan}, False),
        ({"meaning": " "}, False),
        ({"meaning": "a|b"}, False),
        ({"meaning": "a\nb"}, False),
        ({"options": "ab"}, False),
        ({"options": ("a", 1)}, False),
        ({"options": ("a",), "least": 8}, True),
    ],
)
def test_a_field_is_declared_with_ends_that_bound_the_work(changes, good):
    field = Field(**({"meaning": "how many", "least": 0, "most": 8} | changes))
    if good:
        field.declare("t-x")
        return
    with pytest.raises(DeclarationError, match="t-x: "):
        field.declare("t-x")


def test_of_a_long_list_the_beginning_is_said_back():
    field = Field("how many", 0, 8, items=99)
    assert field.shown([1] * SHOWN_ITEMS).count("1") == SHOWN_ITEMS
    assert field.shown([1] * SHOWN_ITEMS).endswith(", 1]")
    assert field.shown([1] * (SHOWN_ITEMS + 1)).endswith("1, …]")
