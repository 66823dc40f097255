"""Results as files: of this version, and of one that had no reasons."""

import json

from autograder.course.class_results import class_result
from autograder.course.class_results.class_result import Change, ClassResult, LateChange, Learner
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
