"""A full disk is told in one line, which names the file, and nothing is half written."""

import errno
import logging
import os

import pytest
from nbgrader.api import InvalidEntry
from sqlalchemy import event
from traitlets.config import Config

from autograder.book.course_error import CourseError
from autograder.course import gradebook_url, spreadsheet
from autograder.course.gradebook import url_of
from autograder.course.gradebook.grade_entry import GradeEntry
from autograder.course.service.attempts import Ledger
from autograder.learner import notebook_file, study
from autograder.learner.progress import Progress
from autograder.values.atomic_write import write_whole
from tests.autograder.course.downloads import small_course

FULL = OSError(errno.ENOSPC, "No space left on device")
WRITES = {
    "write_whole": lambda path: write_whole(path, "new"),
    "a notebook": lambda path: notebook_file.write(path, b"new", safely=True),
    "an export": lambda path: spreadsheet.write(spreadsheet.SheetContents([["new"]]), path),
    "the record": lambda path: Progress(path).merge({"format": 2, "exercises": {"new": {"hints": 1}}}),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_names_its_file_and_leaves_it(tmp_path, monkeypatch, name):
    path = tmp_path / "mine.json"
    path.write_text(old := '{"format": 2, "exercises": {}}')

    def full(_):
        raise FULL

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device") as raised:
        WRITES[name](path)
    assert (raised.value.errno, raised.value.filename) == (errno.ENOSPC, str(path))
    assert path.read_text() == old
    assert sorted(other.name for other in tmp_path.iterdir() if not other.name.endswith(".lock")) == ["mine.json"]


def test_whoami_names_the_notebook(tmp_path, monkeypatch):
    path = tmp_path / "03.ipynb"
    path.write_text(old := '{"metadata": {"gpubook": {}}, "cells": []}')

    def full(*_, **__):
        raise FULL

    monkeypatch.setattr(type(path), "write_bytes", full)
    with pytest.raises(OSError, match="No space left") as raised:
        study.whoami(tmp_path, "ann")
    assert raised.value.filename == str(path)
    assert path.read_text() == old


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return small_course(tmp_path_factory.mktemp("full") / "course")


def is_full(connection, _):
    connection.execute("PRAGMA max_page_count = 1")


def fill(add):
    for number in range(10_000):
        add(f"{number:0500}")


def in_a_run(course):
    entry = GradeEntry(course, "week1", url_of(course), Config(), logging.getLogger("test"))
    event.listen(entry.engine, "connect", is_full)
    try:
        with entry._transaction() as gradebook:
            fill(gradebook.update_or_create_student)
    finally:
        entry.close()


def in_any_command(course):
    with gradebook_url.opened(url_of(course)) as book:
        is_full(book.db.connection().connection.driver_connection, None)
        fill(book.add_student)


@pytest.mark.parametrize("use", [in_a_run, in_any_command])
def test_a_gradebook_is_named_and_no_trace_is_shown(course, caplog, use):
    with pytest.raises(CourseError, match=r"gradebook\.db: .*database or disk is full"):
        use(course)
    assert [record for record in caplog.records if record.exc_info] == []


def test_an_entry_that_cannot_be_is_no_fault_of_the_database(course):
    def twice():
        with gradebook_url.opened(url_of(course)) as book:
            book.add_student("ada")

    with pytest.raises(InvalidEntry):
        twice()


def test_the_attempts_are_named_and_none_is_lost(tmp_path):
    more, taken = {"allowed": 10**6, "key": "k", "assignment": "a"}, []

    with Ledger(tmp_path) as ledger:
        ledger._db.execute("PRAGMA max_page_count = 1")
        with pytest.raises(CourseError, match=r"checks\.db: database or disk is full; make room"):
            fill(lambda answer: taken.append(ledger.take("ann", "x", answer, **more)))
        (row,) = ledger.used()
    assert row.count == len(taken) > 0
