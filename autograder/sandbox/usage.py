"""The processor time that a process and all that it started have used, seen from outside: it tells a loop from a
deadlock."""

import os
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def seconds(handle: int) -> float | None:
    """The processor time of the process behind a pidfd and its descendants, ended ones included; None if it cannot be
    seen."""
    try:
        about = Path(f"/proc/self/fdinfo/{handle}").read_text()
        waiting = [int(next(line for line in about.splitlines() if line.startswith("Pid:")).split()[1])]
        ticks, seen = 0, 0
        while waiting:
            process = waiting.pop()
            seen += 1
            try:
                fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
                threads = os.listdir(f"/proc/{process}/task")
                children = [Path(f"/proc/{process}/task/{one}/children").read_text() for one in threads]
            except (FileNotFoundError, ProcessLookupError):
                if seen == 1:
                    return None
                continue
            ticks += sum(map(int, fields[11:15]))
            waiting += [int(child) for line in children for child in line.split()]
    except (OSError, StopIteration, ValueError):
        return None
    return ticks / TICK
