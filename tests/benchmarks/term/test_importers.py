"""What Canvas and Moodle accept, pass over and drop, by the rules of their import code."""

import csv
import io

import pytest

from benchmarks.term.importers import (
    Canvas,
    CanvasStudent,
    Moodle,
    MoodleGrade,
    NotImported,
    worksheet,
)

HEAD = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
ADA, BOB, KIM, KIM2 = (
    CanvasStudent(17, "Ada Müller", "Müller, Ada", login="ada"),
    CanvasStudent(18, "Bob O'Neil", "O'Neil, Bob", sis_id="s-18", login="bob"),
    CanvasStudent(19, "Kim Lee", "Lee, Kim", login="kim1"),
    CanvasStudent(20, "Kim Lee", "Lee, Kim", login="kim2"),
)
CANVAS = Canvas([ADA, BOB, KIM, KIM2], {8000: "week1", 8001: "week2"})


def sheet(*rows, cut=","):
    out = io.StringIO()
    csv.writer(out, delimiter=cut).writerows(rows)
    return out.getvalue()


def line(name="Somebody, New", number="", sis="", login="", grade="1"):
    return [name, number, sis, login, "", grade]


@pytest.mark.parametrize(
    ("row", "number"),
    [
        (line(number="17", login="bob"), 17),  # the number goes before all else
        (line(number="4711", login="bob"), 18),  # one that nobody has says nothing
        (line(sis="s-18", login="ada"), 18),
        (line("Lee, Kim", login="kim2"), 20),
        (line("Lee, Kim"), 19),  # by the name alone it is the first who has it
        (line("Kim Lee"), 19),
    ],
)
def test_canvas_finds_a_student_by_number_then_sis_id_then_login_then_name(row, number):
    made = CANVAS.upload(sheet([*HEAD, "week1"], row))
    assert made.grades == {(number, "week1"): "1"}


def test_canvas_would_make_a_student_whom_nothing_names():
    made = CANVAS.upload(sheet([*HEAD, "week1"], line()))
    assert (made.grades, made.strangers) == ({}, ["Somebody, New"])


def test_canvas_finds_an_assignment_by_the_number_at_its_end_or_by_its_title_and_makes_others():
    head = [*HEAD, "another name (8001)", "week1", "week3 (9999)", "mine (2 points)"]
    made = CANVAS.upload(sheet(head, [*line(login="ada")[:5], "1", "2", "3", "4"]))
    assert made.new == ["week3", "mine (2 points)"]
    assert made.grades[17, "week2"] == "1"
    assert made.grades[17, "week1"] == "2"


def test_canvas_drops_the_columns_of_its_own_totals():
    made = CANVAS.upload(sheet([*HEAD, "Unposted Final Score", "week1"], [*line(login="ada")[:5], "5", "7"]))
    assert made.dropped == ["Unposted Final Score"]
    assert made.grades == {(17, "week1"): "7"}


@pytest.mark.parametrize(
    "head",
    [
        ["Name", *HEAD[1:], "week1"],
        ["Student", "Number", *HEAD[2:], "week1"],
        ["Student", "ID", "Section", "week1", "week2", "week3"],
        ["Student", "ID", "SIS User ID", "SIS Login ID", "week1"],
        [],
    ],
)
def test_canvas_refuses_another_head(head):
    with pytest.raises(NotImported):
        CANVAS.upload(sheet(head, line(login="ada")))


def test_canvas_cuts_at_what_gives_its_first_three_lines_as_many_columns():
    text = "Student;ID;SIS User ID;SIS Login ID;Section;week1,2\r\nx;17;;;;3,5\r\n"
    assert CANVAS.upload(text).grades == {(17, "week1,2"): "3.5"}
    with pytest.raises(NotImported, match="Student"):  # two lengths, so that no comma counts
        CANVAS.upload("Student,ID,SIS User ID,SIS Login ID,Section,week1\r\nx,17,,,,3,5\r\n")


def test_canvas_reads_the_maxima_and_passes_over_rows_of_nobody():
    rows = [["    Points Possible", "", "", "", "", "10.5"], ["", "", "", "", "", "Manual Posting"], [",", "", ""]]
    made = CANVAS.upload(sheet([*HEAD, "week1"], *rows[:2], line(login="ada")))
    assert made.possible == {"week1": "10.5"}
    assert list(made.grades) == [(17, "week1")]
    assert made.strangers == []


