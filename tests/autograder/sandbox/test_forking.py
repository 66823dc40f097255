"""What makes a process cheap to fork, and that a forked one ends with its parent."""

import ctypes
import gc
import os
import signal
import sys
from pathlib import Path

import pytest

from autograder.sandbox import forking

MIB = 1 << 20
HUGE = 2 * MIB
COLLAPSE = 25


class Library:
    """Takes the C library's calls."""

    def __init__(self):
        self.advised, self.asked = [], []

    def madvise(self, where, size, advice):
        self.advised.append((where.value, size.value, advice))

    def prctl(self, *arguments):
        self.asked.append(arguments)


@pytest.fixture
def library(monkeypatch):
    made = Library()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: made)
    monkeypatch.setattr(sys, "platform", "linux")
    return made


def mapped(first, last, rights="rw-p", name=""):
    return f"{first:x}-{last:x} {rights} 00000000 00:00 0 {name}".rstrip() + "\n"


def settled(monkeypatch, library, *lines):
    frozen = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(True))
    monkeypatch.setattr(Path, "read_text", lambda path: "".join(lines))
    forking.settle()
    assert frozen == [True]
    return library.advised


@pytest.mark.parametrize(
    ("first", "last", "moved"),
    [
        (HUGE, 2 * HUGE, [(HUGE, HUGE, COLLAPSE)]),
        (HUGE, 2 * HUGE - 4096, []),
        (HUGE + 4096, 2 * HUGE, []),
        (HUGE + 4096, 3 * HUGE, [(2 * HUGE, HUGE, COLLAPSE)]),
        (HUGE - 4096, 4 * HUGE + MIB, [(HUGE, 3 * HUGE, COLLAPSE)]),
    ],
)
def test_whole_huge_pages_are_moved(monkeypatch, library, first, last, moved):
    assert settled(monkeypatch, library, mapped(first, last)) == moved


@pytest.mark.parametrize(
    ("rights", "name", "moves"),
    [
        ("rw-p", "", True),
        ("rw-p", "[heap]", True),
        ("rw-p", "[stack]", False),
        ("rw-p", "/usr/lib/libc.so.6", False),
        ("rw-p", "/a name (with spaces)", False),
        ("r--p", "", False),
        ("rw-s", "", False),
        ("rwxp", "", False),
    ],
)
def test_only_memory_of_its_own_is_moved(monkeypatch, library, rights, name, moves):
    lines = [mapped(HUGE, 2 * HUGE, rights, name), mapped(4 * HUGE, 5 * HUGE)]
    expected = [(HUGE, HUGE, COLLAPSE)] if moves else []
    assert settled(monkeypatch, library, *lines) == [*expected, (4 * HUGE, HUGE, COLLAPSE)]


def test_elsewhere_memory_is_frozen_and_stays_where_it_is(monkeypatch, library):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert settled(monkeypatch, library, mapped(HUGE, 2 * HUGE)) == []


def test_a_system_without_proc_is_no_failure(monkeypatch, library):
    def missing(path):
        raise FileNotFoundError

    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(Path, "read_text", missing)
    forking.settle()
    assert library.advised == []


@pytest.mark.parametrize(("platform", "asked"), [("linux", [(1, signal.SIGKILL, 0, 0, 0)]), ("darwin", [])])
def test_a_forked_process_is_killed_when_its_parent_ends(monkeypatch, library, platform, asked):
    ended = []
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(os, "_exit", ended.append)
    monkeypatch.setattr(os, "getppid", lambda: 17)
    forking.end_with(17)
    assert (library.asked, ended) == (asked, [])
    forking.end_with(16)  # it ended before it could be watched
    assert ended == [0]
