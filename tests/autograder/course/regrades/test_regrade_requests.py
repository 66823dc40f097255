"""Requests for another look at a grade: who may ask what, how often and until when, and what is kept of it."""

from datetime import datetime
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from traitlets.config import Configurable

from autograder.book.course_error import CourseError
from autograder.cli import commands
from autograder.course.gradebook.question_points import QuestionPoints
from autograder.course.layout import CONFIG_FILE
from autograder.course.regrades import regrade_requests, request_text
from autograder.course.regrades.request_steps import RegradesInFeedback

MOST = 2


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A course in which ann and bob have points for two exercises."""
    (tmp_path / CONFIG_FILE).write_text(f"c = get_config()\nc.RegradeRequests.most = {MOST}\n")
    rows = {"ann": {"why": 1.0, "steps": 2.0}, "bob": {"why": 0.0, "steps": None}}
    points = QuestionPoints({"why": 3.0, "steps": 2.0}, rows)
    monkeypatch.setattr(regrade_requests, "by_question", lambda folder, name: points)
    monkeypatch.setattr(regrade_requests, "utc_now", lambda: datetime(2030, 1, 1, 12))
    return SimpleNamespace(path=tmp_path, points=points)


def ask(folder, learner="ann", exercise="why", reason="I said so."):
    return regrade_requests.ask(folder.path, "hw", learner, exercise, reason)


def test_a_request_is_kept_and_answered_with_the_points_before_and_after(folder):
    made = ask(folder, reason=" <b>I</b>\r\nsaid \x1b[31mso. ")
    assert (made.number, made.reason, made.before, made.open) == (1, "<b>I</b>\nsaid [31mso.", 1.0, True)
    assert ask(folder, "bob").points == "0 points"
    assert regrade_requests.read(folder.path, "hw").of("ann") == [made]
    folder.points.of["ann"]["why"] = 2.5
    done = regrade_requests.answer(folder.path, "hw", 1, "*Right.*", "tina")
    assert (done.open, done.points, done.by) == (False, "1 point before, 2.5 points now", "tina")
    assert regrade_requests.read(folder.path, "hw").of("ann", "why") == [done]
    assert regrade_requests.answer(folder.path, "hw", 2, "No.").points == "still 0 points"
    assert regrade_requests.assignments(folder.path) == ["hw"]


@pytest.mark.parametrize(
    ("learner", "exercise", "reason", "message"),
    [
        ("nobody", "why", "x", "no graded submission"),
        ("ann", "other", "x", "it has why, steps"),
        ("bob", "steps", "x", "still to be graded"),
        ("ann", "why", " \x00 ", "0 letters"),
        ("ann", "why", "x" * 5001, "5,001 letters"),
    ],
)
def test_who_asks_about_nothing_of_theirs_is_refused(folder, learner, exercise, reason, message):
    with pytest.raises(CourseError, match=message):
        ask(folder, learner, exercise, reason)
    assert regrade_requests.read(folder.path, "hw").requests == []


def test_a_request_at_a_time_for_an_exercise_and_so_many_for_an_assignment(folder):
    ask(folder, reason="x" * 5000)
    with pytest.raises(CourseError, match="already"):
        ask(folder)
    ask(folder, "ann", "steps")
    regrade_requests.answer(folder.path, "hw", 1, "No.")
    with pytest.raises(CourseError, match="2 requests for an assignment were used up"):
        ask(folder)
    ask(folder, "bob")


@pytest.mark.parametrize(("until", "taken"), [(datetime(2030, 1, 1, 12), True), (datetime(2030, 1, 1, 11, 59), False)])
def test_requests_are_taken_until_a_time(folder, until, taken):
    regrade_requests.take_until(folder.path, "hw", until)
    if taken:
        assert ask(folder).number == 1
    else:
        with pytest.raises(CourseError, match="until 2030-01-01 11:59 UTC"):
            ask(folder)
        regrade_requests.take_until(folder.path, "hw", None)
        assert ask(folder).number == 1


def test_an_answer_is_to_a_request_that_is_there(folder):
    with pytest.raises(CourseError, match="no request 1; it has none"):
        regrade_requests.answer(folder.path, "hw", 1, "x")
    ask(folder)
    with pytest.raises(CourseError, match="0 letters"):
        regrade_requests.answer(folder.path, "hw", 1, " ")


def test_a_file_that_is_not_ours_is_named(folder):
    ask(folder)
    path = folder.path / ".gpubook" / "requests" / "hw.json"
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text('{"until": null, "requests": [{}]}')
    with pytest.raises(CourseError, match=r"hw\.json: .*restore it"):
        regrade_requests.read(folder.path, "hw")


def filled(folder, learner="ann", exercise="why", reason="I said so.\nTwice: see line 2."):
    return request_text.form(folder.path, "hw", learner, exercise) + reason


def test_a_text_that_was_filled_in_is_read_also_out_of_a_mail(folder):
    text = filled(folder)
    read = request_text.read(folder.path, text)
    assert (read.assignment, read.exercise, read.learner) == ("hw", "why", "ann")
    assert read.reason == "I said so.\nTwice: see line 2."
    quoted = "Hello,\n\n" + "\n".join(f"> {line}" for line in text.splitlines())
    assert request_text.read(folder.path, quoted.replace("\n", "\r\n")).learner == "ann"
    secret = folder.path / ".gpubook" / "requests" / "secret"
    assert secret.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("learner: ann", "learner: bob"), "the code is not that of the feedback page of 'bob'"),
        (("exercise: why", "exercise: steps"), "the code is not"),
        (("assignment: hw", "assignment: hw2"), "the code is not"),
        (("code: ", "code: ß"), "the code is not"),
        (("learner: ann\n", ""), "'learner' was expected"),
        (("I said so.\nTwice: see line 2.", " \n "), "'reason' was expected"),
    ],
)
def test_a_text_of_another_page_is_refused(folder, change, message):
    with pytest.raises(CourseError, match=message):
        request_text.read(folder.path, filled(folder).replace(*change))


def test_a_file_that_is_no_request_is_named(folder):
    path = folder.path / "mail.txt"
    path.write_bytes(b"\xff")
    with pytest.raises(CourseError, match=r"mail\.txt: not text in UTF-8"):
        request_text.read_file(folder.path, path)
    path.write_text("x" * 100_001)
    with pytest.raises(CourseError, match="at most 100,000"):
        request_text.read_file(folder.path, path)
    path.write_text("x" * 100_000)
    with pytest.raises(CourseError, match=r"mail\.txt: a line 'assignment'"):
        request_text.read_file(folder.path, path)


def told(folder, learner="ann", **options):
    """What a page's template is told."""
    step = RegradesInFeedback()
    step.parent = Configurable(parent=Configurable())
    step.parent.parent.coursedir = SimpleNamespace(root=str(folder.path))
    for name, value in options.items():
        section, _, option = name.partition("__")
        step.config[section][option] = value
    cells = [SimpleNamespace(metadata={"gpubook": {"exercise": name}}) for name in ("why", "steps")]
    nb = SimpleNamespace(cells=[*cells, SimpleNamespace(metadata={})])
    resources = {"nbgrader": {"assignment": "hw", "student": learner}}
    assert step.preprocess(nb, resources)[0] is nb
    return resources["nbgrader"].get("regrades")


