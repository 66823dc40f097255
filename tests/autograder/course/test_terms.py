"""What is agreed with learners, apart from grading: extensions and groups in a file, and whose submission counts."""

import json
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from autograder import course
from autograder.book.course_error import CourseError
from autograder.course import banks
from autograder.course.agreements import learner_groups
from autograder.course.class_results.class_result import ClassResult, Learner
from autograder.course.terms import agreed_terms
from autograder.course.terms.agreed_terms import Extension
from autograder.declaration import DeclarationError, load_bank
from autograder.values.own_folder import own as own_file
from tests.autograder import tiny

DUE = datetime(2030, 1, 1)


def test_terms_are_read_as_they_were_written_and_those_of_others_stay(tmp_path):
    with agreed_terms.changing(tmp_path, "hw1") as agreed:
        agreed.extensions = {"zoë": Extension(days=0.5), "ann": Extension(until=datetime(2030, 1, 3, 12))}
        agreed.groups = {"A": ["ann", "bob"]}
    with agreed_terms.changing(tmp_path, "hw2") as agreed:
        agreed.extensions["bob"] = Extension(days=2)
    found = agreed_terms.read(tmp_path, "hw1")
    assert {who: one.beyond(DUE) for who, one in found.extensions.items()} == {
        "ann": timedelta(days=2, hours=12),
        "zoë": timedelta(hours=12),
    }
    assert found.group_of("bob") == "A"
    assert "zoë" in (tmp_path / agreed_terms.FILE).read_text(encoding="utf-8")
    with agreed_terms.changing(tmp_path, "hw1") as agreed:
        agreed.extensions, agreed.groups = {}, {}
    assert list(json.loads((tmp_path / agreed_terms.FILE).read_text())) == ["hw2"]


def test_a_change_that_fails_changes_nothing(tmp_path):
    with agreed_terms.changing(tmp_path, "hw1") as agreed:
        agreed.groups = {"A": ["ann"]}
    before = (tmp_path / agreed_terms.FILE).read_bytes()
    with pytest.raises(KeyError), agreed_terms.changing(tmp_path, "hw1") as agreed:
        agreed.groups = {"B": agreed.groups.pop("nobody")}
    assert (tmp_path / agreed_terms.FILE).read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="no flock")
def test_two_who_change_terms_do_so_one_after_the_other(tmp_path):
    from fcntl import LOCK_EX, LOCK_NB, flock

    def take():
        with open(own_file(tmp_path, "terms.lock"), "a", encoding="utf-8") as file:
            flock(file, LOCK_EX | LOCK_NB)

    with agreed_terms.changing(tmp_path, "hw1") as agreed:
        agreed.groups = {"A": ["ann"]}
        with pytest.raises(BlockingIOError):
            take()
    take()  # and the lock is left at the end
    with pytest.raises(KeyError), agreed_terms.changing(tmp_path, "hw1"):
        raise KeyError
    take()


@pytest.mark.parametrize("name", ["a.b", "ann", "-", "zoë b"])
def test_the_id_of_a_learner_is_the_name_of_a_folder(name):
    assert agreed_terms.checked_learner(name) == name


@pytest.mark.parametrize("name", ["", ".", "..", ".ann", "a/b", "a\\b", "a\0"])
def test_a_path_or_a_hidden_folder_is_no_learners_id(name):
    with pytest.raises(CourseError, match="learner's id"):
        agreed_terms.checked_learner(name)


def test_an_until_that_a_later_deadline_has_overtaken_is_no_extension():
    assert Extension(until=datetime(2029, 12, 1)).beyond(DUE) == timedelta()


@pytest.mark.parametrize("days", [1e-3, 1, agreed_terms.MOST_DAYS])
def test_an_extension_goes_as_many_days_beyond(days):
    assert Extension(days=days).beyond(DUE) == timedelta(seconds=round(86400 * days))


@pytest.mark.parametrize("days", [agreed_terms.MOST_DAYS + 0.01, 0, -1, float("nan"), float("inf"), 10**6])
def test_an_extension_is_some_days(days):
    with pytest.raises(CourseError, match="days"):
        Extension(days=days)


@pytest.mark.parametrize(
    "written",
    [
        "{",
        "[]",
        '{"hw": []}',
        '{"hw": {"extensions": {"ann": 2}}}',
        '{"hw": {"extensions": {"ann": {"days": "x"}}}}',
        '{"hw": {"extensions": {"ann": {"until": "soon"}}}}',
        '{"hw": {"groups": {"A": "ann"}}}',
        '{"hw": {"extensions": {"ann": {"days": true}}}}',
        '{"hw": {"groups": {"A": ["../ann"]}}}',
        '{"hw": {"groups": {"A": [7]}}}',
        '{"hw": {"extensions": {"ann": {"days": 1, "until": "2027-02-01 22:00 UTC"}}}}',
        '{"hw": {"extensions": {"ann": {}}}}',
    ],
)
def test_a_file_that_a_hand_broke_is_named(tmp_path, written):
    (tmp_path / agreed_terms.FILE).write_text(written)
    with pytest.raises(CourseError, match=r"terms\.json: "):
        agreed_terms.read(tmp_path, "hw")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "columns are none; group,learner"),
        ("team,learner\n", "team,learner; group,learner"),
        ("group,learner\n", "no learner"),
        ("group,learner\nA,ann\nB,ann\n", r":3: ann is in B, and also in A \(line 2\)"),
        ("group,learner\nA,ann\nA,ann\n", r":3: ann is in A, and twice"),
        ("group,learner\nA,\n", ":2: 'A,'"),
        ("group,learner\nA,ann,bob\n", ":2: 'A,ann,bob'"),
        ('group,learner\nA,"ann\n', "CSV"),
    ],
)
def test_a_file_of_groups_is_refused_at_its_line(tmp_path, text, says):
    (tmp_path / "groups.csv").write_text(text)
    with pytest.raises(CourseError, match=says):
        learner_groups.read_csv(tmp_path / "groups.csv")


