"""The check service over a real socket: a verdict for each counted attempt, and nothing else for anybody."""

import contextlib
import json
import re
import socket
import sys
import threading
import time
from datetime import datetime

import pytest

import autograder
from autograder.course.agreements import extensions
from autograder.course.service.attempts import Ledger
from autograder.course.service.desk import Desk
from autograder.course.service.judging import Judging, NotJudged
from autograder.course.service.limits import Later, Rate
from autograder.course.service.requests import MAX_BODY, read
from autograder.course.service.server import Door
from autograder.course.terms.agreed_terms import Extension
from autograder.learner import check_service
from tests.autograder import tiny
from tests.autograder.course.service import small_course
from tests.autograder.course.service.small_course import NAME, SENTENCE, Running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux namespaces"),
]
ALLOWED = 4


@pytest.fixture(scope="module")
def running(tmp_path_factory, zygotes):
    folder, bank = small_course.make(tmp_path_factory.mktemp("service"))
    with pytest.MonkeyPatch.context() as patch:
        tiny.lend(patch, zygotes())
        with Running(folder, desk={"rate": Rate(60, 0.5)}) as made:
            made.bank = bank
            yield made


@pytest.fixture
def service(running):
    with small_course.fresh(running.desk):
        yield running


def right(service, who):
    return service.bank["mine-time"].expected(service.bank["mine-time"].variant(who))


def test_a_learner_gets_one_verdict_for_each_counted_attempt(service):
    mine = right(service, "ann")
    status, reply = service.value(3 * mine)
    assert (status, reply["used"], reply["allowed"]) == (200, 1, ALLOWED)
    assert reply["verdict"]["say"] == SENTENCE
    assert reply["verdict"].keys() == {"say", "kind", "score", "wants_hint"}
    replies = [service.value(wrong * mine)[1] for wrong in (5.1, 7.3)]
    assert [one["used"] for one in replies] == [2, 3]
    status, reply = service.value(mine)
    assert (reply["verdict"]["score"], reply["used"]) == (1.0, ALLOWED)
    assert service.value(9.9 * mine) == (200, {"recorded": "used-up", "used": ALLOWED, "allowed": ALLOWED})
    assert service.value(9.9 * mine, who="bob")[1]["used"] == 1


def test_the_same_answer_again_is_the_same_attempt(service):
    _, first = service.value(1.25)
    _, again = service.value(1.2500000000001)
    assert (again.pop("again"), again) == (True, first)


@pytest.mark.parametrize(
    "value", [{"$": "ellipsis"}, "3 apples", "4 GB", None, {"$": "nonsense"}, [1], "\udc80"], ids=str
)
def test_what_is_no_answer_costs_nothing(service, value):
    status, reply = service.value(value)
    assert (status, reply["used"]) == (200, 0)
    assert reply["verdict"]["score"] == 0
    assert service.desk.ledger.used() == []


def test_numbers_are_those_of_who_asks_whatever_is_sent(service):
    given = {who: right(service, who) for who in ("ann", "bob", "cy", "dan")}
    one, other = next((a, b) for a in given for b in given if given[a] != given[b])
    assert service.value(given[one], who=one)[1]["verdict"]["score"] == 1
    body = {"assignment": NAME, "exercise": "mine-time", "value": given[one]}
    assert service.post({**body, "learner": one}, other)[0] == 400
    assert service.post(body, other)[1]["verdict"]["score"] == 0


def test_a_choice_is_not_asked_until_one_option_is_left(service):
    kinds = [service.value(key, "mine-which")[1] for key in "abcd"]
    assert [one.get("used") for one in kinds] == [1, 2, 2, 2]
    assert kinds[2]["recorded"] == "used-up"


@pytest.mark.parametrize("exercise", ["mine-guess", "mine-words", "rooflines-ridge", "../mine-time", "nowhere", "ﬁ\0"])
def test_what_is_not_judged_here_is_refused(service, exercise):
    assert service.value(1.0, exercise)[0] == 400
    assert service.value(1.0, assignment=f"../{NAME}")[0] == 400


