"""What the check service says where its own file of tokens is broken while it runs."""

import asyncio
import json
import logging
import os

import pytest
from tornado.netutil import bind_sockets

from autograder.course.service import server
from autograder.course.service.tokens import CourseTokens
from autograder.learner import check_service
from tests.loops import awaited

REQUEST = "POST /check HTTP/1.1\r\nHost: x\r\nAuthorization: token {}\r\nContent-Length: {}\r\n\r\n"


async def statuses(folder, requests):
    """What a service whose desk is still being made answers."""
    made = server.server(server.Door(Desk()), [server.OwnTokens(folder)], "/")
    sockets = bind_sockets(0, "127.0.0.1")
    made.add_sockets(sockets)
    answers = []
    for request in requests:
        reader, writer = await asyncio.open_connection(*sockets[0].getsockname())
        writer.write(request.encode())
        answers.append(int((await reader.read(100)).split()[1]))
        writer.close()
    made.stop()
    await made.close_all_connections()
    return answers


class Desk:
    """A desk that lets nobody wait, and is never asked."""

    class rate:
        take = staticmethod(lambda learner: None)


BREAKAGES = {
    "noise": lambda path: path.write_bytes(b"\x89\xfe"),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
}


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_a_broken_file_of_tokens_is_the_services_fault(tmp_path, breakage, caplog):
    token = CourseTokens(tmp_path).issue(["ann"], days=1)["ann"]
    BREAKAGES[breakage](tmp_path / ".gpubook" / "tokens.json")
    with caplog.at_level(logging.ERROR):
        assert awaited(statuses, tmp_path, [REQUEST.format(token, 2) + "{}"]) == [503]
    assert "tokens.json" in caplog.text


def test_a_length_that_is_none_is_the_askers(tmp_path):
    token = CourseTokens(tmp_path).issue(["ann"], days=1)["ann"]
    lengths = ("x", "²", str(server.MAX_BODY + 1))
    assert awaited(statuses, tmp_path, [REQUEST.format(token, length) for length in lengths]) == [400, 400, 413]


@pytest.mark.parametrize(
    "address", ["https://good.org@evil.org/", "https://good.org:x@evil.org/", "https://@evil.org/"]
)
def test_no_token_is_kept_for_a_host_that_is_read_as_another(tmp_path, monkeypatch, address):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for url in (address, "https://good.org/"):
        about = {"assignment": {"name": "a", "service": {"url": url, "attempts": {}}}, "exercises": {}}
        (tmp_path / "exercises.json").write_text(json.dumps(about))
        if url == address:
            with pytest.raises(check_service.Unavailable):
                check_service.keep_token(tmp_path, "mine")
    assert check_service.keep_token(tmp_path, "mine") == "https://good.org/"
