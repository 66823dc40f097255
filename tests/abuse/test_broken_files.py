"""Files of our own that are broken: each is named, with what to do without it, and stays as it is."""

import json
from types import SimpleNamespace

import pytest

from autograder.book.course_error import CourseError
from autograder.course.assigning import dropped_exercises
from autograder.course.by_hand import marks, second_marks, shares, together
from autograder.course.class_results import class_result, stored_results
from autograder.course.gradebook import notebook_cells
from autograder.course.lti import keys as lti_keys
from autograder.course.lti import members, registration, sent_scores
from autograder.course.regrades import regrade_requests
from autograder.course.run.journal import Journal, finished_entries, recorded_lateness
from autograder.course.run.trail_file import TrailFile
from autograder.course.service.attempts import Ledger, used
from autograder.course.service.tokens import BEGINS, CourseTokens
from autograder.course.submissions import collected_files, refused_uploads
from autograder.course.terms import (
    accommodations,
    agreed_terms,
    assignment_state,
    exam_starts,
    group_shares,
    history,
)
from autograder.declaration.verdict import DeclarationError
from autograder.learner import check_service, editions, lookup
from autograder.ranks.seeds import secret_of
from autograder.values import own_file

NAME = "week1"
QUESTION = SimpleNamespace(assignment=NAME, exercise="mine-why")
BREAKAGES = {
    "noise": b"\x89\xfe\x00\xff" * 80 + b"\n",
    "cut": b'{"format": 2, "exer\n',
    "deep": b'{"a":' * 900 + b"1" + b"}" * 900 + b"\n",
    "deeper": b"[" * 100_000 + b"]" * 100_000 + b"\n",
    "half a character": b'{"a": {"b": "\\ud800"}}\n',
    "a list": b"[3]\n",
    "a number": b"3\n",
    "numbers": b'{"a": 3, "learner": 4, "answers": 5, "exercises": 6, "learners": 7, "cells": 8}\n',
    "a long number": b"1" * 6_000 + b"\n",
    "another's": b'{"a": {"b": {"c": [1, "d"]}}, "learner": {}, "learners": [{}], "exercises": [], "cells": [{}]}\n',
    "a web page": b"<!doctype html>\n",
}
READERS = {
    f".gpubook/{NAME}.journal": [
        lambda course: Journal.open(course, NAME),
        lambda course: finished_entries(course, NAME),
        lambda course: recorded_lateness(course, NAME),
    ],
    f".gpubook/{NAME}.collected.json": [lambda course: collected_files.load(course, NAME)],
    f".gpubook/{NAME}.refused.json": [lambda course: refused_uploads.load(course, NAME)],
    f".gpubook/{NAME}.shared.json": [lambda course: group_shares.read(course, NAME)],
    f".gpubook/{NAME}.results.json": [lambda course: class_result.load(stored_results.results_path(course, NAME))],
    f".gpubook/{NAME}.set-aside.json": [lambda course: dropped_exercises._read(course, NAME)],
    ".gpubook/tokens.json": [
        lambda course: CourseTokens(course).learner(BEGINS + "x"),
        lambda course: CourseTokens(course).issue(["ann"], days=1.0),
        lambda course: CourseTokens(course).revoke("ann"),
    ],
    f".gpubook/by_hand/{NAME}/mine-why.json": [lambda course: marks.load(course, NAME, "mine-why")],
    f".gpubook/by_hand/{NAME}/together/mine-why.json": [lambda course: together.decisions(course, QUESTION)],
    f".gpubook/by_hand/{NAME}/second/mine-why.json": [lambda course: second_marks.load(course, QUESTION)],
    ".gpubook/graders.json": [lambda course: shares.of(course, NAME), lambda course: shares.places(course, NAME, "a")],
    f".gpubook/requests/{NAME}.json": [
        lambda course: regrade_requests.read(course, NAME),
        lambda course: regrade_requests.take_until(course, NAME, None),
    ],
    ".gpubook/lti.json": [registration.load],
    ".gpubook/lti-key.pem": [lti_keys.load],
    ".gpubook/lti-members.json": [members.load],
    f".gpubook/{NAME}.lti-sent.json": [lambda course: sent_scores.load(course, NAME, "column")],
    "accommodations.json": [accommodations.read],
    f".gpubook/exams/{NAME}/starts.json": [lambda course: exam_starts.read(course, NAME)],
    ".gpubook/secret": [secret_of],
    ".gpubook/checks.db": [Ledger, used],
    ".gpubook/history.jsonl": [history.events],
    f".gpubook/{NAME}.trail.jsonl": [lambda course: TrailFile(course, NAME).lines("ann")],
    "assignments.json": [lambda course: assignment_state.read(course, "a"), lambda course: decide(course)],
    "terms.json": [lambda course: agreed_terms.read(course, "a"), lambda course: change(course)],
    "autograded/ann/week1/week1.ipynb": [
        lambda course: notebook_cells.cell_texts(course / "autograded" / "ann" / NAME / f"{NAME}.ipynb")
    ],
    "exercises.json": [lookup.published],
    ".gpubook/editions/03-t/exercises.json": [
        lambda course: editions._asked(course / ".gpubook" / "editions" / "03-t" / "exercises.json")
    ],
    "config/gpubook/tokens.json": [lambda course: keep_token(course)],
}
ERRORS = (CourseError, DeclarationError, own_file.BrokenFile)


def change(course):
    with agreed_terms.changing(course, "a") as terms:
        terms.groups["g"] = ["ann"]


def decide(course):
    with assignment_state.changing(course, "a") as state:
        state.decide("mine-why", full=False)


def keep_token(course):
    service = {"url": "https://hub/services/check/", "attempts": {}}
    (course / "exercises.json").write_text(
        json.dumps({"exercises": {}, "assignment": {"name": "w", "service": service}})
    )
    check_service.keep_token(course, "secret")


@pytest.fixture
def course(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def is_refused(course, file, read):
    path = course / file
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(ERRORS) as raised:
        read(course)
    message = str(raised.value)
    assert str(path) in message
    assert ";" in message, "what to do without it"
    assert len(message) < 800
    assert before is None or path.read_bytes() == before
    assert path.exists()


@pytest.mark.parametrize("file", READERS)
@pytest.mark.parametrize("breakage", BREAKAGES)
def test_a_broken_file_is_named_and_stays(course, file, breakage):
    path = course / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(BREAKAGES[breakage])
    for read in READERS[file]:
        is_refused(course, file, read)


@pytest.mark.parametrize("file", READERS)
def test_a_folder_in_the_place_of_a_file_is_named_and_stays(course, file):
    (course / file).mkdir(parents=True)
    for read in READERS[file]:
        is_refused(course, file, read)


@pytest.mark.parametrize(
    "file", [file for file in READERS if not file.endswith((".journal", ".jsonl", "secret", "checks.db"))]
)
def test_an_empty_file_is_named_and_stays(course, file):
    """An empty journal, history, secret or database is what a kill left before anything was written."""
    (course / file).parent.mkdir(parents=True, exist_ok=True)
    (course / file).touch()
    for read in READERS[file]:
        is_refused(course, file, read)
