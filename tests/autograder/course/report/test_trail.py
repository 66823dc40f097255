"""The trail of a learner's grades, of a class that was made up: runs, decisions, grades by hand, and what is so now."""

import shutil

import pytest

from autograder.course.agreements import learner_groups
from autograder.course.by_hand import marks
from autograder.course.class_results.class_result import ClassResult, Learner, save
from autograder.course.class_results.stored_results import results_path
from autograder.course.report import trail
from autograder.course.run.journal import JournalEntry
from autograder.course.run.trail_file import RAN, TrailFile
from autograder.course.terms import history
from autograder.course.terms.lateness import Lateness
from autograder.grading.fingerprints import Fingerprint
from autograder.grading.results import Result
from tests.autograder.course.made_class import IDS, in_formgrader, make_class

WAITS = tuple(Result(name, 0.0, most, "Waits.", kind="waiting") for name, most in zip(IDS, (3.0, 2.0), strict=True))
LATE = Lateness("2030-01-02 12:00:00 UTC", False, "2030-01-01T00:00:00", 0.5)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trail") / "course"
    make_class(folder, {"ann": dict.fromkeys(IDS, "Because."), "bob": dict.fromkeys(IDS, "Else.")})
    learners = [Learner(who, list(WAITS)) for who in ("ann", "bob")]
    save(ClassResult("hw", {IDS[0]: 3.0, IDS[1]: 2.0}, learners, folder=str(folder)), results_path(folder, "hw"))
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    minutes = iter(range(60))
    monkeypatch.setattr(history, "now", lambda: f"2030-01-03 10:{next(minutes):02}:00")
    monkeypatch.setattr(history, "who", lambda: "kim")
    return shutil.copytree(made, tmp_path / "course")


def of(folder, subject):
    return [(step.at[-5:-3], step.by, step.what) for step in trail.of(folder, "hw", subject)]


def test_a_trail_has_runs_decisions_hands_and_what_is_so_now(folder):
    entry = JournalEntry("ann", Fingerprint("digest-of-it", "r", {IDS[0]: "key-of-it"}), WAITS, (), "x.ipynb")
    TrailFile(folder, "hw").entered("ann", RAN, entry, None, LATE, None)
    history.record(folder, "extend", "hw", learners=["ann"], extension="2 days")
    history.record(folder, "extend", "hw", learners=["bob"], extension="3 days")
    history.record(folder, "points", "hw", exercise=IDS[1], before=2, after=4)
    history.record(folder, "grade", "hw", graded=2)
    in_formgrader(folder, "ann", manual_score=2.5, needs_manual_grade=False)
    in_formgrader(folder, "ann", IDS[1], manual_score=1.0, needs_manual_grade=False)
    rubric = (("Names the mechanism.", 2.0), ("Says how to measure it.", 1.0))
    mark = marks.Mark((2.0, 0.5), rubric, 2.5, "lee", "2030-01-03T10:30:00+00:00")
    with marks.alone(folder, "hw", IDS[0]):
        marks.save(folder, "hw", IDS[0], {"ann": mark})
    run = f"grade, cells ran: {IDS[0]} 0 of 3 (waiting); submission digest-o; submitted {LATE.submitted}; key key-of-i"
    assert of(folder, f"ann/{IDS[0]}") == [
        ("00", "kim", f"{run}; 0.5 points off for being late"),
        ("01", "kim", "extend ann by 2 days"),
        ("30", "lee", f"by hand: {IDS[0]} 2.5"),
        ("", "", f"{IDS[0]} 2.5 of 3 in the gradebook"),
        ("", "", "3.5 of 5 for hw"),
    ]
    whole = of(folder, "ann")
    assert ("", "", f"by hand, in formgrader or by nbgrader: {IDS[1]} 1") in whole
    assert ("03", "kim", f"points {IDS[1]} 2 → 4") in whole
    assert of(folder, "ann/2") == of(folder, f"ann/{IDS[1]}") == of(folder, "ann/secret")
    assert [what for *_, what in of(folder, "bob")] == [
        "extend bob by 3 days",
        f"points {IDS[1]} 2 → 4",
        "0 of 5 for hw",
    ]
    lines = [str(step) for step in trail.of(folder, "hw", "ann")]
    assert lines[-1].startswith("now    ")
    assert [line for line in lines if line.startswith("at a time not on record  somebody  by hand, in formgrader")]


def test_what_a_run_noticed_is_told_of_its_exercise(folder):
    TrailFile(folder, "hw").noticed("ann", [f"{IDS[0]} by hand: nothing → 2"])
    TrailFile(folder, "hw").noticed("ann", [])
    learner_groups.form(folder, "hw", {"A": ["ann"]})
    texts = [what for *_, what in of(folder, f"ann/{IDS[0]}")]
    assert texts[:2] == [f"a run noticed {IDS[0]} by hand: nothing → 2", "groups A: ann"]
    assert "noticed" not in " ".join(what for *_, what in of(folder, f"ann/{IDS[1]}"))
    assert "groups" not in " ".join(what for *_, what in of(folder, "bob"))


@pytest.mark.parametrize(("subject", "known"), [("zed", "ann, bob"), ("ann/why", ""), ("ann/none", ", ".join(IDS))])
def test_who_and_what_is_not_known_is_named_with_what_is(folder, subject, known):
    if known:
        with pytest.raises(KeyError, match=known):
            trail.of(folder, "hw", subject)
    else:
        assert trail.of(folder, "hw", subject)
