"""A gradebook as CSV: for Canvas, for Moodle, and plain.

Canvas and Moodle each read a format of their own, and silently skip or misread what does not fit it;
each such case is rejected here, or comes back as a note for the teacher. The shapes are those of Canvas's
`GradebookImporter` and of Moodle's `assignfeedback_offline`.
"""

import csv
import html
import io
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .. import course
from ..book.course_error import CourseError
from . import gradebook
from .class_result import Learner
from .gradebook import Person, Score

FORMATS = ("canvas", "moodle", "csv")
CANVAS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
# Canvas drops a column whose title contains one of these: they are its own totals.
CANVAS_OWN = re.compile("(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)")
IDENTIFIER, GRADE, COMMENTS = "Identifier", "Grade", "Feedback comments"
MOODLE = [
    IDENTIFIER, "Full name", "ID number", "Email address", "Status", GRADE, "Maximum grade", "Grade can be changed",
    "Last modified (submission)", "Last modified (grade)", COMMENTS,
]  # fmt: skip
PLAIN = [
    "assignment", "learner", "last_name", "first_name", "email", "submitted", "due", "raw_score", "extra_credit",
    "late_penalty", "score", "max_score", "needs_manual_grade", "answers_waiting",
]  # fmt: skip
FORMULA = "=+-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"


@dataclass
class Table:
    """The contents of a file, and notes on it for the teacher."""

    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """CSV as RFC 4180 has it: commas, quotes where needed, CRLF."""
        out = io.StringIO()
        csv.writer(out).writerows(self.rows)
        return out.getvalue()


