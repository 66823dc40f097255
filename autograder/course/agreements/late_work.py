"""Late work after the class was graded: what `gpubook course late` and `course feedback` bring up to date.

No cell runs. Times of submission, extensions and what a group shares come first, then the late penalties that follow.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from traitlets.config import Config

from ...grading.restore import SubmissionError
from .. import gradebook
from ..gradebook_url import opened
from ..layout import read_config
from ..run.journal import recorded_lateness
from ..submissions.submission_time import SubmissionTime
from ..terms import group_shares, history
from ..terms.lateness import Lateness
from . import extensions, learner_groups


def bring_up_to_date(folder: Path | str, name: str, trust_timestamps: bool = False) -> list[str]:
    """Enter times, extensions and grades of groups as they are now, and compute the late penalties; returns notes on
    times that do not count or cannot be read.

    A file that counted by a teacher's trust when the learner was graded is still trusted.
    """
    folder = Path(folder).resolve()
    gradebook.scores(folder, [name])  # which says what is missing
    extensions.enter(folder, name)
    notes = _enter_times(folder, name, trust_timestamps)
    learner_groups.pass_on(folder, name)
    gradebook.update_late_penalties(folder, name)
    note_rule(folder, read_config(folder))
    return notes


def note_rule(folder: Path, config: Any) -> None:
    """Record the late rule of the course's configuration where it is another than the last that was recorded."""
    last = [event.about.get("after") for event in history.events(folder) if event.what == "late rule"][-1:]
    rule = gradebook.late_rule(config)
    if [rule] != (last or [gradebook.late_rule(Config())]):
        history.record(folder, "late rule", before=last[0] if last else "", after=rule)


def _enter_times(folder: Path, name: str, trusted: bool) -> list[str]:
    config = read_config(folder)
    if trusted:
        config.SubmissionTime.trusted = True
    times, before = SubmissionTime.in_course(folder, name, config), _entered(folder, name)
    notes, doubted = list[str](), list[str]()
    with opened(gradebook.url_of(folder)) as book:
        for row in book.assignment_submissions(name):
            by, late = before.get(row.student_id, (row.student_id, None))
            try:
                when = _time(times, by, late)
            except SubmissionError as error:
                notes.append(str(error))
                continue
            if when is None:
                doubted.append(by)
            if when is not None or late is not None:  # else nbgrader's own commands entered it, which take every file
                row.timestamp = when
        book.db.commit()
    return list(dict.fromkeys(notes)) + list(times.doubted(dict.fromkeys(doubted)))


def _entered(folder: Path, name: str) -> dict[str, tuple[str, Lateness | None]]:
    """By learner of whom a run has entered a submission: who submitted it, and how late it counted."""
    own: dict[str, tuple[str, Lateness | None]] = {
        who: (who, late) for who, late in recorded_lateness(folder, name).items()
    }
    return own | {who: (share.by, share.lateness) for who, share in group_shares.read(folder, name).items()}


def _time(times: SubmissionTime, by: str, late: Lateness | None) -> datetime | None:
    counted = times.counted(by, trusted=late is not None and late.trusted)
    return times.read(by, counted)
