"""Submissions come out of a platform's download to the right learner, or to nobody, with a reason."""

import json
import shutil
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import nbformat
import pytest
from click.testing import CliRunner
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.book.course_error import CourseError
from autograder.cli import commands
from autograder.course.intake import collect_archive
from autograder.course.layout import read_config
from autograder.course.moodle import moodle_times
from autograder.course.submissions import collected_files, refused_uploads
from autograder.course.submissions.submission_time import SubmissionTime
from autograder.course.terms import history
from autograder.values import atomic_write
from tests.autograder.course.downloads import ASSIGNMENTS, notebook, packed, small_course
from tests.autograder.exchange import submitted_at

NB = notebook("a", "b")
WORKSHEET = """\
Identifier,Full name,ID number,Email address,Status,Grade,Last modified (submission),Last modified (grade)
Participant 31,Ada O'Lovelace,,ada@x.org,,,"Monday, 7 January 2030, 10:00 AM",-
Participant 32,Bob Müller Ōta,bob,,,,-,-
Participant 33,Kim Lee,kim1,,,,"Tuesday, January 8, 2030, 9:05 PM",-
Participant 34,Kim Lee,kim2,,,,,-
Participant 35,Zed Nobody,,zed@x.org,,,,-
"""


@pytest.fixture(scope="module")
def blank(tmp_path_factory):
    return small_course(tmp_path_factory.mktemp("class") / "course")


@pytest.fixture
def folder(blank, tmp_path):
    return shutil.copytree(blank, tmp_path / "course")


def take(folder, source, name="week1", **more):
    return collect_archive.collect(folder, name, source, **more)


def kinds(report):
    return {one.learner: one.kind for one in report.outcomes}


def there(folder, learner, name="week1"):
    path = folder / "submitted" / learner / name / f"{name}.ipynb"
    return path.read_text() if path.exists() else None


@pytest.mark.parametrize(
    ("member", "learner"),
    [
        ("olovelaceada_4711_90210_week1.ipynb", "ada"),
        ("olovelaceada_LATE_4711_90210_week1-1.ipynb", "ada"),  # Canvas numbers a file that is submitted again
        ("Homework/olovelaceada_4711_90210_week1.ipynb", "ada"),
        ("somebodyelse_4711_90210_my_12_34_work.ipynb", "ada"),  # by Canvas's number; one notebook of another name
        ("müllerōtabob_99_90210_week1 (2).ipynb", "bob"),
        ("Ada OLovelace_31_assignsubmission_file/week1.ipynb", "ada"),
        ("Ada OLovelace_31_assignsubmission_file_/week1.ipynb", "ada"),
        ("Homework/Bob Müller Ōta_32_assignsubmission_file/sub/folder/final.ipynb", "bob"),
        ("Bob Müller Ōta_32_assignsubmission_file_week1.ipynb", "bob"),
        ("kim2.ipynb", "kim2"),
        ("kim2/week1.ipynb", "kim2"),
        ("submissions/kim2/week1/week1.ipynb", "kim2"),
        ("ada@x.org/week1.ipynb", "ada"),
        ("Ada O'Lovelace/week1.ipynb", "ada"),
        ("ada@x.org/bob.ipynb", "ada"),
        ("Ada O'Lovelace/bob/week1.ipynb", "ada"),
        ("class/ada@x.org/bob/hw.ipynb", "ada"),
        ("4711/bob.ipynb", "ada"),
        ("olovelaceada_4711_90210_week1.ipynb.json", "ada"),  # as a browser may save it
        ("olovelaceada_4711_90210_week1 (1).ipynb.txt", "ada"),
        ("kim2.IPYNB.json", "kim2"),
        ("kim2\\week1.ipynb", "kim2"),
    ],
)
def test_a_file_comes_to_its_learner(folder, tmp_path, member, learner):
    report = take(folder, packed(tmp_path / "homework.zip", {member: NB}))
    assert kinds(report) == {learner: "new"}
    assert there(folder, learner) == NB
    assert sorted(report.missing) == sorted({"ada", "bob", "kim1", "kim2"} - {learner})


@pytest.mark.parametrize("outer", ["olovelaceada_4711_90210_homework.zip", "ada.zip", "Ada OLovelace.ZIP"])
def test_a_zip_that_a_learner_handed_in_is_opened(folder, tmp_path, outer):
    content = packed(tmp_path / "inner.zip", {"week1/bob.ipynb": NB, "__MACOSX/week1/._bob.ipynb": "x"}).read_bytes()
    report = take(folder, packed(tmp_path / "a.zip", {outer: content}))
    assert kinds(report) == {"ada": "new"}
    assert there(folder, "ada") == NB


