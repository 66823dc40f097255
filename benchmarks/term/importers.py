"""What Canvas and Moodle make of a file of grades, as far as their import code says it.

Canvas's `GradebookImporter` (instructure/canvas-lms, lib/gradebook_importer.rb) and Moodle's `assignfeedback_offline`
(moodle/moodle, mod/assign/feedback/offline) were read for their rules, and these are written anew from them: which
file is refused, which column and line is passed over, whose a line is, which grade is entered. Neither platform runs
here.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

STUDENT_COLUMNS = 5  # Student, ID, SIS User ID, SIS Login ID, Section
TOTALS = re.compile(
    "Current Score|Current Points|Current Grade|Final Score|Final Points|Final Grade|Override Score|Override Grade"
    "|Override Status"
)
NUMBER = re.compile(r"-?[0-9.,]+%?")
NUMBERED = re.compile(r"(?P<title>.*)\s\((?P<number>\d+)\)")
NOT_A_STUDENT = re.compile(r"\s*(Muted|Manual Posting.*)?\s*", re.IGNORECASE)
NOTHING = re.compile(r"[;, ]+")  # a line that Canvas skips


class NotImported(ValueError):
    """The platform takes nothing of the file; the message says why."""


@dataclass(frozen=True)
class CanvasStudent:
    """A student as Canvas knows one: by number, by what a school's system says, by login, by name."""

    number: int
    name: str
    sortable: str
    sis_id: str = ""
    login: str = ""


@dataclass
class CanvasUpload:
    """What a teacher is shown before saying yes: grades by student and assignment, students and assignments that Canvas
    would make, the columns that it left out, and the points that it read."""

    grades: dict[tuple[int, str], str] = field(default_factory=dict)
    strangers: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    possible: dict[str, str] = field(default_factory=dict)


@dataclass
class Canvas:
    """A course in Canvas: its students, and the titles of its assignments by their numbers."""

    students: list[CanvasStudent]
    assignments: dict[int, str]

    def upload(self, text: str) -> CanvasUpload:
        """Read a file; NotImported where its head is not that of a gradebook."""
        rows = self._rows(text)
        head = rows[0] if rows else []
        if len(head) <= STUDENT_COLUMNS - 1 or "Student" not in head[0] or "ID" not in head[1]:
            raise NotImported(f"the head {head[:STUDENT_COLUMNS]}; Student, ID and more were expected")
        if not (re.search(r"SIS\s+User\s+ID", head[2]) and re.search(r"SIS\s+Login\s+ID", head[3])):
            raise NotImported(f"the columns {head[2:4]}; SIS User ID and SIS Login ID were expected")
        if "Section" not in head[STUDENT_COLUMNS - 1]:
            raise NotImported(f"the column {head[STUDENT_COLUMNS - 1]!r}; Section was expected, before the assignments")
        made = CanvasUpload()
        columns: dict[str, int] = {}
        for title in head[STUDENT_COLUMNS:]:
            if TOTALS.search(title):
                made.dropped.append(title)
            else:
                columns[self._assignment(title, made)] = head.index(title)  # two of one title are one column to it
        for row in rows[1:]:
            if "Points Possible" in row[0]:
                made.possible = {name: row[at] for name, at in columns.items() if at < len(row)}
            elif not all(NOT_A_STUDENT.fullmatch(cell) for cell in row):
                student = self._student(row)
                if student is None:
                    made.strangers.append(row[0])
                    continue
                for name, at in columns.items():
                    made.grades[student.number, name] = row[at].strip() if at < len(row) else ""
        return made

    @staticmethod
    def _rows(text: str) -> list[list[str]]:
        """The cells, of which those that are numbers lose their separators: the last dot or comma is the decimal's."""
        lines = text.splitlines()[:3]
        cut = ";" if _columns(lines, ";") > _columns(lines, ",") else ","
        kept = [line for line in io.StringIO(text, newline="") if not NOTHING.fullmatch(line.rstrip("\r\n"))]
        try:
            return [[_normal(cell) for cell in row] for row in csv.reader(kept, delimiter=cut, strict=True) if row]
        except csv.Error as error:
            raise NotImported(f"cut at {cut!r}: {error}") from None

    def _assignment(self, title: str, made: CanvasUpload) -> str:
        """The assignment of a column: by the number at its end, else by its whole title, else a new one."""
        numbered = NUMBERED.fullmatch(title)
        if numbered and int(numbered["number"]) in self.assignments:
            return self.assignments[int(numbered["number"])]
        if title in self.assignments.values():
            return title
        made.new.append(numbered["title"] if numbered else title)
        return made.new[-1]

    def _student(self, row: list[str]) -> CanvasStudent | None:
        """Whose a line is: by the number, by the school's id, by the login, and last by the name, whoever has it
        first."""
        digits = re.match(r"\s*\d+", row[1])
        number = int(digits[0]) if digits else 0
        sis_id, login = row[2], row[3]
        keys = (
            lambda one: one.number == number,
            lambda one: bool(sis_id) and one.sis_id == sis_id,
            lambda one: bool(login) and one.login == login,
            lambda one: row[0] in (one.name, one.sortable),
        )
        return next((one for fits in keys for one in self.students if fits(one)), None)


