"""What the server answers to a request for the page, a grade or a picture: each handler alone, without a server."""

import base64
import json
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from tornado import web

from autograder.book.course_error import CourseError
from autograder.course.by_hand import answers, page, questions, second_marks, server, shares, together
from autograder.course.by_hand.answers import Conflict, HandGradedAnswer, LearnerText
from autograder.course.by_hand.server import (
    AlikeAnswers,
    NewGrade,
    Overview,
    Picture,
    QuestionPage,
    Requests,
    SecondGrade,
    SecondPage,
    SecondState,
    SharedGrade,
    State,
    Undo,
)
from autograder.course.regrades import regrade_requests
from autograder.course.regrades.regrade_requests import AssignmentRequests, RegradeRequest

ANSWER = HandGradedAnswer("ann", "Ann", "s-ann", 1, LearnerText("Because."), None, True, "", None)
ASKED = SimpleNamespace(assignment="hw", exercise="why")


def request(kind, body=b"", accept="", user=None, **settings):
    """A handler at a request, which notes what it answers."""

    class Probe(kind):
        current_user = user
        xsrf_token = b"token"
        answered = None
        status = 200

        def finish(self, chunk=None):
            self.answered = chunk

        def set_status(self, code, reason=None):
            self.status = code

        def set_header(self, name, value):
            self.sent[name] = value

        def get_body_argument(self, name):
            return self.fields[name]

        def redirect(self, address, status):
            self.answered, self.status = address, status

        def get_query_argument(self, name):
            return f"the {name}"

    made = Probe.__new__(Probe)
    made.application = SimpleNamespace(settings={"base_url": "/base/", **settings})
    made.request = SimpleNamespace(body=body, headers={"Accept": accept} if accept else {})
    made.sent, made._reason = {}, "Reason"
    return made


@pytest.fixture
def formgrader(tmp_path, monkeypatch):
    """The settings of a server whose formgrader shows a course with one question and one answer."""
    (tmp_path / "course").mkdir()
    monkeypatch.setattr(questions, "question", lambda folder, name, exercise: ASKED)
    monkeypatch.setattr(answers, "answers", lambda folder, question: [ANSWER])
    coursedir = SimpleNamespace(root=str(tmp_path / "course"))
    return {"nbgrader_formgrader": SimpleNamespace(coursedir=coursedir)}


def test_the_course_is_formgraders_and_without_it_there_is_nothing(formgrader, tmp_path):
    assert request(Overview, **formgrader).course == tmp_path / "course"
    with pytest.raises(web.HTTPError) as caught:
        _ = request(Overview).course
    assert caught.value.status_code == 404


@pytest.mark.parametrize(
    ("user", "name"),
    [
        (SimpleNamespace(display_name="Tina T", name="tina", username="t"), "Tina T"),
        (SimpleNamespace(display_name="", name="tina", username="t"), "tina"),
        (SimpleNamespace(username="t"), "t"),
        (None, ""),
    ],
)
def test_a_grader_is_called_as_the_server_calls_them(user, name):
    assert request(NewGrade, user=user).who() == name


@pytest.mark.parametrize("accept", ["", "application/json", "text/html,*/*"])
def test_an_error_is_a_sentence_as_text_for_a_browser_and_as_json_for_a_script(accept):
    made = request(Overview, accept=accept)
    made.write_error(404, exc_info=(web.HTTPError, web.HTTPError(404, "Not here."), None))
    assert made.status == 404
    if "html" in accept:
        assert (made.answered, made.sent["Content-Type"]) == ("Not here.", "text/plain; charset=utf-8")
    else:
        assert (json.loads(made.answered), made.sent["Content-Type"]) == ({"message": "Not here."}, "application/json")


def test_what_a_teacher_can_mend_is_a_bad_request_and_any_other_error_has_the_reason_alone():
    made = request(Overview)
    made.write_error(500, exc_info=(CourseError, CourseError("No such assignment."), None))
    assert (made.status, json.loads(made.answered)) == (400, {"message": "No such assignment."})
    for more in ({}, {"exc_info": None}, {"exc_info": (ZeroDivisionError, ZeroDivisionError("secret"), None)}):
        made = request(Overview)
        made.write_error(500, **more)
        assert (made.status, json.loads(made.answered)) == (500, {"message": "Reason"})


