"""What a reader gathers while it goes through the lines of a log."""

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from functools import cache
from typing import Any

from hwlib.run_logs.fields import LogField, fields_of, key_of, quantities
from hwlib.run_logs.lines import LogLine
from hwlib.run_logs.records import LogEvent, LoggedStep, LogSetting, LogTimer, RunLog

MOST_STEP = 1e12
ATTRIBUTES = {attribute.name for attribute in fields(LoggedStep)} - {"step", "line", "clock", "others"}
TOOK = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?s(?:ec|\b)")
Pairs = Iterable[tuple[str, str]]


@cache
def _events_of(program: str) -> tuple[tuple[str, LogField], ...]:
    return tuple((field.name.lower(), field) for field in fields_of(program, "event").values())


class LogReading:
    """The steps, settings, events and timers of one program, in the order of the lines."""

    def __init__(self, program: str):
        self.program = program
        self.steps: list[LoggedStep] = []
        self.settings: list[LogSetting] = []
        self.events: list[LogEvent] = []
        self.timers: list[LogTimer] = []
        self.benchmark: dict[str, float] = {}
        self.unread: list[int] = []

    @property
    def last_step(self) -> int | None:
        """The number of the step that was read last."""
        return self.steps[-1].step if self.steps else None

    def step(self, line: LogLine, pairs: Pairs) -> bool:
        """Take a line for a step, if its pairs have the number of it; whether they do."""
        values = dict(quantities(self.program, pairs, "step"))
        step = values.pop("step", None)
        if step is None or not 0 <= step < MOST_STEP or not values:
            return False
        mine = {name: value for name, value in values.items() if name in ATTRIBUTES}
        others = tuple((name, value) for name, value in values.items() if name not in ATTRIBUTES)
        self.steps.append(LoggedStep(int(step), line.number, **mine, clock=line.clock, others=others))
        return True

    def attach(self, pairs: Pairs) -> None:
        """Give the step that was read last what a line of its own says of it, as of memory; before the first step it is
        lost.
        """
        values: dict[str, Any] = dict(quantities(self.program, pairs, "step"))
        if self.steps:
            self.steps[-1] = replace(self.steps[-1], **{name: values[name] for name in ATTRIBUTES & values.keys()})

    def setting(self, line: LogLine, pairs: Pairs) -> None:
        """Take what pairs say of the whole run; words where the table says that they are."""
        known = fields_of(self.program, "setting")
        for name, text in pairs:
            field = known.get(key_of(name))
            if field is None:
                continue
            value = text.strip().strip("'\",")[:80] if field.unit == "words" else field.number(text)
            if value is not None and value != "":
                self.settings.append(LogSetting(field.quantity, value, line.number))

    def words(self, line: LogLine, name: str, value: str) -> None:
        """Take a setting that is words."""
        self.settings.append(LogSetting(name, value.strip()[:80], line.number))

    def event(self, line: LogLine) -> bool:
        """Take a line for an event, if it has the words of one; whether it has."""
        text = line.text.lower()
        for words, field in _events_of(self.program):
            at = text.find(words)
            if at >= 0:
                took = TOOK.search(text, at)
                seconds = float(took[1]) if took else None
                self.events.append(LogEvent(field.quantity, line.number, self.last_step, seconds))
                return True
        return False

    def timer(self, line: LogLine, name: str, times: tuple[float, ...], unit: float) -> None:
        """Take the times of one timer: of one rank, of the quickest and the slowest, or of all."""
        if key_of(name) in fields_of(self.program, "timer") and times and max(times) < MOST_STEP:
            times = tuple(unit * time for time in times)
            ranks = times if len(times) > 2 else ()
            self.timers.append(LogTimer(name.lower(), self.last_step, line.number, min(times), max(times), ranks))

    @property
    def empty(self) -> bool:
        """Whether nothing of a run was read."""
        return not (self.steps or self.benchmark)

    def log(self) -> RunLog:
        """What was read, as a record."""
        return RunLog(
            self.program,
            tuple(self.steps),
            tuple(self.settings),
            tuple(self.events),
            tuple(self.timers),
            self.benchmark,
            unread=tuple(self.unread),
        )
