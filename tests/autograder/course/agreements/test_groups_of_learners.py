"""Groups as a teacher writes them down, and whose submission counts for a group."""

from datetime import datetime

import pytest

from autograder.book.course_error import CourseError
from autograder.course.agreements.learner_groups import read_csv, share_out, whole_groups
from autograder.course.class_results.class_result import ClassResult, Learner


@pytest.fixture
def groups(tmp_path):
    def groups(text):
        path = tmp_path / "groups.csv"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_csv(path)

    return groups


def test_the_columns_may_be_in_either_order_and_empty_lines_are_passed_over(groups):
    expected = {"red": ["ann", "bob"], "blue": ["cy"]}
    assert groups("group,learner\nred,ann\n\nblue,cy\n , \nred, bob \n") == expected
    assert groups("\ufefflearner, group\nann,red\nbob,red\ncy,blue\n") == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the columns are none"),
        ("group,who\nred,ann\n", "the columns are group,who"),
        ("group,learner\n", "no learner is in it"),
        ("group,learner\nred,ann\nred\n", r"groups\.csv:3: 'red'"),
        ("group,learner\nred,ann,bob\n", r"groups\.csv:2: 'red,ann,bob'"),
        ("group,learner\n,ann\n", r"groups\.csv:2: ',ann'"),
        ("group,learner\nred,\n", r"groups\.csv:2: 'red,'"),
        ("group,learner\nred,ann\nred,ann\n", r"groups\.csv:3: ann is in red, and twice \(line 2\)"),
        ("group,learner\nred,ann\nblue,ann\n", r"groups\.csv:3: ann is in blue, and also in red \(line 2\)"),
        (b"group,learner\nred,\xff\n", "CSV in UTF-8"),
    ],
)
def test_what_is_no_list_of_groups_is_refused_with_its_line(groups, text, problem):
    with pytest.raises(CourseError, match=problem):
        groups(text)


@pytest.fixture
def shared(tmp_path):
    """For whom each submission of the group "red" of ann, bob and cy counts; and what is left of them."""

    def shared(times, problem=""):
        found = {who: tmp_path / f"{who}.ipynb" for who in (*times, "zoe")}
        for path in found.values():
            path.write_text("")
        result = ClassResult("hw", {}, [Learner("ann", problem=problem)])
        shares = share_out(found, {"red": ["ann", "bob", "cy"]}, times.get, result)
        return shares, sorted(found), result

    return shared


def test_the_only_submission_counts_for_the_others(shared):
    shares, left, result = shared({"bob": None}, problem="missing")
    assert (shares, left, result.problems) == ({"bob": ["ann", "cy"]}, ["bob", "zoe"], [])
    assert [(one.name, one.submitted_by, one.problem) for one in result.learners] == [
        ("ann", "bob", ""),
        ("bob", "", ""),
        ("cy", "bob", ""),
    ]


def test_of_several_the_latest_counts_and_the_teacher_is_told(shared):
    shares, left, result = shared({"ann": datetime(2026, 3, 1, 12), "cy": datetime(2026, 3, 1, 12, 0, 1)})
    assert (shares, left) == ({"cy": ["ann", "bob"]}, ["cy", "zoe"])
    assert result.problems == [
        "group red: ann and cy have submitted; one was expected. The latest counts, from cy",
    ]


def test_of_several_none_counts_where_the_latest_is_not_known(shared):
    shares, left, result = shared({"ann": datetime(2026, 3, 1, 12), "cy": None})
    assert (shares, left, result.problems) == ({}, ["zoe"], [])
    assert [one.submitted_by for one in result.learners] == ["", "", ""]
    assert all("move the others out of submitted/" in one.problem for one in result.learners)


def test_a_group_without_a_submission_is_passed_over(shared):
    shares, left, result = shared({}, problem="missing")
    assert (shares, left) == ({}, ["zoe"])
    assert [(one.name, one.problem) for one in result.learners] == [("ann", "missing")]


def test_a_learner_stands_for_those_of_the_group_who_submitted(tmp_path):
    for who in ("bob", "cy"):
        (tmp_path / "submitted" / who / "hw").mkdir(parents=True)
        (tmp_path / "submitted" / who / "hw" / "hw.ipynb").write_text("")
    groups = {"red": ["ann", "bob", "cy"], "blue": ["dan", "eve"]}
    assert whole_groups(tmp_path, "hw", ["ann", "bob"], groups) == ["bob", "cy"]
    assert whole_groups(tmp_path, "hw", ["dan", "zoe"], groups) == ["dan", "zoe"]
