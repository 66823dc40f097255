"""Where a gradebook is and how it is opened: a file, or a server's database by URL."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from nbgrader.api import Gradebook, InvalidEntry
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError

from ..book.course_error import CourseError
from ..book.source.release import programs_on_path

logging.getLogger("tornado.application").addFilter(
    lambda record: not str(record.msg).startswith("Rolling back session")  # nbgrader's, with a trace; we raise it
)


def driver(db_url: str) -> str:
    """A database's URL with its driver named: SQLAlchemy's default for PostgreSQL changed between versions."""
    for plain in ("postgresql://", "postgres://"):
        if db_url.startswith(plain):
            return "postgresql+psycopg://" + db_url.removeprefix(plain)
    return db_url


def location(db_url: str) -> str:
    """Where a gradebook is, to be shown: a file's path, or the URL without its password."""
    url = make_url(db_url)
    return str(url.database) if url.drivername.startswith("sqlite") else url.render_as_string(hide_password=True)


@contextmanager
def opened(db_url: str) -> Iterator[Gradebook]:
    """The gradebook at `db_url`; CourseError, without the password, where the database cannot be used."""
    try:
        where = location(db_url)
    except ArgumentError:
        raise CourseError(
            "the gradebook's URL is invalid: sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE was expected"
        ) from None
    try:
        with programs_on_path(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gradebook = Gradebook(db_url)
    except ImportError as error:
        raise CourseError(f"{where}: its driver is not installed ({error}); pip install 'gpubook[postgres]'") from None
    except SQLAlchemyError as error:
        raise CourseError(f"{where}: the database cannot be opened: {first_line(error)}") from None
    try:
        with gradebook:
            yield gradebook
    except (SQLAlchemyError, InvalidEntry) as error:
        raised = of_database(error)
        if raised is None:
            raise
        raise CourseError(f"{where}: {type(raised).__name__}: {first_line(raised)}") from error


def of_database(error: SQLAlchemyError | InvalidEntry) -> SQLAlchemyError | None:
    """The database's own error, such as of a full disk, which nbgrader has taken for one of an entry; None where it is
    of the entry."""
    if isinstance(error, SQLAlchemyError):
        return error
    return error.__context__ if isinstance(error.__context__, OperationalError) else None


def first_line(error: Exception) -> str:
    """What a database said, without the statement."""
    return str(getattr(error, "orig", None) or error).strip().splitlines()[0]
