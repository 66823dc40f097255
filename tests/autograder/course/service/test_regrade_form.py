"""The form by which a learner asks for another look: who is known, what is taken, and that nothing of it is obeyed."""

from types import SimpleNamespace
from urllib.parse import urlencode

import pytest
from bs4 import BeautifulSoup

from autograder.book.course_error import CourseError
from autograder.course.regrades import regrade_requests
from autograder.course.service import regrade_form
from autograder.course.service.limits import Rate
from autograder.course.service.regrade_form import MOST_BYTES, RegradeForm
from autograder.course.service.server import Door, addresses, application
from tests.autograder.course.service import test_check_requests as checks
from tests.autograder.course.service.test_check_requests import Tokens
from tests.loops import awaited_here

FILLED = {"token": "a", "assignment": "hw", "exercise": "why", "reason": "Größer <b>als</b>"}


@pytest.fixture
def desk(monkeypatch):
    """A desk with the requests that were entered, for which nothing is written."""
    made = SimpleNamespace(
        rate=Rate(2, 10.0, clock=lambda: 0.0), generations=SimpleNamespace(folder="course"), asked=[]
    )

    def ask(*about):
        made.asked.append(about)
        if isinstance(made.asked[0], Exception):
            raise made.asked[0]
        return SimpleNamespace(number=7, exercise=about[3])

    monkeypatch.setattr(regrade_requests, "ask", ask)
    return made


def handler(desk, method, path="/regrade"):
    made, wire = checks.made(desk, method, path, kind=checks.Home)
    form = RegradeForm(made.application, made.request, door=Door(desk), known=[Tokens(a="ann")], homes=("/",))
    form._transforms = []
    return form, wire


def answered(wire):
    return wire.status, BeautifulSoup(wire.body.decode(), "html.parser")


def sent(desk, body):
    made, wire = handler(desk, "POST")

    async def run():
        for at in range(0, len(body), 10_000):
            made.data_received(body[at : at + 10_000])
        await made.post()

    awaited_here(run())
    return answered(wire)


def test_the_form_is_filled_from_its_address_and_obeys_nothing_of_it(desk):
    made, wire = handler(desk, "GET", "/regrade?" + urlencode({"assignment": '"><script>', "exercise": "why"}))

    async def run():
        made.get()

    awaited_here(run())
    status, soup = answered(wire)
    assert status == 200
    assert soup.script is None
    assert {field["name"]: field.get("value") for field in soup.find_all("input")} == {
        "token": None,
        "assignment": '"><script>',
        "exercise": "why",
    }
    assert all(field.find_parent("label") for field in soup.find_all(["input", "textarea"]))
    assert "default-src 'none'" in wire.headers["Content-Security-Policy"]


def test_a_request_is_that_of_the_tokens_owner(desk):
    assert sent(desk, urlencode(FILLED | {"learner": "bob"}).encode())[0] == 401  # a field too many is not this form
    status, soup = sent(desk, urlencode(FILLED).encode())
    assert desk.asked == [("course", "hw", "ann", "why", FILLED["reason"])]
    assert status == 200
    assert "request 7, about why of hw" in soup.text
    assert soup.form is None


@pytest.mark.parametrize(
    "body", [b"", b"\xff", urlencode(FILLED | {"token": "b"}).encode(), b"&".join([b"token=a"] * 9)]
)
def test_who_is_not_known_is_asked_for_the_token(desk, body):
    status, soup = sent(desk, body)
    assert (status, desk.asked) == (401, [])
    assert soup.find("input", {"name": "token"}).get("value") is None


@pytest.mark.parametrize(
    ("error", "status", "words"), [(CourseError("used <up>"), 400, "used <up>"), (OSError("disk"), 503, "fault")]
)
def test_what_is_not_taken_says_why_and_keeps_what_was_written(desk, error, status, words):
    desk.asked.append(error)
    answer, soup = sent(desk, urlencode(FILLED).encode())
    assert answer == status
    assert words in soup.find(role="status").text
    assert soup.textarea.text == FILLED["reason"]
    assert sent(desk, urlencode(FILLED | {"assignment": "../hw"}).encode())[0] == 400


def test_a_learner_asks_so_often_and_a_service_that_starts_says_so(desk):
    assert [sent(desk, urlencode(FILLED).encode())[0] for _ in range(3)] == [200, 200, 429]
    assert sent(None, urlencode(FILLED).encode())[0] == 503


def test_a_form_is_as_long_as_may_be(desk):
    body = urlencode(FILLED | {"reason": ""}).encode()
    longest = body + b"x" * (MOST_BYTES - len(body))
    assert sent(desk, longest)[0] == 200
    assert sent(desk, longest + b"x")[0] == 413
    assert len(urlencode(FILLED | {"reason": "\U0001f600" * regrade_requests.MOST_LETTERS})) < MOST_BYTES


def test_it_is_at_each_address_of_the_service(desk):
    rules = application(Door(desk), [], "/x/y/").default_router.rules[0].target.rules
    at = [rule.matcher.regex.pattern for rule in rules if rule.target is RegradeForm]
    assert len(at) == len(addresses("/x/y/"))
    assert regrade_form.FORM.count("<label>") == 4
