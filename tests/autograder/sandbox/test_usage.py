"""The processor time of a process and of its children, seen from outside."""

import os
import subprocess
import sys

import pytest

from autograder.sandbox import usage

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc and pidfds")
BUSY = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\nprint(flush=True)\ninput()"


def test_the_time_of_a_process_is_seen_until_it_ends():
    with subprocess.Popen(
        [sys.executable, "-c", BUSY.format(0.1)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        handle = os.pidfd_open(process.pid)
        try:
            process.stdout.readline()
            assert 0.1 <= usage.seconds(handle) < 10
            process.communicate(b"\n")
            assert usage.seconds(handle) is None
        finally:
            os.close(handle)


def test_a_childs_time_counts():
    shell = f"{sys.executable} -c '{BUSY.format(0.2)}'; true"
    with subprocess.Popen(["sh", "-c", shell], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        handle = os.pidfd_open(process.pid)
        try:
            process.stdout.readline()
            assert usage.seconds(handle) >= 0.1
            process.communicate(b"\n")
        finally:
            os.close(handle)


def test_what_is_no_process_has_none():
    with open(os.devnull) as file:
        assert usage.seconds(file.fileno()) is None
    assert usage.seconds(10**6) is None


@pytest.fixture
def seen(monkeypatch):
    """`/proc` as a table of texts; a process without a text has ended."""
    texts = {
        "/proc/self/fdinfo/5": "pos:\t0\nPid:\t7\nNSpid:\t7\n",
        "/proc/7/stat": "7 (a) b) S 1 7 7 0 -1 0 0 0 0 0 10 20 30 40 20 0",
        "/proc/7/task/7/children": "8 ",
        "/proc/7/task/70/children": "9 10 ",
        "/proc/8/stat": "8 (c) S 7 7 7 0 -1 0 0 0 0 0 1 2 3 4 20 0",
        "/proc/8/task/8/children": "",
        "/proc/10/stat": "10 (d) S 7 7 7 0 -1 0 0 0 0 0 100 0 0 0 20 0",
        "/proc/10/task/10/children": "",
    }

    class Shown(str):
        def read_text(self):
            if self not in texts:
                raise FileNotFoundError(self)
            return texts[self]

    def listdir(folder):
        names = [name for name in texts if name.startswith(f"{folder}/")]
        return [name.removeprefix(f"{folder}/").partition("/")[0] for name in names]

    monkeypatch.setattr(usage, "Path", Shown)
    monkeypatch.setattr(usage, "os", type("Os", (), {"listdir": staticmethod(listdir)}))
    monkeypatch.setattr(usage, "TICK", 10)
    return texts


def test_the_times_of_all_descendants_add_up_and_one_that_has_ended_is_passed_over(seen):
    assert usage.seconds(5) == (100 + 10 + 100) / 10
    del seen["/proc/8/stat"]
    assert usage.seconds(5) == (100 + 100) / 10


def test_a_process_that_has_ended_or_is_no_process_has_no_time(seen):
    del seen["/proc/7/stat"]
    assert usage.seconds(5) is None
    seen["/proc/self/fdinfo/5"] = "pos:\t0\n"
    assert usage.seconds(5) is None
    assert usage.seconds(6) is None


def test_a_line_that_cannot_be_read_has_no_time(seen):
    seen["/proc/8/stat"] = "8 (c) S 7 7 7 0 -1 0 0 0 0 0 x 2 3 4"
    assert usage.seconds(5) is None
