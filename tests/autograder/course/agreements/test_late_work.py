"""Late work after the class was graded: whose time counts now, what the gradebook has of it, and what is lost."""

import shutil
import warnings
from datetime import datetime, timedelta

import pytest
from nbgrader import api

from autograder.book.course_error import CourseError
from autograder.course import gradebook
from autograder.course.agreements.late_work import bring_up_to_date
from autograder.course.gradebook_url import opened
from autograder.course.run.journal import Journal
from autograder.course.terms import agreed_terms, group_shares
from autograder.course.terms.agreed_terms import Extension
from autograder.course.terms.group_shares import GroupShare
from autograder.course.terms.lateness import Lateness
from autograder.grading.fingerprints import Fingerprint
from autograder.grading.worker import JobOutcome
from tests.autograder.exchange import kept_at

DUE = datetime(2030, 1, 1)
WHEN, TIME = "2030-01-02 00:00:00 UTC", DUE + timedelta(days=1)
CONFIG = """c = get_config()
c.CourseDirectory.course_id = "gpu"
c.AssignLatePenalties.plugin_class = "autograder.gradebook.LatePerDay"
c.LatePerDay.fraction = 0.25
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A course whose learners have 4 points each, and no time of submission yet."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "nbgrader_config.py").write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(api, "get_alembic_version", lambda: "any")
        with opened(gradebook.url_of(folder)) as book:
            book.add_assignment("hw", duedate=DUE)
            book.add_notebook("hw", "hw")
            book.add_grade_cell("g", "hw", "hw", max_score=4, cell_type="code")
            for who in ("ann", "bob", "cy"):
                book.add_student(who)
                with book.db.no_autoflush:
                    book.add_submission("hw", who)
                book.find_grade("g", "hw", "hw", who).auto_score = 4.0
            book.db.commit()
    return folder


@pytest.fixture
def course(made, tmp_path):
    return shutil.copytree(made, tmp_path / "course")


def stamp(course, who, text=WHEN, exchange=False):
    home = course / "submitted" / who / "hw"
    home.mkdir(parents=True, exist_ok=True)
    (home / "timestamp.txt").write_text(text)
    if exchange:
        kept_at(course, who, "hw", text)


def entered(course, who, lateness):
    """A run has entered this learner's submission."""
    with Journal.open(course, "hw") as journal:
        journal.keep(who, Fingerprint("s", "r", {}), JobOutcome("{}"))
        journal.record(who, lateness)


def times(course):
    with opened(gradebook.url_of(course)) as book:
        return {row.student_id: row.timestamp for row in book.assignment_submissions("hw")}


def lost(course):
    return {row.person.id: row.late_penalty for row in gradebook.scores(course, ["hw"])["hw"]}


def set_times(course, **by_learner):
    with opened(gradebook.url_of(course)) as book:
        for row in book.assignment_submissions("hw"):
            row.timestamp = by_learner.get(row.student_id, row.timestamp)
        book.db.commit()


def test_a_time_of_the_exchange_is_entered_and_costs_what_it_costs(course):
    stamp(course, "ann", exchange=True)
    assert bring_up_to_date(course, "hw") == []
    assert times(course) == {"ann": TIME, "bob": None, "cy": None}
    assert lost(course) == {"ann": 1.0, "bob": 0.0, "cy": 0.0}


def test_an_extension_that_was_granted_since_counts(course):
    stamp(course, "ann", exchange=True)
    with agreed_terms.changing(course, "hw") as terms:
        terms.extensions["ann"] = Extension(days=1)
    bring_up_to_date(course, "hw")
    assert lost(course)["ann"] == 0.0


def test_a_time_that_a_learner_may_have_written_counts_where_it_is_trusted(course):
    stamp(course, "bob")
    (note,) = bring_up_to_date(course, "hw")
    assert "of bob: " in note
    assert times(course)["bob"] is None
    assert bring_up_to_date(course, "hw", trust_timestamps=True) == []
    assert times(course)["bob"] == TIME
    assert lost(course)["bob"] == 1.0


@pytest.mark.parametrize("trusted", [True, False])
def test_what_counted_by_trust_when_it_was_graded_is_still_trusted(course, trusted):
    stamp(course, "bob")
    entered(course, "bob", Lateness(WHEN, trusted, DUE.isoformat(), 1.0))
    notes = bring_up_to_date(course, "hw")
    assert times(course)["bob"] == (TIME if trusted else None)
    assert len(notes) == (not trusted)


def test_a_time_that_no_longer_counts_is_taken_back_where_a_run_entered_it(course):
    set_times(course, ann=TIME, bob=TIME)
    entered(course, "ann", Lateness(WHEN, False, DUE.isoformat(), 1.0))
    assert bring_up_to_date(course, "hw") == []
    assert times(course) == {"ann": None, "bob": TIME, "cy": None}  # nbgrader's own commands entered bob's
    assert lost(course) == {"ann": 0.0, "bob": 1.0, "cy": 0.0}


def test_a_group_has_the_time_of_who_submitted(course):
    stamp(course, "ann", exchange=True)
    stamp(course, "bob", "2029-12-01 00:00:00 UTC", exchange=True)
    entered(course, "ann", Lateness(WHEN, False, DUE.isoformat(), 1.0))
    group_shares.write(course, "hw", {"bob": GroupShare("ann"), "cy": GroupShare("ann", lateness=Lateness())})
    assert bring_up_to_date(course, "hw") == []
    assert times(course) == {"ann": TIME, "bob": TIME, "cy": TIME}


def test_a_doubted_time_of_a_group_is_told_once(course):
    stamp(course, "ann")
    group_shares_of = {"bob": GroupShare("ann"), "cy": GroupShare("ann")}
    entered(course, "ann", Lateness())
    group_shares.write(course, "hw", group_shares_of)
    (note,) = bring_up_to_date(course, "hw")
    assert note.count("ann") == 1


def test_a_file_that_holds_no_time_is_told_once_and_changes_nothing(course):
    stamp(course, "ann", "yesterday")
    entered(course, "ann", Lateness("yesterday", True, "", 0.0))
    group_shares.write(course, "hw", {"cy": GroupShare("ann", lateness=Lateness("yesterday", True, "", 0.0))})
    set_times(course, ann=TIME)
    stamp(course, "bob")
    notes = bring_up_to_date(course, "hw")
    assert ["yesterday" in note for note in notes] == [True, False]
    assert times(course) == {"ann": TIME, "bob": None, "cy": None}


def test_what_a_teacher_gave_one_of_a_group_is_passed_on(course):
    entered(course, "ann", Lateness())
    group_shares.write(course, "hw", {"bob": GroupShare("ann", lateness=Lateness())})
    with opened(gradebook.url_of(course)) as book:
        book.find_grade("g", "hw", "hw", "ann").extra_credit = 0.5
        book.db.commit()
    bring_up_to_date(course, "hw")
    with opened(gradebook.url_of(course)) as book:
        given = {who: book.find_grade("g", "hw", "hw", who).extra_credit for who in ("ann", "bob", "cy")}
    assert given == {"ann": 0.5, "bob": 0.5, "cy": None}


def test_an_assignment_that_is_not_there_is_an_error(course):
    with pytest.raises(CourseError, match="'other'"):
        bring_up_to_date(course, "other")
