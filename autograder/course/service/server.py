"""The service on the network: an HTTP server that reads no more than it must, from nobody whom it does not know.

`POST PATH/check`, and in an exam `POST PATH/exam`, with a token; `GET PATH/` says that the service is there;
`PATH/regrade` is a form for people. TLS is for the proxy in front, JupyterHub's or another, which may pass on the whole
path of the address that notebooks know, or take a part off its beginning.
"""

from __future__ import annotations

import asyncio
import logging
import re
import resource
import signal
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from socket import socket
from typing import Any, Protocol

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler, stream_request_body

from .desk import Desk
from .generations import Generations
from .hub import HubTokens
from .limits import Later
from .own_address import HERE as ITSELF
from .own_address import Probe
from .regrade_form import RegradeForm
from .requests import MAX_BODY, BadRequest, read
from .tokens import CourseTokens

log = logging.getLogger("gpubook.service")
SECONDS = 20.0  # for a request's headers, and for its body
HEADERS = 16 << 10  # bytes
DIGITS = 20  # of a length
CONNECTIONS = 1000
RENEWED = 5.0  # seconds between two looks at the course's files
ASKED_AGAIN = 30.0  # seconds between two questions at an address where the service is not reached
HERE = {"service": "gpubook check"}
TOKEN = re.compile(r"(?:token|bearer)[ \t]+(\S+)[ \t]*", re.IGNORECASE)


class Door:
    """The desk, once it is there: who comes before is told to come again."""

    def __init__(self, desk: Desk | None = None):
        self._desk = desk
        self.probe = Probe()

    @property
    def desk(self) -> Desk:
        if self._desk is None:
            raise Later(503, "The service is starting", 5)
        return self._desk

    def open(self, desk: Desk) -> None:
        self._desk = desk


class KnownTokens(Protocol):
    """What says whose a token is."""

    async def learner(self, token: str) -> str | None: ...


class OwnTokens:
    """The teacher's tokens as `KnownTokens`."""

    def __init__(self, folder: Path):
        self.tokens = CourseTokens(folder)

    async def learner(self, token: str) -> str | None:
        return self.tokens.learner(token)


class Quiet(RequestHandler):
    """A handler whose errors are a sentence in JSON, without a trace."""

    def set_default_headers(self) -> None:
        self.set_header("Server", "gpubook")
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")

    def tell(self, status: int, say: str, after: int = 0) -> None:
        """End the request with a sentence, and with when to ask again."""
        self.set_status(status)
        if after:
            self.set_header("Retry-After", str(after))
        self.finish({"say": say})

    def write_error(self, status_code: int, **_: Any) -> None:
        self.finish({"say": f"{status_code}: not what this service answers"})


class Home(Quiet):
    """Says that the service is there."""

    def get(self) -> None:
        self.finish(HERE)


class Nothing(Quiet):
    """All other paths."""

    def prepare(self) -> None:
        self.tell(404, "There is nothing here.")


