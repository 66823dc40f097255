"""The peak memory of a rank: the most bytes that the storages of its tensors hold at once, in the rank's process.

What the rank was given does not count, but what it grows by does. Everything else that an operation of torch makes or
reads counts for as long as it lives: temporaries, buffers that messages are received into, what autograd keeps for
the backward pass, results. Views share a storage, which counts once, at the size that it has at the moment.

The meter is a TorchDispatchMode, as is torch's own `torch.distributed._tools.mem_tracker`: it sees each operation, also
those of a backward pass and of hooks, holds a weak reference to each storage, and adds up after each operation those
that are alive. It counts what a rank says that it holds, not what its process does. A rank that hides numbers outside
of tensors is beyond it: in the bytes of a storage, in files, behind a mode of its own; and code in the rank's own
process can change the meter, or report what it likes. `numpy()`, `tolist()`, pickling, tensors that are not dense and
threads are refused where memory is counted, because that is how it would be done by mistake; and a rank must report at
least what the judge has sent it at once and what does not fit into the tensors that it was given (see
`autograder.answers.distributed`). Results, bytes and rounds are the judge's own, whatever a rank says.
"""

from __future__ import annotations

import linecache
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SMALL = 64  # numbers that may leave a tensor as a list
MAX_LINE = 100  # characters of a line that are told
_here = threading.local()


@contextmanager
def unmetered() -> Iterator[None]:
    """In this block nothing counts: it is the network's."""
    meter = getattr(_here, "meter", None)
    if meter is None:
        yield
        return
    meter.paused += 1
    try:
        yield
    finally:
        meter.paused -= 1


def paused() -> bool:
    """Whether this thread is in such a block, or measures nothing."""
    meter = getattr(_here, "meter", None)
    return meter is None or meter.paused > 0


class Metered:
    """What a run has held at its peak: `bytes`, and the `line` of the function that was running."""

    def __init__(self) -> None:
        self.bytes, self.line = 0, ""


def begins(meter: Any) -> None:
    """The meter of this thread from here on; None ends it."""
    _here.meter = meter


def file_of(function: Any) -> str:
    """The file of a function of Python's."""
    while hasattr(function, "func"):
        function = function.func
    code = getattr(function, "__code__", None)
    return code.co_filename if code else ""


def line_in(file: str) -> str:
    """The innermost line of a file that is running."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != file:
        frame = frame.f_back
    return linecache.getline(file, frame.f_lineno).strip()[:MAX_LINE] if frame is not None else ""


class Storages:
    """The storages that are alive, by weak references, beside those that were given."""

    def __init__(self, given: Any):
        self.given = {storage._cdata: (storage, storage.nbytes()) for storage in given}
        self.alive: dict[int, Any] = {}

    def see(self, storage: Any) -> None:
        """A storage that an operation has used."""
        known = self.alive.get(storage._cdata)
        if known is None or known() is None:
            self.alive[storage._cdata] = weakref.ref(storage)

    def bytes(self) -> int:
        """What they hold now."""
        total, at_start = 0, self.given
        for key, reference in list(self.alive.items()):  # after each operation, and few of them were given
            storage = reference()
            if storage is None:
                del self.alive[key]
            elif key in at_start:
                total += max(0, storage.nbytes() - at_start[key][1])
            else:
                total += storage.nbytes()
        return total
