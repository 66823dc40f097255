"""A question on its way through the server, without a socket: who is known, what is read, what is told."""

import asyncio
import json
import os
import signal
from concurrent.futures import Future
from types import SimpleNamespace

import pytest
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from autograder.course.service import server as module
from autograder.course.service.limits import Later, OneAtATime, Rate
from autograder.course.service.requests import MAX_BODY, BadRequest
from autograder.course.service.server import CONNECTIONS, HEADERS, Check, Door, Home, LimitedServer, Nothing, OwnTokens
from tests.loops import awaited_here

BODY = json.dumps({"assignment": "hw", "exercise": "e", "value": 1.0}).encode()


class Wire:
    """A connection that keeps what is sent."""

    status, body = None, b""

    def set_close_callback(self, _):
        pass

    def write_headers(self, line, headers, chunk=b""):
        self.status, self.headers, self.body = line.code, headers, self.body + chunk
        done = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

    def finish(self):
        pass

    @property
    def reply(self):
        return self.status, json.loads(self.body)


class Tokens:
    """Knows these."""

    def __init__(self, **known):
        self.known = known

    async def learner(self, token):
        return self.known.get(token)


class FakeDesk:
    """Replies what it is made to."""

    def __init__(self, reply=None):
        self.reply = {"used": 1} if reply is None else reply
        self.rate, self.one = Rate(2, 10.0, clock=lambda: 0.0), OneAtATime()

    async def answer(self, learner, asked, gone):
        self.asked = (learner, asked, gone())
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


def made(desk=None, method="POST", path="/check", kind=Check, known=(), **headers):
    """A handler of a request, with its wire."""
    wire = Wire()
    headers["Host"] = "course"
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    request = HTTPServerRequest(
        start_line=RequestStartLine(method, path, "HTTP/1.1"), headers=HTTPHeaders(headers), connection=wire
    )
    known = known or [Tokens(a="ann"), Tokens(b="bob", a="another")]
    request._body_future = Future()
    about = {"door": Door(desk), "known": known, "homes": ("/", "/x/")} if kind is Check else {}
    application = module.application(Door(desk), known, "/")
    handler = kind(application, request, **about)
    handler._transforms = []  # as the application sets it
    return handler, wire


def prepared(desk=None, **about):
    handler, wire = made(desk, **about)

    async def run():
        await handler.prepare()

    awaited_here(run())
    return handler, wire


def asked(desk, body=BODY, close=()):
    """A whole question of ann."""
    handler, wire = made(desk, Authorization="token a")

    async def run():
        await handler.prepare()
        for chunk in (body[:5], body[5:]):
            handler.data_received(chunk)
        await handler.post()

    awaited_here(run())
    return handler, wire


def test_a_question_is_answered_and_its_turn_ends():
    desk = FakeDesk()
    handler, wire = asked(desk)
    assert wire.reply == (200, {"used": 1})
    learner, question, gone = desk.asked
    assert (learner, question.exercise, question.value, gone) == ("ann", "e", 1.0, False)
    assert handler.learner == ""
    desk.one.begin("ann")  # another answer may be judged
    assert wire.headers["Server"] == "gpubook"
    assert wire.headers["Cache-Control"] == "no-store"
    assert "Retry-After" not in wire.headers


@pytest.mark.parametrize(
    ("reply", "status", "say", "after"),
    [
        (BadRequest("a value was expected"), 400, "A value was expected.", None),
        (BadRequest(""), 400, ".", None),
        (Later(429, "Slow down", 7), 429, "Slow down.", "7"),
        (RuntimeError("secret"), 503, "The service has a fault", "60"),
    ],
)
def test_what_goes_wrong_is_told_in_a_sentence_and_the_turn_ends(reply, status, say, after):
    desk = FakeDesk(reply)
    _, wire = asked(desk)
    assert wire.status == status
    assert json.loads(wire.body)["say"].startswith(say)
    assert b"secret" not in wire.body
    assert wire.headers.get("Retry-After") == after
    desk.one.begin("ann")


def test_what_is_no_question_is_told():
    assert asked(FakeDesk(), b"{}")[1].status == 400


