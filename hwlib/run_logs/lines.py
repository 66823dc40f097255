"""The lines of a log without what a terminal, a launcher or a tracker puts around them."""

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from hwlib.pasted_text import without_container

LONGEST = 20_000  # characters of a line that are looked at
COLOUR = re.compile("\x1b\\[[0-9;]{0,20}[A-Za-z]")
TAG = re.compile(r"(?:\[?\d{1,6},\d{1,6}\]?<std(?:out|err)>:|\[(?:default|rank)?\d{1,6}\]:|(?:stdout|stderr): )\s?")
NUMBERED = re.compile(r"\d{1,6}: (?=\s*\S)")
QUOTE = re.compile(r"(?:>[> ]{0,8}|\(\w{1,40}(?: pid=\d{1,10})?[^()]{0,80}\) )")
DATED = re.compile(
    r"(?:(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)[T ])?(?P<hour>[012]\d):(?P<minute>[0-5]\d):(?P<second>[0-5]\d)"
    r"(?P<part>[.,]\d{1,9})?(?!\d)"
)
HEAD = 60  # characters at the start of a line in which its time stands
DAY = 86_400.0


class LogLine(NamedTuple):
    """A line with its number, from 1, and the seconds of its time stamp, if it has one."""

    number: int
    text: str
    clock: float | None


def log_lines(text: str) -> Iterator[LogLine]:
    """The lines that are not empty. A progress bar overwrites its line: what it wrote last is that line's end, so that
    each of its states is a line of its own here.
    """
    for number, row in enumerate(without_container(text).replace("\r\n", "\n").split("\n"), 1):
        for piece in row.split("\r"):
            plain = _plain(piece[:LONGEST])
            if plain.strip():
                yield LogLine(number, plain, _clock(plain))


def _plain(line: str) -> str:
    line = (COLOUR.sub("", line) if "\x1b" in line else line).replace("\x00", "")
    for pattern in (QUOTE, TAG, NUMBERED, TAG):
        match = pattern.match(line)
        line = line[match.end() :] if match else line
    return line


def _clock(line: str) -> float | None:
    """The seconds of the time in the head of a line, of its day or, with a date, of the calendar."""
    head = line[:HEAD]
    match = DATED.search(head) if ":" in head else None
    if not match:
        return None
    hour, minute, second = (int(match[name]) for name in ("hour", "minute", "second"))
    part = float("0." + match["part"][1:]) if match["part"] else 0.0
    days = 0
    if match["year"]:
        year, month, day = (int(match[name]) for name in ("year", "month", "day"))
        try:
            days = date(year, month, day).toordinal()
        except ValueError:
            return None
    return days * DAY + hour * 3600 + minute * 60 + second + part
