"""Groups of learners with one submission: whose counts, who gets its points, and grades by hand passed on.

The time of the submission counts for everybody, and each one's own extension. With variants the numbers are those of
who submitted: the answers are judged once.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from nbgrader.api import Comment, Grade, Gradebook

from ...book.course_error import CourseError
from ...grading.restore import SubmissionError
from ...values.own_folder import remove, without_links
from .. import gradebook
from ..class_results.class_result import ClassResult, Learner
from ..gradebook_url import opened
from ..terms import agreed_terms, group_shares, history
from ..terms.group_shares import Given, GroupShare
from .extensions import check_learners

COLUMNS = "group,learner"


def read_csv(path: Path) -> dict[str, list[str]]:
    """The groups in a file with the columns `group,learner`, a line for each learner; CourseError names the line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise CourseError(f"{path}: CSV in UTF-8 with the columns {COLUMNS} was expected ({error})") from None
    head = [name.strip() for name in rows[0]] if rows else []
    if sorted(head) != sorted(COLUMNS.split(",")):
        raise CourseError(f"{path}: the columns are {','.join(head) or 'none'}; {COLUMNS} was expected")
    groups: dict[str, list[str]] = {}
    home: dict[str, tuple[str, int]] = {}
    for number, row in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        line = dict(zip(head, (cell.strip() for cell in row), strict=False))
        group, learner = line.get("group", ""), line.get("learner", "")
        if len(row) != len(head) or not group or not learner:
            raise CourseError(f"{path}:{number}: {','.join(row)!r}; a group and a learner were expected")
        if learner in home:
            before, where = home[learner]
            again = "twice" if before == group else f"also in {before}"
            raise CourseError(f"{path}:{number}: {learner} is in {group}, and {again} (line {where}); one was expected")
        home[learner] = group, number
        groups.setdefault(group, []).append(learner)
    if not groups:
        raise CourseError(f"{path}: no learner is in it; a line for each, {COLUMNS}, was expected")
    return groups


def form(folder: Path | str, name: str, groups: Mapping[str, Sequence[str]]) -> bool:
    """Have these groups submit `name` together, in place of any before, or nobody with none; returns whether there is
    a roster that knows them all. CourseError for a learner who is in two, or whom the roster lacks."""
    folder = Path(folder).resolve()
    gradebook.scores(folder, [name])
    everyone = [agreed_terms.checked_learner(who) for members in groups.values() for who in members]
    if twice := sorted({who for who in everyone if everyone.count(who) > 1}):
        raise CourseError(f"{', '.join(twice)}: in more than one group; one was expected")
    known = check_learners(folder, everyone)
    with agreed_terms.changing(folder, name) as agreed:
        agreed.groups = {group: list(members) for group, members in groups.items()}
    history.record(folder, "groups", name, groups={group: list(members) for group, members in groups.items()})
    return known


