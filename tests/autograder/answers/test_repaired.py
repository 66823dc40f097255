"""A formula that is right but for one change: which kind of change it is, and that no other is said to be."""

import random

import pytest

from autograder.answers.repaired import SAY, one_change
from autograder.values.evaluation import Undefined, same, value
from autograder.values.parsing import parse

LETTERS = ["n", "S", "W", "V"]
RNG = random.Random(0)
POINTS = [dict(zip(LETTERS, (RNG.randint(2, most) for most in (64, 64, 4000, 4000)), strict=True)) for _ in range(12)]
LARGER, ROUNDED, SUM = "max(n*S, W) + V", "ceil(S/W)*n + V", "n*S/(W + V) + S/(1 + W)"


def alike(tree, other):
    for point in POINTS:
        try:
            expected = value(other, point)
        except Undefined:
            continue
        try:
            if not same(value(tree, point), expected):
                return False
        except Undefined:
            return False
    return True


def told(solution, text):
    finding = one_change(parse(text, LETTERS), parse(solution, LETTERS), LETTERS, alike)
    return "" if finding is None else finding.reason


@pytest.mark.parametrize(
    ("solution", "text", "reason"),
    [
        (LARGER, "min(n*S, W) + V", "max-for-min"),
        (LARGER, "max(n*S, W) - V", "one-sign"),
        (LARGER, "max(S/n, W) + V", "one-exponent"),
        (LARGER, "max(n*S, V) + W", "letters-exchanged"),
        (LARGER, "max(n*S, V) + V", "other-letter"),
        (LARGER, "max(n*S, W) + V + n", "term-too-many"),
        (LARGER, "max(n*S, W)", "term-missing"),
        (ROUNDED, "floor(S/W)*n + V", "rounded-otherwise"),
        (SUM, "n*S/(W + V) + S/(2 + W)", "one-number"),
        (SUM, "n*S/(W + V)^2 + S/(1 + W)", "one-exponent"),
        ("n*S/(1 + W)", "n*S", "factor-missing"),
        ("S + n*S", "S", "term-missing"),
        (LARGER, "max(n*S, W) + V - S", "term-too-many"),
    ],
)
def test_the_kind_of_the_one_change_is_told(solution, text, reason):
    assert told(solution, text) == reason


@pytest.mark.parametrize("text", ["n*S", "n*S/(W + V) - S/(2 + W)", "S/n", "V", "7"])
def test_where_more_than_one_thing_is_wrong_no_change_is_told(text):
    assert told(SUM, text) == ""


def test_what_is_left_of_a_quotient_lacks_no_term():
    assert told("S*W/(W + V)", "S") == ""


def test_a_sentence_has_no_letter_and_no_number_of_the_answer():
    assert all(letter not in say.split() for say in SAY.values() for letter in LETTERS)