@pytest.mark.parametrize(("error", "logged"), [(CourseError("x"), 0), (ZeroDivisionError("x"), 1)])
def test_the_log_has_what_a_teacher_cannot_mend(monkeypatch, error, logged):
    calls = []
    monkeypatch.setattr(server.JupyterHandler, "log_exception", lambda self, *what: calls.append(what))
    request(Overview).log_exception(type(error), error, None)
    assert len(calls) == logged


def test_the_page_allows_no_script_but_ours_and_is_kept_by_nobody(monkeypatch):
    monkeypatch.setattr(server.JupyterHandler, "set_default_headers", lambda self: None)
    made = request(QuestionPage)
    made.set_default_headers()
    assert made.sent == {"Referrer-Policy": "same-origin", "Cache-Control": "no-store"}
    assert "script-src 'self';" in made.content_security_policy


def test_the_list_has_what_is_wrong_with_one_assignment_beside_the_others(formgrader, monkeypatch):
    def asked(folder, name):
        if name == "bad":
            raise ZeroDivisionError("declared so")
        return [ASKED]

    monkeypatch.setattr(questions, "assignments", lambda folder: ["bad", "hw"])
    monkeypatch.setattr(questions, "questions", asked)
    graded = HandGradedAnswer("bob", "Bob", "s-bob", 2, LearnerText(), 1.0, False, "", None)
    monkeypatch.setattr(answers, "answers", lambda folder, question: [ANSWER, graded, ANSWER])
    monkeypatch.setattr(page, "overview", lambda *parts: parts)
    made = request(Overview, **formgrader)
    Overview.get.__wrapped__(made)
    base, root, (bad, hw), open_requests, requests = made.answered
    assert (open_requests, requests) == (0, 0)
    assert (base, root) == ("/base/", "/base/gpubook/by_hand")
    assert bad == page.AssignmentOverview("bad", [], [], problem="ZeroDivisionError: declared so")
    assert hw == page.AssignmentOverview("hw", [page.QuestionCounts(ASKED, 3, 2)], [])


def test_a_page_knows_its_own_address(formgrader, monkeypatch):
    monkeypatch.setattr(page, "page", lambda *parts: parts)
    made = request(QuestionPage, **formgrader)
    QuestionPage.get.__wrapped__(made, "home work", "why")
    _, _, here, asked, every, beside = made.answered
    assert (here, asked, every) == ("/base/gpubook/by_hand/home%20work/why", ASKED, [ANSWER])
    assert (beside.graders, beside.equal) == ([], {"ann": 0})


def test_a_page_knows_who_grades_what(formgrader, monkeypatch, tmp_path):
    monkeypatch.setattr(page, "page", lambda *parts: parts)
    monkeypatch.setattr(questions, "questions", lambda folder, name: [SimpleNamespace(exercise="other"), ASKED])
    shares.give(tmp_path / "course", "hw", shares.GradingShares("question", {"tina": 1, "tom": 1}))
    made = request(QuestionPage, user=SimpleNamespace(display_name="tom"), **formgrader)
    QuestionPage.get.__wrapped__(made, "hw", "why")
    beside = made.answered[-1]
    assert (beside.graders, beside.grader_of, beside.me) == (["tina", "tom"], {"ann": "tom"}, "tom")
    monkeypatch.setattr(questions, "assignments", lambda folder: ["hw"])
    monkeypatch.setattr(page, "overview", lambda *parts: parts)
    made = request(Overview, user=SimpleNamespace(display_name="tom"), **formgrader)
    Overview.get.__wrapped__(made)
    (row,) = made.answered[2]
    assert [counts.mine for counts in row.questions] == [0, 1]
    assert [(each.grader, each.answers, each.waiting) for each in row.graders] == [("tina", 1, 1), ("tom", 1, 1)]


def test_the_state_is_that_of_each_answer(formgrader):
    made = request(State, **formgrader)
    State.get.__wrapped__(made, "hw", "why")
    assert [state["learner"] for state in made.answered["answers"]] == ["ann"]


BODY = {"learner": "ann", "given": [1, None], "comment": "Good.", "revision": "r"}


@pytest.mark.parametrize("formgrader_runs", [True, False])
def test_a_grade_is_entered_in_the_name_of_who_gave_it(formgrader, monkeypatch, formgrader_runs):
    entered, expired = [], []
    monkeypatch.setattr(answers, "enter", lambda *what: entered.append(what) or ANSWER)
    database = SimpleNamespace(db=SimpleNamespace(expire_all=lambda: expired.append(1)))
    more = {"nbgrader_gradebook": database} if formgrader_runs else {}
    user = SimpleNamespace(display_name="Tina")
    made = request(NewGrade, json.dumps(BODY).encode(), user=user, **formgrader, **more)
    NewGrade.put.__wrapped__(made, "hw", "why")
    assert entered == [(made.course, ASKED, "ann", [1, None], "Good.", "r", "Tina")]
    assert (made.status, made.answered["learner"]) == (200, "ann")
    assert len(expired) == formgrader_runs  # or formgrader shows what it has read before