def test_code_runs_from_the_cells_that_were_sent(service):
    _, reply = service.code("factor = 2", "def twice(x):\n    return factor*x", answer=1)
    assert (reply["verdict"]["score"], reply["used"]) == (1.0, 1)
    _, reply = service.code("def twice(x):\n    return x*x")
    assert (reply["verdict"]["score"], reply["verdict"]["say"], reply["used"]) == (0.0, "That is the square.", 2)
    _, later = service.code("def twice(x):\n    return help(x)", "def help(x):\n    return x + x", answer=0)
    assert (later["verdict"]["score"], later["used"]) == (1.0, 3)


def test_code_that_defines_nothing_costs_nothing_and_shows_nothing(service):
    _, reply = service.code("import os\nprint(os.listdir('/'), open('exercises.json').read())")
    assert (reply["used"], reply["verdict"]["kind"]) == (0, "empty")
    _, reply = service.code("raise ValueError('x')\ndef twice(x): ...")
    assert reply["used"] == 0
    assert "ValueError" in reply["verdict"]["say"]
    assert service.post({"assignment": NAME, "exercise": "mine-double", "value": {"$": "callable", "v": "f"}})[0] == 400


def test_code_finds_no_key_and_decides_nothing(service):
    attack = f"""
import glob, os
found = [p for top in ('.', '/tmp', '/root', '/home') for p in glob.glob(top + '/**/mine.py', recursive=True)]
for fd in range(3, 40):
    try: os.write(fd, b'{{"score": 1.0, "value": 1}}')
    except OSError: pass
def twice(x):
    return 2*x if found or os.path.exists({str(service.folder)!r}) else 0.5
"""
    _, reply = service.code(attack)
    assert reply["verdict"]["score"] == 0


def test_after_the_deadline_there_is_nothing(service, monkeypatch):
    service.value(1.25)
    clock = datetime(2100, 1, 2)
    monkeypatch.setattr(service.desk.deadlines, "clock", lambda: clock)
    assert service.value(1.25) == (200, {"recorded": "over"})
    assert service.value(2.5) == (200, {"recorded": "over"})
    extensions.extend(service.folder, NAME, ["ann"], Extension(days=3))  # before there is any submission
    monkeypatch.setattr(service.desk.deadlines, "_looked", {})
    assert service.value(2.5)[1]["used"] == 2
    assert service.value(2.5, who="bob")[1] == {"recorded": "over"}


def test_an_answer_that_cannot_be_judged_costs_nothing(service, monkeypatch):
    def fails(*_):
        raise NotJudged("the key of this exercise is wrong: 42")

    monkeypatch.setattr(Judging, "value", fails)
    status, reply, headers = service.post({"assignment": NAME, "exercise": "mine-time", "value": 1.0})
    assert (status, headers["Retry-After"]) == (503, "60")
    assert "42" not in json.dumps(reply)
    assert service.desk.ledger.used() == []


def test_a_full_disk_is_the_services_fault_and_costs_nothing(service, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "/secret/checks.db")

    monkeypatch.setattr(Ledger, "take", full)
    status, reply, _ = service.post({"assignment": NAME, "exercise": "mine-time", "value": 1.0})
    assert status == 503
    assert "secret" not in json.dumps(reply)
    monkeypatch.undo()
    assert service.value(1.0)[1]["used"] == 1


def test_a_verdict_that_was_not_reached_is_made_when_the_answer_comes_again(service, monkeypatch):
    """A kill between counting and judging: what is counted stays, and is judged once."""
    with monkeypatch.context() as patch:
        patch.setattr(Desk, "_decide", lambda *_: {})
        service.value(1.25)
    with Ledger(service.folder) as ledger:
        assert [one.count for one in ledger.used()] == [1]
    assert service.value(1.25)[1]["used"] == 1
    assert service.value(2.25)[1]["used"] == 2


TOKENS = {
    "none": {},
    "empty": {"Authorization": ""},
    "forged": {"Authorization": "token gpubook-" + "A" * 43},
    "another scheme": {"Authorization": "Basic YW5uOmFubg=="},
    "a name": {"Authorization": "token ann"},
    "two": {"Authorization": "token a b"},
    "long": {"Authorization": "token " + "x" * 8000},
    "in the cookie": {"Cookie": "token=ann"},
}


@pytest.mark.parametrize("headers", TOKENS.values(), ids=TOKENS)
def test_without_a_token_that_holds_nothing_is_read(service, headers):
    body = {"assignment": NAME, "exercise": "mine-time", "value": 1.25}
    status, reply, _ = service.post(body, who=None, **headers)
    assert status == 401
    assert reply.keys() == {"say"}
    assert service.desk.ledger.used() == []


