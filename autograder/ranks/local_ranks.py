"""A learner's own ranks on this machine: one process each, which has no network and communicates with `check` only.

Used by `check`, where the code is the learner's own. The processes come from the server that `run_ranks` has its
ranks from: it has imported torch once, so that starting four of them takes some tens of milliseconds.
"""

from __future__ import annotations

import importlib.util
import linecache
import os
import select
import socket
import sys
import time
import types
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

from ..declaration.isolation import names
from ..declaration.verdict import AnswerError

START = 60.0  # seconds until all ranks are ready, which import what the learner's function needs
SECONDS = 4.0  # from one message of a rank to its next: far more than it takes, and an endless loop is told soon
RUN = 8  # times as many, for a run of all ranks
READY = "ready"
PRINTED = 20_000  # bytes that are shown of what a rank prints in a run
IMPORTS = (__name__, "autograder.ranks.process_rank", "hwlib.torch_groups._torch")
# What torch.autograd.grad, backward from a gradient, and torch.func import at their first call, a second or two in each
# rank anew.
IMPORTS_OF_AUTOGRAD = ("torch.fx.experimental.symbolic_shapes",)
IMPORTS_OF_TRANSFORMS = ("torch._dynamo",)
AUTOGRAD = {"backward", "grad"}
TRANSFORMS = {"vjp", "jvp", "jacrev", "jacfwd", "hessian", "jacobian", "vmap", "linearize", "functional_call"}
SHOWN = (UserWarning, RuntimeWarning, FutureWarning)  # warnings of a learner's function; the server has none
# The names that most pages still use: right answers, which torch would remark on once for every rank.
RENAMED = r"`torch\.distributed\.(all_gather_into_tensor|reduce_scatter_tensor)` is deprecated"


def _require(*packages: str) -> None:
    """Raises AnswerError, not-installed, where one of them cannot be found; none is loaded."""
    for name in packages:
        try:
            spec = importlib.util.find_spec(name)
        except ImportError:
            spec = None
        if spec is None:
            raise AnswerError(f"{name} is not installed", "not-installed")


def imports_for(function: Any) -> tuple[str, ...]:
    """What is worth importing before the ranks of a function are forked, by the names that it and the functions beside
    it use."""
    used = _names_of(function)
    if TRANSFORMS & used:
        return IMPORTS + IMPORTS_OF_TRANSFORMS
    return IMPORTS + (IMPORTS_OF_AUTOGRAD if AUTOGRAD & used else ())


def _names_of(function: Any) -> set[str]:
    waiting, looked_at, used = [function], list[Any](), set[str]()
    while waiting:
        current = waiting.pop()
        if not isinstance(current, types.FunctionType) or any(current is other for other in looked_at):
            continue
        looked_at.append(current)
        own = names(current.__code__)
        waiting += [current.__globals__[name] for name in own if name in current.__globals__]
        waiting.append(current.__dict__.get("__wrapped__"))
        used |= own
    return used


