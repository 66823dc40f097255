"""The progress of a class run: a bar with rate and remaining time, or, if the output is not a terminal, a line now and
then."""

import time
from typing import Any, Self

EVERY = 10.0  # seconds between two lines


class ProgressMeter:
    """The callbacks `started` and `progress` of `course.grade`, on a rich console. Leaving it removes the bar."""

    def __init__(self, console: Any = None):
        from rich.console import Console

        self.console = console or Console(stderr=True)
        self.total, self.count, self.began, self.said = 0, 0, time.monotonic(), 0.0
        self._bar: Any = None

    def started(self, total: int, remark: str) -> None:
        """Called once: there are `total` submissions; `remark` describes an earlier run."""
        from rich.text import Text

        self.total, self.began = total, time.monotonic()
        self.said = self.began
        if remark:
            self.console.print(Text(remark), soft_wrap=True)
        if self.console.is_terminal:
            self._bar = _bar(self.console)
            self._bar.start()
            self._task = self._bar.add_task("grading", total=total, rate="")

    def progress(self, learner: str) -> None:  # noqa: ARG002
        """Called after each submission."""
        self.count += 1
        now = time.monotonic()
        if self._bar is not None:
            self._bar.update(self._task, completed=self.count, rate=self.rate)
        elif self.count == self.total or now - self.said >= EVERY:
            self.said = now
            left = (self.total - self.count) * (now - self.began) / self.count
            self.console.print(
                f"{self.count} of {self.total} graded, {self.rate}, {left:.0f} s left", highlight=False, soft_wrap=True
            )

    @property
    def rate(self) -> str:
        """Submissions per second or minute, as text."""
        each = (time.monotonic() - self.began) / max(self.count, 1)
        return f"{1 / each:.1f} a second" if 0 < each < 1 else f"{60 / each:.1f} a minute" if each else ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def _bar(console: Any) -> Any:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        console=console,
        transient=True,
        speed_estimate_period=60.0,
    )
