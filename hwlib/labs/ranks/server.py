"""The program that ranks are forked from: it has imported torch, computed nothing, and has one thread.

    python -m hwlib.labs.ranks.server FD

A process whose libraries have started threads, such as a notebook's kernel, hangs in what it forks; and a process
that starts from nothing takes seconds to import torch. The server ends what it has forked when its parent ends, by
whatever signal: it sees the other end of its socket close.
"""

import ctypes
import gc
import importlib
import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

PRELOADED = (
    "numpy.random",
    "cloudpickle",
    "torch",
    "torch.distributed",
    "hwlib.labs.measure",
    "hwlib.simulate",
    "hwlib.labs.ranks.process",
)
PR_SET_CHILD_SUBREAPER = 36
OURS = (signal.SIGALRM, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)  # a parent may have handlers of its own


def preload() -> None:
    """Import what ranks need, and nothing that computes."""
    for name in PRELOADED:
        importlib.import_module(name)
    sys.modules["torch"].set_num_threads(1)
    from hwlib.labs.ranks import calls

    calls.install()


class RankServer:
    """Forks ranks on request, reports their ends, and kills those of a run together."""

    def __init__(self, control: socket.socket):
        self.control, self.parent = control, os.getppid()
        self.ranks: dict[int, int] = {}  # pid to rank
        self.folder, self.ending = "", False
        self.unread, self.fds = b"", list[int]()
        self.awake, alarm = socket.socketpair()
        alarm.setblocking(False)
        self.awake.setblocking(False)
        self.alarm = alarm
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        for number in OURS:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(alarm.fileno(), warn_on_full_buffer=False)

    def serve(self) -> None:
        """Serve until the parent closes the connection."""
        self.tell({"ready": True})
        looks = select.poll()
        for end in (self.control, self.awake):
            looks.register(end, select.POLLIN)
        try:
            while os.getppid() == self.parent:
                ready = {fd for fd, _ in looks.poll(2000)}
                if self.awake.fileno() in ready:
                    with suppress(BlockingIOError):
                        self.awake.recv(4096)
                    self.reap()
                if self.control.fileno() in ready and not self.obey():
                    break
        except OSError:
            pass
        finally:
            self.ending = True
            self.end()
            self.reap(block=True)

    def obey(self) -> bool:
        """Handle the requests that have come, a line each: several may come at once. False if the parent is gone."""
        message, fds, _, _ = socket.recv_fds(self.control, 1 << 16, 64)
        if not message:
            return False
        self.unread += message
        self.fds += fds
        while b"\n" in self.unread:
            line, _, self.unread = self.unread.partition(b"\n")
            self.handle(json.loads(line))
        return True

    def handle(self, request: dict[str, Any]) -> None:
        """Do what one request asks; the descriptors that came are those of a start."""
        if request["do"] == "start":
            for name in request["imports"]:
                with suppress(ImportError):  # the rank that needs it says so
                    importlib.import_module(name)
            fds, self.fds = self.fds, []
            self.start(request["n"], request["plays"], fds)
        elif request["do"] == "signal":
            for pid in self.ranks:
                os.kill(pid, signal.SIGUSR1)
        elif request["do"] == "end":
            self.ending = True
            self.end()
            self.reap()

    def tell(self, what: dict[str, Any]) -> None:
        """Send one line to the parent."""
        self.control.sendall(json.dumps(what).encode() + b"\n")

    def start(self, n: int, plays: str, fds: list[int]) -> None:
        """Fork n ranks. The first descriptor is their task's; then each has two, of its socket and of its output."""
        self.folder = tempfile.mkdtemp(prefix="hwlib-ranks-")
        pids: list[int] = []
        failed = ""
        for rank in range(n):
            try:
                pid = os.fork()
            except OSError as error:
                failed = f"rank {rank} of {n} could not be started: {error.strerror}"
                break
            if pid == 0:
                self.become(rank, n, plays, fds)
            self.ranks[pid] = rank
            pids.append(pid)
        for fd in fds:
            os.close(fd)
        self.tell({"started": pids, "folder": self.folder, "failed": failed})

    def become(self, rank: int, n: int, plays: str, fds: list[int]) -> None:
        """In the forked process: play the rank; never returns."""
        try:
            signal.set_wakeup_fd(-1)
            for number in (*OURS, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            os.setsid()
            for end in (self.control, self.awake, self.alarm):
                end.close()
            task, channel, output = fds[0], *fds[1 + 2 * rank : 3 + 2 * rank]
            for fd in set(fds) - {task, channel, output}:
                os.close(fd)
            from hwlib.labs.ranks import process

            getattr(process, plays)(rank, n, task, channel, output, self.folder)
        finally:
            os._exit(70)

    def end(self) -> None:
        """Kill every rank, and all that it has started."""
        for pid in (*self.ranks, *self.adopted()):
            for kill in (os.killpg, os.kill):
                with suppress(OSError):
                    kill(pid, signal.SIGKILL)

    def adopted(self) -> list[int]:
        """Processes that came to this one when the rank that had started them ended."""
        with suppress(OSError):
            return [int(pid) for pid in Path("/proc/self/task", str(os.getpid()), "children").read_text().split()]
        return []

    def reap(self, block: bool = False) -> None:
        """Tell of the ranks that have ended, and remove their folder after the last."""
        while True:
            pid, status = _ended(block)
            if not pid:
                break
            rank = self.ranks.pop(pid, None)
            if rank is not None:
                with suppress(OSError):
                    self.tell({"ended": rank, "code": os.waitstatus_to_exitcode(status)})
            if self.ending:
                self.end()
        if self.ending and not self.ranks and not self.adopted():
            shutil.rmtree(self.folder, ignore_errors=True)
            self.ending = False
            with suppress(OSError):
                self.tell({"idle": True})


def _ended(block: bool) -> tuple[int, int]:
    """A child that has ended, and its status, after what it has started in its session was killed; 0 where none has."""
    how = 0 if block else os.WNOHANG
    try:
        if not hasattr(os, "waitid"):  # macOS
            return os.waitpid(-1, how)
        child = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | how)
        if child is None:
            return 0, 0
        with suppress(OSError):  # its number is not given out while it is not waited for
            os.killpg(child.si_pid, signal.SIGKILL)
        return os.waitpid(child.si_pid, 0)
    except ChildProcessError:
        return 0, 0


def alone(control: socket.socket) -> None:
    """Be a server, in a fork of a process of one thread that has torch: leave all else that it had. Never returns."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.closerange(3, control.fileno())
    os.closerange(control.fileno() + 1, min(os.sysconf("SC_OPEN_MAX"), 1 << 20))
    _serve(control)
    os._exit(0)


def _serve(control: socket.socket) -> None:
    preload()
    gc.collect()
    gc.freeze()
    RankServer(control).serve()


def main() -> None:
    """Serve the socket whose number is the first argument."""
    _serve(socket.socket(fileno=int(sys.argv[1])))


if __name__ == "__main__":
    main()
