"""What was done in a course: what, when (UTC) and by whom, in `.gpubook/history.jsonl`.

One line of JSON for each change, appended and on the disk before the command ends; nothing is ever taken out of it. A
line that a kill truncated is ignored.
"""

from __future__ import annotations

import getpass
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values.own_file import parsed, text_of
from ...values.own_folder import own
from .course_lock import alone

FILE = "history.jsonl"
REMEDY = "move it away; the course goes on with a new one"
FIELDS = {"at", "by", "what", "assignment", "about"}
USER = ("JUPYTERHUB_USER", "GPUBOOK_USER")  # in the environment, before the name of the account


@dataclass(frozen=True)
class Event:
    """One change: when, by whom, what (a word such as "drop"), of which assignment ("" of the whole course), and the
    rest as plain data."""

    at: str
    by: str
    what: str
    assignment: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)

    def as_plain(self) -> dict[str, Any]:
        """As the file has it."""
        return asdict(self)

    @property
    def concerns(self) -> tuple[str, ...]:
        """The exercises that it is about; of none in particular, nothing."""
        return tuple(text for text in (self.about.get("exercise"),) if isinstance(text, str))

    @property
    def learners(self) -> tuple[str, ...]:
        """The learners whom it names."""
        return tuple(who for who in self.about.get("learners", ()) if isinstance(who, str))


def who() -> str:
    """Whoever runs this: a hub's user name, or that of the account; "" where there is none."""
    for name in USER:
        if os.environ.get(name):
            return os.environ[name]
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a container's number without a name
        return ""


def now() -> str:
    """The time as a history has it: UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")


def record(folder: Path, what: str, assignment: str = "", **about: Any) -> Event:
    """Append a change; what of `about` is empty is left out."""
    event = Event(now(), who(), what, assignment, {key: part for key, part in about.items() if part not in ("", None)})
    with alone(folder, FILE) as handle:
        append(handle, event.as_plain())
        os.fsync(handle)
    return event


def append(handle: int, line: dict[str, Any]) -> None:
    """A whole line of JSON at the end of an open file, or none of it; a line that a kill truncated is cut off."""
    size = os.fstat(handle).st_size
    if size and _read(handle, size - 1, 1) != b"\n":
        size = _read(handle, 0, size).rfind(b"\n") + 1
        os.ftruncate(handle, size)
    data = json.dumps(line, ensure_ascii=True).encode() + b"\n"
    try:
        while data:
            data = data[os.write(handle, data) :]
    except OSError:
        os.ftruncate(handle, size)
        raise


def _read(handle: int, at: int, count: int) -> bytes:
    os.lseek(handle, at, os.SEEK_SET)
    return os.read(handle, count)


def events(folder: Path, assignment: str = "") -> list[Event]:
    """What was done, the earliest first: of one assignment with what is of the whole course, or all of it. CourseError,
    which names the file, where it is not ours."""
    every = [_event(folder, line) for line in lines(own(folder, FILE))]
    return [event for event in every if not assignment or event.assignment in ("", assignment)]


def lines(path: Path) -> list[str]:
    """The whole lines of a file to which lines are appended; none where it is missing."""
    if not path.exists():
        return []
    text = text_of(path, REMEDY, CourseError)
    return text[: text.rfind("\n") + 1].splitlines()


def _event(folder: Path, line: str) -> Event:
    return parsed(own(folder, FILE), line, REMEDY, _of_plain, CourseError)


def _of_plain(plain: Any) -> Event:
    if not isinstance(plain, dict) or set(plain) != FIELDS or not isinstance(plain["about"], dict):
        raise TypeError(f"a line with {', '.join(sorted(FIELDS))} was expected")
    if {type(plain[name]) for name in FIELDS - {"about"}} != {str}:
        raise TypeError("a line has more than texts")
    return Event(**plain)