@pytest.mark.parametrize("title", ["week1.json", "week1.txt", "week1.ipynb.pdf", "ipynb.json"])
def test_what_is_not_called_a_notebook_is_named(folder, tmp_path, title):
    report = take(folder, packed(tmp_path / "a.zip", {f"kim2/{title}": NB}))
    assert kinds(report) == {"kim2": "refused"}
    assert title in report.outcomes[0].notes[0]


@pytest.mark.parametrize(
    ("member", "why"),
    [
        ("leekim_5_6_week1.ipynb", "may be kim1 or kim2"),
        ("Kim Lee_33_assignsubmission_file/week1.ipynb", "may be kim1 or kim2"),
        ("zednobody_5_6_week1.ipynb", "nobody of the gradebook"),
        ("olovelaceada_17_6_week1.ipynb", "the name of ada, whose number is 4711, with the number 17"),
        ("müllerōtabob_4711_6_week1.ipynb", "by the number 4711 of ada, by the name of bob"),
        ("LATE_anon_x7Qaz_6_week1.ipynb", "Canvas hides whose it is"),
        ("Ada OLovelace_31_assignsubmission_onlinetext/onlinetext.html", "typed into Moodle"),
        ("stranger/week1.ipynb", "nobody of the gradebook"),
        ("stranger/bob.ipynb", "'stranger' is nobody of the gradebook"),
        ("stranger/bob/week1.ipynb", "'stranger' is nobody of the gradebook"),
        ("../ada.ipynb", "leads out"),
        ("CS 101/olovelaceada_4711_90210_week1.ipynb", "'CS 101' is nobody of the gradebook"),  # or a learner's folder
        ("Bob Müller Ōta_32_assignsubmission_file_Ada OLovelace_31_assignsubmission_file_week1.ipynb", "worksheet"),
    ],
)
def test_what_is_nobodys_or_may_be_two_learners_is_refused(folder, tmp_path, member, why):
    report = take(folder, packed(tmp_path / "a.zip", {member: NB}))
    assert not report.outcomes
    assert why in report.refused[0]
    assert not list((folder / "submitted").iterdir())


def test_the_files_of_two_people_of_one_name_are_nobodys(folder, tmp_path):
    members = {"müllerōtabob_1_6_week1.ipynb": NB, "müllerōtabob_2_7_week1.ipynb": NB}
    report = take(folder, packed(tmp_path / "a.zip", members))
    assert not report.outcomes
    assert "several people" in report.refused[0]


def sheet(tmp_path, text=WORKSHEET):
    path = tmp_path / "sheet.csv"
    path.write_text(text)
    return path


def test_the_worksheet_tells_learners_of_one_name_apart_and_gives_the_time(folder, tmp_path):
    path = "Kim Lee_{}_assignsubmission_file/week1.ipynb"
    source = packed(tmp_path / "a.zip", {path.format(33): NB, path.format(34): notebook("a", "b", text="2")})
    report = take(folder, source, worksheet=sheet(tmp_path), zone=ZoneInfo("Europe/Berlin"))
    assert kinds(report) == {"kim1": "new", "kim2": "new"}
    assert there(folder, "kim1") == NB
    stamp = folder / "submitted" / "kim1" / "week1" / "timestamp.txt"
    assert stamp.read_text() == "2030-01-08 20:05:00.000000 UTC"
    assert not stamp.parent.parent.with_name("kim2").joinpath("week1", "timestamp.txt").exists()
    times = SubmissionTime.in_course(folder, "week1", read_config(folder))
    assert times.of("kim1") == datetime(2030, 1, 8, 20, 5)
    assert not list(times.doubted(["kim1", "kim2"]))


def test_without_a_time_zone_no_time_is_guessed(folder, tmp_path):
    source = packed(tmp_path / "a.zip", {"Ada OLovelace_31_assignsubmission_file/week1.ipynb": NB})
    report = take(folder, source, worksheet=sheet(tmp_path))
    assert not (folder / "submitted" / "ada" / "week1" / "timestamp.txt").exists()
    assert "--time-zone" in report.notes[0]
    later = take(folder, source, worksheet=sheet(tmp_path), zone=UTC)
    assert (kinds(later), later.notes) == ({"ada": "unchanged"}, [])
    assert (folder / "submitted" / "ada" / "week1" / "timestamp.txt").read_text().startswith("2030-01-07 10:00:00")
    take(folder, source)  # an archive without a worksheet takes no time away
    assert (folder / "submitted" / "ada" / "week1" / "timestamp.txt").exists()


