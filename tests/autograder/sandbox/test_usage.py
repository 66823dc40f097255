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
    shell = f"{sys.executable} -c '{BUSY.format(0.1)}'; true"
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
