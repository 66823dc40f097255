"""An exam: an assignment with minutes that count from each learner's first opening of it, and copies of the work kept
meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.own_folder import own
from .. import gradebook
from ..layout import released
from ..submissions import collected_files, submission_time
from ..submissions.collected_files import Collected
from ..terms import accommodations, agreed_terms, exam_starts
from ..terms.agreed_terms import ExamRule
from ..terms.deadline_time import shown
from ..terms.granted_time import granted_for, sitting_end
from . import extensions

COPIES = 10  # of a learner's work that are kept, the newest
STAMP = "%Y%m%dT%H%M%SZ"
COPY = re.compile(r"\d{8}T\d{6}Z\.ipynb")


@dataclass(frozen=True)
class Sitting:
    """An exam as one learner sits it: when it was opened, when the time is over (UTC), and how many minutes there are
    in all."""

    start: datetime
    end: datetime
    minutes: float


def set_rule(folder: Path | str, name: str, minutes: float, opens: datetime | None = None) -> None:
    """Make a released assignment with a deadline an exam; deadlines of learners who opened it follow at once."""
    folder = Path(folder).resolve()
    released(folder, name)
    due, rule = _due(folder, name), ExamRule(minutes, opens)
    if opens is not None and opens >= due:
        raise CourseError(f"{name} opens {shown(opens)}, which is not before its deadline, {shown(due)}")
    _change(folder, name, rule)


def take_back(folder: Path | str, name: str) -> None:
    """The assignment is no exam any more: its deadline holds for everybody. What is known of openings stays."""
    folder = Path(folder).resolve()
    _rule(folder, name)
    _change(folder, name, None)


def sittings(folder: Path | str, name: str) -> dict[str, Sitting]:
    """By learner who opened the exam, when that was and when the time is over."""
    folder = Path(folder).resolve()
    _rule(folder, name)
    starts = exam_starts.read(folder, name)
    return {learner: _sitting(folder, name, learner, start) for learner, start in starts.items()}


def enter_starts(folder: Path | str, name: str, starts: Mapping[str, datetime]) -> None:
    """Enter when learners began, in place of what is known; late penalties follow at once."""
    folder = Path(folder).resolve()
    rule, due = _rule(folder, name), _due(folder, name)
    extensions.check_learners(folder, starts)
    for learner, start in starts.items():
        if rule.opens is not None and start < rule.opens:
            raise CourseError(f"{learner}: {shown(start)} is before {name} opens, {shown(rule.opens)}")
        if start >= _window_end(folder, name, learner, rule, due):
            raise CourseError(f"{learner}: {shown(start)} is after the window of {name}, which ends {shown(due)}")
    before = granted_for(folder, name, due)
    exam_starts.enter(folder, name, starts)
    extensions.take_back(folder, name, list(starts), before)


def open_for(folder: Path, name: str, learner: str, now: datetime) -> Sitting:
    """Open the exam for a learner, or tell how it stands if it is open; CourseError before and after its window."""
    rule, due = _rule(folder, name), _due(folder, name)
    known = exam_starts.read(folder, name).get(learner)
    if known is None and rule.opens is not None and now < rule.opens:
        raise CourseError(f"{name} opens {shown(rule.opens)}; it is {shown(now)}")
    if known is None and now >= _window_end(folder, name, learner, rule, due):
        raise CourseError(f"the window of {name} is over since {shown(due)}")
    return _sitting(folder, name, learner, known or exam_starts.first(folder, name, learner, now))


def keep_copy(folder: Path, name: str, learner: str, text: str, now: datetime) -> bool:
    """Keep a copy of a learner's notebook, unless the time is over or the exam was never opened; whether it is kept."""
    _rule(folder, name)
    start = exam_starts.read(folder, name).get(learner)
    if start is None or now > _sitting(folder, name, learner, start).end:
        return False
    home = own(folder, "exams", name, "copies", agreed_terms.checked_learner(learner))
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(home / f"{now.strftime(STAMP)}.ipynb", text)
    for old in _copies(home)[:-COPIES]:
        old.unlink(missing_ok=True)
    return True


