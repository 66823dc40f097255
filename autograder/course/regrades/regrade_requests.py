"""Learners' requests for another look at a grade, and a teacher's answers: `.gpubook/requests/NAME.json`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from traitlets import Bool, Integer, TraitError, Unicode
from traitlets.config import Config, Configurable

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.file_lock import locked
from ...values.own_file import json_of
from ...values.own_folder import own
from ..gradebook.question_points import by_question
from ..layout import read_config
from ..terms.deadline_time import shown

MOST_LETTERS = 5000  # of a reason, and of an answer
REMEDY = "restore it from a backup; without it, learners' requests and their answers are gone"


class RegradeRequests(Configurable):
    """The options of regrade requests: in nbgrader_config.py, `c.RegradeRequests.NAME = ...`."""

    offered = Bool(False, help="Whether feedback pages say how to ask for another look at a grade.").tag(config=True)
    most = Integer(3, min=1, help="Requests that a learner has for an assignment.").tag(config=True)
    mail = Unicode("", help="An address to which feedback pages offer to write the request.").tag(config=True)

    @classmethod
    def of(cls, config: Config) -> RegradeRequests:
        """The options that a course's configuration sets; CourseError where one is not what was expected."""
        try:
            return cls(config=config)
        except TraitError as error:
            raise CourseError(str(error)) from None


@dataclass(frozen=True)
class RegradeRequest:
    """What a learner asks about an exercise, at a time (UTC), with the points that it had then; and the answer, by whom
    and when, with the points that it has then."""

    number: int
    learner: str
    exercise: str
    reason: str
    at: str
    before: float | None
    answer: str = ""
    by: str = ""
    answered: str = ""
    after: float | None = None

    @property
    def open(self) -> bool:
        return not self.answered

    @property
    def points(self) -> str:
        """The points before and after, as a sentence has them."""
        before, after = map(_in_words, (self.before, self.after))
        if self.open:
            return before
        return f"still {after}" if before == after else f"{before} before, {after} now"


def _in_words(points: float | None) -> str:
    return "no points yet" if points is None else f"{points:g} point{'' if points == 1 else 's'}"


@dataclass
class AssignmentRequests:
    """All requests of an assignment, and until when (UTC) they are taken: None, without an end."""

    requests: list[RegradeRequest] = field(default_factory=list)
    until: datetime | None = None

    def of(self, learner: str, exercise: str | None = None) -> list[RegradeRequest]:
        """Those of a learner, about an exercise or all of them."""
        return [one for one in self.requests if one.learner == learner and exercise in (None, one.exercise)]

    def refusal(self, learner: str, exercise: str, most: int, now: datetime) -> str:
        """Why a learner cannot ask about an exercise; empty where they can."""
        mine = self.of(learner)
        if self.until is not None and now > self.until:
            return f"requests were taken until {shown(self.until)}"
        if any(one.open for one in mine if one.exercise == exercise):
            return "there is a request already, which was not answered yet"
        if len(mine) >= most:
            return f"{most} request{'' if most == 1 else 's'} for an assignment were used up"
        return ""


def read(folder: Path, name: str) -> AssignmentRequests:
    """The requests of an assignment; CourseError where the file is not ours."""
    path = own(folder, "requests", f"{name}.json")
    return json_of(path, REMEDY, _requests, CourseError) if path.exists() else AssignmentRequests()


def assignments(folder: Path) -> list[str]:
    """The assignments of which something was asked."""
    return sorted(path.stem for path in own(folder, "requests").glob("*.json"))


def of_all(folder: Path) -> list[tuple[str, RegradeRequest]]:
    """All requests of a course, each with its assignment."""
    return [(name, request) for name in assignments(folder) for request in read(folder, name).requests]


def ask(folder: Path, name: str, learner: str, exercise: str, reason: str) -> RegradeRequest:
    """Enter a learner's request about an exercise of theirs; CourseError says why it is not taken."""
    folder, reason = Path(folder).resolve(), checked_text(reason, "a reason")
    most = RegradeRequests.of(read_config(folder)).most
    points = by_question(folder, name)
    if learner not in points.of:
        raise CourseError(f"{learner!r} has no graded submission of {name}")
    if exercise not in points.most:
        known = ", ".join(points.most) or "none"
        raise CourseError(f"{name} has no exercise {exercise!r}; it has {known}")
    if points.of[learner].get(exercise) is None:
        raise CourseError(f"{learner}/{exercise}: the answer is still to be graded")
    with _changing(folder, name) as every:
        now = utc_now()
        if refusal := every.refusal(learner, exercise, most, now):
            raise CourseError(f"{learner}/{exercise}: {refusal}")
        number = 1 + max((one.number for one in every.requests), default=0)
        made = RegradeRequest(number, learner, exercise, reason, _text(now), points.of[learner].get(exercise))
        every.requests.append(made)
    return made


def answer(folder: Path, name: str, number: int, text: str, by: str = "") -> RegradeRequest:
    """Answer a request, or answer it anew; the points are those that the gradebook has now."""
    folder, text = Path(folder).resolve(), checked_text(text, "an answer")
    points = by_question(folder, name)
    with _changing(folder, name) as every:
        at = next((at for at, one in enumerate(every.requests) if one.number == number), None)
        if at is None:
            known = ", ".join(str(one.number) for one in every.requests) or "none"
            raise CourseError(f"{name} has no request {number}; it has {known}")
        before = every.requests[at]
        after = points.of.get(before.learner, {}).get(before.exercise)
        made = replace(before, answer=text, by=by, answered=_text(utc_now()), after=after)
        every.requests[at] = made
    return made


def take_until(folder: Path, name: str, until: datetime | None) -> None:
    """Take requests until a time in UTC; None: without an end."""
    with _changing(Path(folder).resolve(), name) as every:
        every.until = until


def checked_text(text: str, what: str) -> str:
    """A text without what no file or terminal takes; CourseError where it is empty or too long."""
    plain = "".join(c for c in text.replace("\r\n", "\n") if c in "\n\t" or c.isprintable()).strip()
    if not 0 < len(plain) <= MOST_LETTERS:
        raise CourseError(f"{what} of {len(plain):,} letters; 1 to {MOST_LETTERS:,} were expected")
    return plain


def utc_now() -> datetime:
    """The time in UTC, to the second."""
    return datetime.now(UTC).replace(tzinfo=None, microsecond=0)


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"


@contextmanager
def _changing(folder: Path, name: str) -> Iterator[AssignmentRequests]:
    """The requests of an assignment, which are written at the end of the block unless it fails; one at a time."""
    with locked(own(folder, "requests", f"{name}.lock")):
        every = read(folder, name)
        yield every
        until = None if every.until is None else every.until.isoformat()
        plain = {"version": 1, "until": until, "requests": [asdict(one) for one in every.requests]}
        text = json.dumps(plain, indent=1, ensure_ascii=False)
        write_whole(own(folder, "requests", f"{name}.json"), text + "\n")


def _requests(plain: Any) -> AssignmentRequests:
    until = None if plain["until"] is None else datetime.fromisoformat(plain["until"])
    return AssignmentRequests([RegradeRequest(**row) for row in plain["requests"]], until)
