"""The gradebook as CSV, for Canvas, Moodle and spreadsheets: nothing is lost, misread, or computed."""

import csv
import io
import json
import os
import re
import stat
import warnings
from datetime import datetime

import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook

from autograder import course
from autograder.book.source.release import CourseError
from autograder.cli import commands
from autograder.course import export, gradebook, gradebook_url, spreadsheet
from autograder.course.class_results import class_result
from autograder.course.class_results.class_result import ClassResult, Learner
from autograder.course.gradebook.question_points import by_question
from autograder.grading.results import Result

PEOPLE = {
    "ann": {"first_name": "Ann", "last_name": "Müller, née Ōta", "email": "ann@x.org", "lms_user_id": "17"},
    "bob": {"first_name": "=cmd|' /C calc'!A0", "last_name": 'O"Neil', "email": "+1@x.org"},
    "cy": {"first_name": "Points Possible", "last_name": "@SUM(1)", "lms_user_id": "sis-9"},
    "dee": {},  # submitted nothing
}


def make(folder, people=PEOPLE):
    """Two assignments of 10 points: ann late with extra credit, bob waits for a grade by hand, cy zero."""
    course.init(folder)
    with warnings.catch_warnings(), gradebook_url.opened(gradebook.url_of(folder)) as book:
        warnings.simplefilter("ignore")  # nbgrader's way of adding a submission makes SQLAlchemy 2.1 warn
        for name, more in people.items():
            book.add_student(name, **more)
        for name in ("week1", "week2"):
            book.add_assignment(name, duedate=datetime(2030, 1, 1, 12))
            book.add_notebook(name, name)
            book.add_grade_cell("q", name, name, max_score=8.0, cell_type="code")
            book.add_grade_cell("essay", name, name, max_score=2.0, cell_type="markdown")
            book.add_solution_cell("essay-text", name, name)
        book.add_submission("week1", "ann", timestamp=datetime(2030, 1, 2, 9, 30))
        book.add_submission("week1", "bob")
        book.add_submission("week1", "cy", timestamp=datetime(2029, 12, 31))
        book.add_submission("week2", "ann")
        for who, auto, hand, extra in (("ann", 7.3, 2.0, 1.5), ("bob", 2.1 + 2.2, None, None), ("cy", 0.0, 0.0, None)):
            q, essay = (book.find_grade(cell, "week1", "week1", who) for cell in ("q", "essay"))
            q.auto_score, q.extra_credit, q.needs_manual_grade = auto, extra, False
            essay.manual_score, essay.needs_manual_grade = hand, hand is None
        book.find_submission_notebook("week1", "week1", "ann").late_submission_penalty = 1.3
        book.find_comment("essay-text", "week1", "week1", "ann").manual_comment = "Good <b>essay</b>"
        for cell, points in (("q", 8.0), ("essay", 2.0)):
            grade = book.find_grade(cell, "week2", "week2", "ann")
            grade.manual_score, grade.needs_manual_grade = points, False
        book.db.commit()
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make(tmp_path_factory.mktemp("class") / "course")


def read(made: spreadsheet.SheetContents) -> list[list[str]]:
    return list(csv.reader(io.StringIO(made.text)))


def test_plain_has_a_row_for_each_learner_and_assignment(folder):
    made = export.table(folder)
    head, *rows = read(made)
    assert head == [*export.PLAIN, "essay (2 points)", "q (8 points)"]
    by = {(row[0], row[1]): dict(zip(head, row, strict=True)) for row in rows}
    assert len(rows) == len(by) == 8
    ann = by["week1", "ann"]
    assert ann["last_name"] == "Müller, née Ōta"
    assert (ann["submitted"], ann["due"]) == ("2030-01-02T09:30:00Z", "2030-01-01T12:00:00Z")
    points = (
        "raw_score",
        "extra_credit",
        "late_penalty",
        "score",
        "max_score",
        "needs_manual_grade",
        "answers_waiting",
    )
    assert [ann[key] for key in points] == ["10.8", "1.5", "1.3", "9.5", "10", "no", "0"]
    assert [by["week1", "bob"][key] for key in points] == ["4.3", "0", "0", "4.3", "10", "yes", "1"]
    assert [by["week1", "cy"][key] for key in points] == ["0", "0", "0", "0", "10", "no", "0"]
    assert [by["week1", "dee"][key] for key in points] == ["", "", "", "", "10", "", ""]
    assert by["week1", "bob"]["submitted"] == ""
    assert [note.rpartition(": ")[2] for note in made.notes] == ["bob (week1)"]


