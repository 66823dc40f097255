"""The process that waits for a confined one: it reports how that ended, and meanwhile measures what no limit of one
process covers, the memory and the processor time of all confined processes together.

It is the parent of the confined process, with rights of its own and in the same root: its /proc shows their namespace.
"""

import json
import math
import os
import re
import resource
import select
import signal
import socket
from contextlib import suppress
from itertools import count
from pathlib import Path

from .limits import Limits

EVERY, OFTEN = 0.25, 0.05  # seconds between two looks, at most and at least
FILLED = 2 << 30  # bytes of new pages that a processor fills in a second
PAGE = resource.getpagesize()
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
SOCKET = 256 << 10  # bytes that the kernel may hold for one, whose buffers stay at their default size
MAPPING = 512  # bytes that it holds for one part of a process's memory with rights of its own
SELDOM = 8  # looks until mappings are counted again, which takes a millisecond for each process
TABLES = re.compile(r"^VmPTE:\s*(\d+) kB", re.MULTILINE)


def keep(pid: int, channel: socket.socket, status: socket.socket, limits: Limits, user: int | None) -> None:
    """Wait for `pid` and report its end; its handle goes to the supervisor, who may kill it; never returns.

    If the supervisor has ended, or the processes exceed a submission's memory limit, they are
    ended here. `user` is the user of the processes, if nobody else's run as it; all of them together then get no more
    processor time than one process.
    """
    handle = os.pidfd_open(pid)
    socket.send_fds(status, [b"p"], [handle])
    channel.close()
    ends = select.poll()
    ends.register(handle, select.POLLIN)
    ends.register(status, 0)  # its hanging up is always reported
    report, niceness, before, mappings, held = "", 0, _held(Path("/proc/self")), 0, 0
    for look in count():
        if ended := dict(ends.poll(_pause(limits.share - held) * 1000)):
            break
        if look % SELDOM == 0:
            mappings = MAPPING * sum(map(_mappings, _processes()))
        if user is not None and (wanted := _niceness(_busy())) != niceness:
            niceness = wanted
            with suppress(OSError):
                os.setpriority(os.PRIO_USER, user, niceness)
        held = mappings + _memory(limits.share - mappings, before)
        if held > limits.share:
            report = f"its processes took more than {limits.share / (1 << 30):.3g} GiB of memory together"
            if limits.ranks > 1:
                report += f", the share of one of {limits.ranks} ranks"
            break
    if handle not in ended:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    _, code = os.waitpid(pid, 0)
    try:
        status.sendall(json.dumps(report or os.waitstatus_to_exitcode(code)).encode())
    finally:
        os._exit(0)


def _pause(left: int) -> float:
    """Seconds until the next look, where so many bytes are left: no longer than all processors take to fill them, so
    that many processes that take their memory at once between two looks are seen in time."""
    return min(EVERY, max(OFTEN, left / (FILLED * PROCESSORS)))


def _processes() -> list[Path]:
    """The processes of the namespace; none before its root is made."""
    if os.path.exists("/proc/self"):  # in their /proc this process has no number
        return []
    with suppress(OSError):
        return [Path("/proc", name) for name in os.listdir("/proc") if name.isdigit()]
    return []


def _memory(enough: int, before: int) -> int:
    """The bytes that the processes hold, and the kernel for their sockets. Shared memory counts once, or not at all if
    the sum, without the `before` that the first of them had from the zygote, stays within `enough`."""
    processes = _processes()
    sockets = _sockets(processes) * SOCKET
    rough = sum(map(_held, processes)) - before + sockets
    if rough <= enough:
        return rough
    exact = sockets
    for process in processes:
        with suppress(OSError):
            lines = (process / "smaps_rollup").read_text().splitlines()
            exact += sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("Pss:", "SwapPss:")))
        exact += _tables(process)
    return exact


def _sockets(processes: list[Path]) -> int:
    """The number of sockets in the network of the processes, which all share one."""
    for process in processes:
        with suppress(OSError, ValueError, IndexError):
            return int((process / "net" / "sockstat").read_text().splitlines()[0].split()[2])  # "sockets: used 7"
    return 0


def _held(process: Path) -> int:
    """The bytes of a process that no file holds, those that it has not written since it was forked among them, and of
    its page tables."""
    with suppress(OSError):
        resident, shared = (process / "statm").read_text().split()[1:3]
        return (int(resident) - int(shared)) * PAGE + _tables(process)
    return 0


def _tables(process: Path) -> int:
    """The bytes of a process's page tables: of them a page that is only read, and holds nothing, takes as much as it
    has."""
    with suppress(OSError):
        line = TABLES.search((process / "status").read_text())
        return int(line[1]) << 10 if line else 0
    return 0


def _mappings(process: Path) -> int:
    """The parts of a process's memory that have rights of their own: tens of thousands take megabytes, and a fork
    copies them."""
    with suppress(OSError):
        return (process / "maps").read_bytes().count(b"\n")
    return 0


def _busy() -> int:
    """The number of their threads that run or are ready to run."""
    count = 0
    for process in _processes():
        for thread in _threads(process):
            with suppress(OSError):
                count += (thread / "stat").read_text().rpartition(")")[2].split()[0] == "R"
    return count


def _threads(process: Path) -> list[Path]:
    with suppress(OSError):
        return list((process / "task").iterdir())
    return []


def _niceness(running: int) -> int:
    """The niceness at which all running threads together weigh at most as much as one at 0; a step is a factor 1.25."""
    return min(19, math.ceil(math.log(max(running, 1), 1.25)))