@pytest.mark.parametrize(
    ("member", "why"),
    [
        ("Ada OLovelace_32_assignsubmission_file/week1.ipynb", "participant 32 is Bob"),  # another assignment's numbers
        ("Ada OLovelace_99_assignsubmission_file/week1.ipynb", "participant 99 is not in the worksheet"),
        ("Zed Nobody_35_assignsubmission_file/week1.ipynb", "participant 35 is nobody of the gradebook"),
    ],
)
def test_a_worksheet_of_another_assignment_is_noticed(folder, tmp_path, member, why):
    report = take(folder, packed(tmp_path / "a.zip", {member: NB}), worksheet=sheet(tmp_path))
    assert not report.outcomes
    assert why in report.refused[0]


def test_with_names_hidden_the_worksheets_id_number_decides(folder, tmp_path):
    hidden = "\n".join(["Identifier,ID number,Grade", "Participant 32,bob,"])
    member = "Participant_32_assignsubmission_file/week1.ipynb"
    report = take(folder, packed(tmp_path / "a.zip", {member: NB}), worksheet=sheet(tmp_path, hidden))
    assert kinds(report) == {"bob": "new"}


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        ({"Untitled.ipynb": NB}, NB),
        ({"week1.ipynb": NB, "scratch.ipynb": notebook("x")}, NB),
        ({"week1.ipynb": notebook("c", "d"), "Untitled.ipynb": NB}, NB),  # the questions say more than the name
        ({"week1.ipynb": NB, "week1-1.ipynb": NB}, NB),  # the same twice
        ({"week1.ipynb": NB, "copy.ipynb": notebook("a", "b", text="2")}, NB),
        ({"notes.ipynb": notebook("x")}, notebook("x")),  # by the one who stripped everything off
        ({"broken.ipynb": "{", "Untitled.ipynb": NB}, NB),
        ({"week1.ipynb": NB, ".ipynb_checkpoints/week1-checkpoint.ipynb": notebook("a")}, NB),
    ],
)
def test_the_notebook_of_the_assignment_is_found_under_any_name(folder, tmp_path, files, chosen):
    members = {f"Ada OLovelace_31_assignsubmission_file/{name}": text for name, text in files.items()}
    assert kinds(take(folder, packed(tmp_path / "a.zip", members))) == {"ada": "new"}
    assert there(folder, "ada") == chosen


def without_metadata(*exercises, text="answer = 2"):
    """A notebook with the prompt, the answer and the grade cell of each exercise, which have lost their names."""
    cells = [
        [new_markdown_cell(f"**Exercise** {name}\n"), new_code_cell(text), new_code_cell(f'grade("{name}", answer)')]
        for name in exercises
    ]
    return nbformat.writes(new_notebook(cells=[cell for three in cells for cell in three]))