def test_the_points_by_question_add_up_to_the_raw_score(folder):
    head, *rows = read(export.table(folder))
    for row in rows:
        cells = dict(zip(head, row, strict=True))
        parts = [cells["essay (2 points)"], cells["q (8 points)"]]
        assert sum(map(float, filter(None, parts))) == pytest.approx(float(cells["raw_score"] or 0))
    by = {(row[0], row[1]): row[len(export.PLAIN) :] for row in rows}
    assert by["week1", "ann"] == ["2", "8.8"]  # the extra credit in it
    assert by["week1", "bob"] == ["", "4.3"]  # to be graded by hand
    assert by["week1", "cy"] == ["0", "0"]
    assert by["week1", "dee"] == ["", ""]  # submitted nothing


def test_questions_stand_in_the_order_of_the_notebook(tmp_path):
    folder = make(tmp_path / "course")
    released = folder / "release" / "week1" / "week1.ipynb"
    released.parent.mkdir(parents=True)
    cells = [{"metadata": {"nbgrader": {"grade_id": name}}, "source": ""} for name in ("q", "essay")]
    released.write_text(json.dumps({"cells": [{"metadata": {}, "source": ""}, *cells]}))
    assert list(by_question(folder, "week1").most) == ["q", "essay"]


def test_canvas_gets_no_column_for_a_question_but_a_file_beside(folder):
    made = export.table(folder, ["week1"], "canvas")
    assert len(read(made)[0]) == len(export.CANVAS) + 1
    assert made.beside is not None
    assert read(made.beside) == read(export.table(folder, ["week1"]))


def test_a_learner_who_submitted_nothing_has_zero_where_asked(folder):
    rows = read(export.table(folder, ["week1"], missing_as_zero=True))
    assert [row[10] for row in rows if row[1] == "dee"] == ["0"]


@pytest.mark.parametrize("form", export.FORMATS)
def test_no_cell_is_a_formula(folder, form, tmp_path):
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("Identifier,Grade,Full name\nParticipant 2,,=cmd|' /C calc'!A0\n")
    rows = read(export.table(folder, ["week1"], form, worksheet=sheet if form == "moodle" else None))
    cells = [cell for row in rows for cell in row if cell not in ("-", "")]
    assert not [cell for cell in cells if cell.lstrip().startswith(tuple(spreadsheet.FORMULA))]
    assert any("cmd|' /C calc'!A0" in cell for cell in cells)


def test_a_worksheet_that_moodle_would_not_take_is_noted(folder, tmp_path):
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("Identifier,Grade,ID number\nParticipant 3,,ann\n")
    notes = export.table(folder, ["week1"], "moodle", worksheet=sheet).notes
    assert [note for note in notes if "'Last modified (grade)'" in note]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("=1+1", "'=1+1"), ("  =1", "'=1"), ("\t=1", "'=1"), ("\r@x", "'@x"), ("-2", "'-2"), ("\x00+1", "'+1"),
        ("＝1", "'＝1"), ("\u200b=1", "'=1"), ("a\nb", "a b"), ("2=1", "2=1"), ("-", "-"), ("", ""),
        ("Ōta, née", "Ōta, née"),
    ],
)  # fmt: skip
def test_texts_are_made_inert(text, shown):
    assert spreadsheet.inert(text) == shown
    assert spreadsheet.inert(shown) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, "0"), (10.0, "10"), (2.1 + 2.2, "4.3"), (1 / 3, "0.3333"), (1e-9, "0"), (100, "100")]
)
def test_points_are_printed_short(value, shown):
    assert spreadsheet.number(value) == shown


