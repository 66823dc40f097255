"""The deadlines of a gradebook, and what is said where there is none yet."""

import sqlite3
from datetime import timedelta
from types import SimpleNamespace

import pytest

from autograder.book.course_error import CourseError
from autograder.course.gradebook import course_database, late_penalties, notebook_cells
from tests.autograder.course.gradebook.in_memory import DUE, fill, new_engine, opened_book, submit

DAY = timedelta(days=1)


@pytest.fixture
def engine(monkeypatch):
    made = new_engine()
    monkeypatch.setattr(course_database, "opened", lambda _: opened_book(made))
    with opened_book(made) as book:
        fill(book)
    return made


def test_deadlines_are_those_of_the_assignment_with_the_extensions_that_there_are(engine):
    with opened_book(engine) as book:
        submit(book, "ann", extension=DAY)
        submit(book, "bob", extension=timedelta())
        submit(book, "cy")
        submit(book, "cy", "other", extension=2 * DAY)
    assert course_database.deadlines("", "hw") == (DUE, {"ann": DAY})
    assert course_database.deadlines("", "other") == (None, {"cy": 2 * DAY})
    assert course_database.deadlines("", "none") == (None, {})


def test_a_deadline_is_set_and_taken_away(engine):
    for due in (DUE + DAY, None):
        course_database.set_due("", "hw", due)
        assert course_database.deadlines("", "hw")[0] == due


def test_a_gradebook_that_is_not_there_has_no_deadline_and_is_not_made(tmp_path, engine):
    path = tmp_path / "gradebook.db"
    url = f"sqlite:///{path}"
    assert course_database.is_missing(url)
    assert course_database.due_date(url, "hw") is None
    assert not path.exists()
    sqlite3.connect(path).close()
    path.touch()
    assert not course_database.is_missing(url)
    assert course_database.due_date(url, "hw") == DUE
    assert not course_database.is_missing("postgresql+psycopg://ann@x.org/y")


def test_a_course_whose_gradebook_is_missing_says_so(tmp_path, engine, monkeypatch):
    path = tmp_path / "gradebook.db"
    monkeypatch.setattr(course_database, "url_of", lambda _: f"sqlite:///{path}")
    with pytest.raises(CourseError, match="nothing has been assigned"), course_database.opened_course(tmp_path):
        pass
    path.touch()
    with course_database.opened_course(tmp_path) as book:
        assert {one.name for one in book.assignments} == {"hw", "other"}


def test_the_texts_of_cells_that_a_gradebook_knows(tmp_path):
    path = tmp_path / "hw.ipynb"
    assert notebook_cells.cell_texts(path) == {}
    path.write_text(
        '{"cells": [{"metadata": {"nbgrader": {"grade_id": "q"}}, "source": ["a\\n", "b"]},'
        ' {"metadata": {}, "source": ["mine"]}]}'
    )
    assert notebook_cells.cell_texts(path) == {"q": "a\nb"}


def test_penalties_are_computed_again_for_late_work_and_where_there_was_a_penalty(engine, monkeypatch, tmp_path):
    """Not for what is in time and loses nothing."""
    done = []

    def score(who, late, penalty):
        return SimpleNamespace(person=SimpleNamespace(id=who), late=late, late_penalty=penalty)

    class Step:
        plugin_class = late_penalties.LatePerDay

        def __init__(self, **_):
            pass

        def preprocess(self, _nb, about):
            done.append((about["nbgrader"]["student"], about["nbgrader"]["notebook"]))

    with opened_book(engine) as book:
        for who in ("ann", "bob", "cy"):
            submit(book, who)
    rows = [score("ann", True, 0.0), score("bob", False, 0.5), score("cy", False, 0.0)]
    for name, value in {
        "read_config": lambda _: None,
        "url_of": lambda _: "",
        "scores": lambda *_: {"hw": rows},
        "opened": lambda _: opened_book(engine),
        "AssignLatePenalties": Step,
    }.items():
        monkeypatch.setattr(late_penalties, name, value)
    assert late_penalties.update_late_penalties(tmp_path, "hw") == [("bob", 0.5)]
    assert sorted(done) == [("ann", "hw"), ("bob", "hw")]
