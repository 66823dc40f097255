"""The paths at which the check service answers: that of the address which notebooks know, and what a proxy leaves of
it."""

import asyncio
import errno
import json
import threading
from contextlib import contextmanager
from http.client import HTTPConnection

import pytest

from autograder.course.service.server import Door, _bound, addresses, server


@contextmanager
def listening(*paths):
    """A service that has no judge yet, so that a question is told to come again; yields what asks it."""
    loop, ready, ports = asyncio.new_event_loop(), threading.Event(), []

    async def serve():
        made = server(Door(), [], *paths)
        made.listen(0, address="127.0.0.1")
        ports.append(next(iter(made._sockets.values())).getsockname()[1])
        ready.set()
        await ended.wait()
        made.stop()
        await made.close_all_connections()

    ended = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(30)

    def ask(path, method="POST"):
        connection = HTTPConnection("127.0.0.1", ports[0], timeout=30)
        try:
            connection.request(method, path, b"{}" if method == "POST" else None)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    try:
        yield ask
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(30)
        loop.close()


@pytest.mark.parametrize(("paths", "answering", "silent"), [
    (("/", "/check/"), ["/check", "/check/", "/check/check", "/check/check/"], ["/", "/x/check", "/check/check/check"]),
    (("/", "/gpu101/w%20/"), ["/check", "/w%20/check", "/gpu101/w%20/check"], ["/gpu101/check", "/W%20/check"]),
    (("/services/check/",), ["/services/check/check", "/check/check", "/check"], ["/services/check"]),
    (("/",), ["/check", "/check/"], ["/", "/check/check", "//check"]),
    (("a.b", "/"), ["/a.b/check", "/check"], ["/a-b/check", "/a.b"]),
], ids=str)  # fmt: skip
def test_it_answers_at_the_whole_path_and_at_what_is_left_of_it(paths, answering, silent):
    with listening(*paths) as ask:
        assert {path: ask(path)[0] for path in answering} == dict.fromkeys(answering, 503)
        assert {ask(path)[0] for path in silent} <= {400, 404, 405}
        for home in addresses(*paths):
            assert ask(home, "GET") == (200, {"service": "gpubook check"})
        assert ask(f"{addresses(*paths)[0]}check", "GET")[0] == 405
        assert ask("/nowhere/", "GET")[0] == 404


def test_addresses_are_each_named_once_the_whole_path_first():
    assert addresses("/a/b/", "b", "") == ("/a/b/", "/b/", "/")
    assert addresses("/") == ("/",)


def test_an_address_that_another_program_has_is_named_in_the_refusal(monkeypatch):
    def taken(*_, **__):
        raise OSError(errno.EADDRINUSE, "Address already in use")

    for free in _bound("127.0.0.1", 0):
        free.close()
    monkeypatch.setattr("autograder.course.service.server.bind_sockets", taken)
    with pytest.raises(OSError, match=r"127\.0\.0\.1:8765.*already in use.*--port"):
        _bound("127.0.0.1", 8765)
