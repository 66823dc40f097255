"""Until when each learner may ask: by the deadline, the terms and what the gradebook grants."""

from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest

from autograder.course.service import deadlines
from autograder.course.service.deadlines import FRESH, Deadlines

DUE = datetime(2030, 1, 1)
DAY = timedelta(days=1)


@pytest.fixture
def course(tmp_path, monkeypatch):
    """What is due, who has longer by the gradebook and by the terms, and the clocks."""
    made = SimpleNamespace(due=DUE, entered={"bob": DAY}, granted={"ann": 2 * DAY}, now=DUE, seconds=0.0, looks=0)

    def look(url, name):
        made.looks += 1
        return made.due, made.entered

    monkeypatch.setattr(deadlines.gradebook, "url_of", lambda folder: "")
    monkeypatch.setattr(deadlines.gradebook, "deadlines", look)
    monkeypatch.setattr(deadlines, "granted_for", lambda folder, name, due: made.granted)
    monkeypatch.setattr(deadlines, "time", SimpleNamespace(monotonic=lambda: made.seconds))
    made.deadlines = Deadlines(tmp_path, lambda: made.now)
    return made


@pytest.mark.parametrize(("who", "longer"), [("cy", timedelta()), ("bob", DAY), ("ann", 2 * DAY)])
def test_time_is_over_after_the_deadline_with_what_was_granted(course, who, longer):
    course.now = DUE + longer
    assert not course.deadlines.over("hw", who)
    course.now += timedelta(seconds=1)
    assert course.deadlines.over("hw", who)


def test_the_terms_hold_where_the_gradebook_says_otherwise(course):
    course.entered, course.now = {"ann": DAY}, DUE + 2 * DAY
    assert not course.deadlines.over("hw", "ann")


def test_without_a_deadline_it_is_never_over(course):
    course.due = None
    assert not course.deadlines.over("hw", "ann")


def test_a_look_holds_for_a_while(course):
    for seconds, looks in ((0.0, 1), (FRESH, 1), (FRESH + 0.1, 2), (FRESH + 0.2, 2)):
        course.seconds = seconds
        course.deadlines.over("hw", "ann")
        assert course.looks == looks
    course.deadlines.over("other", "ann")
    assert course.looks == 3


def test_a_look_holds_for_a_quarter_of_a_minute():
    assert FRESH == 15.0
