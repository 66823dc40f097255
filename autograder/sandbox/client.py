"""The supervisor's side: start the zygote, have it fork a process per submission, talk to that process, end
it."""

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from ..values.finding import Explained
from . import confine, usage, wire
from .limits import Limits
from .program import SandboxedProgram, beginning

PASSED_ON = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TZ",
    "LD_LIBRARY_PATH",
    "VIRTUAL_ENV",
    "XDG_CACHE_HOME",
    "MPLCONFIGDIR",
    "GPUBOOK_PRELOAD",
)
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
}

IDLE = 0.01  # of its limit: what a cell that only waits may use of the processor in nearly half of it
WAITED = ": nothing in it computed, all its processes waited, as ranks do of which each waits for another"


class NoSandbox(OSError):
    """This system cannot sandbox a learner's code, and grading without a sandbox was not requested."""


class ZygoteGone(NoSandbox):
    """The zygote has ended or no longer answers: another one may work."""


class ChildLost(Explained):
    """The process that ran the submission has ended; the message says how. Reasons: time-limit, out-of-time (of
    the whole submission), forged-reply, sent-too-much; or process-ended."""

    reason = "process-ended"


class Child:
    """A confined process with one submission's namespace in it."""

    def __init__(
        self,
        channel: socket.socket,
        status: socket.socket,
        handle: int,
        limits: Limits,
        slot: int,
        zygote: "Zygote",
        folder: str | None,
        allowance: wire.Allowance | None = None,
    ):
        self.limits, self.alive = limits, True
        self._allowance = wire.Allowance(limits.sent, limits.sent_values, allowance)
        self._channel, self._status, self._handle = channel, status, handle
        self._slot, self._zygote, self._folder = slot, zygote, folder
        self._number = 0
        zygote._children.add(self)
        self.waited = False  # whether what was asked last used no processor time, and was only waiting

    def run(self, source: str) -> dict[str, Any]:
        """Run a cell: `outputs`, `error` (the exception's name or None), `message`, `expired`."""
        return self._ask({"op": "run", "source": source, "limit": self.limits.cell})

    def answer(self, key: str, name: str, reset: bool) -> dict[str, Any]:
        """The variable `name` as plain data in `value`, or `problem` and `message`; then set it to `...` if
        `reset`."""
        return self._ask({"op": "answer", "key": key, "name": name, "reset": reset, "limit": self.limits.cell})

    def rank(self, key: str, name: str, withholds: Sequence[str], plays: str) -> dict[str, Any]:
        """From now on `call` of `key` speaks to a rank of what the variable `name` holds: a "generator" (see
        `generators.Rank`) or a function for "torch.distributed" (`process_rank.ProcessRank`)."""
        request = {"op": "rank", "key": key, "name": name, "withholds": list(withholds), "plays": plays}
        return self._ask({**request, "limit": self.limits.cell})

    def forget(self, name: str) -> dict[str, Any]:
        """Set the variable `name` to `...`, as after an answer was taken."""
        return self._ask({"op": "forget", "name": name, "limit": self.limits.cell})

    def call(
        self, key: str, arguments: Any, limit: float, withholds: Sequence[str] = (), plays: str = ""
    ) -> dict[str, Any]:
        """Call the function that was the answer to `key`; arguments and the returned `value` are plain
        data. It has to do without the modules that are withheld. `plays` is "kernel" where the value is what a kernel
        does (see `traced.Traced`)."""
        request = {"op": "call", "key": key, "arguments": arguments, "limit": limit, "plays": plays}
        return self._ask({**request, "withholds": list(withholds)})

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        try:
            wire.send(self._channel, {**request, "number": self._number})
            reply = self._reply(request["limit"])
        except TimeoutError:
            self.kill()
            say = f"it did not stop within {request['limit']:g} s{WAITED if self.waited else ''}"
            raise ChildLost(say, "time-limit") from None
        except wire.WireSpent as spent:
            self.kill()
            raise ChildLost(str(spent), "sent-too-much") from None
        except wire.WireError:
            reason = self._how_it_ended()
            self.kill()
            raise ChildLost(reason) from None
        if reply.get("number") != self._number:
            self.kill()
            raise ChildLost("it wrote on the grader's own channel", "forged-reply")
        return reply

    def _reply(self, limit: float) -> dict[str, Any]:
        """The reply to the last request; sets `waited`, whether nothing computed in the second half of its time."""
        began, used, self.waited = time.monotonic(), [], False
        ends = select.poll()
        ends.register(self._channel, select.POLLIN)
        for share in (0.5, 0.95):
            if ends.poll(1000 * max(0.0, began + share * limit - time.monotonic())):
                break
            used.append(usage.seconds(self._handle))
        if len(used) == 2 and used[0] is not None and used[1] is not None:
            self.waited = used[1] - used[0] < IDLE * limit
        return wire.receive(self._channel, began + limit + self.limits.grace, allowance=self._allowance)

    def _how_it_ended(self) -> str:
        self._status.settimeout(1.0)
        try:
            code = json.loads(self._status.recv(1000) or b"null")
        except (OSError, ValueError):
            code = None
        if type(code) is str:
            return code
        if type(code) is not int:
            return "it stopped answering"
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"signal {-code}"
            return f"its Python process was ended by {name}"
        return f"it ended its Python process (exit status {code})"

    def end(self) -> None:
        """End the process; a concurrent request raises ChildLost."""
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def kill(self) -> None:
        """End the process and, with it, all it started."""
        if not self.alive:
            return
        self.alive = False
        self._zygote._children.discard(self)
        self.end()
        os.close(self._handle)
        self._channel.close()
        self._status.close()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._zygote._free(self._slot)


