"""A process that others are forked from, made cheap to fork: what a fork copies is the list of its pages."""

import ctypes
import gc
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

HUGE = 2 << 20  # bytes of a huge page
PR_SET_PDEATHSIG = 1
MADV_COLLAPSE = 25  # Linux 6.1 and later


def settle() -> None:
    """Called once all is loaded: exempts it from garbage collection and moves its memory to huge pages, of
    which a fork copies one entry, not 512. Pages that a child writes to are copied for it as small pages, as usual."""
    gc.freeze()
    if sys.platform != "linux":
        return
    advise = ctypes.CDLL(None).madvise
    with suppress(OSError):
        for line in Path("/proc/self/maps").read_text().splitlines():
            where, rights, _, _, _, *name = line.split(maxsplit=5)
            if rights != "rw-p" or name not in ([], ["[heap]"]):
                continue
            first, last = (int(end, 16) for end in where.split("-"))
            first = -(-first // HUGE) * HUGE
            if last - first >= HUGE:  # ranges that cannot be moved stay as they are
                advise(ctypes.c_void_p(first), ctypes.c_size_t((last - first) // HUGE * HUGE), MADV_COLLAPSE)


def end_with(parent: int) -> None:
    """In a forked process: have it killed when its parent ends, for whatever reason."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)
