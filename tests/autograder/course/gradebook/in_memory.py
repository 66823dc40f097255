"""A gradebook of nbgrader in memory, with two assignments, made without nbgrader's own slow opening."""

from contextlib import contextmanager
from datetime import datetime

from nbgrader.api import Base
from sqlalchemy import create_engine
from sqlalchemy.pool import StaticPool

from autograder.course.gradebook.grade_entry import JoinedGradebook

DUE = datetime(2030, 1, 1)
CELLS = {"hw": {"q-grade": 2.0, "r": 3.0}, "other": {"q-grade": 9.0}}


def new_engine(url="sqlite://"):
    """A database with the tables of a gradebook."""
    engine = create_engine(url, poolclass=StaticPool)
    Base.metadata.create_all(engine)
    return engine


@contextmanager
def opened_book(engine):
    """The gradebook in it, whose changes are kept at the end."""
    with engine.begin() as connection:
        book = JoinedGradebook(connection)
        yield book
        book.db.flush()


def fill(book, people=("ann", "bob", "cy")):
    """The assignments and the roster: nothing is submitted."""
    for name, cells in CELLS.items():
        book.add_assignment(name, duedate=DUE if name == "hw" else None)
        book.add_notebook(name, name)
        for cell, points in cells.items():
            book.add_grade_cell(cell, name, name, max_score=points, cell_type="code")
            book.add_solution_cell(cell, name, name)
    for who in people:
        book.add_student(who)
    return book


def submit(book, who, name="hw", scores=None, **about):
    """A submission whose cells have these scores; of the others, none is known."""
    with book.db.no_autoflush:
        made = book.add_submission(name, who, **about)
    for cell in CELLS[name]:
        grade = book.find_grade(cell, name, name, who)
        grade.auto_score, grade.needs_manual_grade = (scores or {}).get(cell), False
    book.db.flush()
    return made
