"""How far two graders agree, against numbers from the literature and at the limits."""

import math

import pytest

from autograder.course.by_hand.marks import Mark
from autograder.course.by_hand.second_marks import DoubleSample, GraderAgreement, TwiceGraded, agreement
from tests.autograder.course.by_hand.test_by_hand_page import RUBRIC, answer, question


def of(pairs):
    rows = tuple(TwiceGraded(f"l{at}", first, second, ("a", "b")) for at, (first, second) in enumerate(pairs))
    return GraderAgreement(len(rows), rows)


def test_kappa_is_that_of_a_known_table():
    """Two readers of 50 applications: 20 times both yes, 15 both no, 5 and 10 apart: 0.4, as textbooks have it."""
    table = of([(1, 1)] * 20 + [(0, 0)] * 15 + [(1, 0)] * 5 + [(0, 1)] * 10)
    assert table.same == 0.7
    assert table.kappa == pytest.approx(0.4)
    assert table.difference == pytest.approx(0.1)
    assert table.distance == pytest.approx(0.3)


def test_agreement_at_its_limits():
    assert of([(1, 1), (2, 2)]).kappa == 1.0
    assert of([(1, 2), (2, 1)]).kappa == -1.0
    assert math.isnan(of([(1, 1), (1, 1)]).kappa)  # both always give the same: nothing is beyond chance
    assert of([(1, 1), (1, 1)]).same == 1.0
    empty = of([])
    assert all(map(math.isnan, (empty.same, empty.kappa, empty.difference, empty.distance)))


def test_a_pair_is_two_whole_marks_by_the_rubric_as_it_is_now():
    first, second = Mark((2.0, 1.0), RUBRIC, 3.0, "tina"), Mark((2.0, 0.5), RUBRIC, 2.5, "tom")
    other = (("Else.", 2.0), RUBRIC[1])
    every = [
        answer("ann", 1, score=3.0, waits=False, mark=first),
        answer("bob", 2, score=3.0, waits=False, mark=first),
        answer("cy", 3, score=3.0, waits=False, mark=first),
        answer("dora", 4, score=1.0, waits=False, mark=first),  # changed in formgrader
        answer("emil", 5, mark=Mark((2.0, None), RUBRIC)),
        answer("fay", 6),
    ]
    marks = dict.fromkeys(("ann", "dora", "emil", "fay"), second)
    marks |= {"bob": Mark((2.0, None), RUBRIC), "cy": Mark((2.0, 0.5), other, 2.5)}
    made = agreement(DoubleSample(tuple(marks), marks), every, question())
    assert made.asked_for == 6
    assert [(pair.learner, pair.first, pair.second, pair.by) for pair in made.pairs] == [
        ("ann", 3.0, 2.5, ("tina", "tom"))
    ]
