"""Where ranks are, observed from outside, and whether any of them can continue."""

import linecache
import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<name>.*)$', re.MULTILINE)
THREAD = re.compile(r"^(?:Current thread|Thread) 0x.*$", re.MULTILINE)
HERE = str(Path(__file__).parent)
WAIT = "logged_wait"  # of `calls`, in which a rank waits for what it has asked for
TICKS = 2  # of processor time that a rank which only waits may use between two looks: looking costs some
ANSWERS = 0.5  # seconds in which a process that is asked where it stands says so


class Frame(NamedTuple):
    """A place in a program."""

    file: str
    line: int
    name: str

    @property
    def source(self) -> str:
        """The line's text, where it is known here: that of a notebook's cells is."""
        return linecache.getline(self.file, self.line).strip()

    @property
    def where(self) -> str:
        """The line by its number, and the file unless it is a notebook's cell."""
        cell = "ipykernel" in self.file or self.file.startswith("<")
        return f"line {self.line}" + (" of the cell" if cell else f" of {Path(self.file).name}")

    @property
    def own(self) -> bool:
        """Whether it is the learner's own line, not one of a library."""
        library = "site-packages" in self.file or "/lib/python" in self.file or self.file.startswith(HERE)
        return not library and not self.file.startswith("<frozen")

    @property
    def of_torch(self) -> bool:
        """Whether it is a call of torch.distributed; those that wrap one, or wait in one, have no name to tell."""
        return "/torch/distributed/" in self.file and self.name not in ("wrapper", "wait")


class Look(NamedTuple):
    """One rank at one moment: where it stands, in words; whether all of it sleeps, waiting for others; its frames; and
    how many ticks of processor time it has used."""

    place: str
    waits: bool
    frames: tuple[Frame, ...]
    used: int


def look(folder: Path, pids: Mapping[int, int], ask: Callable[[], None]) -> dict[int, Look]:
    """Each rank of {rank: pid}, once `ask` has told them to write where they stand."""
    files = {rank: folder / f"stack{rank}" for rank in pids}
    before = {rank: len(_read(file)) for rank, file in files.items()}
    ask()
    until = time.monotonic() + ANSWERS
    dumps = dict.fromkeys(pids, "")
    while time.monotonic() < until and not all(dump.endswith("\n") for dump in dumps.values()):
        time.sleep(0.01)
        dumps = {rank: _read(file)[before[rank] :] for rank, file in files.items()}
    time.sleep(0.02)  # until the last line is there, and they wait again
    return {rank: _look(_read(files[rank])[before[rank] :], pid) for rank, pid in pids.items()}


def fell(folder: Path, rank: int) -> str:
    """Where a rank was when it did what no process may, such as reading memory that is not there; empty for others."""
    return _place(_frames(_read(folder / f"stack{rank}").partition("Fatal Python error")[2])[0])


def stuck(first: Mapping[int, Look], then: Mapping[int, Look]) -> bool:
    """Whether no rank can continue: all wait, and nothing has happened between two looks."""
    if not then or first.keys() != then.keys():
        return False
    pairs = [(first[rank], now) for rank, now in then.items()]
    return all(b.waits and a.frames == b.frames and b.used - a.used <= TICKS for a, b in pairs)


def _read(file: Path) -> str:
    with suppress(OSError):
        return file.read_text(errors="replace")
    return ""


def _look(dump: str, pid: int) -> Look:
    frames, threads = _frames(dump)
    waits = threads == 1 and bool(frames) and frames[0].name == WAIT
    asleep, used = _processor(pid)
    return Look(_place(frames) or "does not say where it is", waits and asleep, tuple(frames), used)


def _frames(dump: str) -> tuple[list[Frame], int]:
    """Of the main thread, which comes last, and how many there are."""
    threads = THREAD.split(dump)[1:]
    matches = FRAME.finditer(threads[-1] if threads else "")
    return [Frame(m["file"], int(m["line"]), m["name"]) for m in matches], len(threads)


def _place(frames: list[Frame]) -> str:
    own = next((i for i, frame in enumerate(frames) if frame.own), None)
    if own is None:
        return f"is in {frames[0].name}" if frames else ""
    called = [frame for frame in frames[:own] if frame.of_torch]
    what = f"waits in dist.{called[-1].name}" if called else "waits" if frames[0].name == WAIT else "is"
    source = f": {frames[own].source}" if frames[own].source else ""
    return f"{what} at {frames[own].where}, in {frames[own].name}{source}"


def _processor(pid: int) -> tuple[bool, int]:
    """Whether every thread of a process sleeps, and the ticks of processor time that it has used; where that is not
    to be seen, it does not sleep."""
    try:
        threads = [f"/proc/{pid}/task/{name}/stat" for name in os.listdir(f"/proc/{pid}/task")]
        stats = [Path(stat).read_text().rpartition(")")[2].split() for stat in threads]
        return all(stat[0] == "S" for stat in stats), sum(int(stat[11]) + int(stat[12]) for stat in stats)
    except (OSError, ValueError, IndexError):
        return False, 0