def release_prompts(folder):
    for name, exercises in ASSIGNMENTS.items():
        nb = nbformat.reads(without_metadata(*exercises, text="answer = ..."), as_version=4)
        for number, cell in enumerate(nb.cells):
            exercise, part = exercises[number // 3], ("prompt", "answer", "grade")[number % 3]
            cell.metadata = {
                "nbgrader": {"grade_id": f"{exercise}-{part}", "grade": part == "grade", "solution": part == "answer"},
                "gpubook": {"exercise": exercise, "part": part},
            }
        nbformat.write(nb, folder / "release" / name / f"{name}.ipynb")


@pytest.mark.parametrize("stripped", ["week1.ipynb", "Copy of it.ipynb"])
def test_a_notebook_without_metadata_is_known_by_its_prompts_and_grade_cells(folder, tmp_path, stripped):
    release_prompts(folder)
    files = {stripped: without_metadata("a", "b"), "week1-1.ipynb": without_metadata("c", "d")}
    members = {f"ada/{name}": text for name, text in files.items()}
    assert kinds(take(folder, packed(tmp_path / "a.zip", members))) == {"ada": "new"}
    assert there(folder, "ada") == files[stripped]
    report = take(folder, packed(tmp_path / "b.zip", {"bob/week1.ipynb": without_metadata("c", "d")}))
    assert kinds(report) == {"bob": "refused"}
    assert "week1.ipynb (of week2)" in report.outcomes[0].notes[0]


@pytest.mark.parametrize(("title", "kind"), [("week1-1.ipynb", "refused"), ("Untitled.ipynb", "new")])
def test_an_untouched_notebook_is_not_taken_for_an_answered_one_without_metadata(folder, tmp_path, title, kind):
    release_prompts(folder)
    blank = (folder / "release" / "week1" / "week1.ipynb").read_text()
    files = {"ada/week1.ipynb": without_metadata("a", "b"), f"ada/{title}": blank}
    assert kinds(take(folder, packed(tmp_path / "a.zip", files))) == {"ada": kind}
    assert there(folder, "ada") == (files["ada/week1.ipynb"] if kind == "new" else None)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"week1.ipynb": NB, "week1-1.ipynb": notebook("a", "b", text="2")}, "each may be"),
        ({"week1.ipynb": notebook("c", "d")}, "week1.ipynb (of week2)"),
        ({"one.ipynb": notebook("x"), "two.ipynb": notebook("y")}, "(of no assignment)"),
        ({"week1.pdf": "x", "week1.py": "y"}, "no notebook"),
        ({"week1.ipynb": "{"}, "not JSON"),
        ({"week1.ipynb": "\udcff".encode("utf-8", "surrogateescape")}, "not JSON"),
        ({"week1.ipynb": json.dumps({"cells": 1})}, "not a notebook"),
        ({f"{n}.ipynb": NB for n in range(30)}, "30 notebooks"),
    ],
)
def test_where_it_is_not_clear_nothing_is_written(folder, tmp_path, files, why):
    members = {f"Ada OLovelace_31_assignsubmission_file/{name}": text for name, text in files.items()}
    report = take(folder, packed(tmp_path / "a.zip", members))
    assert kinds(report) == {"ada": "refused"}
    assert why in report.outcomes[0].notes[0]
    assert not (folder / "submitted" / "ada").exists()


def canvas(path, text, day=7):
    return packed(path, {"olovelaceada_4711_90210_week1.ipynb": text}, (2030, 1, day, 12, 0, 0))


def test_a_later_archive_updates_and_an_earlier_one_does_not(folder, tmp_path):
    first, second = canvas(tmp_path / "1.zip", NB, day=7), canvas(tmp_path / "2.zip", notebook("a", text="2"), day=8)
    assert kinds(take(folder, second)) == {"ada": "new"}
    report = take(folder, first)
    assert kinds(report) == {"ada": "kept"}
    assert "later archive" in report.outcomes[0].notes[0]
    assert kinds(take(folder, second)) == {"ada": "unchanged"}
    third = canvas(tmp_path / "3.zip", NB, day=9)
    assert kinds(take(folder, third, dry_run=True)) == {"ada": "updated"}
    assert there(folder, "ada") != NB
    assert kinds(take(folder, third)) == {"ada": "updated"}
    assert there(folder, "ada") == NB


def test_what_came_by_the_exchange_or_by_hand_stays(folder, tmp_path):
    path = folder / "submitted" / "ada" / "week1" / "week1.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text("by hand")
    source = canvas(tmp_path / "1.zip", NB)
    report = take(folder, source)
    assert kinds(report) == {"ada": "kept"}
    assert "--replace" in report.outcomes[0].notes[0]
    assert there(folder, "ada") == "by hand"
    submitted_at(folder, "ada", "week1", "2030-01-01 12:00:00 UTC")
    assert kinds(take(folder, source, replace_others=True)) == {"ada": "updated"}
    assert there(folder, "ada") == NB
    assert not path.with_name("timestamp.txt").exists()  # it was that of another submission


@pytest.mark.parametrize(
    ("when", "kind"), [("2030-01-07 09:59:00 UTC", "updated"), ("2030-01-07 10:01:00 UTC", "kept")]
)
def test_of_two_known_times_the_later_counts(folder, tmp_path, when, kind):
    path = folder / "submitted" / "ada" / "week1" / "week1.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text("by the exchange")
    submitted_at(folder, "ada", "week1", when)
    source = packed(tmp_path / "a.zip", {"Ada OLovelace_31_assignsubmission_file/week1.ipynb": NB})
    report = take(folder, source, worksheet=sheet(tmp_path), zone=UTC)
    assert kinds(report) == {"ada": kind}


