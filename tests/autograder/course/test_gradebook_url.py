"""A gradebook that cannot be opened or used is an error that says where it is, without the password."""

import warnings

import pytest
from sqlalchemy import text

from autograder.book.course_error import CourseError
from autograder.course.gradebook_url import opened

SECRET = "postgresql+psycopg://tina:secret@127.0.0.1:9/course"


def test_a_gradebook_is_made_where_there_is_none_and_closed_afterwards(tmp_path):
    url = f"sqlite:///{tmp_path}/gradebook.db"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with opened(url) as book:
            book.add_student("ann")
    with opened(url) as book:
        assert [student.id for student in book.students] == ["ann"]


def test_what_is_no_url_is_an_error():
    with pytest.raises(CourseError, match="URL is invalid"), opened("gradebook.db"):
        pass


def test_a_driver_that_is_not_installed_is_named_with_the_place(monkeypatch):
    def missing(url):
        raise ImportError("no psycopg")

    monkeypatch.setattr("autograder.course.gradebook_url.Gradebook", missing)
    with pytest.raises(CourseError, match=r"tina:\*\*\*@127.*no psycopg.*gpubook\[postgres\]"), opened(SECRET):
        pass


def test_a_database_that_cannot_be_opened_is_named_in_one_line(tmp_path):
    url = f"sqlite:///{tmp_path}/nowhere/gradebook.db"
    with pytest.raises(CourseError, match="the database cannot be opened: unable to open") as caught, opened(url):
        pass
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_statement_that_fails_is_an_error_of_the_course_and_any_other_error_stays(tmp_path):
    url = f"sqlite:///{tmp_path}/gradebook.db"
    problem = r"gradebook\.db: OperationalError: no such table: nowhere$"
    with pytest.raises(CourseError, match=problem), opened(url) as book:
        book.db.execute(text("SELECT * FROM nowhere"))
    with pytest.raises(ZeroDivisionError), opened(url):
        _ = 1 / 0
