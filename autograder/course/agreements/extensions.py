"""Extensions: asked for before a submission, kept in the course's terms, entered where submissions appear."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from nbgrader.api import Assignment, SubmittedAssignment

from ...book.course_error import CourseError
from .. import gradebook
from ..gradebook_url import opened
from ..terms import agreed_terms, granted_time, history
from ..terms.agreed_terms import Extension
from ..terms.deadline_time import shown

MOST_NAMED = 20


@dataclass(frozen=True)
class Extended:
    """A learner with more time for an assignment: what was granted, until when that is (UTC), and when they submitted
    so far. `granted` is empty where only the gradebook knows of it."""

    learner: str
    granted: str
    until: datetime
    submitted: datetime | None


def extend(folder: Path | str, name: str, learners: Sequence[str], extension: Extension) -> list[Extended]:
    """Give these learners more time for an assignment, in place of what they had; late penalties follow at once."""
    folder = Path(folder).resolve()
    due = _due(folder, name)
    if extension.until is not None and extension.until <= due:
        raise CourseError(f"{shown(extension.until)} is not after the deadline of {name}, {shown(due)}")
    check_learners(folder, learners)
    with agreed_terms.changing(folder, name) as agreed:
        agreed.extensions |= dict.fromkeys(learners, extension)
    enter(folder, name)
    history.record(folder, "extend", name, learners=list(learners), extension=str(extension))
    return [one for one in listed(folder, name) if one.learner in learners]


def remove(folder: Path | str, name: str, learners: Sequence[str]) -> None:
    """Take extensions back; late penalties follow at once. CourseError where a learner has none."""
    folder = Path(folder).resolve()
    agreed_by_hand = agreed_terms.read(folder, name).extensions
    have = {row.learner for row in listed(folder, name) if row.learner in agreed_by_hand or not row.granted}
    if none := [who for who in learners if who not in have]:
        raise CourseError(f"{', '.join(none)}: no extension for {name}; there is one for {_named(have)}")
    with agreed_terms.changing(folder, name) as agreed:
        for who in learners:
            agreed.extensions.pop(who, None)
    take_back(folder, name, learners)
    history.record(folder, "extension removed", name, learners=list(learners))


def take_back(
    folder: Path, name: str, learners: Collection[str], granted: Mapping[str, timedelta] | None = None
) -> None:
    """What the gradebook has of more time for these learners becomes what is agreed now; late penalties follow. With
    `granted`, what was agreed before, only where the gradebook has that: nbgrader's own interface grants time too."""
    with opened(gradebook.url_of(folder)) as book:
        for submission in book.assignment_submissions(name):
            learner = submission.student_id
            if learner in learners and (granted is None or submission.extension == granted.get(learner)):
                submission.extension = None
        book.db.commit()
    enter(folder, name)
    gradebook.update_late_penalties(folder, name)


def listed(folder: Path | str, name: str) -> list[Extended]:
    """Everybody with more time, by learner: from the terms, and what nbgrader's own interface has granted."""
    folder = Path(folder).resolve()
    due = _due(folder, name)
    agreed = {who: (time.why, time.more) for who, time in granted_time.granted(folder, name, due).items()}
    with opened(gradebook.url_of(folder)) as book:
        submitted = SubmittedAssignment
        query = book.db.query(submitted.student_id, submitted.timestamp, submitted.extension).join(submitted.assignment)
        rows = query.filter(Assignment.name == name).all()
    own = {who: ("", more) for who, _, more in rows if more}
    times = {who: when for who, when, _ in rows}
    every = sorted((own | agreed).items())
    return [Extended(who, said, due + more, times.get(who)) for who, (said, more) in every]


def enter(folder: Path, name: str) -> None:
    """Enter what was granted for an assignment into the gradebook, wherever there is a submission by now, and compute
    late penalties again where that changes anything."""
    due, _ = gradebook.deadlines(url := gradebook.url_of(folder), name)
    granted = granted_time.granted_for(folder, name, due)
    changed = False
    with opened(url) as book:
        for submission in book.assignment_submissions(name) if granted else ():
            more = granted.get(submission.student_id, submission.extension)
            if (submission.extension or timedelta()) != (more or timedelta()):
                submission.extension, changed = more, True
        book.db.commit()
    if changed:
        gradebook.update_late_penalties(folder, name)


def known_learners(folder: Path) -> tuple[set[str], set[str]]:
    """The learners in the gradebook, and those with a folder in submitted/."""
    with opened(gradebook.url_of(folder)) as book:
        roster = {student.id for student in book.students}
    return roster, {path.name for path in (folder / "submitted").glob("*") if path.is_dir()}


def check_learners(folder: Path, learners: Collection[str]) -> bool:
    """Whether the course knows its learners; CourseError where it does and one of these is not among them."""
    roster, submitted = known_learners(folder)
    known = roster | submitted
    if not roster or not (unknown := [who for who in learners if who not in known]):
        return bool(roster)
    close = difflib.get_close_matches(unknown[0], sorted(known), n=1)
    meant = f"did you mean {close[0]}? It has" if close else "it has"
    raise CourseError(
        f"{', '.join(unknown)}: not in the roster of {folder}; {meant} {_named(known)}. To add one: "
        "`nbgrader db student add ID` in the course's folder"
    )


def _named(names: Collection[str]) -> str:
    some = sorted(names)[:MOST_NAMED]
    return (", ".join(some) or "nobody") + (f" and {len(names) - len(some)} more" if len(names) > len(some) else "")


def _due(folder: Path, name: str) -> datetime:
    """The deadline of an assignment; CourseError where there is none to go beyond."""
    gradebook.scores(folder, [name])  # which says what is missing
    due, _ = gradebook.deadlines(gradebook.url_of(folder), name)
    if due is None:
        raise CourseError(f"{name} has no deadline, so nobody needs longer; `gpubook course assign … --due` sets one")
    return due
