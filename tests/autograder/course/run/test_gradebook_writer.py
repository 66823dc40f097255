"""What entering a graded notebook leaves: the gradebook, autograded/ and feedback/, of a class that is made up."""

import json
import os
import shutil
import sys
import warnings
from datetime import datetime, timedelta

import nbformat
import pytest
from traitlets.config import Config

from autograder.course import gradebook
from autograder.course.by_hand import marks
from autograder.course.by_hand.marks import Mark
from autograder.course.gradebook_url import opened
from autograder.course.layout import read_config
from autograder.course.run import gradebook_writer
from autograder.course.run.gradebook_writer import GradebookWriter, copy_file
from autograder.course.run.nbgrader_steps import GradeInSandbox
from autograder.course.terms import agreed_terms, group_shares
from autograder.course.terms.agreed_terms import Extension
from autograder.course.terms.group_shares import GroupShare
from autograder.course.terms.lateness import Lateness
from autograder.grading.restore import SubmissionError
from tests.autograder.course.made_class import grade_of, in_formgrader, make_class
from tests.autograder.exchange import submitted_at

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux")
DUE = datetime(2030, 1, 1)
IN_TIME, LATE = "2029-12-31 23:00:00 UTC", "2030-01-01 01:00:00 UTC"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A class of two, of whom ann was graded."""
    folder = tmp_path_factory.mktemp("made") / "course"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make_class(folder, {"ann": {"mine-why": "Because."}})
        with opened(gradebook.url_of(folder)) as book:
            book.add_student("bob")
            book.update_or_create_assignment("hw", duedate=DUE)
    config = folder / "nbgrader_config.py"
    rule = 'c.AssignLatePenalties.plugin_class = "autograder.gradebook.LatePerDay"\nc.LatePerDay.fraction = 0.25\n'
    config.write_text(config.read_text() + rule)
    return folder


@pytest.fixture
def course(made, tmp_path):
    return shutil.copytree(made, tmp_path / "course")


def writer(course, **more):
    config = read_config(course)
    config.merge(Config(more))
    return GradebookWriter(course, "hw", config, GradeInSandbox)


def executed(course, why="Because."):
    nb = nbformat.read(course / "release" / "hw" / "hw.ipynb", as_version=4)
    for cell in nb.cells:
        if cell.id == "mine-why":
            cell.source = why
    return json.dumps(nb)


def hand_in(course, who, files):
    home = course / "submitted" / who / "hw"
    home.mkdir(parents=True, exist_ok=True)
    for name, text in {"hw.ipynb": "{}", **files}.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    return home


def below(folder):
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return sorted(files - {"exercises.json"})  # of the teacher's, beside the source


def record(course, who="ann", text=None, by="", **more):
    with writer(course, **more) as made:
        return made.record(who, text or executed(course), by)


def autograded(course, who="ann"):
    return course / "autograded" / who / "hw"


def feedback(course, who="ann"):
    return course / "feedback" / who / "hw"


def test_a_notebook_its_grades_and_its_page_are_there_once_it_is_recorded(course):
    hand_in(course, "ann", {})
    submitted_at(course, "ann", "hw", IN_TIME)
    late = record(course, text=executed(course, "Since a ring has two phases."))
    assert late == Lateness(IN_TIME, False, DUE.isoformat(), 0.0)
    nb = nbformat.read(autograded(course) / "hw.ipynb", as_version=4)
    assert "Since a ring has two phases." in [cell.source for cell in nb.cells]
    assert grade_of(course, "ann") == (None, True, None)
    page = (feedback(course) / "hw.html").read_text()
    assert "Since a ring has two phases." in page
    with opened(gradebook.url_of(course)) as book:
        assert book.find_submission("hw", "ann").timestamp == datetime(2029, 12, 31, 23)


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_notebook_ends_with_one_end_of_line(course, end, monkeypatch):
    monkeypatch.setattr(gradebook_writer, "writes", lambda nb, version: json.dumps(nb) + end)
    hand_in(course, "ann", {})
    record(course)
    text = (autograded(course) / "hw.ipynb").read_text()
    assert text.endswith("}\n")
    assert text.count("\n") == 1


def test_who_is_entered_has_a_submission_a_notebook_and_a_page(course):
    for who in ("ann", "bob"):
        hand_in(course, who, {})
    with writer(course) as made:
        assert made.has() == set()  # ann has a notebook and no page
        made.record("ann", executed(course))
        assert made.has() == {"ann"}
        made.record("bob", executed(course))
        assert made.has() == {"ann", "bob"}
        made._notebook("ann").unlink()
        assert made.has() == {"bob"}
        made.page_of("bob").unlink()
        assert made.has() == set()


def test_a_learners_files_are_kept_and_those_that_a_browser_obeys_renamed(course):
    hand_in(course, "ann", {"data.csv": "1", "page.html": "<p>", "a/b/c.txt": "c", "other.ipynb": "{}"})
    record(course)
    assert below(autograded(course)) == ["a/b/c.txt", "data.csv", "hw.ipynb", "page.html.txt"]
    beside = below(feedback(course))
    assert {"a/b/c.txt", "data.csv", "page.html.txt", "hw.html"} <= set(beside)
    assert "hw.ipynb" not in beside
    assert "page.html.txt" in (feedback(course) / "hw.html").read_text()


@pytest.mark.parametrize(("count", "last"), [(10, "p09"), (11, "p09")])
def test_some_of_the_files_that_were_renamed_are_named_on_the_page(course, count, last):
    hand_in(course, "ann", {f"p{at:02}.html": "" for at in range(count)})
    record(course)
    page = (feedback(course) / "hw.html").read_text()
    assert f"{last}.html.txt" in page
    assert "p10.html.txt" not in page


def test_the_teachers_files_replace_a_learners_of_the_same_name_but_for_those_that_learners_write(course):
    source = course / "source" / "hw"
    for name in ("figure.svg", "helper.txt", "mine.svg"):
        (source / name).write_text("the teacher's")
    hand_in(course, "ann", {"figure.svg": "hers", "mine.svg": "hers", "helper.txt": "hers"})
    record(course, Autograde={"exclude_overwriting": {"hw": ["mine.svg"]}})
    target = autograded(course)
    assert (target / "figure.svg").read_text() == "the teacher's"
    assert (target / "helper.txt").read_text() == "the teacher's"
    assert not (target / "mine.svg").exists()
    assert (target / "mine.svg.txt").read_text() == "hers"  # a learner's, whatever the teacher calls so
    assert not (target / "figure.svg.txt").exists()


def test_what_was_submitted_before_is_gone_and_its_folders_with_it(course):
    home = hand_in(course, "ann", {"old/deep/x.csv": "1", "stays.csv": "2", "was": "a file"})
    record(course)
    shutil.rmtree(home / "old")
    (home / "was").unlink()
    hand_in(course, "ann", {"was/now/y.csv": "3"})
    record(course)
    assert below(autograded(course)) == ["hw.ipynb", "stays.csv", "was/now/y.csv"]
    assert not (autograded(course) / "old").exists()
    assert (feedback(course) / "was" / "now" / "y.csv").read_text() == "3"
    shutil.rmtree(home / "was")
    hand_in(course, "ann", {"was": "a file again"})
    record(course)
    assert (autograded(course) / "was").read_text() == "a file again"
    assert (feedback(course) / "was").read_text() == "a file again"


def test_a_folder_in_place_of_the_page_goes(course):
    hand_in(course, "ann", {})
    (feedback(course) / "hw.html").mkdir(parents=True)
    record(course)
    assert (feedback(course) / "hw.html").is_file()


def test_a_teachers_page_of_the_same_name_is_not_the_feedback(course):
    for name in ("hw.html", "sub/hw.html"):
        (course / "source" / "hw" / name).parent.mkdir(exist_ok=True)
        (course / "source" / "hw" / name).write_text("the teacher's")
    hand_in(course, "ann", {})
    record(course)
    assert (autograded(course) / "hw.html").read_text() == "the teacher's"
    assert (feedback(course) / "sub" / "hw.html").read_text() == "the teacher's"
    assert "Because." in (feedback(course) / "hw.html").read_text()


def test_a_mate_has_the_submitters_files_and_time_and_a_secret_of_their_own(course):
    hand_in(course, "ann", {"data.csv": "1", "submission_secret.txt": "ann's"})
    submitted_at(course, "ann", "hw", LATE)
    group_shares.write(course, "hw", {"bob": GroupShare("ann")})
    assert record(course, "ann").submitted == LATE
    late = record(course, "bob", by="ann")
    assert late.submitted == LATE
    assert (autograded(course, "bob") / "data.csv").read_text() == "1"
    assert (autograded(course, "ann") / "submission_secret.txt").read_text() == "ann's"
    theirs = autograded(course, "bob") / "submission_secret.txt"
    assert theirs.read_text() not in ("ann's", "")
    assert "ann" in (feedback(course, "bob") / "hw.html").read_text()
    with writer(course) as made:
        assert made.lateness("bob", "ann").submitted == LATE
        assert made.lateness("bob").submitted == ""


def test_without_a_secret_a_mate_gets_none(course):
    hand_in(course, "ann", {})
    record(course, "bob", by="ann")
    assert not (autograded(course, "bob") / "submission_secret.txt").exists()


@pytest.mark.parametrize(("when", "penalty"), [(IN_TIME, 0.0), ("2030-01-01 00:00:00 UTC", 0.0), (LATE, 0.5)])
def test_how_late_it_counts_is_what_it_would_count_now(course, when, penalty):
    hand_in(course, "ann", {})
    submitted_at(course, "ann", "hw", when)
    in_formgrader(course, "ann", manual_score=2.0, needs_manual_grade=False)
    expected = Lateness(when, False, DUE.isoformat(), penalty)
    assert record(course) == expected
    with writer(course) as made:
        assert made.lateness("ann") == expected


def test_an_extension_is_entered_and_counts_as_the_deadline(course):
    hand_in(course, "ann", {})
    submitted_at(course, "ann", "hw", LATE)
    in_formgrader(course, "ann", manual_score=2.0, needs_manual_grade=False)
    with agreed_terms.changing(course, "hw") as terms:
        terms.extensions["ann"] = Extension(days=1)
    expected = Lateness(LATE, False, "2030-01-02T00:00:00", 0.0)
    assert record(course) == expected
    with opened(gradebook.url_of(course)) as book:
        assert book.find_submission("hw", "ann").extension == timedelta(days=1)
    with writer(course) as made:
        assert made.lateness("ann") == expected


def test_what_nbgraders_own_interface_granted_stays_and_counts(course):
    hand_in(course, "ann", {})
    with opened(gradebook.url_of(course)) as book:
        book.update_or_create_submission("hw", "ann", extension=timedelta(hours=3))
    assert record(course).due == "2030-01-01T03:00:00"


def test_without_a_deadline_or_a_time_nothing_is_late(course):
    hand_in(course, "ann", {})
    in_formgrader(course, "ann", manual_score=2.0, needs_manual_grade=False)
    with writer(course) as made:
        assert made.lateness("ann") == Lateness("", False, DUE.isoformat(), 0.0)
    submitted_at(course, "ann", "hw", LATE)
    gradebook.set_due(gradebook.url_of(course), "hw", None)
    with writer(course) as made:
        assert made.lateness("ann") == Lateness(LATE, False, "", 0.0)


def test_who_has_no_score_loses_nothing(course):
    hand_in(course, "zoe", {})
    submitted_at(course, "zoe", "hw", LATE)
    with writer(course) as made:
        assert made.lateness("zoe") == Lateness(LATE, False, DUE.isoformat(), 0.0)


def test_a_file_that_holds_no_time_is_an_error_when_recorded_and_no_lateness_before(course):
    hand_in(course, "ann", {"timestamp.txt": "yesterday"})
    trusted = {"SubmissionTime": {"trusted": True}}
    with writer(course, **trusted) as made:
        assert made.lateness("ann").penalty == 0.0
        for who, by in (("ann", ""), ("bob", "ann")):
            with pytest.raises(SubmissionError, match=r"submitted/ann/hw/timestamp\.txt: 'yesterday'"):
                made.record(who, executed(course), by)


def test_a_page_is_shown_anew_with_what_was_given_by_hand(course):
    hand_in(course, "ann", {})
    record(course)
    in_formgrader(course, "ann", manual_score=1.75, needs_manual_grade=False, comment="Well said.")
    with writer(course) as made:
        page = made.show("ann").read_text()
    assert "Well said." in page
    assert "1.75" in page


def test_a_page_has_what_our_steps_add_and_the_scores_of_the_gradebook(course):
    hand_in(course, "ann", {})
    record(course)
    rubric = (("Names the mechanism.", 2.0), ("Says how to measure it.", 1.0))
    with marks.alone(course, "hw", "mine-why"):
        marks.save(course, "hw", "mine-why", {"ann": Mark((1.0, 0.25), rubric, 1.25)})
    in_formgrader(course, "ann", manual_score=1.25, needs_manual_grade=False)
    with writer(course) as made:
        page = made.show("ann").read_text()
    assert "Points by criterion" in page
    assert page.count("1.25") >= 1


def test_recording_again_changes_nothing(course):
    hand_in(course, "ann", {"data.csv": "1"})
    first = record(course)
    before = {name: (autograded(course) / name).read_bytes() for name in below(autograded(course))}
    assert record(course) == first
    assert {name: (autograded(course) / name).read_bytes() for name in below(autograded(course))} == before


def sparse(path, parts, size):
    with path.open("wb") as file:
        file.truncate(size)
        for at, content in parts.items():
            file.seek(at)
            file.write(content)
    return path


@pytest.mark.parametrize(
    "parts",
    [{}, {0: b"abc"}, {0: b"a" * 5000, 1 << 20: b"b" * 5000}, {1 << 20: b"c" * 10, (2 << 20) - 3: b"end"}],
)
def test_a_copy_holds_the_same_and_its_holes_take_no_place(tmp_path, parts):
    source = sparse(tmp_path / "source", parts, 2 << 20)
    copy_file(source, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == source.read_bytes()
    assert (tmp_path / "copy").stat().st_blocks <= source.stat().st_blocks + 8


@pytest.mark.parametrize("text", [b"", b"a", b"abc" * 100_000])
def test_a_file_without_holes_is_copied_whole(tmp_path, text):
    (tmp_path / "source").write_bytes(text)
    (tmp_path / "copy").write_bytes(b"longer before" * 100)
    copy_file(tmp_path / "source", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == text


def test_an_error_of_the_disk_is_no_hole(tmp_path, monkeypatch):
    (tmp_path / "source").write_bytes(b"abc")

    def broken(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "lseek", broken)
    with pytest.raises(OSError, match="Input/output"):
        copy_file(tmp_path / "source", tmp_path / "copy")
