"""Difficulty and discrimination: against numpy, at their limits, and for what has no points to tell."""

import dataclasses

import numpy
import pytest

from autograder.course.class_results.class_result import Learner
from autograder.course.report.items import correlation, items
from autograder.declaration import Bank
from autograder.declaration.verdict import AS_PREDICTED
from autograder.grading.results import Result
from tests.autograder.course.report.made import MEAN, STEPS, WHICH, WHY, Class


def made(*rows: tuple[float, float, str]) -> Class:
    """A learner for each row: the points of two exercises, and the kind of the verdict on the first."""
    found = Class(asked=(STEPS.id, MEAN.id))
    for number, (one, other, kind) in enumerate(rows):
        results = [Result(STEPS.id, one, 1.0, "", kind=kind), Result(MEAN.id, other, 3.0, "", kind="wrong")]
        found.learners[f"l{number}"] = Learner(f"l{number}", results)
    return found


def test_the_discrimination_is_the_correlation_with_the_rest_score():
    rows = [(1, 3, "right"), (1, 2, "right"), (0, 2, "wrong"), (0, 0, "empty"), (1, 1, "right"), (0, 1, "wrong")]
    first, second = items(made(*rows).gathered())
    ones, others = (numpy.array([row[at] for row in rows], float) for at in (0, 1))
    assert first.discrimination == pytest.approx(numpy.corrcoef(ones, others)[0, 1])
    # the point-biserial correlation, by its own formula: (M1 - M0)/s * sqrt(p q)
    p = ones.mean()
    biserial = (others[ones == 1].mean() - others[ones == 0].mean()) / others.std() * numpy.sqrt(p * (1 - p))
    assert first.discrimination == pytest.approx(biserial)
    assert second.discrimination == pytest.approx(first.discrimination)  # of two exercises each is the other's rest


def test_shares_and_outcomes_are_over_all_who_are_graded():
    first, second = items(made((1, 3, "right"), (0, 1.5, "mistake"), (0, 0, "empty"), (0, 0, "unit")).gathered())
    assert first.outcomes == {"right": 1, "wrong": 1, "unread": 1, "empty": 1}  # a mistake that nothing names is wrong
    assert (first.right, first.mean) == (0.25, 0.25)
    assert (second.outcomes["partial"], second.mean) == (1, 0.375)


@pytest.mark.parametrize("pairs", [[(1, 1)] * 9, [(0, 3), (1, 3)] * 5, [(0, 1), (1, 2), (0, 3), (1, 0)]])
def test_without_differences_or_with_few_learners_there_is_no_discrimination(pairs):
    assert correlation(*map(list, zip(*pairs, strict=True))) is None


def test_a_prediction_counts_as_right_where_it_came_true_whatever_its_points():
    found = Class(asked=(WHICH.id,))
    for number in range(6):
        found.answer(f"l{number}", WHICH, "memory" if number < 2 else "compute")
    (one,) = items(found.gathered())
    assert one.mean == 1.0
    assert one.right == pytest.approx(1 / 3)
    assert one.outcomes == {"right": 2, "mistake": 4}
    assert found.learners["l0"].results[0].reason == AS_PREDICTED


def test_an_exercise_that_waits_for_a_teacher_has_no_share_yet():
    found = Class(asked=(WHY.id,))
    for number, kind in enumerate(["waiting", "empty", "waiting"]):
        found.wrote(f"l{number}", WHY, "", Result(WHY.id, 0.0, 4.0, "", kind=kind))
    (one,) = items(found.gathered())
    assert (one.right, one.mean, one.discrimination) == (None, None, None)
    assert one.outcomes == {"empty": 1, "waiting": 2}


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        (Result(STEPS.id, 0.0, 1.0, "No answer yet.", "Your cell raised `E`.", "empty"), "crashed"),
        (Result(STEPS.id, 0.0, 1.0, "It took too long.", kind="wrong", reason="time-limit"), "crashed"),
        (Result(STEPS.id, 1.0, 1.0, "Right.", "Your cell raised `E`.", "right"), "right"),
        (Result(STEPS.id, 0.0, 1.0, "It could not be judged.", kind="failed"), "failed"),
        (Result(STEPS.id, 0.0, 1.0, "Not yet.", "Your cell raised `E`.", "wrong"), "wrong"),
    ],
)
def test_an_answer_has_one_outcome(result, outcome):
    found = Class(asked=(STEPS.id,))
    found.wrote("ann", STEPS, "", result)
    (one,) = items(found.gathered())
    assert one.outcomes == {outcome: 1}


def test_a_discrimination_is_told_of_five_learners_and_of_the_least_difference():
    assert correlation([0, 1, 0, 1], [0, 1, 0, 1]) is None
    assert correlation([0, 1, 0, 1, 1], [0, 1, 0, 1, 1]) == pytest.approx(1.0)
    small = [0.0, 1e-6, 0.0, 1e-6, 0.0]  # both deviations together come to 1.2e-12
    assert correlation(small, small) == pytest.approx(1.0)
    smaller = [0.9 * value for value in small]
    assert correlation(smaller, smaller) is None


def test_exercises_are_numbered_from_one_and_have_the_titles_that_are_declared():
    found = Class(asked=(STEPS.id,))
    found.answer("ann", STEPS, 14)
    gathered = found.gathered()
    gathered.result.exercises["made-gone"] = 1.0
    gathered.bank = Bank([dataclasses.replace(STEPS, title="Steps of a ring")])
    first, second = items(gathered)
    assert (first.number, first.title, first.right, first.graded) == (1, "Steps of a ring", 1.0, 1)
    assert (second.number, second.title, second.right, second.mean) == (2, "", None, None)


def test_answers_that_wait_are_not_graded_and_no_right_answer_is_a_share_of_none():
    found = Class(asked=(WHY.id, STEPS.id))
    for number, kind in enumerate(["waiting", "empty", "waiting"]):
        found.wrote(f"l{number}", WHY, "", Result(WHY.id, 0.0, 4.0, "", kind=kind))
        found.answer(f"l{number}", STEPS, 3)
    waits, wrong = items(found.gathered())
    assert (waits.graded, waits.right, waits.mean) == (1, None, None)
    assert (wrong.graded, wrong.right, wrong.mean) == (3, 0.0, 0.0)