def _columns(lines: list[str], cut: str) -> int:
    """How many columns the first lines have when they are cut there: 0 where they do not agree, or are no CSV."""
    try:
        sizes = {len(next(csv.reader([line], delimiter=cut, strict=True), [])) for line in lines}
    except csv.Error:
        return 0
    return sizes.pop() if len(sizes) == 1 else 0


def _normal(cell: str) -> str:
    if not NUMBER.fullmatch(cell):
        return cell
    *before, last = re.split("[,.]", cell)
    return f"{''.join(before)}.{last}" if before else last


IDENTIFIER, GRADE, MODIFIED, COMMENTS = "Identifier", "Grade", "Last modified (grade)", "Feedback comments"
PARTICIPANT = "Participant "
LEEWAY = 60.0  # seconds by which a grade may be newer than the file says


@dataclass
class MoodleGrade:
    """What Moodle has for a participant: a grade, since when it has anything (seconds, 0 for never), a comment."""

    grade: float | None = None
    modified: float = 0.0
    comment: str = ""


@dataclass
class MoodleUpload:
    """What an upload did, by the number of a participant: whose grade and whose comment it changed, and why it passed
    over a line; what is in the file and none of Moodle's stays in `ignored`."""

    grades: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    strangers: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


@dataclass
class Moodle:
    """An assignment in Moodle, in English: its maximum, and the participants by their number in it."""

    maximum: float
    participants: dict[str, MoodleGrade]

    def upload(self, text: str, now: float, allow_updating: bool = False) -> MoodleUpload:
        """Enter the grades and comments of a worksheet; NotImported where a column or a cell is missing.

        `allow_updating`: the box for records that were modified more recently in Moodle.
        """
        rows = [row for row in csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")) if row]
        head = rows[0] if rows else []
        if any(len(row) != len(head) for row in rows):
            raise NotImported(f"a line has not the {len(head)} cells of the head")
        if missing := [name for name in (IDENTIFIER, GRADE, MODIFIED) if name not in head]:
            raise NotImported(f"no column {', '.join(missing)}")
        at = {name: number for number, name in enumerate(head)}  # of two columns of one name the last
        made = MoodleUpload(ignored=[name for name in head if name not in (IDENTIFIER, GRADE, MODIFIED, COMMENTS)])
        for row in rows[1:]:
            number = row[at[IDENTIFIER]][len(PARTICIPANT) :]
            if number not in self.participants:
                made.strangers.append(row[at[IDENTIFIER]])
                continue
            has, said = self.participants[number], _time(row[at[MODIFIED]])
            stale = has.modified > said + LEEWAY and not allow_updating
            why, grade = self._why_not(has, _float(row[at[GRADE]]), stale)
            if why:
                made.skipped[number] = why
            else:
                self.participants[number] = has = MoodleGrade(grade, now, has.comment)
                made.grades.append(number)
            if at.get(COMMENTS) and not stale and row[at[COMMENTS]] != has.comment:  # a first column counts as none
                has.comment, has.modified = row[at[COMMENTS]], has.modified or now
                made.comments.append(number)
        return made

    def _why_not(self, has: MoodleGrade, grade: float | None, stale: bool) -> tuple[str, float | None]:
        why = ""
        if grade is None:
            why = "no grade"
        elif has.grade == grade:
            why = "the same grade"
        elif stale:
            why = "modified since"
        elif not 0 <= grade <= self.maximum:
            why = "out of range"
        return why, grade


def _float(text: str) -> float | None:
    """A number of English Moodle: a text begins with one, or counts as zero; None for an empty cell."""
    plain = text.strip().replace(" ", "")
    if not plain:
        return None
    found = re.match(r"[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?|[-+]?\d+", plain)
    return float(found[0]) if found else 0.0


def _time(text: str) -> float:
    """A time of the worksheet in seconds; 0 for "-", as PHP has it for what is no time."""
    for form in ("%A, %d %B %Y, %I:%M %p", "%A, %B %d, %Y, %I:%M %p"):
        try:
            return datetime.strptime(text, form).timestamp()
        except ValueError:
            continue
    return 0.0


def worksheet(people: Mapping[str, tuple[str, str]], maximum: float, submitted: Mapping[str, str] | None = None) -> str:
    """The worksheet that Moodle lets a teacher download before anything is graded: by the number of a participant, the
    full name and the e-mail address; and when each submitted, in Moodle's words."""
    out = io.StringIO()
    head = [
        IDENTIFIER,
        "Full name",
        "Email address",
        "Status",
        GRADE,
        "Maximum grade",
        "Grade can be changed",
        "Last modified (submission)",
        MODIFIED,
        COMMENTS,
    ]
    rows = csv.writer(out)
    rows.writerow(head)
    for number, (name, address) in people.items():
        when = (submitted or {}).get(number, "-")
        status = "No submission" if when == "-" else "Submitted for grading"
        changed = ["Yes", when, "-", ""]
        rows.writerow([f"{PARTICIPANT}{number}", name, address, status, "", f"{maximum:.2f}", *changed])
    return "\ufeff" + out.getvalue()
