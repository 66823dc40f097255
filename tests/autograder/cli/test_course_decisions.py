"""`gpubook course points`, `drop`, `full-marks`, `history`: what they refuse, print and call, on a course in name."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import commands
from autograder.course import layout
from autograder.course.assigning import assign_and_drop, stale_grades
from autograder.course.assigning.dropped_exercises import Settled
from autograder.course.assigning.stale_grades import JUDGED, RUN, SHOWN, Stale, kind_of
from autograder.course.terms import assignment_state, history
from autograder.grading.fingerprints import Fingerprint


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(history, "now", lambda: "2030-01-01 10:00:00")
    monkeypatch.setenv("GPUBOOK_USER", "kim")
    monkeypatch.delenv("JUPYTERHUB_USER", raising=False)
    layout.init(tmp_path)
    return tmp_path


@pytest.fixture
def done(folder, monkeypatch):
    """What was asked to be done, where nobody is graded."""
    calls = []
    monkeypatch.setattr(stale_grades, "stale", lambda *_: Stale())
    for name in ("drop", "full_marks"):
        monkeypatch.setattr(assign_and_drop, name, lambda *args, name=name: calls.append((name, *args[1:])))
    monkeypatch.setattr(
        assign_and_drop, "set_points", lambda *args: calls.append(("points", *args[1:])) or Settled(2, {"a-b": 1})
    )
    return calls


def gpubook(*args):
    return CliRunner().invoke(commands.main, ["course", *map(str, args)])


@pytest.mark.parametrize(
    ("args", "call", "says"),
    [
        (("drop", "hw", "a-b"), ("drop", "hw", "a-b", False), "a-b now counts 0 of 0 points."),
        (("drop", "hw", "a-b", "--undo"), ("drop", "hw", "a-b", True), "a-b counts again."),
        (("full-marks", "hw", "a-b"), ("full_marks", "hw", "a-b", False), "a-b now gives everybody full marks."),
        (("full-marks", "hw", "a-b", "--undo"), ("full_marks", "hw", "a-b", True), "judged to again."),
        (("points", "hw", "a-b=3"), ("points", "hw", {"a-b": 3.0}), "1 grade by hand stays as it was given for a-b"),
        (("points", "hw", "--undo", "a-b"), ("points", "hw", {"a-b": None}), "has the points that it declares."),
    ],
)
def test_each_decision_and_its_undoing(folder, done, args, call, says):
    command, *rest = args
    result = gpubook(command, folder, *rest)
    assert result.exit_code == 0, result.output
    assert done == [call]
    assert says in result.output


def test_a_drop_in_place_of_full_marks_is_told(folder, done):
    assert "full marks" not in gpubook("drop", folder, "hw", "a-b").output
    with assignment_state.changing(folder, "hw") as state:
        state.decide("a-b", full=True)
    assert "everybody had full marks for a-b" in gpubook("drop", folder, "hw", "a-b").output
    assert "full marks" not in gpubook("drop", folder, "hw", "a-b", "--undo").output


@pytest.mark.parametrize("points", ["a-b", "=3", "a-b=x"])
def test_points_are_an_id_and_a_number(folder, done, points):
    result = gpubook("points", folder, "hw", points)
    assert (result.exit_code, done) == (2, [])
    assert "expected ID=N" in result.output
    assert gpubook("points", folder, "hw", "a-b=3", "--undo", "a-b").exit_code == 2


def test_points_that_are_not_as_declared_are_listed(folder):
    (folder / "release" / "hw").mkdir()
    (folder / "release" / "hw" / "hw.ipynb").touch()
    with assignment_state.changing(folder, "hw") as state:
        state.points["a-b"] = 2.5
    assert gpubook("points", folder, "hw").output == "a-b: 2.5 points\n"
    assert "never released" in gpubook("points", folder, "other").output


def test_the_history_is_told_in_order_and_as_json(folder):
    assert gpubook("history", folder).output == f"Nothing is on record for {folder}.\n"
    history.record(folder, "drop", "hw", exercise="a-b", graded=3)
    history.record(folder, "late rule", before="", after="LatePerDay, fraction 0.1, grace 0")
    history.record(folder, "extend", "other", learners=["ann", "bob"], extension="2 days")
    lines = gpubook("history", folder, "hw").output.splitlines()
    assert lines == [
        "2030-01-01 10:00:00 UTC  kim  drop a-b; 3 graded by then",
        "2030-01-01 10:00:00 UTC  kim  late rule none → LatePerDay, fraction 0.1, grace 0",
    ]
    assert gpubook("history", folder).output.splitlines()[2] == (
        "2030-01-01 10:00:00 UTC  kim  other: extend ann, bob by 2 days"
    )
    rows = json.loads(gpubook("history", folder, "--json").output)
    assert [row["what"] for row in rows] == ["drop", "late rule", "extend"]
    assert rows[0]["about"] == {"exercise": "a-b", "graded": 3}


def test_a_trail_is_of_an_assignment_and_a_history_of_a_course(folder, tmp_path):
    assert "needs the NAME" in gpubook("history", folder, "--of", "ann").output
    assert gpubook("history", tmp_path / "elsewhere").exit_code == 1


def test_a_line_that_a_kill_truncated_is_no_event_and_cut_off_by_the_next(folder):
    history.record(folder, "drop", "hw", exercise="a")
    path = Path(folder, ".gpubook", "history.jsonl")
    path.write_bytes(path.read_bytes() + b'{"at": "20')
    assert [event.about["exercise"] for event in history.events(folder)] == ["a"]
    history.record(folder, "drop", "hw", exercise="b")
    assert [event.about["exercise"] for event in history.events(folder)] == ["a", "b"]


GRADED = Fingerprint("s", "r", {"a": "k"}, "w")


@pytest.mark.parametrize(
    ("now", "kind"),
    [
        (Fingerprint("other", "r", {"a": "k"}, "w"), ""),
        (Fingerprint("s", "r", {"a": "k"}, "w2"), SHOWN),
        (Fingerprint("s", "r", {"a": "k2"}, "w2"), JUDGED),
        (Fingerprint("s", "r", {"a": "k", "b": "k"}, "w"), JUDGED),
        (Fingerprint("s", "r", {}, "w"), ""),
        (Fingerprint("s", "r2", {"a": "k2"}, "w2"), RUN),
    ],
)
def test_what_has_to_be_done_again(now, kind):
    assert kind_of(GRADED, now) == kind


def test_what_is_stale_is_counted():
    assert Stale(0, 0, 0, 5).sentence == ""
    assert Stale(1, 0, 2, 5).sentence.startswith("of 5 graded submissions 1 ran in another release")
    assert "2 have the points" in Stale(1, 0, 2, 5).sentence
    assert "judged by another key" not in Stale(1, 0, 2, 5).sentence
