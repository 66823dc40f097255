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


async def held_out(folder, requests):
    """What a learner is answered where others hold all connections open, and which of those are closed by then."""
    made = server.server(server.Door(Desk()), [server.OwnTokens(folder)], "/")
    made.most = len(requests)
    sockets = bind_sockets(0, "127.0.0.1")
    made.add_sockets(sockets)
    links = []
    for count, request in enumerate(requests, start=1):
        links.append(await asyncio.open_connection(*sockets[0].getsockname()))
        links[-1][1].write(request)
        while made.open < count:
            await asyncio.sleep(0)
    for _ in range(5):  # until what was sent has been read
        await asyncio.sleep(0.01)
    reader, writer = await asyncio.open_connection(*sockets[0].getsockname())
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    answer = await reader.read(12)
    closed = [await closes(reader) for reader, _ in links]
    for _, link in (*links, (reader, writer)):
        link.close()
    made.stop()
    await made.close_all_connections()
    return answer, closed


async def closes(reader):
    """Whether a connection ends without an answer."""
    try:
        return await asyncio.wait_for(reader.read(1), 0.02) == b""
    except TimeoutError:
        return False


class Desk:
    """A desk that lets nobody wait, and is never asked."""

    class rate:
        take = staticmethod(lambda learner: None)

    class one:
        begin = end = staticmethod(lambda learner: None)


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


def test_who_has_no_token_keeps_nobody_out(tmp_path):
    token = CourseTokens(tmp_path).issue(["ann"], days=1)["ann"]
    learners, nobodys = REQUEST.format(token, 9).encode(), REQUEST.format("none", 9).encode()[:-2]
    assert awaited(held_out, tmp_path, [b"", b"POST /che", nobodys]) == (b"HTTP/1.1 200", [True, False, False])
    assert awaited(held_out, tmp_path, [learners, b"", b""]) == (b"HTTP/1.1 200", [False, True, False])
    assert awaited(held_out, tmp_path, [learners, learners]) == (b"", [False, False])


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