def test_nothing_is_written_through_a_link(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (folder / "submitted" / "ada").symlink_to(tmp_path / "elsewhere")
    report = take(folder, canvas(tmp_path / "1.zip", NB))
    assert kinds(report) == {"ada": "refused"}
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_timestamp_that_a_learner_submitted_is_not_taken(folder, tmp_path):
    own = "Ada OLovelace_31_assignsubmission_file"
    members = {f"{own}/week1.ipynb": NB, f"{own}/timestamp.txt": "2020-01-01 00:00:00 UTC"}
    report = take(folder, packed(tmp_path / "a.zip", members))
    assert [path.name for path in (folder / "submitted" / "ada" / "week1").iterdir()] == ["week1.ipynb"]
    assert "timestamp.txt" in report.outcomes[0].notes[0]


@pytest.mark.parametrize("files", [0, 1, 2])
def test_a_kill_leaves_a_whole_notebook_and_is_made_good(folder, tmp_path, monkeypatch, files):
    second, new = canvas(tmp_path / "2.zip", notebook("a", text="2"), day=8), notebook("a", text="2")
    take(folder, canvas(tmp_path / "1.zip", NB, day=7))
    write, left = atomic_write.write_whole, files

    def killed(*given):
        nonlocal left
        if not left:
            raise KeyboardInterrupt
        left -= 1
        write(*given)

    with monkeypatch.context() as patch:
        for module in (collect_archive, collected_files):
            patch.setattr(module, "write_whole", killed)
        if files < 2:  # the record, then the notebook
            with pytest.raises(KeyboardInterrupt):
                take(folder, second)
        else:
            take(folder, second)
    assert there(folder, "ada") == (new if files == 2 else NB)
    assert kinds(take(folder, second)) == {"ada": "unchanged" if files == 2 else "updated"}
    assert there(folder, "ada") == new
    assert kinds(take(folder, canvas(tmp_path / "3.zip", NB, day=9))) == {"ada": "updated"}


def test_a_gradebook_without_learners_takes_plain_names_as_ids(tmp_path):
    folder = small_course(tmp_path / "course", people={})
    source = packed(tmp_path / "a.zip", {"eve.ipynb": NB, "x/.hidden/week1.ipynb": NB, "a_1_2_week1.ipynb": NB})
    report = take(folder, source)
    assert (kinds(report), report.notes) == ({"eve": "new"}, [])
    assert len(report.refused) == 2
    (note,) = take(folder, packed(tmp_path / "b.zip", {"__MACOSX/x.ipynb": NB})).notes
    assert "no learners yet" in note


def test_an_archive_with_nothing_of_anybody_is_no_note_where_learners_are_known(folder, tmp_path):
    report = take(folder, packed(tmp_path / "a.zip", {"x/__MACOSX/week1.ipynb": NB}))
    assert (report.outcomes, report.notes) == ([], [])
    assert report.missing == ["ada", "bob", "kim1", "kim2"]


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("Monday, 7 January 2030, 10:00 AM", 10),
        ("Monday, January 7, 2030, 10:00 PM", 22),
        ("7 January 2030, 22:00", 22),
        ("Monday, 7 January 2030, 10:00\N{NARROW NO-BREAK SPACE}AM", 10),
    ],
)
def test_moodles_times_are_read(text, hour):
    assert moodle_times.read(text, ZoneInfo("America/New_York")) == datetime(
        2030, 1, 7 + (hour + 5) // 24, (hour + 5) % 24, tzinfo=UTC
    )


def test_what_is_no_time_is_said(folder, tmp_path):
    with pytest.raises(ValueError, match="'Montag"):
        moodle_times.read("Montag, 7. Januar 2030, 10:00", UTC)
    assert moodle_times.read(" - ", UTC) is None
    source = packed(tmp_path / "a.zip", {"Ada OLovelace_31_assignsubmission_file/week1.ipynb": NB})
    text = WORKSHEET.replace("Monday, 7 January 2030, 10:00 AM", "gestern")
    report = take(folder, source, worksheet=sheet(tmp_path, text), zone=UTC)
    assert kinds(report) == {"ada": "new"}
    assert "'gestern'" in report.notes[0]


