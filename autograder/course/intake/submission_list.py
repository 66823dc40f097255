"""When learners submitted, by a list that Canvas gives: JSON of its API, or a table with such columns.

A row is a learner's by each key that it has; two keys that disagree, or a key that is nobody's alone, say nothing.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from itertools import chain
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values import own_file
from ..gradebook import GradebookLearner
from ..terms.deadline_time import read_time
from .roster_match import Roster

SUBMITTED = ("submitted_at", "submitted", "submission_date", "date_submitted", "submission_time", "time_submitted")
KEYS = {  # the columns by which a learner is found, in Canvas's own words
    "number": ("user_id", "id", "canvas_user_id", "sis_user_id", "canvas_id"),
    "id": ("sis_login_id", "login_id", "learner", "login", "username"),
    "address": ("email", "email_address", "e_mail"),
    "name": ("name", "student", "user_name", "student_name", "sortable_name", "full_name"),
}
NOTHING = ("", "-", "null", "none", "n/a")
EXPECTED = "a list of submissions with who and submitted_at was expected, as Canvas's API or a CSV file has them"
Row = Mapping[str, Any]


@dataclass
class SubmissionTimes:
    """When each learner submitted (UTC), and what was not taken, for the teacher."""

    by_learner: dict[str, datetime] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read(paths: Iterable[Path], people: Sequence[GradebookLearner], zone: tzinfo | None = None) -> SubmissionTimes:
    """The times of all these lists, of which the latest counts, as the platform's download has the latest notebook.

    A time without a zone is one of `zone`, and without that counts for nobody. CourseError where a file is no list.
    """
    made, roster = SubmissionTimes(), Roster(people)
    for path in paths:
        for row in _rows(path):
            _take(made, path, row, roster, zone)
    return made


def _take(made: SubmissionTimes, path: Path, row: Row, roster: Roster, zone: tzinfo | None) -> None:
    text = _text(row, SUBMITTED)
    if text.casefold() in NOTHING:
        return
    keys = {kind: key for kind, names in KEYS.items() if (key := _text(row, names))}
    who = _shown(keys)
    owners = [_owners(roster, kind, key) for kind, key in keys.items()]
    matching = {people[0].id for people in owners if len(people) == 1}
    if len(matching) != 1:
        made.notes.append(f"{path.name}: {who} {_why_nobody(owners)}")
        return
    try:
        when = _moment(text, zone)
    except ValueError as error:
        made.notes.append(f"{path.name}: {who}: {error}")
        return
    (learner,) = matching
    made.by_learner[learner] = max(when, made.by_learner.get(learner, when))


def _why_nobody(owners: Sequence[Sequence[GradebookLearner]]) -> str:
    """Of a row whose keys mean these learners, a list for each key: why it counts for none of them."""
    disagreeing = sorted({people[0].id for people in owners if len(people) == 1})
    if disagreeing:
        return f"is {' or '.join(disagreeing)} by its keys"
    sharing = sorted({person.id for person in chain.from_iterable(owners)})
    return f"may be {' or '.join(sharing)}: the roster has it for each" if sharing else "is nobody of the gradebook"


def _owners(roster: Roster, kind: str, text: str) -> list[GradebookLearner]:
    matching: Callable[[GradebookLearner], bool] = {
        "number": lambda who: text in (who.lms_id, who.id),
        "id": lambda who: text in (who.id, who.lms_id) or text.casefold() == who.email.casefold(),
        "address": lambda who: text.casefold() in (who.email.casefold(), who.id.casefold()),
        "name": lambda who: who in roster.named(text),
    }[kind]
    return [who for who in roster.people if matching(who)]


def _moment(text: str, zone: tzinfo | None) -> datetime:
    """The time in UTC; ValueError where it is none, or has no zone."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return read_time(text).utc.replace(tzinfo=UTC)
    if when.tzinfo is None and zone is None:
        raise ValueError(f"{text!r} has no time zone, and counts with --time-zone")
    return (when if when.tzinfo else when.replace(tzinfo=zone)).astimezone(UTC)


def _text(row: Row, names: Sequence[str]) -> str:
    return next((text for name in names if (text := str(row.get(name) or "").strip())), "")


def _shown(keys: Mapping[str, str]) -> str:
    named = (keys[kind] for kind in ("name", "id", "address", "number") if kind in keys)
    return repr(next(named, "a row without a name"))


def _rows(path: Path) -> Iterator[Row]:
    """Each row by plain names of its columns: "SIS Login ID" is sis_login_id."""
    try:
        text = own_file.bytes_of(path).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{path}: {EXPECTED} ({error})") from None
    rows = list(_of_json(path, text) if text.lstrip()[:1] in ("[", "{") else _of_table(path, text))
    if not any(set(SUBMITTED) & row.keys() for row in rows):
        named = ", ".join(sorted({name for row in rows for name in row})[:20])
        raise CourseError(f"{path}: its fields are {named or 'none'}; {EXPECTED}")
    yield from rows


def _of_json(path: Path, text: str) -> Iterator[Row]:
    """Submissions, each with its `user` where the API was asked for it; pages may follow one another."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        try:
            data, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            raise CourseError(f"{path}: it is not JSON; {EXPECTED}") from None
        at += len(text[at:]) - len(text[at:].lstrip())
        for row in data if isinstance(data, list) else [data]:
            if not isinstance(row, dict):
                raise CourseError(f"{path}: it has {type(row).__name__} in it; {EXPECTED}")
            user = row.get("user")
            about = {name: row[name] for name in ("user_id", "submitted_at") if name in row}
            yield about | ({_plain(name): text for name, text in user.items()} if isinstance(user, dict) else {})


def _of_table(path: Path, text: str) -> Iterator[Row]:
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    try:
        lines = list(csv.reader(io.StringIO(text), delimiter=separator))
    except csv.Error as error:
        raise CourseError(f"{path}: {EXPECTED} ({error})") from None
    head = [_plain(name) for name in lines[0]] if lines else []
    for line in lines[1:]:
        if any(line):
            yield dict(zip(head, line, strict=False))


def _plain(name: str) -> str:
    return "_".join(re.findall(r"[^\W_]+", name.casefold()))
