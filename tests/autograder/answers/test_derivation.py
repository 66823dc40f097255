"""How a number of one's own follows: a formula where the solution is one, or else its code."""

import math

import pytest

from autograder.answers import Quantity
from autograder.answers.derivation import derivation
from autograder.declaration import Exercise


def exercise(solution, **given):
    return Exercise(
        id="t-x",
        prompt="How long do {S:B} take at {W:B/s}?",
        answer=Quantity("s"),
        given=given or {"S": [4e9, 8e9], "W": [2e9]},
        solution=solution,
    )


def derived(solution, **given):
    made = exercise(solution, **given)
    return derivation(made, made.variant())


def test_a_formula_is_shown_with_the_numbers_of_the_prompt():
    text = derived(lambda S, W: S / W)
    assert text.startswith("$$\n\\frac{S}{W}\n$$\n\nwith ")
    assert text.endswith("4 GB and $W$ = 2 GB/s.")


def test_what_is_no_formula_is_shown_as_code():
    text = derived(lambda S, W: math.ceil(S / W))
    assert text.startswith("```python\nanswer = math.ceil(S / W)\n```\n\nwith ")
    assert "```python" in derived(lambda S, W: S / W if S > 1 else W)


def test_a_formula_with_a_number_that_was_computed_is_shown_as_code():
    assert derived(lambda S, W: S / W * 0.123456).startswith("$$")
    assert derived(lambda S, W: S / W * 0.1234567).startswith("```python")


@pytest.mark.parametrize("solution", [2.0, lambda: 2.0])
def test_a_solution_that_takes_no_numbers_follows_from_none(solution):
    made = Exercise(id="t-x", prompt="?", answer=Quantity("s"), solution=solution)
    assert derivation(made, made.variant()) == ""


def test_one_number_stands_alone():
    made = Exercise(id="t-x", prompt="{n}?", answer=Quantity("1"), given={"n": [3]}, solution=lambda n: 2 * n)
    assert derivation(made, made.variant()) == "$$\n2 n\n$$\n\nwith $n$ = 3."
