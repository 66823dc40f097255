"""A gradebook as CSV: for Canvas, for Moodle, and plain.

Canvas and Moodle each read a format of their own, and silently skip or misread what does not fit it;
each such case is rejected here, or comes back as a note for the teacher. The shapes are those of Canvas's
`GradebookImporter` and of Moodle's `assignfeedback_offline`.

The points by question stand in columns of the same file, where the reader allows it: Moodle passes over columns that
it does not know. Canvas makes an assignment of each such column, so with its file comes another.
"""

import html
import re
from collections.abc import Sequence
from pathlib import Path

from ..book.course_error import CourseError
from . import gradebook
from .class_results.class_result import Learner
from .class_results.stored_results import results
from .gradebook import AssignmentScore, full_name
from .gradebook.question_points import QuestionPoints, by_question
from .moodle import moodle_worksheet
from .spreadsheet import SheetContents, inert, number

MOST_NAMED = 12  # learners in a note
FORMATS = ("canvas", "moodle", "csv")
CANVAS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
# Canvas drops a column whose title contains one of these: they are its own totals.
CANVAS_OWN = re.compile("(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)")
PLAIN = [
    "assignment", "learner", "last_name", "first_name", "email", "submitted", "due", "raw_score", "extra_credit",
    "late_penalty", "score", "max_score", "needs_manual_grade", "answers_waiting",
]  # fmt: skip


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
    scale: bool = False,
) -> SheetContents:
    """The gradebook of a course in one of FORMATS; CourseError for an unknown course or assignment.

    A learner without a submission has an empty score, or 0 with `missing_as_zero`. `canvas_ids`: Canvas's id of an
    assignment, by our name. `worksheet`: the file that Moodle's "Download grading worksheet" gave, whose grades and
    comments are filled in; the format moodle needs it, and with `scale` grades are scaled to the maximum that it has.
    With the format canvas, the points by question are the table's `beside`.
    """
    _check_format(form, worksheet, scale)
    by_name = gradebook.scores(folder, names)
    if canvas_ids and (form != "canvas" or not set(canvas_ids) <= set(by_name)):
        raise CourseError(
            f"Canvas ids are given for {', '.join(canvas_ids)}; exported to {form} is {', '.join(by_name)}"
        )
    blank = "0" if missing_as_zero else ""
    points = {name: by_question(folder, name) for name in by_name}
    if form == "canvas":
        made = _canvas(by_name, blank, canvas_ids or {})
        made.beside = _plain(by_name, points, blank)
    elif form == "csv":
        made = _plain(by_name, points, blank)
    else:
        if len(by_name) != 1:
            raise CourseError(
                f"Moodle reads one assignment a file; name one of {', '.join(by_name) or 'none: there is none yet'}"
            )
        if worksheet is None:
            raise CourseError(
                "Moodle knows a participant by a number that differs from assignment to assignment; the worksheet that "
                'its assignment lets you download ("Download grading worksheet") was expected, to be filled in'
            )
        (name, rows), *_ = by_name.items()
        comments = _comments(Path(folder), name, rows, points[name])
        made = SheetContents(*moodle_worksheet.fill(worksheet, rows, comments, points[name], blank, scale))
        if above := [s.person.id for s in rows if s.graded and s.score > s.max_score]:
            made.notes.append(
                f"more than the maximum of {number(rows[0].max_score)} points, which Moodle skips unless its "
                f"assignment allows as many: {', '.join(above)}"
            )
    waiting = [(s, f"{s.person.id} ({name})") for name, rows in by_name.items() for s in rows if s.waiting]
    if waiting:
        made.notes.append(
            f"{counted(sum(score.waiting for score, _ in waiting))} still to be graded by hand, so these scores may "
            f"rise: {_some([who for _, who in waiting])}"
        )
    return made


def _check_format(form: str, worksheet: Path | None, scale: bool) -> None:
    if form not in FORMATS:
        raise ValueError(f"the format {form!r}: one of {', '.join(FORMATS)} was expected")
    if worksheet is not None and form != "moodle":
        raise CourseError(f"{worksheet}: worksheets are Moodle's; the format moodle was expected")
    if scale and form != "moodle":
        raise CourseError("scaled are grades for a maximum of Moodle's; the format moodle was expected")


def _some(learners: list[str]) -> str:
    """The first of many, and how many more there are."""
    more = len(learners) - MOST_NAMED
    return ", ".join(learners[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _plain(by_name: dict[str, list[AssignmentScore]], points: dict[str, QuestionPoints], blank: str) -> SheetContents:
    """A row for each learner and assignment, with a column for each question of all of them."""
    titles = list(dict.fromkeys(made.title(question) for made in points.values() for question in made.most))
    out = [PLAIN + titles]
    for name, rows in by_name.items():
        for score in rows:
            cells = points[name].cells(score.person.id, blank)
            out.append([*_plain_row(score, blank), *(cells.get(title, "") for title in titles)])
    return SheetContents(out)


def _plain_row(score: AssignmentScore, blank: str) -> list[str]:
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


def _canvas(by_name: dict[str, list[AssignmentScore]], blank: str, ids: dict[str, int]) -> SheetContents:
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
        student = inert(full_name(who, last_first=True)).replace("Points Possible", "Points-Possible")
        grades = [number(score.score) if score.graded else blank for score in same]
        out.append([student, own, "" if own else inert(who.lms_id), inert(who.id), "", *grades])
    new = [name for name in by_name if name not in ids]
    note = f"Canvas finds these assignments by their title, or offers to make them: {', '.join(new)}"
    return SheetContents(out, [note] if new else [])


def _comments(folder: Path, name: str, rows: list[AssignmentScore], points: QuestionPoints) -> dict[str, str]:
    """By learner, what Moodle shows beside the grade, as HTML: a line for each exercise with its points and the
    sentence of the last run, the teacher's own words, what being late cost."""
    sentences, made = sentences_of(folder, name), {}
    for score in rows:
        who = score.person.id
        lines = [*question_lines(points, who, sentences.get(who, {})), *score.comments]
        parts = list(map(html.escape, lines))
        if score.late_penalty:
            parts.append(f"Late: {number(score.late_penalty)} of {number(score.raw)} points are taken off.")
        made[who] = "<br>".join(parts)
    return made


def sentences_of(folder: Path, name: str) -> dict[str, dict[str, str]]:
    """By learner, the sentence of the last run on each exercise; empty where there was none."""
    try:
        return {learner.name: _sentences(learner) for learner in results(folder, name).learners}
    except FileNotFoundError:
        return {}


def _sentences(learner: Learner) -> dict[str, str]:
    return {result.exercise: result.say for result in learner.results}


def question_lines(points: QuestionPoints, learner: str, said: dict[str, str]) -> list[str]:
    """Each question's points and sentence, in the notebook's order; nothing for one who submitted nothing."""
    theirs = points.of.get(learner)
    if theirs is None:
        return []
    lines = []
    for question, most in points.most.items():
        value = theirs.get(question)
        earned = "to be graded" if value is None else f"{number(value)} of {number(most)}"
        lines.append(f"{question} ({earned}): {said.get(question, '')}".removesuffix(": "))
    return lines
