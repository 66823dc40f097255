"""More time for a learner: when it can be granted, what is listed of it, and how it is taken back."""

import shutil
import warnings
from datetime import datetime, timedelta

import pytest
from nbgrader import api

from autograder.book.course_error import CourseError
from autograder.course import gradebook
from autograder.course.agreements import extensions
from autograder.course.gradebook_url import opened
from autograder.course.terms import agreed_terms, granted_time
from autograder.course.terms.agreed_terms import Extension

DUE = datetime(2030, 1, 1)


@pytest.fixture(scope="module", autouse=True)
def schema_of_a_new_gradebook():
    """No migration is made here, so which schema it has does not matter: a program of two seconds would say it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "get_alembic_version", lambda: "any")
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A course with two learners, one of whom submitted an assignment that is due, and one that is not."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "nbgrader_config.py").write_text("c = get_config()\n")
    with warnings.catch_warnings(), opened(gradebook.url_of(folder)) as book:
        warnings.simplefilter("ignore")
        book.add_assignment("hw", duedate=DUE)
        book.add_assignment("open")
        for who in ("ann", "bob"):
            book.add_student(who)
        book.add_submission("hw", "ann", timestamp=DUE + timedelta(hours=1))
    for name in ("hw", "open"):
        (folder / "release" / name).mkdir(parents=True)
        (folder / "release" / name / f"{name}.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4}')
    return folder


@pytest.fixture
def folder(made, tmp_path):
    """A copy of it."""
    return shutil.copytree(made, tmp_path / "course")


def granted(folder):
    """What the gradebook has of the only submission."""
    with opened(gradebook.url_of(folder)) as book:
        return book.find_submission("hw", "ann").extension


def test_more_time_is_granted_before_and_after_a_submission(folder):
    made = extensions.extend(folder, "hw", ["ann", "bob"], Extension(days=2))
    assert [(one.learner, one.until, one.granted) for one in made] == [
        ("ann", DUE + timedelta(days=2), "2 days"),
        ("bob", DUE + timedelta(days=2), "2 days"),
    ]
    assert [one.submitted for one in made] == [DUE + timedelta(hours=1), None]
    assert granted(folder) == timedelta(days=2)
    made = extensions.extend(folder, "hw", ["bob"], Extension(until=DUE + timedelta(seconds=1)))
    assert [one.learner for one in made] == ["bob"]
    assert made[0].until == DUE + timedelta(seconds=1)
    assert set(agreed_terms.read(folder, "hw").extensions) == {"ann", "bob"}


@pytest.mark.parametrize("seconds", [0, -1])
def test_a_time_that_is_not_after_the_deadline_is_no_extension(folder, seconds):
    with pytest.raises(CourseError, match="is not after the deadline"):
        extensions.extend(folder, "hw", ["ann"], Extension(until=DUE + timedelta(seconds=seconds)))
    assert agreed_terms.read(folder, "hw").extensions == {}


def test_nobody_needs_longer_where_nothing_is_due_and_nobody_unknown_gets_it(folder):
    with pytest.raises(CourseError, match="no deadline"):
        extensions.extend(folder, "open", ["ann"], Extension(days=1))
    with pytest.raises(CourseError, match="did you mean ann"):
        extensions.extend(folder, "hw", ["anne"], Extension(days=1))
    assert granted_time.granted_for(folder, "open", None) == {}


def test_an_extension_is_taken_back_where_there_is_one(folder):
    extensions.extend(folder, "hw", ["ann", "bob"], Extension(days=2))
    extensions.remove(folder, "hw", ["ann"])
    assert [one.learner for one in extensions.listed(folder, "hw")] == ["bob"]
    assert granted(folder) is None
    with pytest.raises(CourseError, match="ann: no extension for hw; there is one for bob"):
        extensions.remove(folder, "hw", ["ann", "bob"])
    assert granted_time.granted_for(folder, "hw", DUE) == {"bob": timedelta(days=2)}


def test_what_nbgraders_own_interface_granted_is_listed_too(folder):
    with opened(gradebook.url_of(folder)) as book:
        book.update_or_create_submission("hw", "ann", extension=timedelta(hours=3))
    assert [(one.learner, one.granted, one.until) for one in extensions.listed(folder, "hw")] == [
        ("ann", "", DUE + timedelta(hours=3))
    ]


@pytest.mark.parametrize(("count", "said"), [(0, "nobody"), (1, "n00"), (20, "n19"), (21, "n19 and 1 more")])
def test_of_many_names_some_are_told(count, said):
    assert extensions._named([f"n{at:02}" for at in range(count)]).endswith(said)


def test_an_extension_counts_for_the_assignment_that_it_was_granted_for(folder):
    with opened(gradebook.url_of(folder)) as book, book.db.no_autoflush:
        book.update_or_create_submission("open", "bob", extension=timedelta(hours=3))
    assert extensions.listed(folder, "hw") == []


def test_an_extension_is_entered_once_the_submission_is_there(folder):
    extensions.extend(folder, "hw", ["bob"], Extension(days=2))
    with opened(gradebook.url_of(folder)) as book, book.db.no_autoflush:
        book.add_submission("hw", "bob")
        book.update_or_create_submission("hw", "ann", extension=timedelta(hours=3))
    extensions.enter(folder, "hw")
    with opened(gradebook.url_of(folder)) as book:
        assert book.find_submission("hw", "bob").extension == timedelta(days=2)
    assert granted(folder) == timedelta(hours=3)  # which nbgrader's own interface granted


@pytest.mark.parametrize(
    ("before", "now", "times"), [(None, 2, 1), (2, 2, 0), (1, 2, 1), (2, None, 0), (None, None, 0)]
)
def test_penalties_are_computed_again_where_an_extension_is_another(folder, monkeypatch, before, now, times):
    if before:
        with opened(gradebook.url_of(folder)) as book:
            book.update_or_create_submission("hw", "ann", extension=timedelta(days=before))
    if now:
        with agreed_terms.changing(folder, "hw") as terms:
            terms.extensions["ann"] = Extension(days=now)
    updates = []
    monkeypatch.setattr(gradebook, "update_late_penalties", lambda *what: updates.append(what))
    extensions.enter(folder, "hw")
    assert updates == [(folder, "hw")] * times
    assert granted(folder) == ((now or before) and timedelta(days=now or before))


def test_who_is_in_the_roster_or_has_a_folder_is_known(folder):
    (folder / "submitted" / "zed").mkdir(parents=True)
    (folder / "submitted" / "notes.txt").write_text("")
    assert extensions.known_learners(folder) == ({"ann", "bob"}, {"zed"})
    assert extensions.check_learners(folder, ["ann", "zed"])
    assert extensions.check_learners(folder, [])


@pytest.mark.parametrize(
    ("learners", "problem"),
    [
        (["xyz"], "^xyz: not in the roster of .*; it has ann, bob"),
        (["anm", "bob", "bobo"], "^anm, bobo: not in the roster of .*; did you mean ann[?] It has"),
        (["bobo", "anm"], "did you mean bob[?]"),
    ],
)
def test_who_is_not_known_is_named_with_whom_may_be_meant(folder, learners, problem):
    with pytest.raises(CourseError, match=problem):
        extensions.check_learners(folder, learners)


def test_without_a_roster_anybody_may_be_meant(folder):
    with opened(gradebook.url_of(folder)) as book:
        for who in ("ann", "bob"):
            book.remove_student(who)
    (folder / "submitted" / "zed").mkdir(parents=True)
    assert not extensions.check_learners(folder, ["anybody"])