def collect(folder: Path | str, name: str, learners: Sequence[str] = ()) -> dict[str, datetime]:
    """Submit the last copy that was kept of each learner (of all, or of `learners`) who has submitted nothing; returns
    when each copy was made, which is its time of submission. A copy was made in time, or it would not be there."""
    folder = Path(folder).resolve()
    _rule(folder, name)
    home, taken = own(folder, "exams", name, "copies"), dict[str, datetime]()
    known = collected_files.load(folder, name)
    for own_folder in sorted(home.glob("*")):
        copies, learner = _copies(own_folder), own_folder.name
        target = folder / "submitted" / learner / name
        if (learners and learner not in learners) or not copies or _is_taken(target):
            continue
        when, text = datetime.strptime(copies[-1].stem, STAMP), copies[-1].read_text(encoding="utf-8")
        submitted, digest = f"{when:{submission_time.STAMP}} UTC", sha256(text.encode()).hexdigest()
        known[learner] = Collected(digest, submitted, "", f"{name}.ipynb")
        collected_files.save(folder, name, known)  # first: what a kill leaves is known as ours
        target.mkdir(parents=True, exist_ok=True)
        write_whole(target / submission_time.FILE, submitted)
        write_whole(target / f"{name}.ipynb", text)
        taken[learner] = when
    return taken


def _is_taken(target: Path) -> bool:
    """Whether a learner has submitted something. A disk that was full leaves an empty folder, or a time alone."""
    return target.is_symlink() or (target.exists() and (target.is_file() or any(_works(target))))


def _works(target: Path) -> Iterator[Path]:
    return (path for path in target.iterdir() if path.name != submission_time.FILE)


def now_utc() -> datetime:
    """The time by this machine's clock, in UTC, as everything here has it."""
    return datetime.now(UTC).replace(tzinfo=None)


def _copies(home: Path) -> list[Path]:
    return sorted(path for path in home.glob("*.ipynb") if COPY.fullmatch(path.name) and not path.is_symlink())


def _change(folder: Path, name: str, rule: ExamRule | None) -> None:
    before = granted_for(folder, name, _due(folder, name))
    with agreed_terms.changing(folder, name) as terms:
        terms.exam = rule
    after = granted_for(folder, name, _due(folder, name))
    extensions.take_back(folder, name, sorted(before.keys() | after.keys()), before)


def _rule(folder: Path, name: str) -> ExamRule:
    rule = agreed_terms.read(folder, name).exam
    if rule is None:
        raise CourseError(f"{name} is not an exam; `gpubook course exam … --minutes 90` makes it one")
    return rule


def _due(folder: Path, name: str) -> datetime:
    due = gradebook.due_date(gradebook.url_of(folder), name)
    if due is None:
        raise CourseError(f"{name} has no deadline, and an exam's window needs an end; `gpubook course assign … --due`")
    return due


def _window_end(folder: Path, name: str, learner: str, rule: ExamRule, due: datetime) -> datetime:
    """Until when a learner may open the exam: the deadline, or what an extension makes of it. Minutes that a factor
    adds come after it, and do not make it later."""
    extension = agreed_terms.read(folder, name).extensions.get(learner)
    return due + (extension.beyond(due) if extension and rule else timedelta())


def _sitting(folder: Path, name: str, learner: str, start: datetime) -> Sitting:
    terms, due = agreed_terms.read(folder, name), _due(folder, name)
    factor = accommodations.read(folder).get(learner, 1.0)
    end, _ = sitting_end(terms, factor, start)
    latest = due + granted_for(folder, name, due).get(learner, timedelta())
    return Sitting(start, min(end, latest), (terms.exam.minutes if terms.exam else 0.0) * factor)
