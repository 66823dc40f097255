"""Running a grader from its command line, timed: what it takes, what it holds in memory with all its children, and
what it leaves running."""

import contextlib
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil

MARK = "GPUBOOK_BENCHMARK"  # in the environment of everything that a run starts
TICK = 0.1  # seconds between two looks at the memory, and at whether to kill
TELL = 30.0  # seconds between two lines on a long run


class Failed(RuntimeError):
    """A grader ended with an error; its last words are in the message."""


@dataclass(frozen=True)
class Ran:
    """Seconds until the last command ended, those of processor time that everything took (NaN where no control group
    can be made), the most bytes that all processes held at once, how many processes were left over (they are ended),
    and what was printed."""

    seconds: float
    cpu: float
    peak: int
    left: int
    said: str


def run(
    commands: Sequence[Sequence[str]],
    cwd: Path,
    *,
    memory: bool = False,
    may_fail: bool = False,
    longest: float = 7200,
    kill_when: Callable[[], bool] | None = None,
    tell: Callable[[], str] | None = None,
) -> Ran:
    """Run `commands` side by side; with `memory` it is sampled, which takes time that a timing does not want.

    They are killed once `kill_when` says so, and what `tell` says is printed now and then. Whatever ends this, all that
    they have started is ended too.
    """
    mark = uuid.uuid4().hex
    programs = os.pathsep.join([str(Path(commands[0][0]).parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {MARK: mark, "PATH": programs}
    environment.pop("NBGRADER_EXECUTION", None)
    peak, over = [0], threading.Event()
    with tempfile.TemporaryFile("w+") as said, Meter(mark) as meter:
        start = time.perf_counter()
        started = [
            subprocess.Popen(
                meter.counted(command),
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
            )
            for command in commands
        ]
        watcher = threading.Thread(target=_watch, args=([p.pid for p in started], peak, over))
        try:
            if memory:
                watcher.start()
            codes = [_wait(program, start, longest, kill_when, tell) for program in started]
            if kill_when is None and None in codes:
                raise Failed(f"{' '.join(commands[0])} in {cwd} did not end within {longest:g} s")
            if kill_when is not None and None not in codes:
                raise Failed(f"{' '.join(commands[0])} in {cwd} ended before it could be killed")
            seconds = time.perf_counter() - start
        finally:
            over.set()
            for program in started:
                if program.poll() is None:
                    program.kill()
                    program.wait()
            if memory:
                watcher.join()
            left = _end_all(mark, meter)
        cpu = meter.read()
        said.seek(0)
        text = said.read()
    if any(codes) and not may_fail and kill_when is None:
        raise Failed(f"{' '.join(commands[0])} in {cwd} ended with {codes}:\n{text[-3000:]}")
    return Ran(seconds, cpu, peak[0], left, text)


def _wait(
    program: subprocess.Popen,
    start: float,
    limit: float,
    over: Callable[[], bool] | None,
    tell: Callable[[], str] | None,
) -> int | None:
    """Its exit code; None where it still runs when it is `over`, or `limit` seconds after the start."""
    told = start
    while (now := time.perf_counter()) < start + limit and not (over is not None and over()):
        with contextlib.suppress(subprocess.TimeoutExpired):
            return program.wait(min(start + limit - now, TELL if over is None else TICK))
        if tell is not None and now >= told + TELL:
            told = now
            print(f"    after {now - start:.0f} s: {tell()}")
    return program.poll()


class Meter:
    """Counts the processor time of commands and of all that they start, also of what nobody waits for: in a control
    group, where one can be made."""

    GROUPS = (Path("/sys/fs/cgroup/cpuacct"), Path("/sys/fs/cgroup"))

    def __init__(self, name: str):
        self.name = f"gpubook-benchmark-{name}"
        self.group: Path | None = None

    def __enter__(self) -> Self:
        for root in self.GROUPS:
            group = root / self.name
            with contextlib.suppress(OSError):
                group.mkdir()
                if any((group / file).is_file() for file in ("cpuacct.usage", "cpu.stat")):
                    self.group = group
                    break
                group.rmdir()
        return self

    def __exit__(self, *_: object) -> None:
        until = time.monotonic() + 20.0
        while self.group is not None and time.monotonic() < until:
            try:
                self.group.rmdir()
                return
            except OSError:  # what was killed is not gone yet
                time.sleep(0.05)

    def members(self) -> set[int]:
        """The processes that are in the group now."""
        if self.group is None:
            return set()
        return set(map(int, (self.group / "cgroup.procs").read_text().split()))

    def counted(self, command: Sequence[str]) -> list[str]:
        """The command, begun in the group."""
        if self.group is None:
            return list(command)
        return ["/bin/sh", "-c", f'echo $$ > {self.group}/cgroup.procs; exec "$@"', "sh", *command]

    def read(self) -> float:
        """Seconds until now."""
        if self.group is None:
            return math.nan
        if (usage := self.group / "cpuacct.usage").is_file():
            return int(usage.read_text()) / 1e9
        stat = dict(line.split() for line in (self.group / "cpu.stat").read_text().splitlines())
        return int(stat.get("usage_usec", "0")) / 1e6


def together(runs: Sequence[Ran]) -> Ran:
    """Runs one after another, as one."""
    return Ran(
        sum(r.seconds for r in runs),
        sum(r.cpu for r in runs),
        max(r.peak for r in runs),
        sum(r.left for r in runs),
        "".join(r.said for r in runs),
    )


def _watch(roots: Sequence[int], peak: list[int], over: threading.Event) -> None:
    while not over.wait(TICK):
        peak[0] = max(peak[0], sum(_held(process) for process in _family(roots)))


def _family(roots: Sequence[int]) -> Iterator[psutil.Process]:
    for pid in roots:
        with contextlib.suppress(psutil.Error):
            root = psutil.Process(pid)
            yield root
            yield from root.children(recursive=True)


def _held(process: psutil.Process) -> int:
    """Its share of the memory: pages that processes share are divided among them."""
    try:
        return process.memory_full_info().pss
    except psutil.AccessDenied:
        return process.memory_info().rss
    except (psutil.Error, OSError):
        return 0


def _end_all(mark: str, meter: Meter) -> int:
    """End what still runs a second after a run, and count it: learners' processes do not have the mark."""
    wait = time.monotonic() + 1.0
    while found := _left(mark, meter.members()):
        if time.monotonic() > wait:
            break
        time.sleep(0.05)
    for process in found:
        with contextlib.suppress(psutil.Error):
            process.send_signal(signal.SIGKILL)
    return len(found)


def _left(mark: str, members: set[int]) -> list[psutil.Process]:
    return [p for p in psutil.process_iter() if (p.pid in members and not _dead(p)) or _marked(p, mark)]


def _dead(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.Error:
        return True


def _marked(process: psutil.Process, mark: str) -> bool:
    try:
        return process.environ().get(MARK) == mark and not _dead(process)
    except (psutil.Error, OSError):
        return False


def grade_ours(
    folder: Path,
    name: str,
    limit: float,
    workers: int,
    *,
    memory: bool = False,
    resume: bool = False,
    kill_when: Callable[[], bool] | None = None,
    tell: Callable[[], str] | None = None,
) -> Ran:
    """`gpubook grade`: isolation, gradebook and feedback."""
    command = [sys.executable, "-m", "autograder", "grade", str(folder), name, "--cell-limit", f"{limit:g}"]
    if takes_workers():
        command += ["--workers", str(workers)]
    elif workers != (os.cpu_count() or 1):
        raise Failed(f"gpubook grade takes no --workers here, and uses all cores; {os.cpu_count()} were expected")
    command += ["--resume"] if resume else []
    return run([command], folder, memory=memory, kill_when=kill_when, tell=tell)


def takes_workers() -> bool:
    """Whether `gpubook grade` can be told how many workers it has."""
    told = subprocess.run([sys.executable, "-m", "autograder", "grade", "--help"], capture_output=True, text=True)
    return "--workers" in told.stdout


def grade_stock(folder: Path, name: str, limit: float, workers: int, *, memory: bool = False) -> Ran:
    """`nbgrader autograde`, then `generate_feedback`: a process for each worker, with its part of the class."""

    def all_workers(verb: str, *options: str) -> Ran:
        nbgrader = [sys.executable, "-m", "nbgrader", verb, name, *options]
        commands = [
            [*nbgrader, "--student", f"w{worker}-*"]
            for worker in range(workers)
            if any((folder / "submitted").glob(f"w{worker}-*"))
        ]
        return run(commands, folder, memory=memory, may_fail=True)  # a dead kernel fails nbgrader's whole run

    return together([all_workers("autograde", f"--Execute.timeout={limit:g}"), all_workers("generate_feedback")])
