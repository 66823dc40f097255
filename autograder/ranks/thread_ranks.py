"""The ranks of a declaration's own torch.distributed function: threads of this process, which trusts it.

They run as a learner's ranks do (see `process_rank`), one at a time, and the same network carries and counts their
messages; the state that torch keeps of a process is one for each thread meanwhile.
"""

from __future__ import annotations

import gc
import warnings
from contextlib import ExitStack
from functools import cache
from queue import Empty
from typing import Any, Self

from .arguments import copied
from .process_rank import ProcessRank, RanksEnded

LONGEST = 60.0  # seconds that a rank may compute until it asks for something
SECONDS = 5.0  # until a rank that is told to end has ended


@cache
def _was_frozen() -> bool:
    """Whether this process keeps something from garbage collection by itself, as a judge does; counting takes long."""
    return gc.get_freeze_count() > 0


class ThreadRank(ProcessRank):
    """One of them."""

    alone = False

    def reply(self) -> tuple:
        """What the rank says next, or that it says nothing: an author's function may hang."""
        try:
            return self.asked.get(timeout=LONGEST)
        except Empty:
            return "failed", "limit", f"{LONGEST:g} s"

    def _play(self, *request: Any, **options: Any) -> None:
        from hwlib.virtual.threads import autograd_in_this_thread

        with autograd_in_this_thread():
            super()._play(*request, **options)


class ThreadRanks:
    """The `call` for `function(rank, n, x)` in one run, and a context manager, which ends the ranks."""

    def __init__(self, function: Any):
        self.function = function
        self.ranks: dict[int, ThreadRank] = {}
        self.run = ExitStack()

    def __enter__(self) -> Self:
        from hwlib.virtual.threads import torch_in_threads

        self.run.enter_context(torch_in_threads())
        self.run.enter_context(warnings.catch_warnings(action="ignore"))  # a learner is not told of the judge's
        if not _was_frozen():
            self.run.callback(gc.unfreeze)
        gc.freeze()  # for the meter, which collects garbage
        return self

    def __call__(self, request: tuple) -> Any:
        """The reply to ("start", rank, ...) or ("send", rank, ...)."""
        what, rank, *rest = request
        if what == "start":
            self.ranks[rank] = ThreadRank(self.function)
            rest[1] = copied(rest[1])
        return self.ranks[rank](what, rank, *rest)

    def __exit__(self, *_: object) -> None:
        for rank in self.ranks.values():
            rank.replies.put(RanksEnded)
            if rank.thread is not None:
                rank.thread.join(SECONDS)
        self.run.close()
