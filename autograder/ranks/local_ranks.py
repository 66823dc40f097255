"""A learner's own ranks on this machine: one process each, which has no network and communicates with `check` only.

Used by `check`, where the code is the learner's own. The processes come from a server that has imported torch
once, so that starting four of them takes a tenth of a second.
"""

from __future__ import annotations

import linecache
import multiprocessing
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from ..declaration.verdict import AnswerError

SERVER = "forkserver"
SECONDS = 30.0  # for one run of all ranks
# The names that most pages still use: right answers, which torch would remark on once for every rank.
RENAMED = r"`torch\.distributed\.(all_gather_into_tensor|reduce_scatter_tensor)` is deprecated"


class LocalProcesses:
    """The `call` of `Exercise.judge` for `function(rank, n, x)`: see `process_rank` for what it is asked.

    Every start of rank 0 begins a new run, which has `seconds`; the processes of the last one end then.
    """

    def __init__(self, function: Any, withholds: Sequence[str] = (), seconds: float = SECONDS):
        import cloudpickle

        self.context: Any = multiprocessing.get_context(SERVER)
        self.context.set_forkserver_preload(["autograder.ranks.process_rank", "torch.distributed"])
        code = getattr(function, "__code__", None)
        name = code.co_filename if code else ""
        self.shipped = cloudpickle.dumps((function, list(withholds), {name: linecache.getlines(name)}))
        self.seconds, self.deadline = seconds, 0.0
        self.ranks: dict[int, tuple[Any, Any]] = {}  # process and connection

    def __call__(self, request: tuple) -> Any:
        """The reply to ("prepare", ranks), ("start", rank, ...) or ("send", rank, ...)."""
        what, rank, *_ = request
        if what == "prepare":
            return None
        if what == "start":
            self._start(rank)
        process, connection = self.ranks[rank]
        connection.send(request)
        if not connection.poll(max(self.deadline - time.monotonic(), 0.0)):
            self.close()
            return "failed", "limit", f"{self.seconds:g} s"
        try:
            return connection.recv()
        except (EOFError, OSError):
            process.join(1.0)
            self.close()
            raise AnswerError(f"it ended its process (exit status {process.exitcode})") from None

    def _start(self, rank: int) -> None:
        if rank == 0:
            self.close()
            self.deadline = time.monotonic() + self.seconds
        ours, theirs = self.context.Pipe()
        process = self.context.Process(target=_serve, args=(theirs, self.shipped), daemon=True)
        with _without_main():
            process.start()
        theirs.close()
        self.ranks[rank] = process, ours

    def close(self) -> None:
        """End every process, whatever it is doing."""
        for process, connection in self.ranks.values():
            process.kill()
            process.join()
            connection.close()
        self.ranks = {}

    def __del__(self) -> None:
        self.close()


@contextmanager
def _without_main() -> Iterator[None]:
    """In this block a started process does not run the learner's script again: the function is sent by value."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _serve(connection: Any, shipped: bytes) -> None:
    """In the rank's process: answer requests until the connection closes."""
    import cloudpickle
    import torch

    from .process_rank import ProcessRank

    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", RENAMED, FutureWarning)
    function, withholds, lines = cloudpickle.loads(shipped)
    for name, text in lines.items():
        linecache.cache[name] = (sum(map(len, text)), None, text, name)
    rank = ProcessRank(function, withholds)
    try:
        while True:
            connection.send(rank(*connection.recv()))
    except (EOFError, OSError):
        return
