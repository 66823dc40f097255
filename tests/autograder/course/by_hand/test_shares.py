"""Who of the staff grades which answers, and how far each of them is."""

from collections import Counter
from types import SimpleNamespace

import pytest

from autograder.book.course_error import CourseError
from autograder.course.by_hand import shares
from autograder.course.by_hand.marks import Mark
from autograder.course.by_hand.shares import GradingShares
from tests.autograder.course.by_hand.test_by_hand_page import RUBRIC, answer

TWO = {"tina": 1, "tom": 1}


def asked(learners, questions=2):
    return [(SimpleNamespace(), [answer(learner) for learner in learners]) for _ in range(questions)]


@pytest.fixture
def dealt(tmp_path):
    """Who grades each of six learners, by question."""

    def deal(way, weights, learners="abcdef"):
        shares.give(tmp_path, "hw", GradingShares(way, weights))
        return ["".join(row[who][1] for who in row) for row in shares.dealt(tmp_path, "hw", asked(learners))]

    return deal


def test_a_share_is_of_questions_of_learners_or_of_both(dealt):
    assert dealt("question", TWO) == ["iiiiii", "oooooo"]
    assert dealt("learner", TWO) == ["ioioio", "ioioio"]
    assert dealt("evenly", TWO) == ["ioioio", "oioioi"]


def test_a_late_submission_changes_nobodys_share(dealt, tmp_path):
    assert dealt("evenly", TWO, "bdf") == ["ioi", "oio"]
    assert dealt("evenly", TWO, "abcdef") == ["oiiooi", "iooiio"]  # a, c and e come behind b, d and f
    assert shares.places(tmp_path, "hw", "f") == {"b": 0, "d": 1, "f": 2, "a": 3, "c": 4, "e": 5}


def test_who_has_twice_the_weight_has_twice_the_answers_and_not_in_a_row():
    made = GradingShares("learner", {"tina": 2, "tom": 1, "ada": 1})
    assert made.turns == ["tina", "tom", "ada", "tina"]
    assert Counter(made.grader_of(0, place) for place in range(8)) == {"tina": 4, "tom": 2, "ada": 2}


@pytest.mark.parametrize(
    ("way", "weights"), [("page", TWO), ("evenly", {"": 1}), ("evenly", {"a": 0}), ("evenly", {"a": 21})]
)
def test_other_shares_are_refused(way, weights):
    with pytest.raises(CourseError, match="expected"):
        GradingShares(way, weights)


def test_shares_are_those_of_the_assignment_or_else_of_the_course(tmp_path):
    assert shares.of(tmp_path, "hw") is None
    course, own = GradingShares("learner", TWO), GradingShares("question", {"zoë": 20})
    shares.give(tmp_path, "", course)
    shares.give(tmp_path, "hw", own)
    assert (shares.of(tmp_path, "hw"), shares.of(tmp_path, "hw2")) == (own, course)
    shares.give(tmp_path, "hw", None)
    assert shares.of(tmp_path, "hw") == course
    (tmp_path / ".gpubook" / "graders.json").write_text('{"shares": {"hw": {}}}')
    with pytest.raises(CourseError, match=r"graders\.json: .*move it away"):
        shares.of(tmp_path, "hw")


def test_progress_is_of_the_share_and_of_what_each_has_graded(tmp_path):
    mark = Mark((2.0, 1.0), RUBRIC, 3.0, "ada", "2030")
    every = [
        answer("ann", 1),
        answer("bob", 2, score=3.0, waits=False, mark=mark),
        answer("cy", 3, score=None, waits=False),  # empty: nobody's work
        answer("dora", 4),
    ]
    assert [row.grader for row in shares.progress(tmp_path, "hw", [(SimpleNamespace(), every)])] == ["ada"]
    shares.give(tmp_path, "hw", GradingShares("learner", TWO))
    rows = shares.progress(tmp_path, "hw", [(SimpleNamespace(), every)])
    assert [(row.grader, row.answers, row.waiting, row.graded) for row in rows] == [
        ("tina", 1, 1, 0),
        ("tom", 2, 1, 0),
        ("ada", 0, 0, 1),
    ]