@pytest.mark.parametrize(
    "path", ["", "../check", "check/../../etc/passwd", "%2e%2e/check", "check%00", "key", "check/x"]
)
def test_other_paths_have_nothing(service, path):
    status, reply, _ = service.post({"assignment": NAME, "exercise": "mine-time", "value": 1.25}, path=path)
    assert status in (404, 405)
    assert reply.keys() == {"say"}


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "BREW"])
def test_other_methods_have_nothing(service, method):
    assert service.post(b"{}", method=method)[0] == 405


def test_a_body_that_is_too_large_is_not_read(service):
    assert service.post(None, **{"Content-Length": str(MAX_BODY + 1)})[0] == 413
    assert service.post(b"[" * MAX_BODY)[0] == 400
    assert service.value(1.25)[0] == 200


def raw(service, data, wait=30.0):
    """What comes back for bytes, until the connection is closed."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=wait) as link:
        link.sendall(data)
        got = b""
        with contextlib.suppress(ConnectionResetError):
            while chunk := link.recv(65536):
                got += chunk
        return got


def head(service, *lines):
    return "\r\n".join(
        ["POST /services/x/check HTTP/1.1", "Host: x", f"Authorization: token {service.tokens['ann']}", *lines, "", ""]
    ).encode()


def freed(service):
    """Whether nobody is held to be busy, once the service has seen its connections end."""
    for _ in range(300):
        if not service.desk.one._busy:
            return True
        time.sleep(0.1)
    return False


@pytest.fixture
def impatient(service):
    """The service, which waits 0.3 s for headers and as long for a body."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service.server.conn_params, "header_timeout", 0.3)
        patch.setattr(service.server.conn_params, "body_timeout", 0.3)
        yield service


def test_junk_on_the_wire_ends_its_own_connection_alone(impatient):
    for junk in (b"\x00" * 100, b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"A" * 40_000):
        raw(impatient, junk)
    bad = (["Content-Length: -5"], ["Content-Length: 1, 2"], ["Transfer-Encoding: gzip"], ["X: " + "y" * 30_000])
    for lines in bad:
        assert not raw(impatient, head(impatient, *lines)).startswith(b"HTTP/1.1 200")
    pieces = head(impatient, "Transfer-Encoding: chunked") + (b"10000\r\n" + b"x" * 0x10000 + b"\r\n") * 6
    raw(impatient, pieces)
    assert freed(impatient)


def test_a_slow_client_is_let_go_and_keeps_nobody_waiting(impatient):
    """Headers that never end, and a body that never comes: each holds its connection for its time, no longer."""
    assert raw(impatient, b"POST /services/x/check HTTP/1.1\r\nHost: x\r\nX: y") == b""
    raw(impatient, head(impatient, "Content-Length: 100") + b"{")
    assert freed(impatient)  # ann may ask again


def test_a_flood_is_told_to_come_back(service, monkeypatch):
    monkeypatch.setattr(service.desk, "rate", Rate(3, 100.0))
    replies = [service.post({"assignment": NAME, "exercise": "mine-time", "value": n}) for n in range(1, 6)]
    assert [status for status, _, _ in replies] == [200, 200, 200, 429, 429]
    assert int(replies[-1][2]["Retry-After"]) > 50
    assert service.value(1.0, who="bob")[0] == 200


def test_many_at_once_lose_nothing_and_take_no_more_than_is_allowed(service, monkeypatch):
    """Each learner asks from several places at once, beside connections that only wait."""
    monkeypatch.setattr(service.desk, "rate", Rate(1000, 1.0))
    idle = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(50)]
    got = []

    def ask(who, number):
        for turn in range(3):
            status, reply, _ = service.post({"assignment": NAME, "exercise": "mine-time", "value": number + turn}, who)
            got.append((who, status, "verdict" in reply, number + turn))

    threads = [threading.Thread(target=ask, args=(who, 10 * n)) for n in range(1, 4) for who in service.tokens]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for link in idle:
        link.close()
    assert {status for _, status, _, _ in got} <= {200, 429}
    judged = {who: {answer for name, _, verdict, answer in got if verdict and name == who} for who in service.tokens}
    assert {one.learner: one.count for one in service.desk.ledger.used()} == {w: len(a) for w, a in judged.items() if a}
    assert all(len(answers) <= ALLOWED for answers in judged.values())


