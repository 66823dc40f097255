"""The client of the server: starts it once, and has it fork ranks and end them."""

import atexit
import json
import os
import pickle
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hwlib.labs.ranks.failures import RankError

PACKAGES = str(Path(__file__).resolve().parent.parent.parent.parent)
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
START_LIMIT = 120.0  # seconds to import torch, on a machine that has other things to do
END_LIMIT = 10.0
_running: list["Launcher"] = []


def launcher() -> "Launcher":
    """The server of this process, started at the first call."""
    if not _running or not _running[0].alive():
        _running[:] = [Launcher()]
        atexit.register(_running[0].close)
    return _running[0]


@dataclass
class Started:
    """Running ranks: by rank its process, its socket and its output; and the folder where they write their
    positions."""

    launcher: "Launcher"
    pids: Sequence[int]
    links: Sequence[socket.socket]
    outputs: Sequence[int]
    folder: Path


class Launcher:
    """A running server. In a process of one thread that has torch it is a fork of that, else a program."""

    def __init__(self) -> None:
        self.owner, self.lock, self.unread = os.getpid(), threading.Lock(), b""
        self.control, theirs = socket.socketpair()
        self.said = tempfile.TemporaryFile()  # noqa: SIM115  what the program says before it can serve
        self.process: subprocess.Popen | None = None
        if "torch" in sys.modules and _threads() == 1:
            self._fork(theirs)
        else:
            self.process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", "hwlib.labs.ranks.server", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self.said,
                start_new_session=True,
            )
        theirs.close()
        try:
            self.hear(time.monotonic() + START_LIMIT)
        except (OSError, TimeoutError):
            self.said.seek(0)
            reason = self.said.read()[-600:].decode(errors="replace").strip()
            raise RankError(f"no rank can be started: {reason or 'the program that forks them has ended'}") from None

    def _fork(self, theirs: socket.socket) -> None:
        if os.fork():
            return
        try:
            self.control.close()
            from hwlib.labs.ranks import server

            server.alone(theirs)
        finally:
            os._exit(70)

    def alive(self) -> bool:
        """Whether it belongs to this process and is still running."""
        if self.owner != os.getpid():
            return False
        try:
            return self.control.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def ask(self, what: dict[str, Any], fds: Sequence[int] = ()) -> None:
        """Send the server a request."""
        socket.send_fds(self.control, [json.dumps(what).encode() + b"\n"], list(fds))

    def hear(self, deadline: float) -> dict[str, Any]:
        """The server's next message; TimeoutError after the deadline, OSError if the server is gone."""
        while b"\n" not in self.unread:
            look = select.poll()
            look.register(self.control, select.POLLIN)
            if not look.poll(1000 * max(0.0, deadline - time.monotonic())):
                raise TimeoutError
            part = self.control.recv(1 << 16)
            if not part:
                raise OSError("the server is gone")
            self.unread += part
        line, _, self.unread = self.unread.partition(b"\n")
        return json.loads(line)

    @contextmanager
    def start(
        self, n: int, about: dict[str, Any], shipped: Any, plays: str = "play", imports: Sequence[str] = ()
    ) -> Iterator[Started]:
        """n ranks, which are gone after the block, whatever happens in it; one run at a time.

        `plays` names a function of `hwlib.labs.ranks.process`: "play" joins a group, runs what is shipped and sends
        back its result; "converse" hands what is shipped the rank's socket. `imports` are modules that the server
        loads before it forks.
        """
        with self.lock, tempfile.TemporaryFile() as task:
            pickle.dump((about, pickle.PickleBuffer(shipped)), task, protocol=5)
            task.flush()
            pairs = [socket.socketpair() for _ in range(n)]
            pipes = [os.pipe() for _ in range(n)]
            theirs = [fd for pair, pipe in zip(pairs, pipes, strict=True) for fd in (pair[1].fileno(), pipe[1])]
            folder = ""
            try:
                try:
                    self.ask(
                        {"do": "start", "n": n, "plays": plays, "imports": list(imports)}, [task.fileno(), *theirs]
                    )
                    reply = self.hear(time.monotonic() + START_LIMIT)
                finally:
                    for pair, pipe in zip(pairs, pipes, strict=True):
                        pair[1].close()
                        os.close(pipe[1])
                folder = reply["folder"]
                if reply["failed"]:
                    raise RankError(reply["failed"])
                links, outputs = [pair[0] for pair in pairs], [pipe[0] for pipe in pipes]
                yield Started(self, reply["started"], links, outputs, Path(folder))
            finally:
                self._end()
                if folder:  # where the server was killed, it is still there
                    shutil.rmtree(folder, ignore_errors=True)
                for pair, pipe in zip(pairs, pipes, strict=True):
                    pair[0].close()
                    os.close(pipe[0])

    def _end(self) -> None:
        """Kill what still runs, and wait until the server has seen the end of each."""
        deadline = time.monotonic() + END_LIMIT
        done = False
        try:
            self.ask({"do": "end"})
            while not done:
                done = "idle" in self.hear(deadline)
        except (OSError, TimeoutError):
            pass
        finally:
            if not done:
                self.close()

    def close(self) -> None:
        """Close the connection: the server then ends its ranks and itself."""
        self.control.close()
        self.said.close()
        if self.process is not None:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(END_LIMIT)


def here() -> dict[str, Any]:
    """What a rank inherits from this process: its environment, module path and folder."""
    path = [os.path.abspath(entry or ".") for entry in sys.path]
    return {"environment": dict(os.environ), "path": path, "folder": os.getcwd()}


def _threads() -> int:
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 0


def _environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, [PACKAGES, os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, **ONE_THREAD, "PYTHONPATH": path}
