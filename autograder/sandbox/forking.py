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
    """Called once all is loaded: nothing of it is looked at for garbage again, and its memory lies on huge pages, of
    which a fork copies one entry, not 512. What a child writes to is copied for it in small pages as ever."""
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
            if last - first >= HUGE:  # what of it cannot be, stays as it is
                advise(ctypes.c_void_p(first), ctypes.c_size_t((last - first) // HUGE * HUGE), MADV_COLLAPSE)


def end_with(parent: int) -> None:
    """In a forked process: it is killed when the process that forked it ends, however that happens."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)
