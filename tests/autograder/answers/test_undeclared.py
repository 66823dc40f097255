"""The declaration that a teacher is given to paste recognises the answer that it was made of."""

from dataclasses import replace

import pytest

from autograder.answers import Choice, Estimates
from autograder.answers.undeclared import products
from autograder.declaration import Exercise, Mistake
from hwlib import formula
from tests.autograder.course.report.made import COPY, MEAN, STEPS, TERM, WHY

THREE = Exercise(
    id="made-three",
    prompt="Which?",
    solution="b",
    answer=Choice({"a": "one", "b": "two", "c": "three"}),
    mistakes=(Mistake("a", "No."),),
)
TIMES = Exercise(
    id="made-times",
    prompt="How long?",
    answer=Estimates({"small": "a small one", "large": "a large one"}, "s"),
    solution=lambda: [1e-3, 2e-3],
    mistakes=(Mistake(lambda: [2e-3, 4e-3], "Twice."),),
)
WRONG = [
    (COPY, [0.123, "5 ms", "0.4 s", 1e8 / 5e10 / 3]),
    (STEPS, [31, "100", 8 * 7]),
    (TERM, ["S/W + S", "2**S/W", "max(S, W)/3", "S - (W - S)"]),
    (THREE, ["c", "three"]),
    (TIMES, [[3e-3, 9e-3], "5 ms; 7 ms"]),
]


@pytest.mark.parametrize(
    ("exercise", "wrong"),
    [pytest.param(one, wrong, id=f"{one.id}-{wrong}") for one, several in WRONG for wrong in several],
)
def test_a_pasted_declaration_catches_the_answer(exercise, wrong):
    assert exercise.judge(wrong).kind in ("wrong", "unit")
    value = exercise.answer.declared_as(exercise, [(wrong, exercise.variant())])
    pasted = Mistake(eval(value, vars(formula).copy()), "Caught.")
    told = replace(exercise, mistakes=(pasted,)).judge(wrong)
    assert (told.kind, told.say) == ("mistake", "Caught.")


def test_a_function_is_declared_by_its_arguments_and_a_text_not_at_all():
    assert MEAN.answer.declared_as(MEAN, []) == "lambda xs: ..."
    assert WHY.answer.declared_as(WHY, [("text", {})]) == ""
    assert WHY.answer.formulas(WHY, [("text", {})]) == [{}]


def test_products_are_of_positive_numbers_and_in_the_unit_of_the_answer():
    given = COPY.variant()
    (found,) = products(COPY, [(given["S"] / given["W"] * given["n"], given)], "s")
    assert found["S*n/W"] == 3
    assert all(eval(formula, dict(given)) == pytest.approx(given["S"] / given["W"] * given["n"]) for formula in found)
    assert products(COPY, [(-1.0, given), (float("nan"), given)], "s") == [{}, {}]
    assert not products(COPY, [(given["W"] / given["S"], given)], "s")[0]


@pytest.mark.parametrize("exercise", [COPY, STEPS, TERM, THREE, TIMES, MEAN], ids=lambda one: one.id)
def test_every_kind_says_how_exact_an_answer_must_be(exercise):
    assert exercise.answer.tolerance(exercise, exercise.variant())


def test_right_is_what_the_verdict_says():
    for exercise, several in WRONG:
        for wrong in several:
            assert not exercise.answer.right(exercise, wrong, exercise.variant())
    assert COPY.answer.right(COPY, "2 ms", COPY.variant())
    assert STEPS.answer.right(STEPS, 14, STEPS.variant())
    assert THREE.answer.right(THREE, "two", {})
