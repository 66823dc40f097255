"""What a notebook's cell leaves in the record is what one would type into a field for it."""

import numpy as np
import pytest
import sympy

import autograder
from autograder.learner import lookup
from autograder.learner.attempt import as_typed
from autograder.learner.progress import Progress

n, S = sympy.symbols("n S")
CELL = 'n, S = symbols("t-ring")\nanswer = {}'


@pytest.mark.parametrize(
    ("exercise", "source", "answer", "typed"),
    [
        ("t-time", "20 us", "20 us", "20 us"),
        ("t-time", "answer = 2*10**-6", 2e-6, "2*10**-6"),
        ("t-time", "n, a = 10, 2e-6  # two lines\nanswer = n*a", 2e-5, "2e-05"),
        ("t-time", "answer = total / np.float32(4)", np.float64(3.0), "3"),
        ("t-time", "", 2e-5, "2e-05"),
        ("t-ring", CELL.format("S*(n - 1)/n"), S * (n - 1) / n, "S*(n - 1)/n"),
        ("t-ring", CELL.format("(S*(n - 1)\n          /n)"), S * (n - 1) / n, "S*(n - 1) /n"),
        ("t-ring", "steps = n - 1\nanswer = S*steps/n", S * (n - 1) / n, "S*(n - 1)/n"),
        ("t-fun", "def f(x):\n    return x", lambda x: x, "def f(x):\n    return x"),
        ("t-time", "answer = object()", object(), "answer = object()"),
    ],
)
def test_an_answer_is_kept_as_it_would_be_typed(open_book, exercise, source, answer, typed):
    assert as_typed(lookup.find(exercise), source, answer) == typed


def test_what_is_recorded_can_be_checked_again(open_book):
    given = autograder.given("t-time")
    autograder.check("t-time", given["n"] * given["a"])
    kept = Progress.here().entry("t-time")["answer"]["source"]
    assert autograder.check("t-time", kept).kind == "right"


def test_an_empty_cell_says_that_the_record_has_an_answer(open_book):
    assert "Your record" not in autograder.check("t-time").say
    given = autograder.given("t-time")
    autograder.check("t-time", given["n"] * given["a"])
    assert 'Your record has 3 of 3 points here: `card("t-time")`' in autograder.check("t-time").say
