"""Which exponents are taken for a simple fraction that was rounded."""

from fractions import Fraction

import pytest

from autograder.answers.rounded_exponents import with_simple_exponents
from autograder.values.evaluation import same, value
from autograder.values.parsing import parse


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("n**0.33", "n**(1/3)"),
        ("n**0.67", "n**(2/3)"),
        ("n**(-0.33)", "n**(-1/3)"),
        ("n**0.17", "n**(1/6)"),
        ("n**1.02", "n**1"),
        ("n**0.5099", "n**(1/2)"),
        ("n**(25/51)", "n**(1/2)"),  # two percent, exactly
        ("2*S + n**(n**0.33)", "2*S + n**(n**(1/3))"),
        ("min(S, n**0.33)", "min(S, n**(1/3))"),
    ],
)
def test_an_exponent_within_two_percent_of_a_simple_fraction_is_that(typed, meant):
    point = {"n": Fraction(5), "S": Fraction(3)}
    simple = with_simple_exponents(parse(typed, point))
    assert same(value(simple, point), value(parse(meant, point), point))
    assert not same(value(parse(typed, point), point), value(parse(meant, point), point))


@pytest.mark.parametrize(
    "typed",
    [
        "n**2",
        "n**0.5",
        "n**(1/3)",
        "n**(1/6)",
        "n**1.03",
        "n**0.49015",
        "n**0.143",
        "n**S",
        "n**(1/7)",
        "n**sqrt(2)",
        "n**(1/0)",
    ],
)
def test_any_other_exponent_stays(typed):
    tree = parse(typed, {"n", "S"})
    assert with_simple_exponents(tree) == tree
