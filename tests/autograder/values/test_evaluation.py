import time
from fractions import Fraction

import pytest

from autograder.values.evaluation import Clock, TooSlow, Undefined, compare, constant, real, same, value
from autograder.values.parsing import parse
from autograder.values.trees import TreeError

NAMES = ("n", "x", "y")


def at(text, **point):
    return value(parse(text, NAMES), {k: Fraction(v) for k, v in point.items()}, Clock(5))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("2*(n-1)/n", Fraction(7, 4)),
        ("0.1*n", Fraction(4, 5)),
        ("n**-2", Fraction(1, 64)),
        ("2**n", Fraction(256)),
        ("sqrt(n*2)", 4),
        ("n**(1/3)", 2),
        ("log2(n)", 3),
        ("ceil(n/3)", 3),
        ("floor(-n/3)", -3),
        ("-n//3", -3),
        ("n % 3", 2),
        ("-n % 3", 1),
        ("abs(-n)", 8),
        ("max(n, 3, 9)", 9),
        ("min(n, 3)", 3),
        ("where(n > 7, 1, 2)", 1),
        ("1 if n == 8 else 2", 1),
        ("where(not n > 7, 1, 2)", 2),
        ("0**0", 1),
        ("0*n", 0),
        ("ceil(log(n)/log(2))", 3),
        ("floor(log(n)/log(2))", 3),
        ("where(2 < n <= 8, 1, 0)", 1),
        ("where(n < 3 or n > 7, 1, 0)", 1),
        ("log(1)", 0),
        ("ceil(sqrt(2)*sqrt(2))", 2),
        ("where(sqrt(2)*sqrt(2) > 2, 1, 0)", 0),
    ],
)
def test_arithmetic_is_exact(text, want):
    assert at(text, n=8) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("log(n)", 2.0794415416798357),
        ("exp(1)", 2.718281828459045),
        ("pi*n", 25.132741228718345),
        ("n**0.3", 1.8660659830736148),
        ("sqrt(n)", 2.8284271247461903),
    ],
)
def test_what_is_not_rational_has_forty_digits(text, want):
    assert float(at(text, n=8)) == pytest.approx(want, rel=1e-15)
    assert same(at(text, n=8), at(text, n=8))


@pytest.mark.parametrize(
    "text",
    [
        "1/(n-8)",
        "log(n-8)",
        "log(-n)",
        "sqrt(-n)",
        "0**(-n)",
        "n % 0",
        "10**10**10",
        "exp(exp(exp(n)))",
        "n**n**n**n",
        "(0-2)**0.5",
        "log2(0)",
        "exp(10**30)",
        "Piecewise((1, n > 9))",
    ],
)
def test_where_there_is_no_value_it_says_so_at_once(text):
    start = time.monotonic()
    with pytest.raises(Undefined):
        at(text, n=8)
    assert time.monotonic() - start < 1


def test_the_clock_stops_an_evaluation():
    with pytest.raises(TooSlow):
        value(parse("n + 1", NAMES), {"n": Fraction(1)}, Clock(-1))


def test_long_fractions_are_rounded_not_dragged_along():
    text = "+".join(f"1/(n+{i})" for i in range(50))
    start = time.monotonic()
    for _ in range(20):
        at(f"({text})**60", n=7)
    assert time.monotonic() - start < 2


def test_comparison_of_floats_forgives_rounding_only():
    assert compare(at("sqrt(2)*sqrt(3)"), at("sqrt(6)")) == 0
    assert compare(at("sqrt(2)"), at("sqrt(2) + 1/10**20")) == -1


@pytest.mark.parametrize(("text", "want"), [("2*3", 6), ("sqrt(2)**2", 2), ("1/3", Fraction(1, 3))])
def test_a_constant(text, want):
    assert abs(constant(parse(text, ())) - want) < Fraction(1, 10**25)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("x + 1", "letters"), ("1 < 2", "truth-value"), ("1/0", "no-value")],
)
def test_what_is_no_constant(text, reason):
    with pytest.raises(TreeError) as refused:
        constant(parse(text, ()))
    assert refused.value.reason == reason


THIRD, TENTH = Fraction(1, 3), Fraction(1, 10)


@pytest.mark.parametrize("make", [lambda x: x, real], ids=["exact", "float"])
@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [
        (Fraction(10), Fraction(10), True),
        (Fraction(10), Fraction(9), True),  # a tenth of the larger one
        (Fraction(9), Fraction(10), True),
        (Fraction(10), Fraction(899, 100), False),
        (Fraction(-10), Fraction(-9), True),
        (Fraction(10), Fraction(-10), False),
        (Fraction(0), Fraction(0), True),
        (Fraction(0), Fraction(1, 10**9), False),
    ],
)
def test_within_a_tolerance_of_the_larger_one(make, a, b, alike):
    assert same(make(a), make(b), TENTH) is alike


@pytest.mark.parametrize(("digits", "alike"), [(24, False), (26, True)])
def test_without_one_fractions_are_the_same_exactly_and_floats_in_25_digits(digits, alike):
    near = THIRD * (1 + Fraction(1, 10**digits))
    assert not same(THIRD, near)
    assert same(THIRD, THIRD)
    assert same(real(THIRD), real(near)) is alike
    assert compare(real(THIRD), real(near)) == (0 if alike else -1)
    assert compare(THIRD, near) == -1
    assert compare(near, THIRD) == 1
    assert same(real(THIRD), real(near), Fraction(0)) is alike  # no tolerance is narrower
