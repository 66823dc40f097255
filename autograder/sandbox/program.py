"""Start a program of this package as a process, give it one end of a socket, and end it with the block."""

import json
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

Begun = tuple[subprocess.Popen, socket.socket]
_begun: dict[str, Any] = {}  # by module: on their way, for the next SandboxedProgram of it


def _begin(module: str, environment: Mapping[str, str], arguments: Sequence[str]) -> Begun:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    packages = str(Path(__file__).resolve().parent.parent.parent)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", module, str(theirs.fileno()), *arguments],
            pass_fds=[theirs.fileno()],
            env={**environment, "PYTHONPATH": packages},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
    return process, ours


@contextmanager
def beginning(module: str, environment: Mapping[str, str]) -> Iterator[None]:
    """Start a program in the background of this block; the first `SandboxedProgram` of that module made in it uses it.
    An unused one ends with the block."""
    _begun[module] = _begin(module, environment, ())
    try:
        yield
    finally:
        left: Begun | None = _begun.pop(module, None)
        if left is not None:
            process, control = left
            process.kill()
            process.wait()
            control.close()


class SandboxedProgram:
    """A running `python -m MODULE FD ...`; `said` is the object that it sent once it was ready, None if it ended first.

    It gets `environment`, no input and nothing of the grader's but its end of the socket. A context manager.
    """

    def __init__(
        self, module: str, environment: Mapping[str, str], arguments: Sequence[str] = (), limit: float | None = None
    ):
        begun: Begun | None = _begun.pop(module, None)
        self._process, self._control = begun or _begin(module, environment, arguments)
        self._lock = threading.Lock()
        self._control.settimeout(limit)
        greeting = self._control.recv(1 << 16)
        self.said: dict[str, Any] | None = json.loads(greeting) if greeting else None

    def request(self, message: Mapping[str, Any], descriptors: Sequence[int]) -> None:
        """Send an object and open files. Thread-safe. Raises OSError if the program has ended."""
        with self._lock:
            socket.send_fds(self._control, [json.dumps(message).encode()], descriptors)

    @property
    def alive(self) -> bool:
        """Whether it still holds its end of the socket, and we ours."""
        if self._control.fileno() < 0:
            return False
        ends = select.poll()
        ends.register(self._control, 0)  # its hanging up is always reported
        return not ends.poll(0)

    def stop(self) -> None:
        """Kill it, whatever it is doing. Thread-safe; `close` must still be called."""
        self._process.kill()

    def close(self) -> None:
        """End it: it sees the socket close. What it has started ends by its own limits."""
        self._control.close()
        try:
            self._process.wait(5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
