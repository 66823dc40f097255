"""A request as a text that a learner fills in and sends: its code shows that it is from the page of this learner.

The code is a keyed digest of assignment, learner and exercise, with a secret of the course: nobody can ask about
another's work without that learner's feedback page.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.file_lock import locked
from ...values.own_file import text_of
from ...values.own_folder import own

HEAD = "Regrade request"
FIELDS = ("assignment", "exercise", "learner", "code", "reason")
LINE = re.compile(rf"^(?:>|[^\S\n])*+({'|'.join(FIELDS)})[ \t]*:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
DIGITS = 20  # of a code: 80 bits, which nobody tries out against a teacher
MOST_BYTES = 100_000  # of a file
REMEDY = "remove it; requests from pages that were written before are then refused"


@dataclass(frozen=True)
class RequestText:
    """What a learner has sent."""

    assignment: str
    exercise: str
    learner: str
    code: str
    reason: str


def code(folder: Path, name: str, learner: str, exercise: str) -> str:
    """The code of a request, for the page of this learner alone."""
    content = "\0".join((name, learner, exercise)).encode()
    return hmac.new(_secret(folder), content, hashlib.sha256).hexdigest()[:DIGITS]


def form(folder: Path, name: str, learner: str, exercise: str) -> str:
    """The text to fill in."""
    lines = (HEAD, f"assignment: {name}", f"exercise: {exercise}", f"learner: {learner}")
    return "\n".join((*lines, f"code: {code(folder, name, learner, exercise)}", "reason: "))


def read(folder: Path, text: str) -> RequestText:
    """A text that was filled in, around which a mail may have other lines; CourseError unless it has all of it, and
    the code of the learner's own page."""
    values: dict[str, str] = {}
    text = text.replace("\r\n", "\n")
    for match in LINE.finditer(text):
        field, value = match.groups()
        if field == "reason":
            values[field] = text[match.start(2) :]
            break
        values.setdefault(field, value)
    if missing := [field for field in FIELDS if not values.get(field, "").strip()]:
        raise CourseError(f"a line {missing[0]!r} was expected, with something behind the colon")
    made = RequestText(**values)
    if not hmac.compare_digest(made.code.encode(), code(folder, made.assignment, made.learner, made.exercise).encode()):
        raise CourseError(
            f"the code is not that of the feedback page of {made.learner!r} for {made.assignment}/{made.exercise}"
        )
    return made


def read_file(folder: Path, path: Path) -> RequestText:
    """A request in a file of text; CourseError names the file."""
    if path.stat().st_size > MOST_BYTES:
        raise CourseError(f"{path}: {path.stat().st_size:,} bytes; at most {MOST_BYTES:,} were expected")
    try:
        return read(folder, path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise CourseError(f"{path}: not text in UTF-8; a request as the feedback page has it was expected") from None
    except CourseError as error:
        raise CourseError(f"{path}: {error}") from None


def _secret(folder: Path) -> bytes:
    path = own(folder, "requests", "secret")
    if not path.exists():
        with locked(own(folder, "requests", "secret.lock")):
            if not path.exists():
                write_whole(path, secrets.token_hex(32) + "\n")
    return text_of(path, REMEDY, CourseError).strip().encode()
