"""IPython without a kernel: runs a cell's source and returns what it showed, as plain nbformat outputs."""

import os
import re
import signal
import sys
from functools import partial
from typing import Any

DISPLAY_FORMATS = ("text/plain", "text/markdown", "text/latex")  # text only: others open the graded notebook
NOT_RUN = "[not run: where a notebook is judged there is no terminal, and nothing can be installed]\n"
NOT_LEFT = "[a notebook that is judged goes on: exit() and quit() end nothing]\n"
OTHER_PROGRAMS = ("bash", "sh", "script", "perl", "ruby", "python", "python2", "python3", "pypy", "pypy3")
INSTALLERS = ("conda", "mamba", "micromamba", "uv")
CELL_FILE = re.compile(r"\(<ipython-input-[^>]*>, line ")  # a syntax error names its file; a cell has none


class CellTimeout(BaseException):
    """The cell reached its time limit."""


class OutputCapture:
    """Collects the outputs of one cell, up to a number of bytes."""

    def __init__(self, limit: int):
        self.limit = limit
        self.outputs: list[dict[str, Any]] = []
        self.used = 0

    def clear(self) -> None:
        self.outputs, self.used = [], 0

    def fit(self, text: str) -> str:
        """As much of `text` as still fits; the first cut says so."""
        fitting = text[: max(0, self.limit - self.used)]
        if len(fitting) < len(text) and self.used <= self.limit:
            fitting += f"\n[output cut after {self.limit} characters]\n"
        self.used += len(text)
        return fitting

    def stream(self, name: str, text: str) -> None:
        """Text on stdout or stderr, joined to what came just before on the same stream."""
        fitting = self.fit(text)
        last = self.outputs[-1] if self.outputs else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"] += fitting
        elif fitting:
            self.outputs.append({"output_type": "stream", "name": name, "text": fitting})

    def show(self, kind: str, data: dict[str, Any]) -> None:
        """A display or the cell's value; its text forms only."""
        forms = {mime: self.fit(str(data[mime])) for mime in DISPLAY_FORMATS if mime in data}
        if forms:
            self.outputs.append({"output_type": kind, "data": forms})

    def error(self, name: str, value: str, traceback: list[str]) -> None:
        """An exception that ended the cell."""
        self.outputs.append(
            {
                "output_type": "error",
                "ename": name[:200],
                "evalue": self.fit(value[:2000]),
                "traceback": [self.fit(line) for line in traceback],
            }
        )


class Stream:
    """Stands for sys.stdout or sys.stderr, and writes to the cell's capture: text only, never a terminal."""

    encoding, errors, closed = "utf-8", "replace", False

    def __init__(self, name: str, capture: OutputCapture):
        self.name, self._capture = name, capture

    def write(self, text: str) -> int:
        self._capture.stream(self.name, str(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False


def _shows(capture: OutputCapture) -> tuple[Any, Any]:
    """The classes by which IPython displays something and shows a cell's value, into a capture."""
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher

    class Displays(DisplayPublisher):
        def publish(self, data, *_, **__):
            capture.show("display_data", data)

    class Values(DisplayHook):
        def __call__(self, result=None):
            if result is not None:
                self.update_user_ns(result)
                data, _ = self.compute_format_data(result)
                capture.show("execute_result", data)

        def quiet(self):
            return False

    return Displays, Values


def _without_programs(capture: OutputCapture) -> Any:
    """An IPython that starts no other program, opens no window and goes on after exit(), and says so."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.text import LSString, SList

    class WithoutPrograms(InteractiveShell):
        def system(self, cmd):
            capture.stream("stdout", f"!{cmd.strip()}\n{NOT_RUN}")

        def getoutput(self, cmd, split=True, depth=0):  # noqa: ARG002  (the name is IPython's)
            self.system(cmd)
            return SList() if split else LSString()

        def unrun(self, name, line, _cell=""):
            """Stands for a magic that would start another program."""
            self.system(f"{name} {line}")

        def init_magics(self):
            super().init_magics()
            manager: Any = self.magics_manager
            for name in INSTALLERS:
                manager.register_function(partial(self.unrun, name), "line", name)
            for name in OTHER_PROGRAMS:
                manager.register_function(partial(self.unrun, name), "cell", name)

        def enable_gui(self, gui=None):
            """No window opens, and figures are not shown."""

        def enable_matplotlib(self, gui=None):
            return gui, "agg"

        def ask_exit(self):
            capture.stream("stdout", NOT_LEFT)

    return WithoutPrograms


class Shell:
    """One namespace in which cells run, one after another, each under a time limit."""

    def __init__(self, folder: str):
        from traitlets.config import Config

        self.capture = capture = OutputCapture(200_000)
        displays, values = _shows(capture)

        class Capturing(_without_programs(capture)):  # type: ignore[misc]
            displayhook_class = values
            display_pub_class = displays

            def _showtraceback(self, etype, evalue, stb):
                try:
                    value = str(evalue)
                except Exception:
                    value = "(its message could not be made)"
                capture.error(etype.__name__, value, list(stb))

            def init_history(self):
                super().init_history()
                if self.history_manager is not None:
                    self.history_manager.enabled = False

        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "nocolor"
        config.InteractiveShell.cache_size = 0
        config.InteractiveShell.ipython_dir = folder
        self.ip = Capturing.instance(config=config)
        self.expired = False
        self.pid = os.getpid()

    def begin(self, output_limit: int) -> None:
        """Called once in the process that runs a submission."""
        self.capture.limit = output_limit
        self.pid = os.getpid()
        sys.stdout, sys.stderr = Stream("stdout", self.capture), Stream("stderr", self.capture)
        signal.signal(signal.SIGALRM, self._alarm)

    def _alarm(self, *_: Any) -> None:
        self.expired = True
        raise CellTimeout("the cell had its time")

    def timed(self, limit: float, act: Any) -> Any:
        """`act()`, interrupted after `limit` seconds and every second from then on (a cell may catch the
        first)."""
        self.expired = False
        signal.setitimer(signal.ITIMER_REAL, limit, 1.0)
        try:
            return act()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def run(self, source: str, limit: float) -> dict[str, Any]:
        """Run one cell: its outputs, its error if one ended it, and whether it ran out of time."""
        self.capture.clear()
        try:
            result = self.timed(limit, lambda: self.ip.run_cell(source, store_history=False))
            error = result.error_before_exec or result.error_in_exec
        except CellTimeout as late:
            error = late
        if os.getpid() != self.pid:  # the cell forked, and this is its copy
            os._exit(0)
        if self.expired:
            message = f"the cell ran longer than {limit:g} s"
            shown = self.capture.outputs
            self.capture.outputs = [output for output in shown if output.get("ename") != "CellTimeout"]
            self.capture.error("CellTimeout", message, [f"CellTimeout: {message}"])
            return {
                "outputs": self.capture.outputs,
                "expired": True,
                "error": "CellTimeout",
                "message": message,
            }
        name = None if error is None else type(error).__name__
        return {"outputs": self.capture.outputs, "expired": False, "error": name, "message": _text(error)}


def _text(error: BaseException | None) -> str:
    try:
        return "" if error is None else CELL_FILE.sub("(line ", str(error)[:500])
    except BaseException:
        return ""
