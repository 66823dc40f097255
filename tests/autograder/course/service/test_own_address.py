"""The service asks itself where notebooks ask, and says what stands in the way."""

import asyncio
import threading
from types import SimpleNamespace

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler

from autograder.course.service import server as servers
from autograder.course.service.own_address import Probe
from autograder.course.service.server import Door, server
from tests.loops import awaited

HUB = ("GPUBOOK_HUB_URL", "JUPYTERHUB_PUBLIC_HUB_URL")


class Proxy(RequestHandler):
    """Passes questions on to a service, as its `mode` says."""

    def initialize(self, port, mode):
        self.port, self.mode = port, mode

    async def post(self):
        path = self.request.path.removeprefix("/check") if "strip" in self.mode else self.request.path
        headers = {} if "bare" in self.mode else {"Authorization": self.request.headers["Authorization"]}
        request = HTTPRequest(f"http://127.0.0.1:{self.port}{path}", "POST", headers, self.request.body)
        reply = await AsyncHTTPClient().fetch(request, raise_error=False)
        self.set_status(reply.code)
        self.finish(reply.body)


class Page(RequestHandler):
    """Another program, which answers everything with a page."""

    def post(self):
        self.finish("<html>Welcome</html>")


def listen(made):
    made.listen(0, address="127.0.0.1")
    return next(iter(made._sockets.values())).getsockname()[1]


@pytest.fixture(scope="module")
def behind():
    """The probe of a service without a judge, and the ports of what stands before it, by mode."""
    loop, ready, ports, door = asyncio.new_event_loop(), threading.Event(), {}, Door()

    async def serve():
        made = [server(door, [], "/", "/check/")]
        ports["itself"] = listen(made[0])
        for mode in ("whole", "strip", "bare"):
            made.append(HTTPServer(Application([(".*", Proxy, {"port": ports["itself"], "mode": mode})])))
            ports[mode] = listen(made[-1])
        made.append(HTTPServer(Application([(".*", Page)])))
        ports["page"] = listen(made[-1])
        ready.set()
        await ended.wait()
        for each in made:
            each.stop()
            await each.close_all_connections()

    ended = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(30)
    yield door.probe, ports
    loop.call_soon_threadsafe(ended.set)
    thread.join(30)
    loop.close()


@pytest.mark.parametrize("mode", ["itself", "whole", "strip"])
def test_it_is_reached_itself_and_through_a_proxy_that_passes_the_path_on_or_strips_it(behind, mode):
    probe, ports = behind
    assert probe.fault(f"http://127.0.0.1:{ports[mode]}/check/", "here") == ""


@pytest.mark.parametrize(
    ("mode", "path", "words"),
    [
        ("bare", "/check/", "status 503"),  # no judge yet: who asks is not looked at
        ("page", "/check/", "a page"),
        ("itself", "/elsewhere/", "status 404"),
    ],
)
def test_what_answers_there_and_is_not_it_is_told(behind, mode, path, words):
    probe, ports = behind
    address = f"http://127.0.0.1:{ports[mode]}{path}"
    fault = probe.fault(address, "http://127.0.0.1:8765")
    assert words in fault
    assert address in fault
    assert "http://127.0.0.1:8765" in fault


def test_where_nothing_listens_the_reason_is_told(behind):
    probe, _ = behind
    assert "refused" in probe.fault("http://127.0.0.1:1/check/", "here")


def test_another_service_does_not_know_the_token(behind, monkeypatch):
    _, ports = behind
    answers = (401, 0.0, {"say": "Your token is not known, or holds no longer."})
    monkeypatch.setattr("autograder.learner.check_service.sent", lambda *_: answers)
    assert "`Authorization`" in Probe().fault(f"http://127.0.0.1:{ports['itself']}/check/", "here")


def test_a_services_path_on_a_hub_is_asked_at_the_hubs_own_address(behind, monkeypatch):
    probe, ports = behind
    for name in HUB:
        monkeypatch.delenv(name, raising=False)
    assert "GPUBOOK_HUB_URL" in probe.fault("/check/", "here")
    for name in HUB:
        monkeypatch.setenv(name, f"http://127.0.0.1:{ports['itself']}/hub/")
        assert probe.fault("/check/", "here") == ""
        monkeypatch.delenv(name)


def test_only_its_own_token_is_known():
    probe = Probe()
    assert probe.knows(probe.token)
    assert not probe.knows(Probe().token)
    assert not probe.knows("")
    assert not probe.knows("\udc80")


def test_a_fault_is_told_once_and_again_when_it_is_another_or_none(monkeypatch):
    left = ["away", "away", "page", ""]
    probe = SimpleNamespace(fault=lambda address, here: left.pop(0))
    monkeypatch.setattr(servers, "ASKED_AGAIN", 0.0)
    said = []
    awaited(servers._until_reached, probe, "a", "b", "away", said.append)
    assert said == ["page", ""]