def test_canvas_takes_a_learner_of_that_name_for_the_maxima():
    made = CANVAS.upload(sheet([*HEAD, "week1"], line("Points Possible, Ann", login="ada", grade="3")))
    assert (made.grades, made.possible) == ({}, {"week1": "3"})


@pytest.mark.parametrize(
    ("cell", "read"), [("1,234.5", "1234.5"), ("3,5", "3.5"), ("7", "7"), ("50%", "50%"), ("", "")]
)
def test_canvas_reads_the_last_separator_of_a_number_as_the_decimals(cell, read):
    for cut in ",;":
        made = CANVAS.upload(sheet([*HEAD, "week1"], line(login="ada", grade=cell), line(login="bob"), cut=cut))
        assert made.grades[17, "week1"] == read


def moodle(**grades):
    return Moodle(10, {"101": MoodleGrade(), "102": MoodleGrade(**grades)})


def filled(*changes, head=None):
    """A worksheet in which the grades and comments of the participants are these."""
    rows = list(csv.reader(io.StringIO(worksheet({"101": ("Ada", "a@x"), "102": ("Bob", "b@x")}, 10))))
    for row, (grade, comment) in zip(rows[1:], changes, strict=False):
        row[4], row[9] = grade, comment
    return sheet(head or rows[0], *rows[1:])


def test_moodle_enters_grades_and_comments_by_the_number_of_the_participant():
    made = moodle()
    done = made.upload(filled(("7.5", "Well done"), ("0", "")), now=1e9)
    assert (done.grades, done.comments, done.skipped) == (["101", "102"], ["101"], {})
    assert made.participants == {"101": MoodleGrade(7.5, 1e9, "Well done"), "102": MoodleGrade(0.0, 1e9)}


@pytest.mark.parametrize(
    ("has", "grade", "why"),
    [
        ({}, "", "no grade"),
        ({}, "10.5", "out of range"),
        ({}, "-1", "out of range"),
        ({"grade": 4.0, "modified": 5.0}, "4", "the same grade"),
        ({"grade": 4.0, "modified": 1e9}, "5", "modified since"),  # the worksheet says "-", which is long ago
    ],
)
def test_moodle_skips_without_a_word(has, grade, why):
    made = moodle(**has)
    done = made.upload(filled(("1", ""), (grade, "")), now=2e9)
    assert (done.grades, done.skipped) == (["101"], {"102": why})
    assert made.participants["102"] == MoodleGrade(**has)


def test_moodle_takes_a_second_file_only_with_its_box_ticked():
    made = moodle()
    made.upload(filled(("1", "a"), ("2", "b")), now=1e9)
    done = made.upload(filled(("3", "c"), ("2", "d")), now=1e9 + 100)
    assert (done.grades, done.comments) == ([], [])
    done = made.upload(filled(("3", "c"), ("2", "d")), now=1e9 + 200, allow_updating=True)
    assert (done.grades, done.comments) == (["101"], ["101", "102"])


def test_moodle_passes_over_other_columns_and_participants_of_another_assignment():
    text = sheet(
        ["Identifier", "Grade", "Last modified (grade)", "mine (2 points)"],
        ["Participant 101", "3", "-", "1"],
        ["Participant 999", "4", "-", "1"],
        ["102", "4", "-", "1"],
    )
    done = moodle().upload(text, now=1.0)
    assert (done.grades, done.ignored) == (["101"], ["mine (2 points)"])
    assert done.strangers == ["Participant 999", "102"]


@pytest.mark.parametrize("without", ["Identifier", "Grade", "Last modified (grade)"])
def test_moodle_refuses_a_worksheet_without_a_column_that_it_needs(without):
    head = ["Identifier", "Grade", "Last modified (grade)", "Full name"]
    head[head.index(without)] = "other"
    with pytest.raises(NotImported, match="no column"):
        moodle().upload(sheet(head, ["Participant 101", "1", "-", "Ada"]), now=1.0)
    with pytest.raises(NotImported, match="cells"):
        moodle().upload(sheet(["Identifier", "Grade", "Last modified (grade)"], ["Participant 101", "1"]), now=1.0)