def test_canvas_has_its_own_columns_and_a_row_of_maxima(folder):
    made = export.table(folder, (), "canvas", canvas_ids={"week1": 4711})
    head, most, *rows = read(made)
    assert head == [*export.CANVAS, "week1 (4711)", "week2"]
    assert most[0].strip() == "Points Possible"
    assert most[5:] == ["10", "10"]
    assert rows[0] == ["Müller, née Ōta, Ann", "17", "", "ann", "", "9.5", "10"]
    assert rows[1][5:] == ["4.3", ""]
    assert rows[2][:4] == ["'@SUM(1), Points-Possible", "", "sis-9", "cy"]
    assert rows[3] == ["dee", "", "", "dee", "", "", ""]
    assert sum("Points Possible" in row[0] for row in [head, most, *rows]) == 1
    assert made.notes[0].endswith("or offers to make them: week2")


def test_canvas_would_drop_a_column_named_like_its_own_totals(folder, monkeypatch):
    monkeypatch.setattr(gradebook, "scores", lambda *_: {"Final Score": []})
    with pytest.raises(CourseError, match=r"Canvas .*'Final Score'"):
        export.table(folder, (), "canvas")


def say(folder):
    said = Result("q", 1.0, 3.0, "Turn <it> over.")
    learners = [Learner("ann", [said]), Learner("bob", problem="no notebook")]
    class_result.save(ClassResult("week1", {"q": 3.0}, learners), folder / ".gpubook" / "week1.results.json")


def test_moodle_has_the_sentences_as_text(tmp_path):
    folder = make(tmp_path / "course")
    say(folder)
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("Identifier,ID number,Grade,Feedback comments\nParticipant 5,ann,,\nParticipant 6,bob,,\n")
    head, ann, bob = read(export.table(folder, ["week1"], "moodle", worksheet=sheet))
    assert ann[2:4] == [
        "9.5",
        "essay (2 of 2)<br>q (8.8 of 8): Turn &lt;it&gt; over.<br>Good &lt;b&gt;essay&lt;/b&gt;<br>"
        "Late: 1.3 of 10.8 points are taken off.",
    ]
    assert bob[2:4] == ["4.3", "essay (to be graded)<br>q (4.3 of 8)"]
    assert (head[4:], ann[4:], bob[4:]) == (["essay (2 points)", "q (8 points)"], ["2", "8.8"], ["", "4.3"])


def test_a_worksheet_that_was_filled_in_before_is_filled_in_again(folder, tmp_path):
    first, again = tmp_path / "first.csv", tmp_path / "again.csv"
    first.write_text(WORKSHEET)
    made = export.table(folder, ["week1"], "moodle", worksheet=first)
    spreadsheet.write(made, again)
    assert read(export.table(folder, ["week1"], "moodle", worksheet=again)) == read(made)


def test_moodle_needs_its_worksheet_and_reads_one_assignment_a_file(folder):
    with pytest.raises(CourseError, match=r"^Moodle .*worksheet"):
        export.table(folder, ["week1"], "moodle")
    with pytest.raises(CourseError, match=r"^Moodle .* week1, week2$"):
        export.table(folder, (), "moodle")


WORKSHEET = """\
\ufeffIdentifier,"Full name","ID number","Email address",Status,Grade,"Maximum grade","Last modified (grade)",\
"Feedback comments"
"Participant 9","Somebody Else","ann","",,,10.00,-,
"Participant 2","x","","+1@X.org",,3.00,10.00,"Monday, 7 January 2030, 10:00 AM",
"Participant 3","y","CY","",,,10.00,-,
"Participant 4","dee","","",,5.00,10.00,-,kept

"Participant 5","Zed, A","","z@x.org",,,10.00,-,"=1"
"""


