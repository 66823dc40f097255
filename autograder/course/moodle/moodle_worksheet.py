"""Moodle's grading worksheet, filled in with our grades.

Moodle finds a line by `Participant N`, where N is another number in each assignment and in no gradebook, so nothing
but the worksheet of that assignment can be uploaded (`assignfeedback_offline`, `assign_user_mapping`). Who a line is
follows from the e-mail address, the ID number and the full name that it has, never from N.
"""

import csv
import io
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...book.course_error import CourseError
from ..gradebook import AssignmentScore, GradebookLearner, full_name
from ..gradebook.question_points import QuestionPoints
from ..spreadsheet import inert, number

IDENTIFIER, GRADE, COMMENTS = "Identifier", "Grade", "Feedback comments"
MAXIMUM = "maximum grade"  # as Moodle's releases write it in either case
MODIFIED, SUBMITTED = "Last modified (grade)", "Last modified (submission)"
ADDRESS, NAME = "e-mail address", "full name"
Cells = dict[str, str]
KEYS: dict[
    str, tuple[Callable[[GradebookLearner], str], Callable[[Cells], str]]
] = {  # what we know of one, and what a line has
    ADDRESS: (
        lambda who: who.email or (who.id if "@" in who.id else ""),
        lambda cells: cells.get("Email address", ""),
    ),
    "ID number": (lambda who: who.id, lambda cells: cells.get("ID number", "") or cells.get("Username", "")),
    NAME: (full_name, lambda cells: cells.get("Full name", "")),
}


def fill(
    worksheet: Path,
    rows: list[AssignmentScore],
    comments: Mapping[str, str],
    points: QuestionPoints,
    blank: str,
    scale: bool = False,
) -> tuple[list[list[str]], list[str]]:
    """The worksheet's rows with our grades, by learner `comments`, and the `points` by question in columns of their
    own, which Moodle passes over; and notes on who was not found. With `scale`, grades are shares of Moodle's maximum
    where that is not ours.

    CourseError where it is no worksheet, or where two keys of a line belong to two learners.
    """
    head, lines = _read(worksheet)
    matched = _matched(worksheet, lines, rows)
    titles = [points.title(question) for question in points.most]
    head = [*head, *(title for title in titles if title not in head)]
    lines = [dict.fromkeys(head, "") | cells for cells in lines]
    for at, score in matched.items():
        if score.graded or blank:
            lines[at] |= points.cells(score.person.id, blank)
            lines[at][GRADE] = number(score.score * factor(lines[at], score, scale)) if score.graded else blank
        if score.graded and COMMENTS in head:
            lines[at][COMMENTS] = inert(comments[score.person.id])
    out = [[v if key in (IDENTIFIER, GRADE) else inert(v) for key, v in cells.items()] for cells in lines]
    strangers = [_shown(cells) for at, cells in enumerate(lines) if at not in matched]
    notes = [f"in the worksheet, not in the gradebook: {', '.join(strangers)}"] if strangers else []
    seen = {score.person.id for score in matched.values()}
    if left := [score.person.id for score in rows if score.person.id not in seen]:
        notes.append(f"in the gradebook, not in the worksheet: {', '.join(left)}")
    notes += _of_maxima([(lines[at], score) for at, score in matched.items()], scale)
    if MODIFIED not in head:
        notes.append(f"Moodle takes no worksheet without its column {MODIFIED!r}, and this one has none")
    return [head, *out], notes


def maximum(cells: Cells) -> float | None:
    """Moodle's maximum in a line; None where it has none, or a scale of words."""
    text = next((value for name, value in cells.items() if name.casefold() == MAXIMUM), "")
    try:
        most = float(text.replace(",", "."))
    except ValueError:
        return None
    return most if 0 < most < math.inf else None


def factor(cells: Cells, score: AssignmentScore, scale: bool) -> float:
    """What a grade is multiplied by: 1, unless it is to be scaled to another maximum of Moodle's."""
    most = maximum(cells)
    return most / score.max_score if scale and most is not None and score.max_score else 1.0