def test_a_grade_on_what_was_changed_since_is_a_conflict(formgrader, monkeypatch):
    def changed(*_):
        raise Conflict(ANSWER, "tina", "2030-01-01")

    monkeypatch.setattr(answers, "enter", changed)
    made = request(NewGrade, json.dumps(BODY).encode(), **formgrader)
    NewGrade.put.__wrapped__(made, "hw", "why")
    assert made.status == 409
    assert (made.answered["by"], made.answered["at"], made.answered["now"]["learner"]) == ("tina", "2030-01-01", "ann")
    assert made.answered["theirs"] == ANSWER.in_words


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"7",
        b"{}",
        b"\xff",
        json.dumps({**BODY, "learner": 7}).encode(),
        json.dumps({**BODY, "comment": None}).encode(),
        json.dumps({**BODY, "revision": []}).encode(),
        json.dumps({**BODY, "given": "12"}).encode(),
        json.dumps({**BODY, "given": {"0": 1}}).encode(),
        json.dumps({**BODY, "given": 7, "learner": 7}).encode(),
    ],
)
def test_a_body_of_another_form_is_a_bad_request(body):
    with pytest.raises(web.HTTPError) as caught:
        request(NewGrade, body)._body()
    assert caught.value.status_code == 400


def test_a_body_is_as_large_as_may_be():
    body = json.dumps({**BODY, "comment": ""}).encode()
    comment = "x" * (2**20 - len(body))
    largest = json.dumps({**BODY, "comment": comment}).encode()
    assert request(NewGrade, largest)._body() == ("ann", [1, None], comment, "r")
    with pytest.raises(web.HTTPError) as caught:
        request(NewGrade, largest + b" ")._body()
    assert caught.value.status_code == 413


def test_a_picture_is_what_it_is_of(formgrader, monkeypatch):
    asked = []

    def picture(folder, question, *which):
        asked.append(which)
        return "image/png", base64.b64encode(b"png").decode()

    monkeypatch.setattr(answers, "picture", picture)
    made = request(Picture, **formgrader)
    Picture.get.__wrapped__(made, "hw", "why")
    assert (made.answered, made.sent["Content-Type"], asked) == (b"png", "image/png", [("the learner", "the name")])


def test_the_pages_are_added_to_a_server_with_their_files():
    added = []
    app = SimpleNamespace(settings={"base_url": "/base/"}, add_handlers=lambda host, rules: added.extend(rules))
    server._load_jupyter_server_extension(SimpleNamespace(web_app=app))
    kinds = {rule[1]: rule for rule in added}
    assert kinds[Overview][0].startswith("/base/gpubook/by_hand")
    assert {QuestionPage, State, NewGrade, Picture} <= set(kinds)
    assert added[0][2]["path"] == str(page.STATIC)


OUTCOME = together.DecisionOutcome(3, [ANSWER], [Conflict(ANSWER, "tina", "2030")])


def test_a_decision_over_several_answers_and_its_undoing_say_what_became_of_each(formgrader, monkeypatch):
    calls = []
    monkeypatch.setattr(together, "decide", lambda *what: calls.append(what) or OUTCOME)
    monkeypatch.setattr(together, "undo", lambda *what: calls.append(what) or OUTCOME)
    body = json.dumps({"learners": {"ann": "r"}, "given": [1], "comment": "Good."}).encode()
    made = request(SharedGrade, body, user=SimpleNamespace(display_name="Tina"), **formgrader)
    SharedGrade.put.__wrapped__(made, "hw", "why")
    assert calls.pop() == (made.course, ASKED, {"ann": "r"}, [1], "Good.", "Tina")
    assert (made.answered["number"], made.answered["answers"][0]["learner"]) == (3, "ann")
    assert made.answered["refused"][0]["theirs"] == "no points"
    made = request(Undo, b'{"number": 3}', **formgrader)
    Undo.put.__wrapped__(made, "hw", "why")
    assert calls == [(made.course, ASKED, 3)]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (SharedGrade, {"learners": {}, "given": [1], "comment": ""}),
        (SharedGrade, {"learners": {"ann": 7}, "given": [1], "comment": ""}),
        (SharedGrade, {"learners": ["ann"], "given": [1], "comment": ""}),
        (Undo, {"number": True}),
        (Undo, {"number": "3"}),
        (Undo, {}),
    ],
)
def test_a_decision_of_another_form_is_a_bad_request(formgrader, kind, body):
    made = request(kind, json.dumps(body).encode(), **formgrader)
    with pytest.raises(web.HTTPError) as caught:
        kind.put.__wrapped__(made, "hw", "why")
    assert caught.value.status_code == 400