@stream_request_body
class Check(Quiet):
    """A question. Who asks is known before any of its body is kept."""

    def initialize(self, door: Door, known: Sequence[KnownTokens], homes: Sequence[str], silent: Any = None) -> None:
        self.door, self.known, self.homes = door, known, homes
        self.silent = silent or SilentStreams()
        self.learner = ""  # whose turn it is, until the request ends
        self.asking = self.gone = False
        self.body = bytearray()

    async def prepare(self) -> None:
        if self._is_answered_unseen():
            return
        try:
            desk = self.door.desk
            learner = await self._who()
            if learner is None:
                self.set_header("WWW-Authenticate", "token")
                self.tell(401, "Your token is not known, or holds no longer.")
                return
            desk.rate.take(learner)
            if (length := self._length()) is None:
                self.tell(400, "A length was expected.")
                return
            if length > MAX_BODY:
                self.tell(413, f"At most {MAX_BODY >> 10} KiB are read.")
                return
            desk.one.begin(learner)
        except Later as later:
            self.tell(later.status, f"{later.say}.", later.seconds)
        except Exception:  # a file of tokens that is broken: nobody was known, so nothing is counted
            self._fault()
        else:
            self.learner = learner
            self.silent.leave(getattr(self.request.connection, "stream", None))
            if self.gone:
                self._end()

    def _length(self) -> int | None:
        """How long the body is to be; None where what stands there is no length."""
        text = self.request.headers.get("Content-Length") or "0"
        return int(text) if text.isascii() and text.isdecimal() and len(text) < DIGITS else None

    def _fault(self) -> None:
        log.exception("a question could not be answered")
        self.tell(503, "The service has a fault, which your teacher's log tells of.", 60)

    async def _who(self) -> str | None:
        match = TOKEN.fullmatch(self.request.headers.get("Authorization", ""))
        for known in self.known if match else ():
            if match and (learner := await known.learner(match[1])) is not None:
                return learner
        return None

    def _is_answered_unseen(self) -> bool:
        """Whether it was a question that nobody needs to be known for, which is answered now."""
        match = TOKEN.fullmatch(self.request.headers.get("Authorization", ""))
        if self.request.method == "GET" and self.request.path in self.homes:  # such as /check/, where / is one, too
            self.finish(HERE)
        elif self.request.method != "POST":
            self.tell(405, "A POST was expected.")
        elif match and self.door.probe.knows(match[1]):
            self.finish(ITSELF)
        else:
            return False
        return True

    def data_received(self, chunk: bytes) -> None:
        if self.learner:
            self.body += chunk  # at most MAX_BODY, by the server

    async def reply(self) -> dict[str, Any]:
        """The reply to a whole body."""
        return await self.door.desk.answer(self.learner, read(bytes(self.body)), lambda: self.gone)

    async def post(self) -> None:
        self.asking = True
        try:
            reply = await self.reply()
        except BadRequest as error:
            self.tell(400, f"{str(error)[:1].upper()}{str(error)[1:]}.")
        except Later as later:
            self.tell(later.status, f"{later.say}.", later.seconds)
        except Exception:  # a full disk, a database that is locked: nothing was told, so nothing is lost
            self._fault()
        else:
            self.finish(reply)
        finally:
            self._end()

    def on_connection_close(self) -> None:
        self.gone = True
        if not self.asking:  # or the desk is at it, and ends by itself
            self._end()
        super().on_connection_close()

    def _end(self) -> None:
        if self.learner:
            self.door.desk.one.end(self.learner)
            self.learner = ""


class ExamRequest(Check):
    """The opening of an exam, or a copy of the work in it."""

    async def reply(self) -> dict[str, Any]:
        return await self.door.desk.exams.answer(self.learner, bytes(self.body))


class SilentStreams:
    """The open connections on which nobody who is known asks, the one that has been silent for longest first."""

    def __init__(self) -> None:
        self._streams: OrderedDict[Any, None] = OrderedDict()

    def enter(self, stream: Any) -> None:
        """Nobody is known on it, or nobody any more."""
        self.leave(stream)
        self._streams[stream] = None

    def leave(self, stream: Any) -> None:
        """A learner asks on it, or it is closed."""
        self._streams.pop(stream, None)

    def close_oldest(self) -> bool:
        """Close the one that has been silent for longest; whether there is one."""
        if not self._streams:
            return False
        stream, _ = self._streams.popitem(last=False)
        stream.close()
        return True


class LimitedServer(HTTPServer):
    """An HTTP server with a limit on its open connections. Where there are as many, a silent one makes way: nobody
    without a token keeps the others out, however many connections are held open."""

    def initialize(
        self, *args: Any, silent: SilentStreams | None = None, most: int = CONNECTIONS, **options: Any
    ) -> None:
        super().initialize(*args, **options)
        self.silent, self.most, self.open = silent or SilentStreams(), most, 0

    def handle_stream(self, stream: Any, address: Any) -> None:
        if self.open >= self.most and not self.silent.close_oldest():
            stream.close()
            return
        self.open += 1
        self.silent.enter(stream)
        super().handle_stream(stream, address)

    def start_request(self, server_conn: object, request_conn: Any) -> Any:
        self.silent.enter(request_conn.stream)
        return super().start_request(server_conn, request_conn)

    def on_close(self, server_conn: Any) -> None:
        self.open -= 1
        self.silent.leave(server_conn.stream)
        super().on_close(server_conn)


