"""What the keeper of a confined process measures, when it ends it, and what it reports."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox import keeper
from autograder.sandbox.limits import Limits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pidfds")
PAGE = os.sysconf("SC_PAGE_SIZE")
KIB, GIB = 1 << 10, 1 << 30


class Ended(BaseException):
    """In place of the end of the keeper's process."""


@pytest.mark.parametrize(
    ("running", "niceness"), [(0, 0), (1, 0), (2, 4), (3, 5), (4, 7), (16, 13), (55, 18), (69, 19), (70, 19), (500, 19)]
)
def test_many_threads_weigh_no_more_than_one(running, niceness):
    assert keeper._niceness(running) == niceness


@pytest.mark.parametrize(
    ("processors", "left", "seconds"),
    [(1, GIB // 2, 0.25), (1, GIB // 4, 0.125), (2, GIB, 0.25), (2, 0, 0.05), (2, -GIB, 0.05), (64, 16 * GIB, 0.125)],
)
def test_the_less_memory_is_left_the_sooner_it_is_looked_at(monkeypatch, processors, left, seconds):
    monkeypatch.setattr(keeper, "PROCESSORS", processors)
    assert keeper._pause(left) == seconds


def process(folder, number, resident, shared, rollup="", sockets=None):
    """A process's folder in /proc, with so many pages."""
    path = folder / str(number)
    (path / "net").mkdir(parents=True)
    (path / "statm").write_text(f"1000 {resident} {shared} 4 5 6 7\n")
    (path / "smaps_rollup").write_text(rollup)
    if sockets is not None:
        (path / "net" / "sockstat").write_text(f"sockets: used {sockets}\nTCP: inuse 9\n")
    return path


def test_a_process_holds_the_pages_that_no_file_holds(tmp_path):
    assert keeper._held(process(tmp_path, 1, 70, 20)) == 50 * PAGE
    assert keeper._held(tmp_path / "gone") == 0


ROLLUP = "00400000-7fff rollup\nRss: 90 kB\nPss: 5 kB\nPss_Anon: 70 kB\nShared_Clean: 8 kB\nSwapPss: 2 kB\nSwap: 9 kB\n"


def test_shared_memory_counts_once_where_the_sum_is_not_enough(tmp_path, monkeypatch):
    processes = [process(tmp_path, 1, 70, 20, ROLLUP, 3), process(tmp_path, 2, 40, 10, ROLLUP, 3)]
    monkeypatch.setattr(keeper, "_processes", lambda: [*processes, tmp_path / "gone"])
    rough = 80 * PAGE - 1000 + 3 * 256 * KIB
    assert keeper._memory(rough, 1000) == rough
    assert keeper._memory(rough - 1, 1000) == 2 * 7 * KIB + 3 * 256 * KIB


def test_nothing_is_held_by_no_processes(monkeypatch):
    monkeypatch.setattr(keeper, "_processes", list)
    assert keeper._memory(0, 0) == 0


@pytest.mark.parametrize(
    ("first", "second", "sockets"),
    [("sockets: used 7\n", "sockets: used 9\n", 7), ("", "sockets: used 9\n", 9), ("a b c\n", "", 0)],
)
def test_sockets_are_counted_by_the_first_process_that_tells_them(tmp_path, first, second, sockets):
    paths = [process(tmp_path, number, 1, 1, sockets=0) for number in (1, 2)]
    for path, text in zip(paths, (first, second), strict=True):
        (path / "net" / "sockstat").write_text(text)
    assert keeper._sockets([tmp_path / "gone", *paths]) == sockets
    assert keeper._sockets([]) == 0


def test_threads_that_run_are_counted(tmp_path, monkeypatch):
    for number, states in ((1, "RSR"), (2, "D"), (3, "RZ")):
        for thread, state in enumerate(states):
            (tmp_path / str(number) / "task" / str(thread)).mkdir(parents=True)
            stat = f"{number} (a) R (b) {state} 1 R\n"  # a program may be called so
            (tmp_path / str(number) / "task" / str(thread) / "stat").write_text(stat)
    (tmp_path / "1" / "task" / "9").mkdir()  # one that has just ended
    monkeypatch.setattr(keeper, "_processes", lambda: [tmp_path / "1", tmp_path / "2", tmp_path / "3", tmp_path / "4"])
    assert keeper._busy() == 3


@pytest.mark.parametrize("own", [True, False])
def test_the_processes_of_the_namespace_are_those_of_its_proc(monkeypatch, own):
    monkeypatch.setattr(os.path, "exists", lambda path: own)
    monkeypatch.setattr(os, "listdir", lambda path: ["1", "self", "23", "meminfo", "7x"])
    assert keeper._processes() == ([] if own else [Path("/proc/1"), Path("/proc/23")])


def test_a_proc_that_is_not_there_has_no_processes(monkeypatch):
    def missing(path):
        raise FileNotFoundError

    monkeypatch.setattr(os.path, "exists", lambda path: False)
    monkeypatch.setattr(os, "listdir", missing)
    assert keeper._processes() == []


@pytest.fixture
def keep(monkeypatch):
    """Keep a program to its end; what the supervisor hears."""

    def leave(code):
        assert code == 0
        raise Ended

    def run(command, limits=None, user=None, gone=False):
        channel, other = socket.socketpair()
        ours, theirs = socket.socketpair()
        with subprocess.Popen(command) as program, ours, theirs, other:
            if gone:
                ours.close()
                monkeypatch.setattr(socket, "send_fds", lambda *_: None)
            with pytest.raises(Ended):
                keeper.keep(program.pid, channel, theirs, limits or Limits(), user)
            program.returncode = 0  # it was waited for
            assert channel.fileno() == -1
            if gone:
                return None
            mark, handles, _, _ = socket.recv_fds(ours, 1, 1)
            os.close(handles[0])
            assert (mark, len(handles)) == (b"p", 1)
            return json.loads(ours.recv(1000))

    monkeypatch.setattr(os, "_exit", leave)
    monkeypatch.setattr(keeper, "EVERY", 0.001)
    monkeypatch.setattr(keeper, "OFTEN", 0.001)
    monkeypatch.setattr(keeper, "_memory", lambda enough, before: 0)
    return run


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", -9), ("kill -15 $$", -15)])
def test_how_a_process_ended_is_reported(keep, script, code):
    assert keep(["sh", "-c", script]) == code


@pytest.mark.parametrize(
    ("ranks", "report"),
    [
        (1, "its processes took more than 1.5 GiB of memory together"),
        (2, "its processes took more than 0.75 GiB of memory together, the share of one of 2 ranks"),
    ],
)
def test_processes_that_exceed_their_memory_are_ended(keep, monkeypatch, ranks, report):
    limits = Limits(memory=3 * GIB // 2, ranks=ranks)
    monkeypatch.setattr(keeper, "_memory", lambda enough, before: enough + 1)
    assert keep(["sleep", "60"], limits) == report


def test_processes_that_hold_just_their_share_go_on(keep, monkeypatch):
    monkeypatch.setattr(keeper, "_memory", lambda enough, before: enough)
    assert keep(["sleep", "0.02"]) == 0


def test_the_process_ends_when_its_supervisor_has(keep, monkeypatch):
    sent = []
    send = signal.pidfd_send_signal
    monkeypatch.setattr(signal, "pidfd_send_signal", lambda *args: (sent.append(args[1]), send(*args)))
    assert keep(["sleep", "60"], gone=True) is None
    assert sent == [signal.SIGKILL]


@pytest.mark.parametrize(("user", "set_to"), [(60_007, [(60_007, 4), (60_007, 0)]), (None, [])])
def test_the_niceness_of_a_user_follows_what_runs(keep, monkeypatch, user, set_to):
    busy, wanted = iter([1, 2, 2, 1]), []
    monkeypatch.setattr(keeper, "_busy", lambda: next(busy, 1))

    def set_priority(which, who, niceness):
        assert which == os.PRIO_USER
        wanted.append((who, niceness))
        raise PermissionError  # which is no reason to end

    monkeypatch.setattr(os, "setpriority", set_priority)
    assert keep(["sleep", "0.05"], user=user) == 0
    assert wanted == set_to


def test_what_is_looked_at_and_how_often():
    assert (keeper.EVERY, keeper.OFTEN, keeper.SOCKET, keeper.PAGE) == (0.25, 0.05, 256 * KIB, PAGE)
