"""Rendezvous of the threads of a run: arrivals at collectives, and messages in flight.

Arriving does not block: as on a GPU, a rank waits when it uses a result. The last to arrive does the work of all.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from hwlib.virtual.clock import VirtualClock
from hwlib.virtual.exchange import Ranks


class RunEnded(BaseException):  # no Exception, so that programs do not catch it
    """The run has ended because another rank failed."""


class PendingOperation:
    """A pending operation: done at `end`, in seconds of the virtual clock."""

    def __init__(self) -> None:
        self.done, self.end = threading.Event(), 0.0
        self.came: dict[int, tuple[VirtualClock, float, tuple[Any, Any]]] = {}
        self.data: Any = None


class Rendezvous:
    """The shared state of the threads of one run, and the clocks of their ranks."""

    def __init__(self, timeout: float, clocks: Sequence[VirtualClock]):
        self.clocks, self.ready = clocks, threading.Barrier(len(clocks), self._restart)
        self.deadline, self.lock, self.over = monotonic() + 0.9 * timeout, threading.Lock(), False
        self.open: dict[Any, PendingOperation] = {}
        self.free: dict[str, float] = defaultdict(float)  # when a group has ended all it was asked for

    def join(
        self,
        key: tuple[str, int],
        rank: int,
        ranks: Sequence[int],
        clock: VirtualClock,
        data: tuple[Any, Any],
        work: Callable[[Ranks], None],
        name: str,
        S: float,
        time: Callable[[], float],
    ) -> PendingOperation:
        """A rank arrives at a collective of its group with its outputs and inputs; `time` gives its duration."""
        mine = clock, clock.at[clock.current], data
        pending, last = self._at(key, lambda there: there.came.update({rank: mine}), len(ranks))
        if last:
            work([pending.came[r][2] for r in range(len(ranks))])
            group = key[0]
            start = max(self.free[group], *(ready for _, ready, _ in pending.came.values()))
            self.free[group] = pending.end = start + time()
            for recorder, _, _ in pending.came.values():
                recorder.call(name, pending.end - start, S, group, ranks, start)
            pending.came.clear()
            pending.done.set()
        return pending

    def message(self, key: Any, end: float | None = None, data: Any = None) -> PendingOperation:
        """The message of a key: the sender sets its data and arrival time; the receiver may ask first."""

        def sent(pending: PendingOperation) -> None:
            if end is not None:
                pending.end, pending.data = end, data
                pending.done.set()
            pending.came[end is None] = (VirtualClock(), 0.0, (None, None))

        return self._at(key, sent, 2)[0]

    def _at(self, key: Any, come: Callable[[PendingOperation], None], n: int) -> tuple[PendingOperation, bool]:
        with self.lock:
            if self.over:
                raise RunEnded
            pending = self.open.setdefault(key, PendingOperation())
            come(pending)
            last = len(pending.came) == n
            if last:
                del self.open[key]
        return pending, last

    def wait(self, pending: PendingOperation, what: str) -> None:
        """Until it is done. Raises TimeoutError shortly before the run ends anyway."""
        if not pending.done.is_set() and not pending.done.wait(max(self.deadline - monotonic(), 0.0)):
            raise TimeoutError(f"it waits for {what}")
        if self.over:
            raise RunEnded

    def restart(self) -> None:
        """When all have arrived, all clocks restart."""
        try:
            self.ready.wait(max(self.deadline - monotonic(), 0.0))
        except threading.BrokenBarrierError:
            if self.over:
                raise RunEnded from None
            raise TimeoutError("it waits for others to begin the step") from None

    def _restart(self) -> None:
        self.free.clear()
        for clock in self.clocks:
            clock.restart()

    def end(self) -> None:
        """Release every waiting thread."""
        with self.lock:
            self.over = True
            for pending in self.open.values():
                pending.done.set()
        self.ready.abort()