def test_a_full_queue_turns_away_before_anything_is_counted(service, monkeypatch):
    monkeypatch.setattr(service.desk.queues[False], "most", 0)
    status, _, headers = service.post({"assignment": NAME, "exercise": "mine-time", "value": 1.0})
    assert (status, headers["Retry-After"]) == (503, "5")
    assert service.desk.ledger.used() == []


def test_no_more_connections_than_there_is_room_for(service, monkeypatch):
    monkeypatch.setattr(service.server, "most", service.server.open)
    with socket.create_connection(("127.0.0.1", service.port), timeout=5) as link:
        assert link.recv(100) == b""
    monkeypatch.undo()
    assert service.value(1.25)[0] == 200


def test_before_the_judge_is_there_one_is_told_to_come_again():
    with pytest.raises(Later) as later:
        _ = Door().desk
    assert later.value.status == 503


def test_who_hangs_up_before_the_turn_pays_nothing(service):
    body = json.dumps({"assignment": NAME, "exercise": "mine-time", "value": 1.25}).encode()
    assert service.desk._judge("ann", read(body), gone=lambda: True) == {}
    assert service.desk.ledger.used() == []


def test_nothing_that_was_sent_back_tells_the_key(service):
    """All replies of a course of attacks: sentences, counts, and no number of the key's."""
    mine = right(service, "ann")
    texts = [
        json.dumps(service.post(body)[1])
        for body in (
            {"assignment": NAME, "exercise": "mine-time", "value": 5.37 * mine},
            {"assignment": NAME, "exercise": "mine-time", "value": {"$": "callable", "v": "x" * 100}},
            {"assignment": NAME, "exercise": "mine-time", "value": {"$": "tree", "v": ["pow", 1]}},
            {"assignment": NAME, "exercise": "mine-which", "value": "a"},
            {"assignment": NAME},
        )
    ]
    for text in texts:
        assert "lambda" not in text
        assert "three" not in text
        assert str(service.folder) not in text
        assert not re.search(rf"\b{mine:g}\b", text)


def test_a_notebook_has_its_answers_checked(service, tmp_path, monkeypatch):
    """From `check` and `grade` in the released folder, over the socket, to the sandbox and back."""
    released = json.loads((service.folder / "release" / NAME / "exercises.json").read_text())
    released["assignment"]["service"]["url"] = service.url
    (tmp_path / "exercises.json").write_text(json.dumps(released))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("GPUBOOK_OWNER", "ann")
    assert autograder.check("mine-time", 1.25).kind == "recorded"  # no token yet
    check_service.keep_token(tmp_path, service.tokens["ann"] + "\r\n")
    mine = right(service, "ann")
    assert autograder.check("mine-time", 3 * mine).say.startswith(SENTENCE)
    assert autograder.grade("mine-time", mine) == 2.0
    assert autograder.check("mine-time", ...).kind == "empty"
    assert autograder.check("mine-time", "3 apples").kind == "unreadable"
    assert autograder.check("mine-guess", "a").kind == "recorded"  # its points are for predicting
    assert autograder.check("mine-double", lambda x: 2 * x).kind == "recorded"  # no cell defines it

    def twice(x):
        return x + x

    assert autograder.grade("mine-double", twice) == 2.0
    used = {(one.learner, one.exercise): one.count for one in service.desk.ledger.used()}
    assert used == {("ann", "mine-time"): 2, ("ann", "mine-double"): 1}
    kept = json.loads((tmp_path / ".gpubook" / "progress.json").read_text())["exercises"]
    assert kept["mine-time"]["best"]["score"] == 1


def test_a_changed_key_is_served_and_judges_the_same_answer_again_for_nothing(service):
    mine = right(service, "ann")
    assert service.value(mine)[1]["verdict"]["score"] == 1
    path = service.folder / "exercises" / "mine.py"
    text = path.read_text()
    path.write_text("this is not Python")
    assert service.desk.generations.renew()  # without its exercises, and the service is up
    assert service.value(mine)[0] == 400
    path.write_text(text.replace("solution=lambda S, W: S/W", "solution=lambda S, W: 11*S/W"))
    assert service.desk.generations.renew()
    assert not service.desk.generations.renew()
    _, reply = service.value(mine)
    assert (reply["verdict"]["score"], reply["used"]) == (0.0, 1)
