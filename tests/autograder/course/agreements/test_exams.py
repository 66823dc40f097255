"""Exams, factors on time and days to spend: whose time is over when, and what is kept meanwhile."""

import json
import shutil
import warnings
from datetime import datetime, timedelta

import pytest
from nbgrader import api

from autograder.book.course_error import CourseError
from autograder.course import gradebook
from autograder.course.agreements import exams, extensions, time_factors
from autograder.course.gradebook_url import opened
from autograder.course.layout import read_config
from autograder.course.service.exam_desk import ExamDesk, read
from autograder.course.service.requests import BadRequest
from autograder.course.submissions.submission_time import SubmissionTime
from autograder.course.terms import accommodations, agreed_terms, granted_time
from autograder.course.terms.agreed_terms import ExamRule, Extension
from tests.loops import awaited

DUE = datetime(2030, 1, 1, 12)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
NOTEBOOK = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A course with an assignment that was released ten days before its deadline, and three learners."""
    folder = tmp_path_factory.mktemp("exams")
    (folder / "nbgrader_config.py").write_text("c = get_config()\n")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setattr(api, "get_alembic_version", lambda: "any")
        warnings.simplefilter("ignore")
        with opened(gradebook.url_of(folder)) as book:
            book.add_assignment("hw", duedate=DUE)
            for who in ("ann", "bob", "cy"):
                book.add_student(who)
            book.add_submission("hw", "ann", timestamp=DUE + timedelta(hours=1))
    (folder / "release" / "hw").mkdir(parents=True)
    (folder / "release" / "hw" / "hw.ipynb").write_text(json.dumps(NOTEBOOK))
    with agreed_terms.changing(folder, "hw") as terms:
        terms.released = DUE - timedelta(days=10)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "course")


def more(folder, name="hw"):
    return granted_time.granted_for(folder, name, DUE)


def entered(folder):
    """What the gradebook has of the only submission."""
    with opened(gradebook.url_of(folder)) as book:
        return book.find_submission("hw", "ann").extension


def test_a_factor_moves_a_deadline_by_its_share_of_the_time_since_the_release(folder):
    time_factors.grant(folder, ["ann", "cy"], 1.5)
    assert more(folder) == dict.fromkeys(["ann", "cy"], timedelta(days=5))
    assert entered(folder) == timedelta(days=5)
    assert [(row.learner, row.granted) for row in extensions.listed(folder, "hw")] == [
        ("ann", "1.5 times the time"),
        ("cy", "1.5 times the time"),
    ]
    extensions.extend(folder, "hw", ["ann"], Extension(days=4))
    assert more(folder)["ann"] == timedelta(days=5)  # whichever is more
    extensions.extend(folder, "hw", ["ann"], Extension(days=6))
    assert more(folder)["ann"] == entered(folder) == timedelta(days=6)
    time_factors.remove(folder, ["ann"])
    assert more(folder) == {"ann": timedelta(days=6), "cy": timedelta(days=5)}
    extensions.remove(folder, "hw", ["ann"])
    assert not entered(folder)
    with pytest.raises(CourseError, match="no extension for hw"):
        extensions.remove(folder, "hw", ["cy"])


def test_time_granted_by_nbgrader_itself_stays_where_a_factor_comes_and_goes(folder):
    with opened(gradebook.url_of(folder)) as book:
        book.grant_extension("hw", "ann", days=9)
    time_factors.grant(folder, ["bob"], 2)
    time_factors.remove(folder, ["bob"])
    assert entered(folder) == timedelta(days=9)


def test_a_factor_gives_more_time_and_at_most_ten_times_as_much(folder):
    for factor in (1.0, 0.5, 10.1, float("nan"), float("inf")):
        with pytest.raises(CourseError, match="factor on time"):
            time_factors.grant(folder, ["ann"], factor)
    assert accommodations.read(folder) == {}
    time_factors.grant(folder, ["ann"], 10.0)
    with pytest.raises(CourseError, match=r"bob: no factor on time; there is one for ann"):
        time_factors.remove(folder, ["bob"])


@pytest.mark.parametrize("text", ["[]", '{"ann": 1.5}', '{"ann": {"time": true}}', '{"ann": {"time": 0.5}}', "{"])
def test_factors_that_cannot_be_read_are_named_by_their_file(tmp_path, text):
    (tmp_path / accommodations.FILE).write_text(text)
    with pytest.raises(CourseError, match=r"accommodations\.json|factor on time"):
        accommodations.read(tmp_path)


def test_nothing_is_longer_where_nobody_knows_since_when_there_was_time():
    assert accommodations.longer(2.0, None, DUE) == timedelta()
    assert accommodations.longer(2.0, DUE, DUE) == timedelta()
    assert accommodations.longer(2.0, DUE - HOUR, DUE) == HOUR


def test_the_minutes_of_an_exam_count_from_the_first_opening(folder):
    time_factors.grant(folder, ["cy"], 1.5)
    exams.set_rule(folder, "hw", 60, opens=DUE - timedelta(days=1))
    start = DUE - timedelta(hours=5)
    for who in ("bob", "cy"):
        sitting = exams.open_for(folder, "hw", who, start)
        assert sitting.end - start == sitting.minutes * MINUTE == (1.5 if who == "cy" else 1) * HOUR
    assert exams.open_for(folder, "hw", "bob", start + 3 * HOUR).end == start + HOUR  # opened before: it is over
    assert more(folder) == {"bob": -4 * HOUR, "cy": start + 1.5 * HOUR - DUE}
    late = exams.open_for(folder, "hw", "ann", DUE - MINUTE)
    assert late.end == DUE  # the window ends
    assert set(exams.sittings(folder, "hw")) == {"ann", "bob", "cy"}
    exams.take_back(folder, "hw")
    assert more(folder) == {"cy": timedelta(days=5)}


def test_a_submission_after_the_minutes_is_late_though_the_window_is_open(folder):
    exams.set_rule(folder, "hw", 60)
    exams.enter_starts(folder, "hw", {"ann": DUE - timedelta(hours=3)})
    assert entered(folder) == -2 * HOUR
    (score,) = [row for row in gradebook.scores(folder, ["hw"])["hw"] if row.person.id == "ann"]
    assert score.due == DUE - 2 * HOUR


def test_an_exam_opens_in_its_window_only(folder):
    opens = DUE - 2 * HOUR
    exams.set_rule(folder, "hw", 60, opens=opens)
    for when, why in ((opens - MINUTE, "opens 2030-01-01 10:00 UTC"), (DUE, "is over")):
        with pytest.raises(CourseError, match=why):
            exams.open_for(folder, "hw", "bob", when)
        with pytest.raises(CourseError, match=r"is before hw opens|is after the window"):
            exams.enter_starts(folder, "hw", {"bob": when})
    extensions.extend(folder, "hw", ["bob"], Extension(days=1))
    assert exams.open_for(folder, "hw", "bob", DUE + HOUR).end == DUE + 2 * HOUR
    assert exams.open_for(folder, "hw", "cy", opens).end == opens + HOUR


def test_an_exam_takes_some_minutes_and_at_most_a_day(folder):
    for minutes in (0, -1, 1441, float("nan")):
        with pytest.raises(CourseError, match="minutes"):
            ExamRule(minutes)
    assert ExamRule(1440).minutes == 1440
    with pytest.raises(CourseError, match="not before its deadline"):
        exams.set_rule(folder, "hw", 60, opens=DUE)
    with pytest.raises(CourseError, match="is not an exam"):
        exams.sittings(folder, "hw")


def asked(desk, learner="bob", **question):
    return awaited(desk.answer, learner, json.dumps({"assignment": "hw"} | question).encode())


def _fails_once(monkeypatch):
    """The disk is full when the first notebook is written."""
    write, left = exams.write_whole, ["hw.ipynb"]

    def failing(path, text):
        if path.name in left:
            left.remove(path.name)
            raise OSError(28, "the disk is full")
        write(path, text)

    monkeypatch.setattr(exams, "write_whole", failing)


def test_the_service_notes_the_first_opening_and_keeps_the_last_copies(folder, monkeypatch):
    exams.set_rule(folder, "hw", 60)
    now = [DUE - 5 * HOUR]
    desk = ExamDesk(folder, clock=lambda: now[0])
    opened_at = asked(desk)
    assert opened_at == {
        "start": "2030-01-01T07:00:00Z",
        "end": "2030-01-01T08:00:00Z",
        "now": "2030-01-01T07:00:00Z",
        "minutes": 60.0,
    }
    for minute in range(exams.COPIES + 3):
        now[0] += MINUTE
        assert asked(desk, notebook=NOTEBOOK | {"cells": [minute]})["kept"]
    home = folder / ".gpubook" / "exams" / "hw" / "copies" / "bob"
    assert len(list(home.iterdir())) == exams.COPIES
    now[0] = DUE - 4 * HOUR
    assert asked(desk, notebook=NOTEBOOK)["kept"]
    now[0] += timedelta(seconds=1)
    assert not asked(desk, notebook=NOTEBOOK)["kept"]
    (folder / "submitted" / "cy" / "hw").mkdir(parents=True)
    _fails_once(monkeypatch)
    with pytest.raises(OSError, match="full"):
        exams.collect(folder, "hw")
    assert [path.name for path in (folder / "submitted" / "bob" / "hw").iterdir()] == ["timestamp.txt"]
    assert exams.collect(folder, "hw") == {"bob": DUE - 4 * HOUR}
    assert json.loads((folder / "submitted" / "bob" / "hw" / "hw.ipynb").read_text()) == NOTEBOOK
    times = SubmissionTime.in_course(folder, "hw", read_config(folder))
    assert times.of("bob") == DUE - 4 * HOUR
    assert times.of("cy") is None
    assert exams.collect(folder, "hw") == {}
    desk.close()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"assignment": "hw", "more": 1}',
        b'{"assignment": 3}',
        b'{"assignment": "hw", "notebook": 3}',
        b'{"assignment": "hw", "notebook": {"cells": 1}}',
        b"[" * 9000,
    ],
)
def test_what_is_not_a_question_of_an_exam_is_refused(body):
    with pytest.raises(BadRequest):
        read(body)


def test_an_assignment_that_is_no_exam_cannot_be_opened(tmp_path):
    desk = ExamDesk(tmp_path)
    for name in ("hw", "../hw"):
        with pytest.raises(BadRequest, match="not an exam"):
            awaited(desk.answer, "bob", json.dumps({"assignment": name}).encode())
    desk.close()
    assert list(tmp_path.iterdir()) == []


RULE = """c.AssignLatePenalties.plugin_class = "autograder.gradebook.DaysToSpend"
c.DaysToSpend.days = 3
c.DaysToSpend.fraction = 0.25
"""


def test_days_are_spent_in_the_order_of_the_deadlines(folder):
    with open(folder / "nbgrader_config.py", "a") as file:
        file.write(RULE)
    with opened(url := gradebook.url_of(folder)) as book, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book.add_assignment("earlier", duedate=DUE - timedelta(days=7))
        book.add_assignment("later", duedate=DUE + timedelta(days=7))
        book.add_submission("earlier", "ann", timestamp=DUE - timedelta(days=7) + timedelta(hours=25))
        book.add_submission("later", "ann", timestamp=DUE + timedelta(days=8))
    rule = gradebook.days_to_spend(read_config(folder))
    assert rule.spent(url, "ann") == {"earlier": 2, "hw": 1, "later": 0}
    assert rule.spent(url, "bob") == {"earlier": 0, "hw": 0, "later": 0}
    assert gradebook.late_period(read_config(folder)) == timedelta(days=6)