@pytest.mark.parametrize(
    ("authorization", "who"),
    [
        ("token a", "ann"),
        ("Bearer a", "ann"),
        ("bearer \t a ", "ann"),
        ("TOKEN b", "bob"),
        ("token c", None),
        ("a", None),
        ("token", None),
        ("token a b", None),
        ("Basic a", None),
        ("tokena", None),
        ("", None),
    ],
)
def test_a_learner_is_known_by_the_first_who_knows_the_token(authorization, who):
    handler, wire = prepared(FakeDesk(), Authorization=authorization)
    if who is None:
        assert wire.status == 401
        assert wire.headers["WWW-Authenticate"] == "token"
        assert not handler.learner
    else:
        assert (handler.learner, wire.status) == (who, None)


def test_without_a_header_nobody_is_known_and_nothing_is_kept():
    desk = FakeDesk()
    handler, wire = prepared(desk)
    assert wire.status == 401
    handler.data_received(b"x" * 100)
    assert handler.body == b""
    desk.rate.take("ann")  # it has cost nobody anything


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/", 200), ("GET", "/x/", 200), ("GET", "/check", 405), ("PUT", "/", 405), ("DELETE", "/check", 405)],
)
def test_a_get_is_answered_at_home_only(method, path, status):
    _, wire = prepared(FakeDesk(), method=method, path=path, Authorization="token a")
    assert wire.status == status
    assert (json.loads(wire.body) == module.HERE) == (status == 200)


def test_who_comes_before_the_desk_is_there_is_told_to_come_again():
    _, wire = prepared(None, Authorization="token a")
    assert (wire.status, wire.headers["Retry-After"]) == (503, "5")
    door = Door()
    with pytest.raises(Later):
        _ = door.desk
    door.open("desk")
    assert door.desk == "desk"


@pytest.mark.parametrize(
    ("length", "status"), [(MAX_BODY, None), (MAX_BODY + 1, 413), ("0", None), ("", None), ("many", 400)]
)
def test_no_more_than_a_body_is_read(length, status):
    desk = FakeDesk()
    handler, wire = prepared(desk, Authorization="token a", Content_Length=str(length))
    assert wire.status == status
    assert handler.learner == ("" if status else "ann")
    if status == 413:
        assert "256 KiB" in json.loads(wire.body)["say"]


def test_a_learner_has_one_question_at_a_time_and_no_more_than_the_rate():
    desk = FakeDesk()
    first, _ = prepared(desk, Authorization="token a")
    second, wire = prepared(desk, Authorization="token a")
    assert (first.learner, second.learner, wire.status, wire.headers["Retry-After"]) == ("ann", "", 429, "1")
    _, wire = prepared(desk, Authorization="token a")
    assert (wire.status, wire.headers["Retry-After"]) == (429, "10")
    assert prepared(desk, Authorization="token b")[0].learner == "bob"


def test_a_turn_ends_where_the_learner_has_hung_up():
    desk = FakeDesk()
    handler, _ = made(desk, Authorization="token a")
    handler.gone = True  # while it was asked who it is
    awaited_here(handler.prepare())
    assert handler.learner == ""
    handler, _ = prepared(desk, Authorization="token a")
    handler.on_connection_close()
    assert (handler.gone, handler.learner) == (True, "")
    desk.one.begin("ann")


def test_while_the_desk_is_at_it_the_turn_goes_on():
    handler, _ = prepared(FakeDesk(), Authorization="token a")
    handler.asking = True
    handler.on_connection_close()
    assert (handler.gone, handler.learner) == (True, "ann")


def test_home_and_all_other_paths():
    async def run(handler, act):
        getattr(handler, act)()

    handler, wire = made(kind=Home, method="GET", path="/")
    awaited_here(run(handler, "get"))
    assert wire.reply == (200, {"service": "gpubook check"})
    handler, wire = made(kind=Nothing, path="/x")
    awaited_here(run(handler, "prepare"))
    assert (wire.status, list(json.loads(wire.body))) == (404, ["say"])

    async def fails(handler):
        handler.set_status(500)
        handler.write_error(500)

    handler, wire = made(kind=Home, method="GET", path="/")
    awaited_here(fails(handler))
    assert wire.reply == (500, {"say": "500: not what this service answers"})


