"""What a notebook asks of a course's check service: nothing is raised, and no token goes where it should not."""

import json
import re
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from autograder import check, grade
from autograder.declaration import load_bank
from autograder.learner import check_service
from autograder.learner.check_service import Unavailable

OWN = """
from autograder.answers import Function, Quantity
from autograder.declaration import Exercise
T = Exercise(id="own-time", points=2, prompt="?", answer=Quantity("s"), solution=2.5)
F = Exercise(id="own-fun", prompt="?", answer=Function("f", "f(x)", cases=[(1.0,)]), solution=lambda x: 2*x)
"""
RIGHT = {"verdict": {"say": "Right.", "kind": "right", "score": 1.0, "wants_hint": False}, "used": 2, "allowed": 5}


class Service:
    """A service that replies what it is told to, and remembers what it was sent."""

    def __init__(self):
        self.replies, self.got = [(200, RIGHT, {})], []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.got.append((self.path, self.headers["Authorization"], json.loads(body)))
                status, reply, headers = outer.replies.pop(0) if len(outer.replies) > 1 else outer.replies[0]
                data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
                self.send_response(status)
                for name, value in {"Content-Length": str(len(data)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/c/"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture(scope="module")
def listening():
    service = Service()
    yield service
    service.close()


@pytest.fixture
def service(book, monkeypatch, listening):
    """An assignment that names the service, and a token kept for it."""
    listening.replies, listening.got = [(200, RIGHT, {})], []
    (book / "mine.py").write_text(OWN)
    release(book, listening.url)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(book / "config"))
    for name in ("JUPYTERHUB_API_TOKEN", "JUPYTERHUB_PUBLIC_HUB_URL", "JUPYTERHUB_BASE_URL", check_service.HUB):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(check_service, "_away", {})
    check_service.keep_token(book / "chapters" / "01-t", "gpubook-mine")
    return listening


def release(book, url, attempts=5):
    public = load_bank(book / "mine.py").public()
    service = {"url": url, "attempts": dict.fromkeys(("own-time", "own-fun"), attempts)}
    public["assignment"] = {"name": "w1", "due": "", "service": service}
    (book / "chapters" / "01-t" / "exercises.json").write_text(json.dumps(public))


def test_an_answer_is_sent_as_plain_data_and_the_verdict_says_what_is_left(service):
    verdict = check("own-time", 2.5)
    assert (verdict.kind, verdict.score) == ("right", 1.0)
    assert "3 of 5" in verdict.say
    asked = {"assignment": "w1", "exercise": "own-time", "value": 2.5}
    assert service.got == [("/c/check", "token gpubook-mine", asked)]
    assert grade("own-time", 2.5) == 2.0


def test_a_function_is_sent_as_its_source(service):
    def f(x):
        return 2 * x

    assert check("own-fun", f).kind == "right"
    code = service.got[0][2]["code"]
    assert (code["cells"], code["answer"]) == (["def f(x):\n    return 2 * x\n"], 0)


@pytest.mark.parametrize("answer", [..., None, "3 apples", object()], ids=lambda one: type(one).__name__)
def test_what_is_no_answer_is_not_sent(service, answer):
    assert check("own-time", answer).kind in ("empty", "unreadable")
    assert service.got == []


@pytest.mark.parametrize("name", ["NBGRADER_EXECUTION", "GPUBOOK_GRADING"])
def test_where_work_is_graded_nobody_is_asked(service, monkeypatch, name):
    monkeypatch.setenv(name, "1")
    assert check("own-time", 2.5).kind == "recorded"
    assert grade("own-time", 2.5) == 0.0
    assert service.got == []


def test_the_teachers_key_counts_where_the_book_has_an_exercise_of_that_id(service, book):
    (book / "solutions" / "01-t" / "exercises.py").write_text(OWN.replace("solution=2.5", "solution=7.5"))
    assert check("own-time", 2.5).kind == "right"


@pytest.mark.parametrize("reason", ["used-up", "over"])
def test_without_a_verdict_the_answer_is_recorded_and_why_is_said(service, reason):
    service.replies = [(200, {"recorded": reason, "used": 5, "allowed": 5}, {})]
    verdict = check("own-time", 2.5)
    assert verdict.kind == "recorded"
    assert "2.5 s" in verdict.say
    assert "grading" in verdict.say
    assert grade("own-time", 2.5) == 0.0


SHOWN = """
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.display_pub.publish = lambda data, **_: print("verdict", data["text/plain"])
shell.displayhook.write_output_prompt = lambda: None
shell.displayhook.write_format_data = lambda data, *_: print("value", data["text/plain"], data.get("text/html"))
cell = "from autograder import grade; grade('own-time', 2.5)"
result = shell.run_cell(cell, store_history=False).result
print("float", type(result) is float and result == 0.0)
"""


@pytest.mark.parametrize("state", ["no service", "no token", "away", "an error", "used-up", "over", "graded"])
def test_a_recorded_answer_shows_words_in_place_of_its_zero_in_a_notebook(service, book, state):
    """nbgrader reads the text of the value, which stays; a notebook shows its HTML."""
    reply = (200, {"recorded": state, "used": 5, "allowed": 5}, {})
    service.replies = [(500, {}, {}) if state == "an error" else reply]
    url = {"no service": "", "away": "http://127.0.0.1:1/"}.get(state, service.url)
    release(book, url, attempts=5 if url else "none")
    if state == "away":
        check_service.keep_token(book / "chapters" / "01-t", "gpubook-mine")
    config = book / ("nowhere" if state == "no token" else "config")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SHOWN],
        capture_output=True,
        text=True,
        cwd=book / "chapters" / "01-t",
        env={
            "PYTHONPATH": ":".join(p for p in sys.path if p),
            "HOME": str(book),
            "IPYTHONDIR": str(book),
            "XDG_CONFIG_HOME": str(config),
            **({"NBGRADER_EXECUTION": "autograde"} if state == "graded" else {}),
        },
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    verdict, value, kind = done.stdout.splitlines()
    assert "Recorded: 2.5 s." in verdict
    assert kind == "float True"
    number, _, html = value.removeprefix("value ").partition(" ")
    assert number == "0.0"
    assert re.sub(r"<.*?>", "", html).startswith("Its points")


