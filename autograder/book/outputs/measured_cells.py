"""Where and when a cell was measured: the line below the outputs of cells with the tag "measured" on a page."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from datetime import date
from pathlib import Path

MEASURED = "measured"  # the tag of a chapter's cells that time the machine
MEASURED_ON = "measured_on"  # in the metadata of an executed notebook: the machine, and the day


def machine(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The processor of this machine with the cores that a process may use, and its GPUs: "AMD EPYC 7R13, 2 cores"."""
    text = cpuinfo.read_text(encoding="utf-8", errors="replace") if cpuinfo.is_file() else ""
    match = re.search(r"^(?:model name|Model|Hardware)\s*:\s*(.+)$", text, re.M)
    model = re.sub(r"\((?:R|TM)\)|\bCPU\b|@.*|\b\d+-Core Processor", "", match[1]) if match else platform.machine()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return ", ".join([" ".join(model.split()), f"{cores} core{'' if cores == 1 else 's'}", *_gpus()])


def measured_on() -> str:
    """ "AMD EPYC 7R13, 2 cores, 23 November 2026"."""
    today = date.today()
    return f"{machine()}, {today.day} {today:%B %Y}"


def _gpus() -> list[str]:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    ask = [tool, "--query-gpu=name", "--format=csv,noheader"]
    try:
        names = subprocess.run(ask, capture_output=True, text=True, timeout=60, check=True).stdout.split("\n")
    except (subprocess.SubprocessError, OSError):
        return []
    gpus = [name.strip() for name in names if name.strip()]
    return [f"{gpus.count(name)} × {name}" for name in dict.fromkeys(gpus)]