@pytest.mark.parametrize(("files", "most"), [(900, 300), (3003, 1000), (2999, 999), (9000, 1000), (-1, 1000)])
def test_the_servers_limits(monkeypatch, files, most):
    monkeypatch.setattr(module.resource, "getrlimit", lambda _: (files, files))
    server = module.server(Door(), [], "/", seconds=7.0)
    assert server.most == most
    params = server.conn_params
    assert (params.max_header_size, params.max_body_size) == (HEADERS, MAX_BODY) == (16384, 262144)
    assert (params.header_timeout, params.body_timeout) == (7.0, 7.0)
    assert server.max_buffer_size == MAX_BODY + HEADERS
    assert CONNECTIONS == 1000
    assert module.server(Door(), [], "/").conn_params.body_timeout == 20.0


class Link:
    """A stream that remembers whether it was closed."""

    closed = False

    def close(self):
        self.closed = True


def test_of_too_many_connections_the_one_that_is_silent_for_longest_is_closed(monkeypatch):
    handled = []
    monkeypatch.setattr(module.HTTPServer, "handle_stream", lambda _, stream, address: handled.append(stream))
    monkeypatch.setattr(module.HTTPServer, "start_request", lambda *_: None)
    monkeypatch.setattr(module.HTTPServer, "on_close", lambda *_: None)
    server = LimitedServer(lambda _: None, most=2)
    links = [Link() for _ in range(6)]
    for link in links[:2]:
        server.handle_stream(link, None)
    server.start_request(None, SimpleNamespace(stream=links[0]))  # it is silent anew
    server.handle_stream(links[2], None)
    assert [link.closed for link in links[:3]] == [False, True, False]
    server.on_close(SimpleNamespace(stream=links[1]))
    for link in (links[0], links[2]):
        server.silent.leave(link)
    server.handle_stream(links[3], None)
    assert [link.closed for link in links[:4]] == [False, True, False, True]
    server.on_close(SimpleNamespace(stream=links[0]))
    server.handle_stream(links[4], None)
    server.handle_stream(links[5], None)
    assert (links[4].closed, links[5].closed) == (True, False)
    assert handled == [*links[:3], *links[4:]]


def test_the_teachers_tokens_are_known(tmp_path):
    known = OwnTokens(tmp_path)
    token = known.tokens.issue(["ann"], days=1)["ann"]
    assert awaited_here(known.learner(token)) == "ann"
    assert awaited_here(known.learner(token + "x")) is None


@pytest.mark.parametrize("hub", [False, True])
def test_it_serves_until_it_is_told_to_end(tmp_path, monkeypatch, hub):
    steps, known = [], []

    class Ends:
        generations = SimpleNamespace(renew=lambda: steps.append("looked"))

        def __enter__(self):
            return self

        def __exit__(self, *_):
            steps.append("left")

        def close(self):
            steps.append("closed")

    new = module.server

    def noting(door, tokens, *paths):
        known.extend(tokens)
        return new(door, tokens, *paths)

    monkeypatch.setattr(module, "server", noting)
    monkeypatch.setattr(module, "HubTokens", lambda: "hub")
    monkeypatch.setattr(module, "RENEWED", 0.0)

    def ready(_):
        asyncio.get_running_loop().call_later(0.02, os.kill, os.getpid(), signal.SIGTERM)

    awaited_here(
        module.serve(
            tmp_path,
            Ends,
            host="127.0.0.1",
            port=0,
            paths=["/"],
            hub=hub,
            listening=lambda port: steps.append(port > 0),
            ready=ready,
        )
    )
    assert steps[0] is True
    assert "looked" in steps
    assert steps[-2:] == ["closed", "left"]
    assert [type(one) for one in known] == [OwnTokens, str][: 1 + hub]


def test_a_look_that_fails_is_told_and_followed_by_another(monkeypatch, caplog):
    looks = []

    def renew():
        looks.append(len(looks))
        if len(looks) == 1:
            raise OSError("in somebody's hands")

    async def run():
        task = asyncio.create_task(module._renewing(SimpleNamespace(renew=renew)))
        while len(looks) < 2:
            await asyncio.sleep(0.001)
        task.cancel()

    assert module.RENEWED == 5.0
    monkeypatch.setattr(module, "RENEWED", 0.0)
    awaited_here(run())
    assert "in somebody's hands" in caplog.text
