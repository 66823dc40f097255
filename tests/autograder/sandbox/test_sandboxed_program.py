"""What a sandboxed program is told, whether it is alive, and how it ends; no program runs."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox import program
from autograder.sandbox.program import SandboxedProgram, beginning

ROOT = Path(program.__file__).resolve().parents[2]


class Process:
    """In place of a process: what was done to it, in order. One that is `stubborn` ends when it is killed."""

    def __init__(self, stubborn=False):
        self.stubborn, self.done = stubborn, []

    def kill(self):
        self.done.append("kill")
        self.stubborn = False

    def wait(self, seconds=None):
        self.done.append(("wait", seconds))
        if self.stubborn:
            raise subprocess.TimeoutExpired("program", seconds)


@pytest.fixture
def running(monkeypatch):
    """A program that has greeted, its process, and its end of the socket."""
    ends = []

    def make(greeting=b'{"pid": 7}', stubborn=False):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ends.extend([ours, theirs])
        if greeting:
            theirs.send(greeting)
        else:
            theirs.close()
        process = Process(stubborn)
        monkeypatch.setitem(program._begun, "a.module", (process, ours))
        return SandboxedProgram("a.module", {}, limit=5.0), process, theirs

    yield make
    for end in ends:
        end.close()


@pytest.mark.parametrize(("greeting", "said"), [(b'{"pid": 7}', {"pid": 7}), (b"", None)])
def test_what_a_program_says_once_it_is_ready(running, greeting, said):
    assert running(greeting)[0].said == said


def test_a_greeting_of_64_kib_is_read(running):
    greeting = json.dumps({"missing": "x" * ((1 << 16) - 15)}).encode()
    assert len(greeting) == 1 << 16
    assert len(running(greeting)[0].said["missing"]) == (1 << 16) - 15


def test_a_program_that_is_not_ready_in_time_is_late(monkeypatch):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    monkeypatch.setitem(program._begun, "a.module", (Process(), ours))
    with ours, theirs, pytest.raises(TimeoutError):
        SandboxedProgram("a.module", {}, limit=0.01)


def test_a_request_is_an_object_and_open_files(running):
    started, _, theirs = running()
    with open(os.devnull) as file:
        started.request({"a": 1}, [file.fileno()])
    message, handles, _, _ = socket.recv_fds(theirs, 100, 2)
    assert (json.loads(message), len(handles)) == ({"a": 1}, 1)
    assert os.fstat(handles[0]).st_rdev == os.stat(os.devnull).st_rdev
    os.close(handles[0])
    theirs.close()
    with pytest.raises(BrokenPipeError):
        started.request({"a": 1}, [])


def test_a_program_is_alive_while_both_ends_are_held(running):
    started, _, theirs = running()
    assert started.alive
    theirs.close()
    assert not started.alive
    other, _, _ = running()
    assert other.alive
    other.close()
    assert not other.alive


def test_a_program_ends_when_its_socket_closes(running):
    started, process, theirs = running()
    with started as same:
        assert same is started
    assert process.done == [("wait", 5.0)]
    assert theirs.recv(1) == b""


def test_a_program_that_does_not_end_is_killed(running):
    started, process, _ = running(stubborn=True)
    started.close()
    assert process.done == [("wait", 5.0), "kill", ("wait", None)]


def test_stopping_a_program_kills_it_and_leaves_the_socket(running):
    started, process, _ = running()
    started.stop()
    assert process.done == ["kill"]
    assert started.alive


def test_a_program_has_its_environment_and_nothing_else(monkeypatch):
    begun = []

    def popen(command, **options):
        begun.append((command, options))
        assert os.get_inheritable(options["pass_fds"][0]) is False
        return Process()

    monkeypatch.setattr(subprocess, "Popen", popen)
    process, ours = program._begin("a.module", {"A": "1", "PYTHONPATH": "/theirs"}, ["x", "y"])
    ours.close()
    (command, options), theirs = begun[0], begun[0][1].pop("pass_fds")
    assert command == [sys.executable, "-W", "ignore", "-m", "a.module", str(theirs[0]), "x", "y"]
    assert len(theirs) == 1
    assert options == {
        "env": {"A": "1", "PYTHONPATH": str(ROOT)},
        "cwd": "/",
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "start_new_session": True,
    }
    assert process.done == []


def test_what_nobody_uses_is_killed_and_what_is_used_is_not(monkeypatch):
    made = []

    def begin(module, environment, arguments):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        theirs.send(b"{}")
        made.append((Process(), ours, theirs))
        return made[-1][:2]

    monkeypatch.setattr(program, "_begin", begin)
    with beginning("a.module", {}):
        pass
    with beginning("a.module", {}):
        SandboxedProgram("a.module", {})
    assert [process.done for process, _, _ in made] == [["kill", ("wait", None)], []]
    assert [ours.fileno() < 0 for _, ours, _ in made] == [True, False]
    for _, ours, theirs in made:
        ours.close()
        theirs.close()