WRONG = {
    "junk": (200, b"\xff{", {}),
    "deep": (200, b"[" * 5000, {}),
    "a list": (200, [], {}),
    "no sentence": (200, {"verdict": {"say": 1, "kind": "right", "score": 1}, "used": 1, "allowed": 5}, {}),
    "no count": (200, {"verdict": RIGHT["verdict"]}, {}),
    "another token": (401, {"say": "Your token is not known."}, {}),
    "an error": (500, {}, {}),
    "a redirection": (307, {}, {"Location": "http://127.0.0.1:1/"}),
}


@pytest.mark.parametrize("reply", WRONG.values(), ids=WRONG)
def test_whatever_the_service_answers_nothing_is_raised(service, reply):
    service.replies = [reply]
    assert check("own-time", 2.5).kind == "recorded"
    assert len(service.got) == 1


@pytest.mark.parametrize("score", [float("nan"), 17, -3, "1", True, None], ids=str)
def test_a_score_is_between_none_and_all(service, score):
    service.replies = [(200, {**RIGHT, "verdict": {**RIGHT["verdict"], "score": score}}, {})]
    assert 0.0 <= grade("own-time", 2.5) <= 2.0


def test_a_service_that_is_away_is_not_asked_again_for_a_while(service, book, monkeypatch):
    release(book, "http://127.0.0.1:9/c/")
    check_service.keep_token(book / "chapters" / "01-t", "gpubook-mine")
    assert check("own-time", 2.5).kind == "recorded"
    monkeypatch.setattr(check_service, "posted", lambda *_: pytest.fail("it was asked again"))
    assert check("own-time", 3.5).kind == "recorded"


def test_a_service_that_is_busy_is_asked_again_when_it_says(service, monkeypatch):
    waited = []
    monkeypatch.setattr(time, "sleep", waited.append)
    service.replies = [(503, {"say": "Busy."}, {"Retry-After": "2"}), (429, {}, {"Retry-After": "1"}), (200, RIGHT, {})]
    assert check("own-time", 2.5).kind == "right"
    assert waited == [2.0, 1.0]
    service.replies = [(503, {"say": "Busy."}, {"Retry-After": "3600"})]
    verdict = check("own-time", 2.5)
    assert "3600" in verdict.say
    assert verdict.kind == "recorded"
    assert waited == [2.0, 1.0]


