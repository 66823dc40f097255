"""A learner in the course's gradebook: everything as it stands there, and its removal."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry, Student

from ...book.course_error import CourseError
from .. import gradebook
from ..gradebook.course_database import is_missing
from ..gradebook_url import location, opened

PERSON = ("id", "first_name", "last_name", "email", "lms_user_id")
POINTS = ("auto_score", "manual_score", "extra_credit", "max_score", "needs_manual_grade")


def learners(folder: Path) -> list[str]:
    """Everybody in the gradebook."""
    url = gradebook.url_of(folder)
    if is_missing(url):
        return []
    with opened(url) as book:
        return [who for (who,) in book.db.query(Student.id).order_by(Student.id)]


def about(folder: Path, learner: str) -> dict[str, Any]:
    """The row of the roster, and by assignment times, penalty, points and comments; empty where there is none."""
    url = gradebook.url_of(folder)
    if is_missing(url):
        return {}
    with opened(url) as book:
        try:
            student = book.find_student(learner)
        except MissingEntry:
            return {}
        person = {name: getattr(student, name) for name in PERSON if getattr(student, name)}
        return {"person": person, "submissions": list(map(_submission, student.submissions))}


def _submission(submission: Any) -> dict[str, Any]:
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    comments = [comment for notebook in submission.notebooks for comment in notebook.comments]
    return {
        "assignment": submission.assignment.name,
        "submitted": str(submission.timestamp) if submission.timestamp else None,
        "extension": str(submission.extension) if submission.extension else None,
        "score": submission.score,
        "late_penalty": sum(notebook.late_submission_penalty or 0.0 for notebook in submission.notebooks),
        "grades": list(map(_grade, grades)),
        "comments": [{"cell": row.name, "text": row.comment} for row in comments if row.comment],
    }


def _grade(grade: Any) -> dict[str, Any]:
    return {"cell": grade.name} | {name: getattr(grade, name) for name in POINTS}


def forget(folder: Path, learner: str) -> bool:
    """Remove the learner's row and all that hangs on it; of a file the space is cleaned. Whether there was one."""
    url = gradebook.url_of(folder)
    if is_missing(url):
        return False
    with opened(url) as book:
        there = _removed(book, learner)
    if url.startswith("sqlite"):
        try:
            with closing(sqlite3.connect(location(url), timeout=30.0, isolation_level=None)) as db:
                db.execute("VACUUM")  # also of what an earlier version of a row has left
        except sqlite3.Error as error:
            raise CourseError(f"{location(url)}: {error}; close formgrader for the moment, and try again") from error
    return there


def _removed(book: Gradebook, learner: str) -> bool:
    try:
        book.remove_student(learner)
    except MissingEntry:
        return False
    return True