def test_a_worksheet_of_moodles_is_filled_in(folder, tmp_path):
    (tmp_path / "sheet.csv").write_text(WORKSHEET)
    made = export.table(folder, ["week1"], "moodle", worksheet=tmp_path / "sheet.csv")
    head, *rows = read(made)
    grade, comment = head.index("Grade"), head.index("Feedback comments")
    assert head[0] == "Identifier"
    assert [row[0] for row in rows] == [f"Participant {n}" for n in (9, 2, 3, 4, 5)]
    assert [row[grade] for row in rows] == ["9.5", "4.3", "0", "5.00", ""]  # dee submitted nothing: kept
    assert rows[1][7] == "Monday, 7 January 2030, 10:00 AM"  # by which Moodle sees that its grade is newer
    assert rows[0][7] == "-"
    assert rows[3][comment] == "kept"
    assert rows[4][comment] == "'=1"
    assert made.notes[0].rpartition(": ")[2] == "Zed, A"


def test_two_of_one_name_are_never_mixed_up(tmp_path):
    twins = {"a": {"first_name": "Lee"}, "b": {"first_name": "lee"}, "ann": {"first_name": "Kim"}, "bob": {}, "cy": {}}
    folder = make(tmp_path / "course", twins)
    sheet = tmp_path / "sheet.csv"
    lines = (f"Participant {n},{who}," for n, who in enumerate(("Lee", "Kim", "Kim", "bob")))
    sheet.write_text("\n".join(["Identifier,Full name,Grade", *lines]))
    made = export.table(folder, ["week1"], "moodle", worksheet=sheet)
    assert [row[2] for row in read(made)[1:]] == ["", "", "", "4.3"]
    assert "Lee, Kim, Kim" in made.notes[0]
    assert "a, ann, b, cy" in made.notes[1]


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("ann,+1@x.org,", "cy,,", "e-mail address bob, by its ID number ann"),  # the mail is bob's
        ("ann,,cy", "bob,,", "ID number ann, by its full name cy"),
        ("ann,,", ",ann@x.org,", "are both ann"),
    ],
)
def test_two_keys_of_a_line_that_disagree_are_an_error(tmp_path, first, second, found):
    people = PEOPLE | {"cy": {}, "dee": {}}
    folder = make(tmp_path / "course", people)
    sheet = tmp_path / "sheet.csv"
    head = "Identifier,Grade,ID number,Email address,Full name\n"
    sheet.write_text(f"{head}Participant 1,,{first}\nParticipant 2,,{second}\n")
    with pytest.raises(CourseError, match=re.escape(found)):
        export.table(folder, ["week1"], "moodle", worksheet=sheet)


def test_a_borrowed_name_brings_no_grade(tmp_path):
    folder, sheet = make(tmp_path / "course"), tmp_path / "sheet.csv"
    lines = 'Participant 1,"Ann Müller, née Ōta",mal@x.org,mal,\nParticipant 2,Points Possible @SUM(1),cy@x.org,,\n'
    sheet.write_text(f"Identifier,Full name,Email address,ID number,Grade\n{lines}")
    made = export.table(folder, ["week1"], "moodle", worksheet=sheet)
    assert [row[4] for row in read(made)[1:]] == ["", "0"]  # of ann another address is known, of cy none
    assert "Ann" in made.notes[0]
    assert "ann" in made.notes[1]


def test_a_participants_number_is_nobodys(tmp_path):
    people = {"ann": {"lms_user_id": "17"}, "bob": {"lms_user_id": "18"}, "cy": {}}
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("Identifier,Grade\nParticipant 17,\nParticipant 18,\n")
    made = export.table(make(tmp_path / "course", people), ["week1"], "moodle", worksheet=sheet)
    assert [row[1] for row in read(made)[1:]] == ["", ""]


@pytest.mark.parametrize("text", ["", "Identifier,Notes\n1,2\n", "Identifier,Grade,Grade\n", "Bezeichner,Bewertung\n"])
def test_what_is_no_worksheet_is_refused(folder, tmp_path, text):
    (tmp_path / "sheet.csv").write_text(text)
    with pytest.raises(CourseError, match=r"sheet\.csv: .*Identifier and Grade"):
        export.table(folder, ["week1"], "moodle", worksheet=tmp_path / "sheet.csv")


