"""The database of a course's gradebook, and the deadlines in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from nbgrader.api import Assignment, Gradebook, SubmittedAssignment
from nbgrader.coursedir import CourseDirectory

from ...book.course_error import CourseError
from ..gradebook_url import location, opened
from ..layout import read_config


def url_of(folder: Path | str) -> str:
    """The URL of a course's gradebook."""
    return CourseDirectory(config=read_config(Path(folder).resolve())).db_url


def is_missing(db_url: str) -> bool:
    """Whether the gradebook is a file, and not there yet."""
    return db_url.startswith("sqlite") and not Path(location(db_url)).is_file()


@contextmanager
def opened_course(folder: Path) -> Iterator[Gradebook]:
    """The gradebook of a course that has one; opening never makes a new file."""
    db_url = url_of(folder)
    if is_missing(db_url):
        raise CourseError(f"{location(db_url)} is missing: nothing has been assigned or graded in {folder} yet")
    with opened(db_url) as gradebook:
        yield gradebook


def set_due(db_url: str, name: str, due: datetime | None) -> None:
    """Enter an assignment and its deadline (UTC), or that it has none, into the gradebook."""
    with opened(db_url) as gradebook:
        gradebook.update_or_create_assignment(name, duedate=due)


def due_date(db_url: str, name: str) -> datetime | None:
    """The deadline (UTC) of an assignment; None where it has none, or was never assigned."""
    return None if is_missing(db_url) else deadlines(db_url, name)[0]


def names_with_deadline(db_url: str) -> list[str]:
    """The assignments that have a deadline, in its order."""
    if is_missing(db_url):
        return []
    with opened(db_url) as gradebook:
        query = gradebook.db.query(Assignment.name).filter(Assignment.duedate.isnot(None))
        return [name for (name,) in query.order_by(Assignment.duedate, Assignment.name)]


def deadlines(db_url: str, name: str) -> tuple[datetime | None, dict[str, timedelta]]:
    """When an assignment is due (UTC), and the extensions that learners have."""
    with opened(db_url) as gradebook:
        due = gradebook.db.query(Assignment.duedate).filter(Assignment.name == name).scalar()
        rows = gradebook.db.query(SubmittedAssignment.student_id, SubmittedAssignment.extension)
        rows = rows.join(SubmittedAssignment.assignment).filter(Assignment.name == name)
        return due, {who: extension for who, extension in rows if extension}