def test_what_is_alike_is_asked_for_an_answer_that_is_there(formgrader, monkeypatch):
    bob = HandGradedAnswer("the learner", "Bob", "s", 2, LearnerText("because"), None, True, "", None)
    monkeypatch.setattr(answers, "answers", lambda folder, question: [ANSWER, bob])
    made = request(AlikeAnswers, **formgrader)
    AlikeAnswers.get.__wrapped__(made, "hw", "why")
    assert made.answered == {"answers": [{"learner": "ann", "share": 1.0, "differs": (), "equal": True}]}
    monkeypatch.setattr(answers, "answers", lambda folder, question: [ANSWER])
    with pytest.raises(CourseError, match="no graded submission"):
        AlikeAnswers.get.__wrapped__(request(AlikeAnswers, **formgrader), "hw", "why")


def test_a_second_grader_has_a_page_a_state_and_an_answer_of_their_own(formgrader, monkeypatch):
    def enter(folder, question, learner, points, revision, by):
        if by == "tina":
            raise Conflict(ANSWER, "tom", "2030")
        return ANSWER

    monkeypatch.setattr(second_marks, "second_answers", lambda folder, question: [ANSWER])
    monkeypatch.setattr(second_marks, "enter", enter)
    monkeypatch.setattr(page, "page", lambda *parts: parts)
    made = request(SecondPage, **formgrader)
    SecondPage.get.__wrapped__(made, "hw", "why")
    assert made.answered[-1].second
    made = request(SecondState, **formgrader)
    SecondState.get.__wrapped__(made, "hw", "why")
    assert [state["learner"] for state in made.answered["answers"]] == ["ann"]
    for name, status in (("tom", 200), ("tina", 409)):
        made = request(SecondGrade, json.dumps(BODY).encode(), user=SimpleNamespace(display_name=name), **formgrader)
        SecondGrade.put.__wrapped__(made, "hw", "why")
        assert made.status == status


def test_requests_for_another_look_are_listed_with_their_texts_as_typed_and_answered(formgrader, monkeypatch):
    asked = RegradeRequest(1, "ann", "why", "<script>alert(1)</script>", "2030-01-01 10:00:00", 1.0)
    done = RegradeRequest(2, "bob", "why", "Again?", "2029-01-01 10:00:00", 1.0, "*No.* <b>", "tina", "2029-01-02", 1.0)
    monkeypatch.setattr(regrade_requests, "assignments", lambda folder: ["hw"])
    monkeypatch.setattr(regrade_requests, "read", lambda folder, name: AssignmentRequests([done, asked]))
    made = request(Requests, **formgrader)
    Requests.get.__wrapped__(made)
    soup = BeautifulSoup(made.answered, "html.parser")
    assert "form-action 'self'" in made.content_security_policy
    first, second = soup.find_all("article")
    assert first.find(class_="reason").text == "<script>alert(1)</script>"
    assert soup.script is None
    assert "still 1 point" in second.text
    assert (second.em.text, second.b) == ("No.", None)
    assert {field["name"]: field["value"] for field in first.find_all("input")} == {
        "_xsrf": "token",
        "name": "hw",
        "number": "1",
    }
    assert first.label.textarea["name"] == "text"
    answered = []
    monkeypatch.setattr(regrade_requests, "answer", lambda *what: answered.append(what))
    made = request(Requests, user=SimpleNamespace(display_name="Tina"), **formgrader)
    made.fields = {"name": "hw", "number": "1", "text": "Yes."}
    Requests.post.__wrapped__(made)
    assert (answered, made.status) == ([(made.course, "hw", 1, "Yes.", "Tina")], 303)
    assert made.answered == "/base/gpubook/by_hand/_requests"
    for wrong, error in (({"number": "x"}, web.HTTPError), ({"name": "../hw"}, CourseError)):
        made.fields = {"name": "hw", "number": "1", "text": "Yes."} | wrong
        with pytest.raises(error):
            Requests.post.__wrapped__(made)
