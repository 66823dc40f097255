"""What is said of a formula that nothing explains holds of it."""

import pytest

from autograder.answers import Expression, positive
from autograder.answers.domains import integers
from autograder.declaration import Exercise

TWO_SIDES = Exercise(
    id="a-warp",
    prompt="How long?",
    answer=Expression(
        {"p": positive("1", 0.001, 1), "a": positive("1", 1, 9), "b": positive("1", 1, 9), "w": integers(1, 64)}
    ),
    solution=lambda p, a, b, w: a * (1 - (1 - p) ** w) + b * (1 - p**w),
)
RATES = Exercise(
    id="some-rates",
    prompt="How much?",
    answer=Expression({"R": positive("1", 1, 100), "x": positive("1", 1, 9), "y": positive("1", 1, 9)}),
    solution=lambda R, x, y: R * (x + y) ** 2 / y,
)
SHARES = Exercise(
    id="some-shares",
    prompt="How much?",
    answer=Expression({"p": positive("1", 0.01, 0.4), "q": positive("1", 0.01, 0.4)}),
    solution=lambda p, q: p + q,
)
SERIES = Exercise(
    id="a-series",
    prompt="How much?",
    answer=Expression({"p": positive("1", 0.01, 1), "n": positive("1", 2, 9)}),
    solution=lambda p, n: n / (1 + p),
)


@pytest.mark.parametrize(
    ("exercise", "answer", "reason", "words"),
    [
        (TWO_SIDES, "(a + b)/2*(1 - (1-p)**w + 1 - p**w)", "right-where-equal", "where a = b"),
        (TWO_SIDES, "w*(a*p + b*(1 - p))", "right-at-first", "for w = 1"),
        (RATES, "R*(x**3 + 5*y**3)/y**2", "some-letters", "depends on x and y; with R it goes as it should"),
        (SHARES, "p + (1 + q)/3", "amount-of-letters", "depends on q and not on p"),
        (SERIES, "n - n*p", "limit-of-small", "the first effect of p is right too"),
        (SERIES, "n/(1 + p)**3", "one-exponent", "wrong power"),
        (SERIES, "n - n*p/(1 + 7*p)/2", "limit-of-small", "half as large"),
        (SERIES, "n + n*p/(1 + 7*p)", "limit-of-small", "of the wrong sign"),
        (SERIES, "n - n*p*p/(1 + 7*p)", "limit-of-small", "is missing"),
    ],
)
def test_what_is_said_of_a_formula_holds(exercise, answer, reason, words):
    verdict = exercise.judge(answer, exercise.variant())
    assert verdict.score == 0
    assert (verdict.reason, words in verdict.say) == (reason, True), verdict
