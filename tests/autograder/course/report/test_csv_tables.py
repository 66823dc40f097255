"""The tables of a report as files."""

import pytest

from autograder.book.course_error import CourseError
from autograder.course.report import tables
from autograder.course.spreadsheet import SheetContents

MADE = {"exercises": SheetContents([["number"], ["1"]]), "points": SheetContents([["learner"], ["ann"]])}


@pytest.mark.parametrize("name", ["report.csv", "REPORT.CSV"])
def test_one_file_holds_the_exercises(tmp_path, name):
    assert tables.write(MADE, tmp_path / name) == [tmp_path / name]
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert "number" in (tmp_path / name).read_text(encoding="utf-8-sig")


def test_a_folder_holds_all_and_only_its_owner_may_look(tmp_path):
    target = tmp_path / "report"
    paths = [target / "exercises.csv", target / "points.csv"]
    assert tables.write(MADE, target) == paths
    assert target.stat().st_mode & 0o777 == 0o700
    assert tables.write(MADE, target) == paths
    assert sorted(target.iterdir()) == paths


def test_a_file_of_another_kind_is_no_folder(tmp_path):
    (tmp_path / "report").write_text("mine")
    with pytest.raises(CourseError, match="report is a file; a folder"):
        tables.write(MADE, tmp_path / "report")
    assert (tmp_path / "report").read_text() == "mine"


def test_a_negative_number_is_no_formula_and_a_text_that_begins_like_one_is_defused():
    assert tables._words(["-1", "-0.25", "12"]) == ["-1", "-0.25", "12"]
    for text in ("-1+2", "=1", "-.5", "+1"):
        assert tables._words([text]) != [text]


@pytest.mark.parametrize(("value", "cell"), [(None, ""), (0.0, "0.0000"), (-0.5, "-0.5000"), (0.66666, "0.6667")])
def test_a_share_has_four_digits_and_none_is_empty(value, cell):
    assert tables._share(value) == cell