def _of_maxima(matched: list[tuple[Cells, AssignmentScore]], scale: bool) -> list[str]:
    """A note where Moodle's maximum is another than ours, and what becomes of full work."""
    differing = {
        (most, score.max_score)
        for cells, score in matched
        if (most := maximum(cells)) is not None and not math.isclose(most, score.max_score)
    }
    notes = []
    for theirs, ours in sorted(differing):
        if scale:
            become = f"grades are scaled to it, {number(ours)} points to {number(theirs)}"
        else:
            full = (
                f"shows as {100 * ours / theirs:.3g} % there" if ours < theirs else "is above it, and skipped by Moodle"
            )
            become = f"full work {full}; --scale scales grades to it, or change it in Moodle"
        notes.append(f"Moodle's maximum is {number(theirs)}, the course's {number(ours)}: {become}")
    return notes


@dataclass(frozen=True)
class Participant:
    """A line of the worksheet: whose it is (None: nobody's of the gradebook), the name in it, and when the submission
    was last changed, as Moodle writes it."""

    person: GradebookLearner | None
    name: str
    submitted: str


def participants(worksheet: Path, rows: list[AssignmentScore]) -> dict[str, Participant]:
    """The lines of the worksheet by the number N of `Participant N`, which Moodle also writes into the names of the
    files that were submitted. CourseError as in `fill`."""
    _, lines = _read(worksheet)
    matched = _matched(worksheet, lines, rows)
    made = {}
    for at, cells in enumerate(lines):
        participant = "".join(c for c in cells[IDENTIFIER].rpartition(" ")[2] if c.isdecimal())
        owner = matched[at].person if at in matched else None
        made[participant] = Participant(owner, cells.get("Full name", ""), cells.get(SUBMITTED, ""))
    return made


def _read(worksheet: Path) -> tuple[list[str], list[Cells]]:
    try:
        table = list(csv.reader(io.StringIO(worksheet.read_text(encoding="utf-8-sig"))))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CourseError(f"{worksheet}: Moodle's grading worksheet in UTF-8 was expected ({error})") from None
    head = table[0] if table else []
    if not {IDENTIFIER, GRADE} <= set(head) or len(set(head)) < len(head):
        raise CourseError(
            f"{worksheet}: its columns are {', '.join(head) or 'none'}; the worksheet of Moodle's assignment, in "
            f"English, was expected, with {IDENTIFIER} and {GRADE}, each column once"
        )
    return head, [dict(zip(head, line + [""] * len(head), strict=False)) for line in table[1:] if any(line)]


def _matched(worksheet: Path, lines: list[Cells], rows: list[AssignmentScore]) -> dict[int, AssignmentScore]:
    """By line, whose it is: by a key that is one learner's and one line's alone. What two share says nothing, nor a
    name beside an e-mail address that is not that learner's."""
    claims: dict[int, dict[str, AssignmentScore]] = {at: {} for at in range(len(lines))}
    for key, (ours, theirs) in KEYS.items():
        owners, texts = [_fold(ours(score.person)) for score in rows], [_fold(theirs(cells)) for cells in lines]
        alone = {text for text, times in Counter(owners).items() if text and times == 1}
        once = Counter(texts)
        for at, text in enumerate(texts):
            if text in alone and once[text] == 1:
                claims[at][key] = rows[owners.index(text)]
    for at, by_key in claims.items():
        if list(by_key) == [NAME] and _has_another_address(lines[at], by_key[NAME].person):
            by_key.clear()
    score_of: dict[int, AssignmentScore] = {}
    for at, by_key in claims.items():
        if len({score.person.id for score in by_key.values()}) > 1:
            keys_named = ", ".join(f"by its {key} {score.person.id}" for key, score in by_key.items())
            raise CourseError(
                f"{worksheet}: the line {_shown(lines[at])} is {keys_named}; one learner was expected. Correct the "
                "gradebook's roster, or clear the wrong cell of the worksheet"
            )
        if by_key:
            score_of[at] = next(iter(by_key.values()))
    line_of: dict[str, int] = {}
    for at, score in score_of.items():
        if (first := line_of.setdefault(score.person.id, at)) != at:
            both = " and ".join(_shown(lines[one]) for one in (first, at))
            raise CourseError(f"{worksheet}: the lines {both} are both {score.person.id}; one was expected")
    return score_of


def _has_another_address(cells: Cells, who: GradebookLearner) -> bool:
    """Whether a line has an e-mail address, and its learner another: in Moodle, one may give oneself any name."""
    ours, theirs = KEYS[ADDRESS]
    known, on_line = _fold(ours(who)), _fold(theirs(cells))
    return bool(known and on_line and known != on_line)


def _shown(cells: Cells) -> str:
    return inert(cells.get("Full name") or cells[IDENTIFIER])


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()
