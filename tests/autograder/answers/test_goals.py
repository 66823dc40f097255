"""Pars, limits and where a total goes: what reaches a par, and which terms are told."""

import math

import pytest

from autograder.answers import goals
from autograder.answers.fields import EXACT, SHOWN_ITEMS, Field, shown_number
from autograder.answers.goals import Breakdown, Condition, Known, Par
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


@pytest.mark.parametrize(
    ("total", "most", "reached"),
    [
        (1_000_001.0, False, True),
        (1_000_001.5, False, False),
        (999_999.0, True, True),
        (999_998.5, True, False),
    ],
)
def test_rounding_is_a_millionth(total, most, reached):
    assert goals.reaches(total, 1e6, most=most) is reached
    assert goals.reaches(-total, -1e6, most=not most) is reached


def test_of_four_terms_the_three_largest_are_told():
    told = goals.terms(Breakdown(10.0, {"d": 1.0, "a": 4.0, "c": 2.0, "b": 3.0}), "1")
    assert told == "It consists of a 4 (40 %), b 3 (30 %), c 2 (20 %)."


AT_MOST = Condition("Memory", lambda n: n, at_most=10)
AT_LEAST = Condition("Memory", lambda n: n, at_least=10)


@pytest.mark.parametrize(
    ("condition", "total", "limit", "told"),
    [
        (AT_MOST, 10, 10, ""),
        (AT_MOST, 8, 10, ""),
        (AT_LEAST, 10, 10, ""),
        (AT_LEAST, 12, 10, ""),
        (AT_MOST, 12, 10, "Memory is 12; at most 10 was expected, 2 (20 % of the limit) too much."),
        (AT_LEAST, 8, 10, "Memory is 8; at least 10 was expected, 2 (20 % of the limit) too little."),
        (AT_MOST, -6, -8, "Memory is -6; at most -8 was expected, 2 (25 % of the limit) too much."),
        (AT_MOST, 1, 0, "Memory is 1; at most 0 was expected, 1 too much."),
        (AT_MOST, 22, 2, "Memory is 22; at most 2 was expected, 20 (10 times the limit) too much."),
        (AT_MOST, 21.5, 2, "Memory is 21.5; at most 2 was expected, 19.5 (975 % of the limit) too much."),
    ],
)
def test_a_limit_that_is_not_kept_is_told_with_how_far_it_is(condition, total, limit, told):
    assert condition.broken(Breakdown(total), limit) == told


def test_a_broken_limit_is_told_with_the_terms_of_the_total():
    told = AT_MOST.broken(Breakdown(12, {"weights": 9.0, "rest": 3.0}), 10)
    assert told.endswith("too much. It consists of weights 9 (75 %), rest 3 (25 %).")


def test_a_condition_has_the_limit_and_the_words_of_its_side():
    assert (AT_MOST.limit, AT_MOST.words) == (10, "at most")
    assert (AT_LEAST.limit, AT_LEAST.words) == (10, "at least")
    assert Condition("Memory", lambda n: n, at_most=0).words == "at most"


def test_the_goals_are_plain_data_of_eight_digits():
    known = [Known(1.23456789012, "her")]
    made = goals.goals_of({"n": 2}, [], known, [Condition("Room", lambda n: n, at_least=lambda n: n / 3)], most=True)
    assert made["best"] == 1.2345679
    assert made["limits"] == [["Room", "at least", 0.66666667, "1"]]
    assert set(made) == goals.GOALS
    assert goals.goals_of({}, [], [], [], most=True)["holder"] == ""


@pytest.mark.parametrize("unit", ["1", "B"])
@pytest.mark.parametrize("total", [math.inf, math.nan])
def test_a_total_that_is_not_finite_is_told_without_how_far_it_is(unit, total):
    told = Condition("Memory", lambda n: n, at_most=10, unit=unit).broken(Breakdown(total), 10)
    assert told.startswith("Memory is ")
    assert told.endswith("was expected.")
    assert "too much" not in told