def whole_groups(folder: Path, name: str, students: Iterable[str], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """These learners, and in place of one in a group those of it who submitted."""
    named: list[str] = []
    for who in students:
        mates = next((members for members in groups.values() if who in members), [who])
        named += [one for one in mates if _submitted(folder, name, one)] or [who]
    return list(dict.fromkeys(named))


def share_out(
    found: dict[str, Path],
    groups: Mapping[str, Sequence[str]],
    time_of: Callable[[str], datetime | None],
    result: ClassResult,
) -> dict[str, list[str]]:
    """For whom each submission counts besides its submitter. What does not count is taken out of `found`, and `result`
    is told: of several in a group the latest counts, and none where that is not known."""
    shares: dict[str, list[str]] = {}
    learners = {learner.name: learner for learner in result.learners}
    for group, members in groups.items():
        able = [who for who in members if who in found and (found[who].exists() or found[who].is_symlink())]
        if not able:
            continue  # nobody's, who are in the gradebook as anybody without a submission, or not asked about
        for who in members:
            learners.setdefault(who, Learner(who)).problem = ""
        try:
            counts = _latest(able, time_of)
        except SubmissionError as error:
            counts, problem = None, str(error)
        else:
            named = " and ".join(able)
            problem = f"group {group}: {named} have submitted; one was expected. "
            problem += (
                f"The latest counts, from {counts}"
                if counts
                else ("Which is the latest is not known: move the others out of submitted/")
            )
        for who in members:
            if who != counts:
                found.pop(who, None)
                learners[who].submitted_by = counts or ""
                learners[who].problem = "" if counts else problem
        if counts:
            shares[counts] = [who for who in members if who != counts]
            result.problems += [problem] if len(able) > 1 else []
    result.learners[:] = sorted(learners.values(), key=lambda learner: learner.name)
    return shares


def _latest(able: Sequence[str], time_of: Callable[[str], datetime | None]) -> str | None:
    if len(able) == 1:
        return able[0]
    times = {who: time_of(who) for who in able}
    known = [when for when in times.values() if when is not None]
    if len(known) < len(able) or known.count(max(known)) > 1:
        return None
    return max(times, key=lambda who: times[who] or datetime.min)


def _submitted(folder: Path, name: str, who: str) -> bool:
    path = folder / "submitted" / who / name
    return path.exists() or path.is_symlink()


def take_back(folder: Path, name: str, shares: dict[str, GroupShare], still: Iterable[str]) -> list[str]:
    """Remove from the gradebook, autograded/, feedback/ and `shares` what learners had of a group's submission and have
    no longer, which is all but those `still` in it; returns notes on whom."""
    gone = sorted(shares.keys() - set(still))
    if not gone:
        return []
    with opened(gradebook.url_of(folder)) as book:
        for who in {one.student_id for one in book.assignment_submissions(name)} & set(gone):
            book.remove_submission(name, who)
    for who in gone:
        for part in ("autograded", "feedback"):
            with suppress(FileNotFoundError):
                remove(without_links(folder / part, who, name))
    note = "{} no longer shares the submission of {}: its grades were taken back"
    notes = [note.format(who, shares.pop(who).by) for who in gone]
    group_shares.write(folder, name, shares)
    return notes


def pass_on(folder: Path, name: str) -> list[str]:
    """Give everybody in a group the grades, the extra credit and the comments that a teacher gave to one of them for
    the one submission; returns the learners for whom that changed something.

    What a teacher gave to a member alone afterwards stays: only what still is as it was passed on follows.
    """
    shares, changed = group_shares.read(folder, name), list[str]()
    if not shares:
        return []
    with opened(gradebook.url_of(folder)) as book:
        for by in sorted({one.by for one in shares.values()}):
            mates = [who for who, one in shares.items() if one.by == by]
            follows = {who: dict(shares[who].given) for who in mates}
            changed += _agreed(book, name, by, follows)
            shares |= {who: replace(shares[who], given=given) for who, given in follows.items()}
        group_shares.write(
            folder, name, shares
        )  # before they are: a kill in between leaves nothing that looks like a choice
        book.db.commit()
    return changed


def _agreed(book: Gradebook, name: str, by: str, follows: dict[str, dict[str, Given]]) -> list[str]:
    """Bring the grades by hand of one group together: of `by`, and of those who follow what was passed on to them, by
    cell, which is updated; returns for whom something changed."""
    rows = {who: _rows(book, name, who) for who in (by, *follows)}
    changed: set[str] = set()
    for cell, row in rows[by].items():
        theirs = {who: rows[who][cell] for who in follows if cell in rows[who]}
        graded = next((theirs_row for theirs_row in theirs.values() if theirs_row.is_given), None)
        if graded is not None and not row.is_given and row.grade is not None and row.grade.needs_manual_grade:
            row.copy(graded)
            changed.add(by)
        for who, theirs_row in theirs.items():
            if theirs_row.given != row.given:
                if not theirs_row.follows(follows[who].get(cell)):
                    continue
                theirs_row.copy(row)
                changed.add(who)
            if row.is_given or cell in follows[who]:
                follows[who][cell] = row.given
    return sorted(changed)


@dataclass
class GradebookRow:
    """What one learner's gradebook has of a cell: a grade, a comment, or both."""

    grade: Grade | None = None
    comment: Comment | None = None

    @property
    def given(self) -> Given:
        """What a teacher gave and said."""
        words = self.comment.manual_comment or "" if self.comment is not None else ""
        return (None, None, words) if self.grade is None else (self.grade.manual_score, self.grade.extra_credit, words)

    @property
    def is_given(self) -> bool:
        points, extra, words = self.given
        return points is not None or bool(extra) or bool(words)

    def follows(self, passed: Given | None) -> bool:
        """Whether a teacher has not decided otherwise for this learner since that was passed on."""
        return not self.is_given or self.given == passed

    def copy(self, other: GradebookRow) -> None:
        """Take over what a teacher gave and said there."""
        if self.grade is not None and other.grade is not None:
            self.grade.manual_score, self.grade.extra_credit = other.grade.manual_score, other.grade.extra_credit
            self.grade.needs_manual_grade = other.grade.needs_manual_grade
        if self.comment is not None and other.comment is not None:
            self.comment.manual_comment = other.comment.manual_comment


def _rows(book: Gradebook, name: str, who: str) -> dict[str, GradebookRow]:
    notebook = book.find_submission_notebook(name, name, who)
    rows: dict[str, GradebookRow] = {}
    for grade in notebook.grades:
        rows.setdefault(grade.name, GradebookRow()).grade = grade
    for comment in notebook.comments:
        rows.setdefault(comment.name, GradebookRow()).comment = comment
    return rows
