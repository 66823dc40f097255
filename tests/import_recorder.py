"""Marks in a report which modules are imported, in a process and in those that it forks.

`imported.py` says what a report is. This file imports nothing of the repository: it also begins a `sitecustomize.py`.
"""

import mmap
import sys


class Recorder:
    """A finder of modules that finds none, and marks those it is asked for. The report is mapped into memory, which a
    process shares with its forks, also with one that can open no file or leaves without a word."""

    def __init__(self, report):
        with open(report, "r+b") as file:
            self.marks = mmap.mmap(file.fileno(), 0)
        self.places, at = {}, 0
        for line in self.marks[:].decode().splitlines(keepends=True):
            self.places[line[1:-1]] = at
            at += len(line)

    def find_spec(self, name, path=None, target=None):
        if name in self.places:
            self.marks[self.places[name]] = ord("+")


def install(report):
    """Record what this process imports from now on, and what it has imported."""
    recorder = Recorder(report)
    sys.meta_path.insert(0, recorder)
    for name in list(sys.modules):
        recorder.find_spec(name)
    return recorder
