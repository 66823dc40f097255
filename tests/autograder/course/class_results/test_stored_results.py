"""Results with what a teacher has graded by hand since."""

import pytest

from autograder.course.class_results import class_result, stored_results
from autograder.course.class_results.class_result import ClassResult, Learner
from autograder.grading.results import Result

WAITS = Result("why", 0.0, 4.0, "Waits.", kind="waiting")
OTHER = Result("time", 1.0, 2.0, "Half.", kind="partial")


@pytest.fixture
def graded(monkeypatch):
    """`graded(grades)`: the results of ann, with these grades by hand; the gradebook is asked once, where one waits."""

    def of(grades, *results):
        looks = []
        monkeypatch.setattr(stored_results.gradebook, "url_of", lambda folder: f"url of {folder}")
        monkeypatch.setattr(stored_results.gradebook, "by_hand", lambda *about: looks.append(about) or grades)
        made = ClassResult("hw", {"why": 4.0, "time": 2.0}, [Learner("ann", list(results))], folder="course")
        (learner,) = stored_results.with_grades_by_hand(made).learners
        return learner.results, looks

    return of


def test_a_grade_by_hand_takes_the_place_of_an_answer_that_waits(graded):
    results, looks = graded({("ann", "why"): (3.5, "Well."), ("ann", "time"): (2.0, "")}, OTHER, WAITS)
    assert results == [OTHER, Result("why", 3.5, 4.0, "Well.", kind="by hand")]
    assert looks == [("url of course", "hw")]
    results, _ = graded({("ann", "why"): (0.0, "")}, WAITS)
    assert (results[0].kind, results[0].points, results[0].say) == ("by hand", 0.0, stored_results.GRADED)


def test_what_was_not_graded_goes_on_waiting_and_where_nothing_waits_nobody_looks(graded):
    assert graded({("bob", "why"): (3.5, "")}, WAITS)[0] == [WAITS]
    assert graded({("ann", "time"): (2.0, "")}, OTHER) == ([OTHER], [])


def test_the_results_are_those_of_the_last_run(tmp_path):
    made = ClassResult("hw", {"time": 2.0}, [Learner("ann", [OTHER])], folder=str(tmp_path))
    class_result.save(made, tmp_path / ".gpubook" / "hw.results.json")
    assert stored_results.results(tmp_path, "hw") == made
    with pytest.raises(FileNotFoundError, match="gpubook grade"):
        stored_results.results(tmp_path, "other")
