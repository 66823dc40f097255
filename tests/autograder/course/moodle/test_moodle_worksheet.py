"""Moodle's grading worksheet: which files are one, whose line is whose, and what is written into it."""

import csv
from datetime import datetime

import pytest

from autograder.book.course_error import CourseError
from autograder.course.gradebook import AssignmentScore, GradebookLearner
from autograder.course.gradebook.question_points import QuestionPoints
from autograder.course.moodle.moodle_worksheet import fill, participants

HEAD = ["Identifier", "Full name", "Email address", "Grade", "Last modified (grade)", "Feedback comments"]
POINTS = QuestionPoints({"t-steps": 2.0}, {"ann": {"t-steps": 1.5}, "bob": {"t-steps": None}})


def score(name, *, graded=True, **about):
    return AssignmentScore(GradebookLearner(name, **about), "hw", 2.0, datetime(2030, 1, 1), graded=graded, raw=1.5)


def worksheet(folder, lines, head=HEAD):
    path = folder / "worksheet.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *lines])
    return path


def line(number, name="", address="", grade="", when="", comment=""):
    return [f"Participant {number}", name, address, grade, when, comment]


def filled(folder, lines, rows, blank="", head=HEAD, scale=False):
    comments = {row.person.id: "=Well done" for row in rows}
    (head, *out), notes = fill(worksheet(folder, lines, head), rows, comments, POINTS, blank, scale)
    return [dict(zip(head, cells, strict=True)) for cells in out], notes


def test_a_learner_is_found_by_address_id_or_name(tmp_path):
    head = [*HEAD, "ID number"]
    lines = [
        [*line(7, "Ann A", "ann@x.org"), ""],
        [*line(8, "?"), "bob"],
        [*line(9, "Cy  C"), ""],
        [*line(1, "Nobody", "n@x.org"), ""],
    ]
    rows = [
        score("ann", email="Ann@x.org"),
        score("bob"),
        score("cy", first_name="cy", last_name="c"),
        score("dan"),
    ]
    found, notes = filled(tmp_path, lines, rows, head=head)
    assert [cells["Grade"] for cells in found] == ["1.5", "1.5", "1.5", ""]
    assert found[0]["Feedback comments"].startswith("'=")  # no formula of a spreadsheet
    assert [cells["t-steps (2 points)"] for cells in found] == ["1.5", "", "", ""]
    assert [note.rpartition(": ")[2] for note in notes] == ["Nobody", "dan"]
    assert participants(worksheet(tmp_path, lines, head), rows)["9"].person.id == "cy"


def test_what_two_share_is_nobodys(tmp_path):
    rows = [score("ann", first_name="A", last_name="B"), score("bob", first_name="A", last_name="B")]
    found, _ = filled(tmp_path, [line(1, "A B")], rows)
    assert found[0]["Grade"] == ""
    found, _ = filled(tmp_path, [line(1, "A B"), line(2, "A B")], rows[:1])
    assert [cells["Grade"] for cells in found] == ["", ""]


@pytest.mark.parametrize(
    ("address", "known", "grade"), [("e@x.org", "a@x.org", ""), ("", "a@x.org", "1.5"), ("e@x.org", "", "1.5")]
)
def test_a_name_beside_another_address_is_not_that_learners(tmp_path, address, known, grade):
    found, _ = filled(
        tmp_path, [line(1, "Ann A", address)], [score("ann", first_name="Ann", last_name="A", email=known)]
    )
    assert found[0]["Grade"] == grade


def test_a_line_that_is_two_learners_and_two_lines_of_one_are_refused(tmp_path):
    rows = [score("ann", email="ann@x.org"), score("bob", first_name="Bob", last_name="B")]
    with pytest.raises(CourseError, match="one learner was expected"):
        filled(tmp_path, [line(1, "Bob B", "ann@x.org")], rows)
    rows = [score("ann", email="ann@x.org", first_name="Ann", last_name="A")]
    with pytest.raises(CourseError, match="one was expected"):
        filled(tmp_path, [line(1, "", "ann@x.org"), line(2, "Ann A")], rows)


def test_without_a_grade_a_line_stays_unless_a_blank_is_asked_for(tmp_path):
    rows = [score("ann", email="ann@x.org", graded=False)]
    lines = [line(1, "", "ann@x.org", "9", comment="as it was")]
    assert filled(tmp_path, lines, rows)[0][0]["Grade"] == "9"
    cells = filled(tmp_path, lines, rows, blank="0")[0][0]
    assert (cells["Grade"], cells["Feedback comments"]) == ("0", "as it was")


@pytest.mark.parametrize(
    ("head", "refused"),
    [
        (HEAD, False),
        (["Identifier", "Grade"], False),
        (["Identifier"], True),
        (["Grade"], True),
        (["Identifier", "Grade", "Grade"], True),
        ([], True),
    ],
)
def test_a_worksheet_has_its_columns_once(tmp_path, head, refused):
    path = worksheet(tmp_path, [], head)
    if not refused:
        assert participants(path, []) == {}
        return
    with pytest.raises(CourseError, match="its columns are"):
        participants(path, [])


def test_a_worksheet_without_the_column_that_moodle_needs_is_told(tmp_path):
    assert filled(tmp_path, [], [])[1] == []
    assert "Last modified (grade)" in filled(tmp_path, [], [], head=["Identifier", "Grade"])[1][0]


def test_what_is_not_utf_8_is_no_worksheet(tmp_path):
    (tmp_path / "w.csv").write_bytes(b"Identifier,Grade\n\xff,1\n")
    with pytest.raises(CourseError, match="UTF-8 was expected"):
        participants(tmp_path / "w.csv", [])


@pytest.mark.parametrize(
    ("maximum", "grade", "words"),
    [("2.00", "1.5", None), ("2,5", "1.5", "80 %"), ("1", "1.5", "skipped"), ("Good enough", "1.5", None)],
)
def test_a_maximum_of_moodles_that_is_not_ours_is_told(tmp_path, maximum, grade, words):
    (cells,), notes = filled(tmp_path, [[*line(1, "ann"), maximum]], [score("ann")], head=[*HEAD, "Maximum Grade"])
    assert cells["Grade"] == grade
    assert [words in note for note in notes] == [True] * (words is not None)


@pytest.mark.parametrize(
    ("maximum", "grade"), [("2", "1.5"), ("4", "3"), ("1", "0.75"), ("0", "1.5"), ("inf", "1.5"), ("-", "1.5")]
)
def test_grades_are_scaled_to_moodles_maximum_where_that_is_asked_for(tmp_path, maximum, grade):
    lines = [[*line(1, "ann"), maximum]]
    (cells,), notes = filled(tmp_path, lines, [score("ann")], head=[*HEAD, "Maximum grade"], scale=True)
    assert cells["Grade"] == grade
    assert ["scaled" in note for note in notes] == [True] * (grade != "1.5")
