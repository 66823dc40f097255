"""A learner's own ranks on this machine: one process each, which has no network and talks to the check only.

Used by `check`, where the code is the learner's own. The processes come from a server that has imported torch
once, so that starting four of them takes a tenth of a second; they are gone when the block ends.
"""

from __future__ import annotations

import linecache
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .network import NetworkError

SERVER = "forkserver"


class LocalRank:
    """A party of `autograder.network.carry`: a process that runs the function as one rank."""

    def __init__(self, number: int, process: Any, connection: Any, deadline: float, limit: float):
        self.number, self.process, self.connection = number, process, connection
        self.deadline, self.limit = deadline, limit
        self.started = False

    def send(self, reply: Any) -> dict[str, Any]:
        """Its next request; StopIteration when it has returned, NetworkError when it cannot."""
        if self.started:
            self.connection.send(reply)
        self.started = True
        if not self.connection.poll(max(self.deadline - time.monotonic(), 0.0)):
            raise NetworkError(f"rank {self.number} did not go on within {self.limit:g} s")
        try:
            kind, what = self.connection.recv()
        except (EOFError, OSError):
            self.process.join(1.0)
            raise NetworkError(f"rank {self.number} ended its process (exit status {self.process.exitcode})") from None
        if kind == "returned":
            raise StopIteration(what)
        if kind == "raised":
            raise NetworkError(f"rank {self.number}: {what}")
        return what

    def stop(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.connection.close()


@contextmanager
def local_ranks(function: Callable[..., Any], inputs: Sequence[Any], limit: float = 30.0) -> Iterator[list[LocalRank]]:
    """The ranks of `function(rank, n, x)`, with `inputs[rank]` for x. They have `limit` seconds in all."""
    import cloudpickle

    context: Any = multiprocessing.get_context(SERVER)
    context.set_forkserver_preload(["autograder.local_ranks", "torch.distributed"])
    code = getattr(function, "__code__", None)
    name = code.co_filename if code else ""
    shipped = cloudpickle.dumps((function, {name: linecache.getlines(name)}))
    ranks: list[LocalRank] = []
    deadline = time.monotonic() + limit
    try:
        for number, x in enumerate(inputs):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, shipped, number, len(inputs), x), daemon=True)
            process.start()
            theirs.close()
            ranks.append(LocalRank(number, process, ours, deadline, limit))
        yield ranks
    finally:
        for rank in ranks:
            rank.stop()


def _serve(connection: Any, shipped: bytes, rank: int, n: int, x: Any) -> None:
    """In the rank's process: run the function, and say how it ended."""
    import cloudpickle
    import torch

    from .process_group import run_rank
    from .programs import failure

    torch.set_num_threads(1)

    def talk(request: dict[str, Any]) -> Any:
        connection.send(("asks", request))
        return connection.recv()

    function, lines = cloudpickle.loads(shipped)
    for name, text in lines.items():
        linecache.cache[name] = (sum(map(len, text)), None, text, name)
    try:
        said = ("returned", run_rank(function, rank, n, x, talk))
    except Exception as error:
        said = ("raised", failure(error, function))
    try:
        connection.send(said)
    except Exception as error:
        connection.send(("raised", f"returned what cannot be handed over: {error}"))