ZYGOTE = "autograder.sandbox.zygote"


def _environment() -> dict[str, str]:
    return {**{name: os.environ[name] for name in PASSED_ON if name in os.environ}, **ONE_THREAD}


def zygote_ahead() -> AbstractContextManager[None]:
    """Start a zygote in the background of this block; the first `Zygote()` created in the block uses it."""
    return beginning(ZYGOTE, _environment()) if sys.platform == "linux" else contextlib.nullcontext()


class Zygote(SandboxedProgram):
    """A running zygote. Any thread may fork children from it; its end does not end them, but their own limits do."""

    def __init__(self, start_limit: float = 120.0):
        if sys.platform != "linux":
            raise NoSandbox("grading others' work needs Linux: only there can a learner's code be sandboxed")
        super().__init__(ZYGOTE, _environment(), limit=start_limit)
        if self.said is None:
            self.close()
            raise NoSandbox("the grader's worker ended before it was ready; its message is above")
        self.report, self._slots = self.said, list(range(1000))
        self._children: set[Child] = set()
        self._stopped = False

    def stop(self) -> None:
        """Kill it and all that was forked from it, at once. Thread-safe."""
        self._stopped = True
        super().stop()
        for child in list(self._children):
            child.end()

    @property
    def unconfined(self) -> str:
        """Why this system cannot confine a process; empty if it can."""
        return self.report["unconfined"]

    @property
    def unmeasured(self) -> str:
        """Why this system cannot limit the memory of a confined process; empty if it can."""
        return self.report["unmeasured"]

    def refuse_unless(self, unsafe: bool) -> None:
        """Raise NoSandbox if this system cannot sandbox code, unless running it unconfined was requested."""
        if (lacks := self.unconfined or self.unmeasured) and not unsafe:
            raise NoSandbox(
                f"this system cannot sandbox code ({lacks}); grading others' work "
                "needs Linux namespaces. To run it with your own rights nevertheless, pass --unsafe"
            )

    def spawn(
        self,
        limits: Limits,
        files: dict[str, str] | None = None,
        environment: dict[str, str] | None = None,
        seed: int = 0,
        unsafe: bool = False,
        alone: bool = False,
        withholds: Sequence[str] = (),
        allowance: wire.Allowance | None = None,
    ) -> Child:
        """A fresh child that sees `files` (path to text) in its working folder and nothing else of anybody's.

        `alone`: it is one of several of the same learner that must not know of each other. `withholds`: what of the
        library is not there to be used or read. `allowance`: what it may send together with others."""
        self.refuse_unless(unsafe)
        confined = not self.unconfined
        folder = None if confined else tempfile.mkdtemp(prefix="gpubook-")
        channel, theirs = socket.socketpair()
        status, status_theirs = socket.socketpair()
        with self._lock:
            slot = self._slots.pop(0)  # the one unused the longest: what ran in the last one may still be ending
        request = {
            "limits": limits.as_plain(),
            "slot": slot,
            "confined": confined,
            "folder": folder,
            "alone": alone,
            "withholds": list(withholds),
        }
        try:
            self.request(request, [theirs.fileno(), status_theirs.fileno()])
            theirs.close()
            status_theirs.close()
            status.settimeout(30.0)
            _, handles, _, _ = socket.recv_fds(status, 1, 1)
        except OSError as error:
            for end in (channel, theirs, status, status_theirs):
                end.close()
            self._free(slot)
            raise ZygoteGone(f"the grader's worker is gone: {error}") from None
        home = confine.WORK if confined else str(folder)
        child = Child(
            channel,
            status,
            handles[0] if handles else os.open(os.devnull, os.O_RDONLY),
            limits,
            slot,
            self,
            folder,
            allowance,
        )
        try:
            if self._stopped:
                raise wire.WireClosed("it was stopped")
            ready = wire.receive(channel, time.monotonic() + 30.0)
        except (TimeoutError, wire.WireError) as error:
            child.kill()
            raise ZygoteGone(f"a worker did not start: {error}") from None
        if "refused" in ready:
            child.kill()
            raise NoSandbox(f"a worker could not be sandboxed: {ready['refused']}")
        wire.send(
            channel,
            {
                "files": files or {},
                "seed": seed,
                "confined": confined,
                "environment": {
                    "HOME": home,
                    "TMPDIR": "/tmp" if confined else home,
                    "MPLCONFIGDIR": home,
                    "LANG": "C.UTF-8",
                    "PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
                    "USER": "learner",
                    "GLOO_SOCKET_IFNAME": "lo",
                    **ONE_THREAD,
                    **(environment or {}),
                },
            },
        )
        return child

    def _free(self, slot: int) -> None:
        with self._lock:
            self._slots.append(slot)