def test_a_large_answer_is_not_sent(service, monkeypatch):
    monkeypatch.setattr(check_service, "MOST", 80)
    assert check("own-time", "2.5" + " " * 100).kind == "recorded"
    assert service.got == []


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:{}/c/", "http://localhost:{port}/c/", "http://127.0.0.1:{port}@evil/"]
)
def test_a_token_goes_only_where_it_was_kept_for(service, book, url):
    """An exercises.json from somebody else names another address: nothing is sent there."""
    release(book, url.format(service.server.server_port + 1, port=service.server.server_port))
    assert check("own-time", 2.5).kind == "recorded"
    assert service.got == []


OTHERS = ("/", "", "/c", "/c//", "/C/", "/c/x/", "/user/eve/proxy/8000/", "/c/../user/eve/", "/%63/", "/c/;x/", "//c/")


@pytest.mark.parametrize("other", OTHERS)
def test_a_token_goes_to_no_other_path_of_its_host(service, book, other):
    host = service.url.removesuffix("/c/")
    release(book, host + other)
    verdict = check("own-time", 2.5)
    assert verdict.kind == "recorded"
    assert "`gpubook token`" in verdict.say
    assert service.got == []
    check_service.keep_token(book / "chapters" / "01-t", "gpubook-other")
    for url, token in ((host + other, "gpubook-other"), (service.url, "gpubook-mine")):
        release(book, url)
        assert check_service._known(url) == (url, token)
    assert check("own-time", 2.5).kind == "right"


def test_a_token_that_was_kept_for_a_whole_host_is_asked_for_again(service, book):
    path, host = book / "config" / "gpubook" / "tokens.json", service.url.removesuffix("/c/")
    path.write_text(json.dumps({host: "gpubook-old", "https://elsewhere:443": "gpubook-older"}))
    for url in (service.url, host, f"{host}/"):
        release(book, url)
        verdict = check("own-time", 2.5)
        assert verdict.kind == "recorded"
        assert "`gpubook token`" in verdict.say
        assert "earlier version" in verdict.say
    assert service.got == []
    release(book, service.url)
    check_service.keep_token(book / "chapters" / "01-t", "gpubook-mine")
    assert check("own-time", 2.5).kind == "right"
    assert json.loads(path.read_text()) == {service.url: "gpubook-mine", "https://elsewhere:443": "gpubook-older"}


@pytest.mark.parametrize(
    "url", ["http://example.org/c/", "ftp://127.0.0.1/", "//127.0.0.1/", "https:///c/", "x", "http://[/"]
)
def test_an_address_that_all_can_read_gets_no_token(service, book, url):
    release(book, url)
    with pytest.raises((Unavailable, ValueError)):
        check_service.keep_token(book / "chapters" / "01-t", "gpubook-mine")
    assert check("own-time", 2.5).kind == "recorded"


def test_a_hubs_token_goes_to_a_service_of_that_hub(service, book, monkeypatch):
    hub = service.url.removesuffix("/c/")
    (book / "config" / "gpubook" / "tokens.json").unlink()
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "of-the-hub")
    monkeypatch.setenv("JUPYTERHUB_BASE_URL", "/")
    for url in ("/services/c/", f"{hub}/services/c/"):
        release(book, url)
        assert check("own-time", 2.5).kind == "recorded"  # the hub's address is not known
        monkeypatch.setenv(check_service.HUB, hub)
        assert check("own-time", 2.5).kind == "right"
        monkeypatch.delenv(check_service.HUB)
    assert [one[:2] for one in service.got] == [("/services/c/check", "token of-the-hub")] * 2


PATHS = [
    "/user/eve/proxy/services/c/",
    "/services/../user/eve/",
    "/services/%2e%2e/user/eve/",
    "/services/c/../../x/",
    "/c/",
    "@evil/services/c/",
    "//evil/services/c/",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_hubs_token_goes_to_nobodys_server(service, book, monkeypatch, path):
    hub = service.url.removesuffix("/c/")
    (book / "config" / "gpubook" / "tokens.json").unlink()
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "of-the-hub")
    monkeypatch.setenv(check_service.HUB, hub)
    for url in (path, f"{hub}{path}"):
        release(book, url)
        assert check("own-time", 2.5).kind == "recorded"
    assert service.got == []


@pytest.mark.parametrize("token", ["", "two words", "\x1b[31m", "ü"])
def test_what_is_not_a_token_is_not_kept(service, book, token):
    with pytest.raises(ValueError, match="token"):
        check_service.keep_token(book / "chapters" / "01-t", token)


def test_a_token_is_readable_by_its_learner_alone(service, book):
    path = book / "config" / "gpubook" / "tokens.json"
    assert path.stat().st_mode & 0o777 == 0o600