def test_a_file_of_groups_may_have_its_columns_in_any_order_and_a_mark_before(tmp_path):
    (tmp_path / "groups.csv").write_text("\ufefflearner, group\r\nann,A\r\n\r\nzoë,A\r\nbob,B\r\n", encoding="utf-8")
    assert learner_groups.read_csv(tmp_path / "groups.csv") == {"A": ["ann", "zoë"], "B": ["bob"]}


def shared_out(folder: Path, times, group=("ann", "bob", "cy")):
    """The outcome for a group of which these have submitted, at these times."""
    found = {who: folder / who for who in (*times, "dan")}
    for path in found.values():
        path.mkdir()
    result = ClassResult("hw", {}, [Learner(who) for who in found])
    shares = learner_groups.share_out(found, {"A": list(group)}, times.get, result)
    return shares, sorted(found), result


def test_one_submission_counts_for_the_whole_group(tmp_path):
    shares, found, result = shared_out(tmp_path, {"bob": None})
    assert (shares, found) == ({"bob": ["ann", "cy"]}, ["bob", "dan"])
    assert [(one.name, one.submitted_by, one.problem) for one in result.learners] == [
        ("ann", "bob", ""),
        ("bob", "", ""),
        ("cy", "bob", ""),
        ("dan", "", ""),
    ]
    assert result.problems == []


def test_of_two_submissions_the_latest_counts_and_the_teacher_is_told(tmp_path):
    shares, found, result = shared_out(tmp_path, {"ann": DUE, "cy": DUE + timedelta(minutes=1)})
    assert (shares, found) == ({"cy": ["ann", "bob"]}, ["cy", "dan"])
    assert [line for line in result.problems if "group A: ann and cy" in line and "from cy" in line]


@pytest.mark.parametrize("times", [{"ann": DUE, "cy": None}, {"ann": DUE, "cy": DUE}])
def test_of_two_submissions_of_which_none_is_known_to_be_the_latest_none_counts(tmp_path, times):
    shares, found, result = shared_out(tmp_path, times)
    assert (shares, found) == ({}, ["dan"])
    assert [one.name for one in result.learners if "not known" in one.problem] == ["ann", "bob", "cy"]


BROKEN = "EXERCISE = (\n"


def own(folder, asked, text=BROKEN):
    (folder / "tiny.py").write_text(tiny.EXERCISES)
    (folder / "draft.py").write_text(text)
    return banks.load_own(sorted(folder.glob("*.py")), load_bank, asked)


def test_a_draft_with_an_error_stops_only_what_uses_it(tmp_path):
    found, left_out = own(tmp_path, {"tiny-time", "tiny-steps"})
    assert [sorted(bank) for bank in found] == [sorted(tiny.IDS)]
    assert [line for line in left_out if "draft.py:1: SyntaxError" in line]
    for asked in (None, {"tiny-steps"}):  # all, or one that the draft may mean to correct
        with pytest.raises(DeclarationError, match=r"draft\.py"):
            own(tmp_path, asked, "STEPS = replace(book['tiny-steps'], points=2\n")


@pytest.mark.slow
def test_an_assignment_is_made_beside_a_draft_with_an_error_and_one_of_the_draft_is_not(tmp_path):
    folder = tmp_path / "course"
    course.init(folder)
    own(folder / "exercises", set())
    released = course.assign(
        folder, "hw", exercises=["tiny-time", "tiny-guess"], points={"tiny-time": 5, "tiny-guess": 0.5}, due=DUE
    )
    text = released.read_text()
    assert "· 5 points" in text
    assert "· 0.5 points" in text
    told = json.loads((released.parent / "exercises.json").read_text())["exercises"].values()
    assert [one["points"] for one in told] == [5, 0.5]
    with pytest.raises(CourseError, match=r"mine-new; .*left out: .*draft\.py:1: SyntaxError"):
        course.assign(folder, "hw", exercises=["mine-new"])
    with pytest.raises(CourseError, match="more than 0"):
        course.assign(folder, "hw", exercises=["tiny-time"], points={"tiny-time": 0})
    with pytest.raises(CourseError, match="'tiny-steps', which is not asked"):
        course.assign(folder, "hw", exercises=["tiny-time"], points={"tiny-steps": 1})
    assert released.read_text() == text