def addresses(*paths: str) -> tuple[str, ...]:
    """These paths, and what is left of each where a proxy takes a part off its beginning; each once."""
    whole = [f"/{path.strip('/')}/" if path.strip("/") else "/" for path in paths]
    return tuple(dict.fromkeys(path[at:] for path in whole for at, sign in enumerate(path) if sign == "/"))


def application(
    door: Door, known: Sequence[KnownTokens], *paths: str, silent: SilentStreams | None = None
) -> Application:
    """The service below each of these paths, whatever part of them a proxy passes on."""
    homes = addresses(*paths)
    about = {"door": door, "known": known, "homes": homes, "silent": silent or SilentStreams()}
    handlers: list[Any] = [(f"{re.escape(home)}check/?", Check, about) for home in homes]
    handlers += [(f"{re.escape(home)}exam/?", ExamRequest, about) for home in homes]
    handlers += [(f"{re.escape(home)}regrade/?", RegradeForm, about) for home in homes]
    handlers += [(re.escape(home), Home) for home in homes]
    return Application(handlers, default_handler_class=Nothing, log_function=lambda _: None)


def server(door: Door, known: Sequence[KnownTokens], *paths: str, seconds: float = SECONDS) -> LimitedServer:
    """The service as a server that does not listen yet; `seconds` for a request's headers, and for its body."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    silent = SilentStreams()
    return LimitedServer(
        application(door, known, *paths, silent=silent),
        silent=silent,
        max_header_size=HEADERS,
        max_body_size=MAX_BODY,
        max_buffer_size=MAX_BODY + HEADERS,
        idle_connection_timeout=seconds,
        body_timeout=seconds,
        most=min(CONNECTIONS, files // 3) if files > 0 else CONNECTIONS,
    )


def _bound(host: str, port: int) -> list[socket]:
    """Sockets that listen there; OSError in a sentence where they cannot, as when another program does."""
    try:
        return bind_sockets(port, address=host)
    except OSError as error:
        raise OSError(
            f"cannot listen at {host}:{port}: {error.strerror or error}; another --port may be free"
        ) from None


async def serve(
    folder: Path,
    make: Callable[[], Desk],
    *,
    host: str,
    port: int,
    paths: Sequence[str],
    hub: bool,
    listening: Callable[[int], None],
    ready: Callable[[Desk], None],
    address: str = "",
    reached: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve until SIGTERM or SIGINT. The server listens at once, for a hub waits for it, and is `ready` when what
    `make` makes, which takes seconds, is there, and when it has asked itself at the `address` where notebooks do.

    `reached` gets what is wrong there, each time that this is another fault, and "" once nothing is.
    """
    known: list[KnownTokens] = [OwnTokens(folder)]
    if hub:
        known.append(HubTokens())
    door, ended = Door(), asyncio.Event()
    made, sockets = server(door, known, *paths), _bound(host, port)
    made.add_sockets(sockets)
    listening(sockets[0].getsockname()[1])
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    try:
        with await asyncio.to_thread(make) as desk:
            door.open(desk)
            here = f"http://{host}:{sockets[0].getsockname()[1]}"
            fault = await asyncio.to_thread(door.probe.fault, address, here) if address else ""
            reached(fault)
            ready(desk)
            tasks = [asyncio.create_task(_renewing(desk.generations))]
            if fault:
                tasks.append(asyncio.create_task(_until_reached(door.probe, address, here, fault, reached)))
            await ended.wait()
            for task in tasks:
                task.cancel()
            made.stop()
            await asyncio.to_thread(desk.close)
    finally:
        made.stop()
        await made.close_all_connections()


async def _renewing(generations: Generations) -> None:
    """Look at the course's files now and then."""
    while True:
        await asyncio.sleep(RENEWED)
        try:
            await asyncio.to_thread(generations.renew)
        except Exception as error:  # the files are in somebody's hands: the next look tells
            log.error("the course could not be looked at: %s", error)


async def _until_reached(probe: Probe, address: str, here: str, fault: str, reached: Callable[[str], None]) -> None:
    """Ask at the address now and then until it is right: a proxy may be started after the service."""
    while fault:
        await asyncio.sleep(ASKED_AGAIN)
        now = await asyncio.to_thread(probe.fault, address, here)
        if now != fault:
            reached(now)
        fault = now
