import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox import program
from autograder.sandbox.program import SandboxedProgram, beginning

ECHO = "tests.autograder.saying"


def test_what_was_begun_is_the_next_one():
    with beginning(ECHO, os.environ):
        process, _ = program._begun[ECHO]
        with SandboxedProgram(ECHO, os.environ) as first, SandboxedProgram(ECHO, os.environ) as second:
            assert first.said == {"pid": process.pid}
            assert second.said != first.said
    assert process.returncode == 0


@pytest.mark.parametrize("fails", [False, True])
def test_what_nobody_asks_for_is_ended(fails):
    try:
        with beginning(ECHO, os.environ):
            process, _ = program._begun[ECHO]
            if fails:
                raise ValueError
    except ValueError:
        pass
    assert process.returncode is not None
    assert ECHO not in program._begun


class Process:
    """A process that is made up: it ends in time, or has to be killed."""

    def __init__(self, ends=True):
        self.ends, self.steps = ends, []

    def kill(self):
        self.steps.append("kill")

    def wait(self, seconds=None):
        self.steps.append(seconds)
        if seconds is not None and not self.ends:
            raise subprocess.TimeoutExpired("program", seconds)


@pytest.fixture
def begun(monkeypatch):
    """`begun(greeting, ends)`: a program whose process is made up, and its end of the socket."""
    ends = []

    def made(greeting=b'{"ready": 1}', ended=True, limit=None):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ends.extend([ours, theirs])
        if greeting:
            theirs.send(greeting)
        else:
            theirs.close()
        monkeypatch.setattr(program, "_begin", lambda *_: (Process(ended), ours))
        return SandboxedProgram("module", {}, limit=limit), theirs

    yield made
    for end in ends:
        end.close()


def test_a_program_says_what_it_has_to_say_once_it_is_ready(begun):
    assert begun()[0].said == {"ready": 1}
    long = {"missing": "m" * 60_000}
    assert begun(json.dumps(long).encode())[0].said == long
    assert begun(b"")[0].said is None
    made, _ = begun(limit=7.0)
    assert made._control.gettimeout() == 7.0


def test_a_program_is_alive_while_both_ends_are_held(begun):
    made, theirs = begun()
    assert made.alive
    made.request({"a": 1}, [])
    assert json.loads(theirs.recv(100)) == {"a": 1}
    assert made.alive
    theirs.close()
    assert not made.alive
    with pytest.raises(OSError, match=r"\w"):
        made.request({}, [])
    made, _ = begun()
    made.close()
    assert not made.alive


@pytest.mark.parametrize(("ended", "steps"), [(True, [5.0]), (False, [5.0, "kill", None])])
def test_a_program_that_does_not_end_is_killed(begun, ended, steps):
    made, theirs = begun(ended=ended)
    with made:
        made.stop()
    assert made._process.steps == ["kill", *steps]
    assert theirs.recv(1) == b""


def test_a_program_gets_its_arguments_and_nothing_of_the_graders(monkeypatch):
    started = []
    monkeypatch.setattr(program.subprocess, "Popen", lambda command, **about: started.append((command, about)))
    _, ours = program._begin("module", {"HOME": "/h"}, ["a"])
    ours.close()
    ((command, about),) = started
    assert command[:5] == [sys.executable, "-W", "ignore", "-m", "module"]
    assert [int(command[5])] == about["pass_fds"]
    assert command[6:] == ["a"]
    assert about["env"] == {"HOME": "/h", "PYTHONPATH": str(Path(program.__file__).resolve().parents[2])}
    assert (about["cwd"], about["start_new_session"], about["stdin"]) == ("/", True, subprocess.DEVNULL)
