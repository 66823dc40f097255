"""A process that has imported nothing of this repository but what it runs, and says what that was.

The process that runs the tests has imported most of the repository, for it has collected all tests.
"""

import multiprocessing
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from .imported import marked, new_report, report_from, reporting_python

CONTEXT = multiprocessing.get_context("forkserver")
FOREIGN = ("numpy", "scipy.optimize", "sympy", "networkx", "nbformat", "matplotlib.pyplot", "anywidget", "torch")
"""What most runs import, loaded once; it is not of this repository."""
Result = tuple[Any, frozenset[str]]


class CleanProcess:
    """A context manager. Each call gives what a function of a module has returned, and the modules that were imported
    until then, by the process and those that it has started."""

    def __init__(self) -> None:
        CONTEXT.set_forkserver_preload(list(FOREIGN))
        self._folder = tempfile.TemporaryDirectory(prefix="gpubook-clean-")
        folder = Path(self._folder.name)
        self._report = new_report(folder / "imported")
        report_from(folder, self._report)
        self._channel, theirs = CONTEXT.Pipe()
        arguments = (theirs, str(self._report), reporting_python(folder))
        self._process = CONTEXT.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()
        self._process.join()
        self._folder.cleanup()

    def here(self, function: Callable[..., Any], *arguments: Any) -> Result:
        """Call it in the process itself, which keeps what the call sets and imports."""
        return self._ask(function, arguments, fork=False)

    def forked(self, function: Callable[..., Any], *arguments: Any) -> Result:
        """Call it in a fork of the process, of which nothing stays."""
        before = self._report.read_bytes()
        try:
            return self._ask(function, arguments, fork=True)
        finally:
            with self._report.open("r+b") as report:  # the same file: it is mapped
                report.write(before)

    def _ask(self, function: Callable[..., Any], arguments: tuple[Any, ...], fork: bool) -> Result:
        self._channel.send((function, arguments, fork))
        returned, failed = self._channel.recv()
        if failed:
            raise RuntimeError(f"in the clean process: {failed}")
        return returned, marked(self._report)


def _serve(channel: Any, report: str, python: str) -> None:
    from .import_recorder import install

    sys.executable = python
    recorder = install(report)
    while True:
        try:
            function, arguments, fork = channel.recv()
        except EOFError:
            return
        if not fork:
            channel.send(_outcome(function, arguments, recorder))
        elif pid := os.fork():
            _, status = os.waitpid(pid, 0)
            if status:
                channel.send((None, f"a fork ended with status {status}"))
        else:
            try:
                channel.send(_outcome(function, arguments, recorder))
                os._exit(0)
            finally:
                os._exit(1)


def _outcome(function: Callable[..., Any], arguments: tuple[Any, ...], recorder: Any) -> tuple[Any, str]:
    """What a call returns, and nothing; or nothing, and how it failed."""
    try:
        outcome = function(*arguments), ""
    except Exception:
        outcome = None, traceback.format_exc()
    for name in list(sys.modules):
        recorder.find_spec(name)
    return outcome