def test_the_command_says_what_it_did(folder, tmp_path):
    members = {"olovelaceada_LATE_4711_90210_week1.ipynb": NB, "leekim_5_6_week1.ipynb": NB, "..": "x"}
    source = str(packed(tmp_path / "a.zip", members))

    def run(*more):
        return CliRunner().invoke(commands.main, ["collect", str(folder), "week1", *more])

    planned = run(source, "--dry-run")
    assert planned.exit_code == 0, planned.output
    assert "Nothing was written" in planned.output
    assert there(folder, "ada") is None
    done = run(source)
    assert done.exit_code == 0, done.output
    assert "ada: new, olovelaceada_LATE_4711_90210_week1.ipynb" in done.output
    assert "1 new" in done.output
    assert "late by Canvas" in done.output
    assert done.output.count("refused: ") == 2
    assert "bob, kim1, kim2" in done.output
    assert run(str(packed(tmp_path / "b.zip", {"x/y.ipynb": NB}))).exit_code == 1
    assert run(source, "--time-zone", "Mars/Olympus").exit_code == 2
    assert "Error: " in run(str(tmp_path / "sheet.zip")).output


def test_what_was_never_released_is_an_error(folder, tmp_path):
    source = canvas(tmp_path / "1.zip", NB)
    with pytest.raises(CourseError, match="week9"):
        take(folder, source, "week9")
    with pytest.raises(CourseError, match="not a course"):
        take(tmp_path, source)


CANVAS = {"olovelaceada_LATE_4711_90210_week1.ipynb": NB, "müllerōtabob_LATE_99_90211_week1.ipynb": NB}
NINE = datetime(2030, 1, 7, 9, tzinfo=UTC)


def counted(folder, learner):
    return SubmissionTime.in_course(folder, "week1", read_config(folder)).of(learner)


def test_canvas_s_times_come_from_its_list_or_from_the_teacher_and_count(folder, tmp_path):
    source, listing = packed(tmp_path / "s.zip", CANVAS), tmp_path / "submissions.json"
    listing.write_text(json.dumps([{"user_id": 4711, "submitted_at": "2030-01-07T09:00:00Z"}]))
    report = take(folder, source)
    assert "ada, bob" in report.notes[-1]
    report = take(folder, source, submissions=[listing])
    assert kinds(report) == {"ada": "unchanged", "bob": "unchanged"}
    assert (counted(folder, "ada"), counted(folder, "bob")) == (NINE.replace(tzinfo=None), None)
    assert "bob" in report.notes[-1]
    assert "ada" not in report.notes[-1]
    eight = datetime(2030, 1, 7, 8)
    report = take(folder, source, submissions=[listing], submitted={"ada": eight, "bob": eight, "kim1": eight})
    assert (counted(folder, "ada"), counted(folder, "bob")) == (eight, eight)  # the teacher's word before the list's
    assert report.notes == ["nothing in the archive, so their times count for nothing: kim1"]


def test_a_time_of_nobody_is_refused_before_anything_is_written(folder, tmp_path):
    with pytest.raises(CourseError, match="zed"):
        take(folder, packed(tmp_path / "s.zip", CANVAS), submitted={"zed": datetime(2030, 1, 7)})
    assert there(folder, "ada") is None


@pytest.mark.parametrize(("word", "status"), [("ada=2030-01-07 10:00 Europe/Berlin", 0), ("ada", 2), ("ada=soon", 2)])
def test_a_time_is_written_on_the_command_line_as_a_deadline_is(folder, tmp_path, word, status):
    source = packed(tmp_path / "s.zip", CANVAS)
    result = CliRunner().invoke(commands.main, ["collect", str(folder), "week1", str(source), "--submitted", word])
    assert result.exit_code == status, result.output
    assert counted(folder, "ada") == (NINE.replace(tzinfo=None) if status == 0 else None)


def test_whom_a_collection_refused_is_known_until_something_of_theirs_is_taken(folder, tmp_path):
    empty = packed(tmp_path / "empty.zip", {"ada.ipynb": "", "bob.ipynb": NB})
    take(folder, empty, dry_run=True)
    assert refused_uploads.load(folder, "week1") == {}
    assert kinds(take(folder, empty)) == {"ada": "refused", "bob": "new"}
    (who, why), *others = refused_uploads.load(folder, "week1").items()
    assert (who, others) == ("ada", [])
    assert why.startswith("ada.ipynb: ")
    assert "the file is empty" in why
    take(folder, packed(tmp_path / "bob.zip", {"bob.ipynb": NB}))  # which has nothing of ada
    assert list(refused_uploads.load(folder, "week1")) == ["ada"]
    take(folder, packed(tmp_path / "ada.zip", {"ada.ipynb": NB}))
    assert refused_uploads.load(folder, "week1") == {}
    assert next(event.about for event in history.events(folder, "week1")) == {
        "archive": "empty.zip",
        "new": 1,
        "refused": 1,
    }