def test_a_page_says_how_to_ask_where_it_is_offered_and_what_was_answered_anyway(folder):
    assert told(folder) is None
    offered = {"RegradeRequests__offered": True, "RegradeRequests__most": MOST}
    why = told(folder, **offered)["why"]
    assert why == {"requests": [], "text": filled(folder, reason="")}
    more = told(folder, **offered, RegradeRequests__mail="t@x.org", CheckService__url="https://x.org/check/")["why"]
    assert more["mail"].startswith("mailto:t@x.org?subject=Regrade%20request%3A%20hw%2C%20why&body=Regrade")
    assert more["form"] == "https://x.org/check/regrade?assignment=hw&exercise=why"
    assert "form" not in told(folder, **offered, CheckService__url="/services/check/")["why"]
    made = ask(folder)
    assert told(folder)["why"] == {"requests": [made]}
    assert told(folder, "bob") is None
    page = told(folder, **offered)
    assert page["why"] == {"requests": [made]}
    assert page["steps"]["text"]
    ask(folder, exercise="steps")
    done = regrade_requests.answer(folder.path, "hw", 1, "No.")
    page = told(folder, **offered)["why"]
    assert page["requests"] == [done]
    assert "used up" in page["refusal"]


@pytest.mark.parametrize(("offered", "told"), [("True", False), ("False", True)])
def test_a_typed_request_is_taken_and_said_where_pages_offer_none(folder, offered, told):
    config = folder.path / CONFIG_FILE
    config.write_text(f"{config.read_text()}c.RegradeRequests.offered = {offered}\n")
    typed = ["course", "requests", "add", str(folder.path), "--for", "hw/ann/why", "--reason", "I said so."]
    done = CliRunner().invoke(commands.main, typed)
    assert (done.exit_code, regrade_requests.read(folder.path, "hw").of("ann")[0].number) == (0, 1), done.output
    assert ("offer none" in done.output) is told
