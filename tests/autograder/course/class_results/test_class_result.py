"""Results as files: of this version, and of one that had no reasons."""

import json

import pytest

from autograder.course.class_results import class_result
from autograder.course.class_results.class_result import Change, ClassResult, LateChange, Learner
from autograder.course.terms.lateness import DIGITS
from autograder.grading.results import Result

STUCK = Result("links-ring", 0.0, 2.0, "They wait for each other.", kind="wrong", reason="deadlock")
CLASS = ClassResult("week3", {"links-ring": 2.0}, [Learner("ada", [STUCK])])


def test_a_reason_is_written_and_read(tmp_path):
    class_result.save(CLASS, tmp_path / "results.json")
    assert class_result.load(tmp_path / "results.json") == CLASS


def test_results_without_reasons_are_read(tmp_path):
    path = tmp_path / "results.json"
    class_result.save(CLASS, path)
    old = json.loads(path.read_text())
    del old["learners"][0]["results"][0]["reason"]
    path.write_text(json.dumps(old))
    (result,) = class_result.load(path).learner("ada").results
    assert (result.reason, result.kind, result.say) == ("", STUCK.kind, STUCK.say)


def test_the_mistakes_of_an_answer_are_written_and_read_and_earlier_results_have_none(tmp_path):
    path = tmp_path / "results.json"
    made = Result("links-ring", 0.0, 2.0, "Each byte twice.", kind="mistake", mistakes=("bits-for-bytes",))
    class_result.save(ClassResult("week3", {"links-ring": 2.0}, [Learner("ada", [made])]), path)
    assert class_result.load(path).learner("ada").results == [made]
    old = json.loads(path.read_text())
    del old["learners"][0]["results"][0]["mistakes"]
    path.write_text(json.dumps(old))
    assert class_result.load(path).learner("ada").results[0].mistakes == ()


def test_changes_are_told_and_not_saved(tmp_path):
    path = tmp_path / "results.json"
    told = ClassResult(
        "week3", {"links-ring": 2.0}, [Learner("ada", [STUCK])], changes=[Change("ada", STUCK, STUCK, True)]
    )
    class_result.save(told, path)
    assert class_result.load(path) == CLASS


def test_a_penalty_that_is_another_is_a_change_and_one_that_an_earlier_version_did_not_keep_is_none(tmp_path):
    path = tmp_path / "results.json"

    def run(penalty):
        made = ClassResult("week3", {"links-ring": 2.0}, [Learner("ada", [STUCK]), Learner("bob", problem="No file.")])
        class_result.enter_penalties(made, {"ada": penalty, "bob": 0.0, "cy": 1.0}, path)
        class_result.save(made, path)
        return made.late_changes

    class_result.save(CLASS, path)
    assert [run(0.5), run(0.5 + 1e-12), run(0.75)] == [[], [], [LateChange("ada", 0.5, 0.75)]]
    assert [one.late_penalty for one in class_result.load(path).learners] == [0.75, None]


def test_a_learners_points_and_the_full_score_add_up():
    made = ClassResult("week3", {"a": 2.0, "b": 3.0}, [Learner("ada", [STUCK, Result("b", 1.5, 3.0, "")])])
    assert (made.max_points, made.learner("ada").points, Learner("bob").points) == (5.0, 1.5, 0)


def test_a_learner_who_is_not_there_is_told_with_those_who_are():
    made = ClassResult("week3", {}, [Learner("bob"), Learner("ada")])
    assert made.learner("bob") is made.learners[0]
    with pytest.raises(KeyError, match="known: ada, bob"):
        made.learner("cy")
    with pytest.raises(KeyError, match="known: nobody"):
        ClassResult("week3", {}).learner("cy")


def test_the_results_of_some_take_the_place_of_theirs_alone(tmp_path):
    path = tmp_path / "deep" / "results.json"
    class_result.add(ClassResult("week3", {}, [Learner("bob", problem="old"), Learner("cy")]), path)
    class_result.add(ClassResult("week3", {}, [Learner("bob", problem="new"), Learner("ada")]), path)
    assert [(one.name, one.problem) for one in class_result.load(path).learners] == [
        ("ada", ""),
        ("bob", "new"),
        ("cy", ""),
    ]
    with pytest.raises(FileNotFoundError, match="gpubook grade"):
        class_result.load(tmp_path / "none.json")


def test_a_file_of_results_can_be_read_by_people(tmp_path):
    class_result.save(ClassResult("Woche 3 – ä", {}), tmp_path / "results.json")
    lines = (tmp_path / "results.json").read_text(encoding="utf-8").splitlines()
    assert lines[1] == ' "assignment": "Woche 3 – ä",'


def test_penalties_are_entered_for_who_is_graded_and_known(tmp_path):
    learners = [Learner("ada", [STUCK]), Learner("bob"), Learner("cy", [STUCK])]
    made = ClassResult("week3", {}, learners)
    class_result.enter_penalties(made, {"ada": 1 / 3, "bob": 1.0}, tmp_path / "none.json")
    assert [one.late_penalty for one in learners] == [round(1 / 3, DIGITS), None, None]
    assert made.late_changes == []
