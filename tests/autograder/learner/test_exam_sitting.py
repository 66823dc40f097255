"""What `exam()` tells, and what it sends of a notebook."""

import json

import pytest

from autograder.learner import check_service, exam_sitting
from autograder.learner.check_service import Unavailable
from autograder.learner.exam_sitting import NotebookKeeper, exam, without_outputs

CELLS = [
    {"cell_type": "code", "metadata": {}, "source": "1", "outputs": [{"output_type": "stream"}], "execution_count": 3},
    {"cell_type": "markdown", "metadata": {}, "source": "a", "attachments": {"a.png": {}}},
]
NOTEBOOK = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": CELLS}
TIMES = {"start": "2030-01-01T07:00:00Z", "end": "2030-01-01T08:00:00Z", "now": "2030-01-01T07:15:00Z", "minutes": 60}


@pytest.fixture
def sent(tmp_path, monkeypatch):
    """A notebook of an exam in this folder; what is sent, and to be replied, is in the list."""
    monkeypatch.chdir(tmp_path)
    for name in ("JPY_SESSION_NAME", *exam_sitting.GRADING):
        monkeypatch.delenv(name, raising=False)
    about = {"name": "ex", "exam": {"minutes": 60, "opens": "", "url": "http://localhost:1/"}}
    (tmp_path / "exercises.json").write_text(json.dumps({"exercises": {}, "assignment": about}))
    (tmp_path / "ex.ipynb").write_text(json.dumps(NOTEBOOK))
    monkeypatch.setattr(exam_sitting, "_keepers", {})
    bodies = []

    def reply(url, body, patience, verb):
        assert (url, verb) == ("http://localhost:1/", "exam")
        bodies.append(json.loads(body))
        return TIMES | ({"kept": True} if "notebook" in bodies[-1] else {})

    monkeypatch.setattr(check_service, "posted", reply)
    yield bodies
    for keeper in exam_sitting._keepers.values():
        keeper.stop()


def test_the_first_call_opens_the_exam_and_keeps_a_copy_without_outputs(sent):
    text = exam().text
    assert "45 minutes are left**, until 08:00 UTC" in text
    assert "last 07:15 UTC" in text
    assert sent == [{"assignment": "ex"}, {"assignment": "ex", "notebook": without_outputs(NOTEBOOK)}]
    assert [set(cell) & {"attachments"} for cell in sent[1]["notebook"]["cells"]] == [set(), set()]
    assert sent[1]["notebook"]["cells"][0]["outputs"] == []
    exam()
    assert len(sent) == 3  # the notebook has not changed


def test_what_stands_in_the_way_is_told_and_nothing_is_raised(sent, monkeypatch, tmp_path):
    (tmp_path / "ex.ipynb").write_text("{")
    assert "not kept at the moment" in exam().text
    (tmp_path / "ex.ipynb").write_text(json.dumps(NOTEBOOK | {"metadata": {"a": "x" * check_service.MOST}}))
    assert "larger than 256 KiB" in exam().text

    def away(*_):
        raise Unavailable("Not checked: the course's check service did not answer")

    monkeypatch.setattr(check_service, "posted", away)
    assert exam().text.startswith("**The exam could not be opened**: the course's check service did not answer.")
    monkeypatch.setattr(check_service, "posted", lambda *_: {"start": 3})
    assert "cannot be read" in exam().text


def test_nothing_is_sent_where_there_is_no_exam_no_service_or_work_is_graded(sent, monkeypatch, tmp_path):
    monkeypatch.setenv("GPUBOOK_GRADING", "1")
    assert "not told where it is graded" in exam().text
    monkeypatch.delenv("GPUBOOK_GRADING")
    for about, words in (
        ({"name": "ex"}, "not an exam"),
        ({"name": "ex", "exam": {"url": ""}}, "names no check service"),
    ):
        (tmp_path / "exercises.json").write_text(json.dumps({"exercises": {}, "assignment": about}))
        assert words in exam().text
    assert sent == []


def test_copies_end_with_the_time(sent, monkeypatch, tmp_path):
    monkeypatch.setattr(check_service, "posted", lambda *_: TIMES | {"kept": False})
    keeper = NotebookKeeper("http://localhost:1/", "ex", tmp_path / "ex.ipynb", every=0.001)
    keeper.start()
    keeper._thread.join(5)
    assert not keeper._thread.is_alive()
    assert keeper.last == ""