class LocalRanks:
    """The `call` of `Exercise.judge` for `function(rank, n, x)`: see `process_rank` for what it is asked.

    Every start of rank 0 begins a new run; the processes of the last one end then, or with `close`. A rank has
    `seconds` for each reply, and all together have `RUN` times as many, from when they are ready. What ranks print
    goes to stderr here, up to a limit.
    """

    def __init__(self, function: Any, withholds: Sequence[str] = (), seconds: float = SECONDS):
        self.run = ExitStack()
        code = getattr(function, "__code__", None)
        name = code.co_filename if code else ""
        self.given = function, list(withholds), {name: linecache.getlines(name)}
        self.shipped: Any = None
        self.seconds, self.deadline = seconds, 0.0
        self.ranks: list[Connection] = []
        self.started: Any = None
        self.printed: dict[int, int] = {}  # by the descriptor of a rank's output

    def __call__(self, request: tuple) -> Any:
        """The reply to ("prepare", ranks), ("start", rank, ...) or ("send", rank, ...)."""
        what, rank, *rest = request
        if what == "prepare":
            _require("torch", "cloudpickle")
            return None
        if what == "start" and rank == 0:
            self._start(rest[0])
        with self._living(rank) as connection:
            connection.send(request)
            if self._heard(connection, min(time.monotonic() + self.seconds, self.deadline)):
                return connection.recv()
        self.close()
        return "failed", "limit", f"{self.seconds:g} s"

    def _start(self, n: int) -> None:
        from hwlib.labs.ranks import RankError
        from hwlib.labs.ranks.launch import here, launcher
        from hwlib.labs.ranks.process import packed

        self.close()
        if self.shipped is None:
            try:
                self.shipped = packed((_serve, self.given, {}))
            except TypeError as error:
                raise AnswerError(f"it, or something that it uses, {error}", "cannot-be-sent") from None
        starting = launcher().start(n, here(), self.shipped, "converse", imports_for(self.given[0]))
        try:
            self.started = self.run.enter_context(starting)
        except RankError as error:
            raise AnswerError(str(error)) from None
        self.ranks = [Connection(os.dup(link.fileno())) for link in self.started.links]
        self.printed = dict.fromkeys(self.started.outputs, 0)
        by = time.monotonic() + START
        for rank in range(n):
            with self._living(rank) as connection:
                ready = self._heard(connection, by) and connection.recv() == READY
            if not ready:
                self.close()
                raise AnswerError(f"it is not ready after {START:g} s", "not-ready")
        self.deadline = time.monotonic() + RUN * self.seconds

    @contextmanager
    def _living(self, rank: int) -> Iterator[Connection]:
        """The connection to a rank. Raises AnswerError where its process ends in the block."""
        try:
            yield self.ranks[rank]
        except (EOFError, OSError):
            code = self._exit_status(rank)
            self.close()
            raise AnswerError(f"it ended its process (exit status {code})", "process-ended") from None

    def _heard(self, connection: Connection, deadline: float) -> bool:
        """Whether a rank says anything before a deadline; what ranks print meanwhile is passed on."""
        looks = select.poll()
        for descriptor in (connection.fileno(), *self.printed):
            looks.register(descriptor, select.POLLIN)
        while (left := deadline - time.monotonic()) > 0:
            ready = [descriptor for descriptor, _ in looks.poll(1000 * left)]
            for descriptor in set(ready) & set(self.printed):
                text = os.read(descriptor, 1 << 16)
                if not text:
                    looks.unregister(descriptor)
                shown = text[: max(0, PRINTED - self.printed[descriptor])]
                self.printed[descriptor] += len(text)
                sys.stderr.write(shown.decode(errors="replace"))
            if connection.fileno() in ready:
                return True
        return False

    def _exit_status(self, rank: int) -> int | None:
        """How a rank's process ended, which the server tells."""
        with suppress(OSError, TimeoutError):
            while True:
                report = self.started.launcher.hear(time.monotonic() + 1.0)
                if report.get("ended") == rank:
                    return int(report["code"])
        return None

    def close(self) -> None:
        """End every process, whatever it does."""
        for connection in self.ranks:
            connection.close()
        self.ranks, self.printed = [], {}
        self.run.close()

    def __del__(self) -> None:
        self.close()


def _serve(link: socket.socket, function: Any, withholds: Sequence[str], lines: dict[str, list[str]]) -> None:
    """In the rank's process: say that it is ready, and answer until the check hangs up."""
    import torch.distributed  # noqa: F401  what its first message would otherwise wait for

    from .process_rank import ProcessRank

    connection = Connection(link.detach())
    for kind in SHOWN:
        warnings.simplefilter("default", kind)
    warnings.filterwarnings("ignore", RENAMED, FutureWarning)
    for name, text in lines.items():
        linecache.cache[name] = (sum(map(len, text)), None, text, name)
    rank = ProcessRank(function, withholds)
    with suppress(EOFError, OSError):
        connection.send(READY)
        while True:
            connection.send(rank(*connection.recv()))
