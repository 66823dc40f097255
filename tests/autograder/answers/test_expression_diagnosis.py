import re

import pytest
import sympy

from autograder.answers import Expression, integers, positive
from autograder.declaration import Exercise
from autograder.values import encoding
from tests.autograder.answers.test_expression import CASES, RING, ROOF

EXACT = "2*(n-1)*alpha + 2*(n-1)/n*S/W"
PARAMS = Exercise(
    id="t-params",
    prompt="?",
    answer=Expression({"P": positive("param", 1, 1e12), "n": integers(1, 512)}, unit="B"),
    solution=lambda P, n: 16 * P / n,
)


def say(exercise, answer):
    verdict = exercise.judge_message(encoding.encode(answer))
    assert verdict.score == 0
    return verdict.say


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("S", ["in s", "in B"]),
        ("n", ["in s", "plain numbers"]),
        ("S*W", ["B^2/s"]),
        ("S + alpha", ["adds", "in B", "in s"]),
        ("max(S/W, S)", ["compares"]),
        ("log2(S)*alpha", ["log2", "in B"]),
        ("alpha**n", ["power"]),
        ("2**alpha", ["exponent"]),
        ("where(S > alpha, alpha, alpha)", ["compares"]),
        ("where(n > 3, alpha, S)", ["cases"]),
        ("W/S", ["1/s"]),
        ("sqrt(S)/W", ["s"]),
    ],
)
def test_its_dimension(answer, words):
    for word in words:
        assert word in say(RING, answer)


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (f"2*({EXACT})", " 2 times too large"),
        (f"({EXACT})/2", "2 times too small"),
        (f"({EXACT})*7/2", "7/2 times too large"),
        (f"-({EXACT})", "sign"),
        (f"({EXACT})*1.0737", "times too large"),
        (f"({EXACT})*(1 - 1e-9)", "1.000000001 times too small"),
    ],
)
def test_a_constant_ratio(answer, word):
    assert word in say(RING, answer)


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (f"n*({EXACT})", "a factor n too many"),
        (f"({EXACT})/n", "lacks a factor n"),
        (f"({EXACT})*n**2", "n^2 too many"),
        (f"({EXACT})*sqrt(n)", "sqrt(n) too many"),
        (f"3*n*({EXACT})", "n too many, and "),
    ],
)
def test_a_factor_and_in_which_letter(answer, word):
    assert word in say(RING, answer)


@pytest.mark.parametrize("answer", ["S + 1", "S + 1/3", "S + T", "S", "S*T*G + 1", "0*S", "1/(S + 1)"])
def test_a_letter_that_may_be_zero(answer):
    attention = Exercise(
        id="t-attention",
        prompt="?",
        answer=Expression({"T": integers(1, 65536), "S": integers(0, 131072), "G": integers(1, 64)}),
        solution=lambda T, S, G: G * (T * S + T * (T + 1) / 2) / (T * G + S + T),
    )
    assert say(attention, answer).startswith("Not yet")


def test_factors_of_several_letters():
    text = say(ROOF, "max(F/C, M/W)*F/M*W/C")
    assert re.search(r"\bF W\b.* too many .*\bM C\b", text)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("2*n*alpha + 2*S/W", ["large n", "exactly"]),
        ("2*(n-1)*alpha + 2*S/W", ["large n"]),
        ("2*(n-1)/n*S/W", ["no alpha", "alpha is negligible"]),
        ("2*(n-1)*alpha", ["S is negligible", "no S"]),
    ],
)
def test_right_only_in_a_limit(answer, words):
    for word in words:
        assert word in say(RING, answer)


@pytest.mark.parametrize(("exercise", "answer"), [(ROOF, "F/C"), (ROOF, "M/W"), (CASES, "S/400"), (CASES, "S/(50*Y)")])
def test_right_in_one_case(exercise, answer):
    text = say(exercise, answer)
    assert "in one case" in text
    assert "yours gives" in text


def test_off_by_a_factor_of_one_letter_alone():
    assert " n alone" in say(RING, f"({EXACT})*(n+1)/(n-1)*2")


@pytest.mark.parametrize(
    ("answer", "word"),
    [("(n-1)*(n-2)*alpha", " S, W"), ("where(n>2, 3, 7)*alpha + S/W*n**2*5", "At n = ")],
)
def test_letters_or_else_a_counterexample_with_the_learners_own_value(answer, word):
    text = say(RING, answer)
    assert word in text


def test_a_counterexample_does_not_give_the_solution_away():
    text = say(ROOF, "min(F/C, M/W)")
    assert "At F = " in text
    assert "yours gives" in text
    assert "expected" not in text


def test_no_value_where_the_solution_has_one():
    assert "no value" in say(CASES, "where(Y <= 8, S/400, S/(50*Y))*(Y - 9)/(Y - 9)")


def test_where_the_solution_holds_a_unit_itself_dimensions_are_not_held_against_the_learner():
    # 16 bytes a parameter: the number carries the unit.
    text = say(PARAMS, "12*P/n")
    assert "4/3 " in text


def test_zero():
    assert "zero" in say(RING, sympy.Integer(0))


@pytest.mark.parametrize("answer", [f"2*({EXACT})", f"n*({EXACT})", "2*S/W", "S", "n*alpha", "7*alpha + S/W/n"])
def test_no_sentence_holds_the_solution(answer):
    assert "2*(n" not in say(RING, answer)


BRANCH = Exercise(
    id="t-branch",
    prompt="?",
    answer=Expression(
        {"p": positive("1", 0.001, 0.999), "a": positive("1", 1, 1000), "b": positive("1", 1, 1000),
         "w": integers(1, 64)}
    ),
    solution=lambda p, a, b, w: a * (1 - (1 - p) ** w) + b * (1 - p**w),
)  # fmt: skip


def test_a_share_is_never_said_to_be_large():
    assert "large p" not in say(BRANCH, "a*(1 - (1 - p)**w) + b*(1 - p**w) + 1")


def test_a_letter_that_is_missing_is_named_beside_a_limit_of_another():
    said = say(BRANCH, "a*(1 - (1 - p)**32) + b*(1 - p**32)")
    assert "no w " in said