def test_more_than_the_maximum_is_said_for_moodle(tmp_path):
    folder = make(tmp_path / "course")
    with Gradebook(gradebook.url_of(folder)) as book:
        book.find_grade("q", "week2", "week2", "ann").extra_credit = 3.0
        book.db.commit()
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("Identifier,Grade,ID number\nParticipant 3,,ann\n")
    made = export.table(folder, ["week2"], "moodle", worksheet=sheet)
    assert read(made)[1][1] == "13"
    assert any(" 10 points" in note and note.endswith(": ann") for note in made.notes)
    with Gradebook(gradebook.url_of(folder)) as book:
        book.find_grade("q", "week2", "week2", "ann").extra_credit = None
        book.db.commit()
    made = export.table(folder, ["week2"], "moodle", worksheet=sheet)
    assert not any("more than the maximum" in note for note in made.notes)


def test_what_is_missing_is_named(folder, tmp_path):
    with pytest.raises(CourseError, match=rf"{tmp_path} .*: nbgrader_config\.py "):
        export.table(tmp_path)
    with pytest.raises(CourseError, match=r"'week9' .* week1, week2$"):
        export.table(folder, ["week1", "week9"])
    course.init(tmp_path / "new")
    with pytest.raises(CourseError, match=r"gradebook\.db is missing"):
        export.table(tmp_path / "new")
    assert not (tmp_path / "new" / "gradebook.db").exists()
    with pytest.raises(CourseError, match=r"/x: .*Moodle"):
        export.table(folder, (), "csv", worksheet=tmp_path / "x")
    with pytest.raises(CourseError, match=r"Canvas .* week9; .*week1, week2"):
        export.table(folder, (), "canvas", canvas_ids={"week9": 1})
    with pytest.raises(ValueError, match=r"'xls': .*canvas, moodle, csv"):
        export.table(folder, (), "xls")


def test_the_file_is_written_whole_or_not_at_all(folder, tmp_path, monkeypatch):
    made, target = export.table(folder), tmp_path / "grades.csv"
    target.write_text("before")

    def full(_handle):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            spreadsheet.write(made, target)
    assert target.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["grades.csv"]
    spreadsheet.write(made, target)
    assert target.read_bytes().decode() == made.text
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with pytest.raises(CourseError, match=f"{tmp_path} .*folder"):
        spreadsheet.write(made, tmp_path)
    with pytest.raises(CourseError, match=r"/none .* g\.csv"):
        spreadsheet.write(made, tmp_path / "none" / "g.csv")


def test_the_command_writes_prints_and_notes(folder, tmp_path):
    def run(*more):
        return CliRunner().invoke(commands.main, ["export", str(folder), *more])

    done = run("week1", "--format", "canvas", "--canvas-id", "week1=12", "--output", str(tmp_path / "c.csv"))
    assert done.exit_code == 0, done.output
    assert "week1 (12)" in (tmp_path / "c.csv").read_text()
    assert "q (8 points)" in (tmp_path / "c-questions.csv").read_text()
    assert re.search(r"^Note: 1 .*: bob \(week1\)$", done.stderr, re.MULTILINE)
    printed = run("--output", "-")
    assert printed.stdout == export.table(folder).text.replace("\r\n", "\n")
    assert run("week9").exit_code == 1
    assert "Error: " in run("week9").output
    assert run("--canvas-id", "week1").exit_code == 2
    assert run("--format", "xls").exit_code == 2


def test_a_larger_class_asks_the_database_no_more_often(folder, tmp_path):
    from sqlalchemy import Engine, event

    larger = make(tmp_path / "course", PEOPLE | {f"more{n}": {} for n in range(20)})
    with warnings.catch_warnings(), Gradebook(gradebook.url_of(larger)) as book:
        warnings.simplefilter("ignore")
        for n in range(20):
            book.add_submission("week1", f"more{n}")
    asked = {}
    for course_folder in (folder, larger):
        statements = []

        def count(*_context, statements=statements):
            statements.append(1)

        event.listen(Engine, "before_cursor_execute", count)
        try:
            rows = gradebook.scores(course_folder)["week1"]
        finally:
            event.remove(Engine, "before_cursor_execute", count)
        asked[len(rows)] = len(statements)
    assert set(asked) == {4, 24}
    assert asked[24] == asked[4] > 0