def inert(text: str) -> str:
    """A text that a spreadsheet shows and does not compute: one line, an apostrophe before a formula's first
    character."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    formula = line.startswith(tuple(FORMULA)) and line != "-"  # which Moodle writes where there is nothing
    return "'" + line if formula else line


def number(value: float) -> str:
    """Points without binary rounding noise: 2.5, not 2.5000000000000004."""
    return f"{value:.4f}".rstrip("0").rstrip(".") if value else "0"


def counted(answers: int) -> str:
    """ "1 answer is", "3 answers are"."""
    return f"{answers} answer" + (" is" if answers == 1 else "s are")


def table(
    folder: Path | str,
    names: Sequence[str] = (),
    form: str = "csv",
    *,
    missing_as_zero: bool = False,
    canvas_ids: dict[str, int] | None = None,
    worksheet: Path | None = None,
) -> Table:
    """The gradebook of a course in one of FORMATS; CourseError for an unknown course or assignment.

    A learner without a submission has an empty score, or 0 with `missing_as_zero`. `canvas_ids`: Canvas's id of an
    assignment, by our name. `worksheet`: the file that Moodle's "Download grading worksheet" gave, whose grades and
    comments are to be filled in.
    """
    if form not in FORMATS:
        raise ValueError(f"the format {form!r}: one of {', '.join(FORMATS)} was expected")
    if worksheet is not None and form != "moodle":
        raise CourseError(f"{worksheet}: worksheets are Moodle's; the format moodle was expected")
    by_name = gradebook.scores(folder, names)
    if canvas_ids and (form != "canvas" or not set(canvas_ids) <= set(by_name)):
        raise CourseError(
            f"Canvas ids are given for {', '.join(canvas_ids)}; exported to {form} is {', '.join(by_name)}"
        )
    blank = "0" if missing_as_zero else ""
    if form == "canvas":
        made = _canvas(by_name, blank, canvas_ids or {})
    elif form == "csv":
        made = Table([PLAIN, *(_plain(score, blank) for rows in by_name.values() for score in rows)])
    else:
        if len(by_name) != 1:
            raise CourseError(
                f"Moodle reads one assignment a file; name one of {', '.join(by_name) or 'none: there is none yet'}"
            )
        (name, rows), *_ = by_name.items()
        said = _sentences(Path(folder), name)
        made = _moodle(rows, said, blank) if worksheet is None else _fill(worksheet, rows, said, blank)
        if above := [s.person.id for s in rows if s.graded and s.score > s.max_score]:
            made.notes.append(
                f"more than the maximum of {number(rows[0].max_score)} points, which Moodle skips unless its "
                f"assignment allows as many: {', '.join(above)}"
            )
    waiting = [(s, f"{s.person.id} ({name})") for name, rows in by_name.items() for s in rows if s.waiting]
    if waiting:
        made.notes.append(
            f"{counted(sum(score.waiting for score, _ in waiting))} still to be graded by hand, so these scores may "
            f"rise: {', '.join(who for _, who in waiting)}"
        )
    return made


def write(made: Table, output: Path) -> None:
    """Write the file whole or not at all, readable by you alone: an older file stays until the end."""
    if output.is_dir():
        raise CourseError(f"{output} is a folder; a file was expected")
    if not output.parent.is_dir():
        raise CourseError(f"{output.parent} is missing; the folder for {output.name} was expected there")
    handle, beside = tempfile.mkstemp(prefix=f".{output.name}.", dir=output.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(made.text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, output)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _plain(score: Score, blank: str) -> list[str]:
    who, done = score.person, score.graded
    return [
        inert(score.assignment),
        *map(inert, (who.id, who.last_name, who.first_name, who.email)),
        *(f"{when:%Y-%m-%dT%H:%M:%SZ}" if when else "" for when in (score.submitted, score.due)),
        number(score.raw) if done else blank,
        number(score.extra_credit) if done else blank,
        number(score.late_penalty) if done else blank,
        number(score.score) if done else blank,
        number(score.max_score),
        ("yes" if score.needs_manual_grade else "no") if done else "",
        str(score.waiting) if done else "",
    ]


def _canvas(by_name: dict[str, list[Score]], blank: str, ids: dict[str, int]) -> Table:
    if dropped := [name for name in by_name if CANVAS_OWN.search(name)]:
        raise CourseError(
            f"Canvas drops the column {dropped[0]!r}, which is a name of its own totals; leave the assignment out"
        )
    titles = [f"{name} ({ids[name]})" if name in ids else name for name in by_name]
    most = [number(rows[0].max_score) if rows else "" for rows in by_name.values()]
    out = [CANVAS + [inert(title) for title in titles], ["    Points Possible", "", "", "", "", *most]]
    columns = list(by_name.values())
    for same in zip(*columns, strict=True):  # every assignment has a row for every learner, in one order
        who = same[0].person
        own = who.lms_id if who.lms_id.isascii() and who.lms_id.isdigit() else ""
        # Canvas takes a row whose first cell holds "Points Possible" for the maxima
        student = inert(_name(who, last_first=True)).replace("Points Possible", "Points-Possible")
        grades = [number(score.score) if score.graded else blank for score in same]
        out.append([student, own, "" if own else inert(who.lms_id), inert(who.id), "", *grades])
    new = [name for name in by_name if name not in ids]
    note = f"Canvas finds these assignments by their title, or offers to make them: {', '.join(new)}"
    return Table(out, [note] if new else [])


def _moodle(rows: list[Score], said: dict[str, str], blank: str) -> Table:
    out, nameless = [MOODLE], []
    for score in rows:
        who, known = score.person, score.person.lms_id
        if not known:
            nameless.append(who.id)
        out.append([
            f"Participant {known}" if known.isdigit() else inert(known or who.id), inert(_name(who)), inert(who.id),
            inert(who.email), "Submitted for grading" if score.graded else "No submission",
            number(score.score) if score.graded else blank, number(score.max_score), "Yes",
            f"{score.submitted:%A, %d %B %Y, %H:%M}" if score.submitted else "-", "-",
            _comment(score, said) if score.graded else "",
        ])  # fmt: skip
    note = (
        "Moodle knows its participants by a number that the gradebook lacks (lms_user_id); give the worksheet "
        f"that Moodle offers, to be filled in, for: {', '.join(nameless)}"
    )
    return Table(out, [note] if nameless else [])


def _fill(worksheet: Path, rows: list[Score], said: dict[str, str], blank: str) -> Table:
    """The worksheet with our grades; who is who is decided by `_matched`."""
    try:
        given = list(csv.reader(io.StringIO(worksheet.read_text(encoding="utf-8-sig"))))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CourseError(f"{worksheet}: Moodle's grading worksheet in UTF-8 was expected ({error})") from None
    head = given[0] if given else []
    if not {IDENTIFIER, GRADE} <= set(head) or len(set(head)) < len(head):
        raise CourseError(
            f"{worksheet}: its columns are {', '.join(head) or 'none'}; the worksheet of Moodle's assignment, in "
            f"English, was expected, with {IDENTIFIER} and {GRADE}, each column once"
        )
    lines = [dict(zip(head, line + [""] * len(head), strict=False)) for line in given[1:] if any(line)]
    matched = _matched(lines, rows)
    for number_of_line, score in matched.items():
        if score.graded or blank:
            lines[number_of_line][GRADE] = number(score.score) if score.graded else blank
        if score.graded and COMMENTS in head:
            lines[number_of_line][COMMENTS] = _comment(score, said)
    out = [[v if key in (IDENTIFIER, GRADE) else inert(v) for key, v in cells.items()] for cells in lines]
    strangers = [c.get("Full name") or c[IDENTIFIER] for n, c in enumerate(lines) if n not in matched]
    notes = [f"in the worksheet, not in the gradebook: {', '.join(map(inert, strangers))}"] if strangers else []
    seen = {score.person.id for score in matched.values()}
    if left := [s.person.id for s in rows if s.person.id not in seen]:
        notes.append(f"in the gradebook, not in the worksheet: {', '.join(left)}")
    return Table([head, *out], notes)


def _matched(lines: list[dict[str, str]], rows: list[Score]) -> dict[int, Score]:
    """Which learner a line of a worksheet is: by what is most surely one's own, and never by what two share."""
    ours = {
        "mail": lambda who: who.email or (who.id if "@" in who.id else ""),
        "ID": lambda who: who.id,
        "number": lambda who: who.lms_id,
        "name": lambda who: _name(who),
    }
    theirs = {
        "mail": lambda cells: cells.get("Email address", ""),
        "ID": lambda cells: cells.get("ID number", "") or cells.get("Username", ""),
        "number": lambda cells: re.sub(r"\D+", "", cells[IDENTIFIER]),
        "name": lambda cells: cells.get("Full name", ""),
    }
    matched: dict[int, Score] = {}
    for kind, key in ours.items():
        taken = {score.person.id for score in matched.values()}
        left = [(score, _fold(key(score.person))) for score in rows]
        open_lines = [(n, _fold(theirs[kind](cells))) for n, cells in enumerate(lines)]
        for n, text in open_lines:
            same = [score for score, own in left if own == text]
            alone = len(same) == 1 and sum(other == text for _, other in open_lines) == 1
            if text and alone and n not in matched and same[0].person.id not in taken:
                matched[n] = same[0]
    return matched


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()


def _name(who: Person, last_first: bool = False) -> str:
    names = [who.last_name, who.first_name] if last_first else [who.first_name, who.last_name]
    return (", " if last_first else " ").join(name for name in names if name) or who.id


def _sentences(folder: Path, name: str) -> dict[str, str]:
    """By learner, a line of HTML for each exercise of the last run; none where there was none."""
    try:
        learners = course.results(folder, name).learners
    except FileNotFoundError:
        return {}
    return {learner.name: "<br>".join(_lines(learner)) for learner in learners}


def _lines(learner: Learner) -> list[str]:
    return [f"{html.escape(r.exercise)}: {html.escape(r.say)}" for r in learner.results]


def _comment(score: Score, said: dict[str, str]) -> str:
    """What Moodle shows beside the grade, as HTML: sentences, the teacher's own words, what being late cost."""
    parts = [said.get(score.person.id, ""), *map(html.escape, score.comments)]
    if score.late_penalty:
        parts.append(f"Late: {number(score.late_penalty)} of {number(score.raw)} points are taken off.")
    return inert("<br>".join(part for part in parts if part))
