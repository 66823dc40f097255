"""Answers in words as they are declared: rubrics, lengths, and when nothing was written."""

import math

import pytest

from autograder.answers import Written
from autograder.answers.written import STUB, count_words, problems, rubric_markdown, untouched
from autograder.declaration import DeclarationError, Exercise

RUBRIC = (("Names it.", 1), ("Says why.", 1.5))


def exercise(solution="One two three.", rubric=RUBRIC, words=3, **more):
    return Exercise(id="t-why", prompt="Why?", answer=Written(rubric=rubric, words=words), solution=solution, **more)


def test_a_model_answer_within_its_length_has_no_problem():
    assert problems(exercise()) == []
    assert "4 words, more than the 3" in problems(exercise("One two three four."))[0]


@pytest.mark.parametrize("solution", ["", "  \n", 7])
def test_a_model_answer_is_a_text(solution):
    (problem,) = problems(exercise(solution))
    assert "a model answer in Markdown was expected" in problem


def test_criteria_differ_and_the_model_answer_is_no_learners():
    assert "two criteria are the same" in problems(exercise(rubric=(("Same.", 1), ("Same.", 2))))
    assert "stands in the learner's edition" in problems(exercise("Why?"))[-1]


@pytest.mark.parametrize(
    ("rubric", "good"),
    [
        (RUBRIC, True),
        ([["Names it.", 0.001]], True),
        ((), False),
        ("ab", False),
        (7, False),
        ((("Names it.", 0),), False),
        ((("Names it.", -1),), False),
        ((("Names it.", math.inf),), False),
        ((("Names it.", math.nan),), False),
        ((("Names it.", True),), False),
        ((("Names it.", "1"),), False),
        (((" ", 1),), False),
        (((7, 1),), False),
        ((("Names it.", 1, 2),), False),
    ],
)
def test_a_rubric_is_criteria_with_points_above_zero(rubric, good):
    if good:
        assert exercise(rubric=rubric).answer.worth(None) == math.fsum(points for _, points in rubric)
        return
    with pytest.raises(DeclarationError, match="rubric is"):
        exercise(rubric=rubric)


@pytest.mark.parametrize(
    ("more", "good"),
    [
        ({"words": 1}, True),
        ({"words": 0}, False),
        ({"words": 1.5}, False),
        ({"points": 2.5}, True),
        ({"points": 1}, True),
        ({"points": 2}, False),
    ],
)
def test_a_length_is_a_number_of_words_and_the_points_are_the_rubrics(more, good):
    if good:
        exercise("Word.", **more)
        return
    with pytest.raises(DeclarationError):
        exercise("Word.", **more)


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        ("", True),
        (" \n\t", True),
        (STUB, True),
        (f"\n{STUB} ", True),
        ("\u200b\u00ad", True),
        (".", False),
        (f"{STUB} x", False),
    ],
)
def test_nothing_was_written_where_nothing_is_to_be_seen_but_the_release(text, nothing):
    assert untouched(text) is nothing


def test_words_and_points_are_counted():
    assert count_words("A $x + y$ — two.") == 4
    assert rubric_markdown(RUBRIC) == "- Names it. (1 point)\n- Says why. (1.5 points)"
