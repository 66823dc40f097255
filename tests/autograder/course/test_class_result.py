"""Results as files: of this version, and of one that had no reasons."""

import json

from autograder.course import class_result
from autograder.course.class_result import ClassResult, Learner
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
