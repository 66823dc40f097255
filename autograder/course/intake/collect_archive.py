"""Put a platform's download of submissions into submitted/LEARNER/NAME/NAME.ipynb."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from hashlib import sha256
from pathlib import Path

from ...book.course_error import CourseError
from ...grading.restore import SubmissionError
from ...values.atomic_write import write_whole
from .. import gradebook
from ..banks import checked_name
from ..gradebook import AssignmentScore
from ..layout import read_config, released
from ..moodle import moodle_times, moodle_worksheet
from ..moodle.moodle_worksheet import Participant
from ..submissions import collected_files, refused_uploads
from ..submissions.collected_files import Collected
from ..submissions.submission_time import FILE, STAMP, SubmissionTime
from ..terms import history
from . import archives, notebook_choice, submission_list
from .archives import Refused
from .download_names import Upload
from .notebook_choice import Chosen
from .ownership import by_owner, listed
from .roster_match import Roster


@dataclass
class Outcome:
    """What became of one learner's files: "new", "updated", "unchanged", "kept" (what is there stays) or "refused"."""

    learner: str
    kind: str
    file: str = ""
    submitted: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass
class Report:
    """What became of an archive: an outcome for each learner in it, what was refused before anybody was known, who has
    nothing in it, and notes."""

    outcomes: list[Outcome] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def collect(
    folder: Path | str,
    name: str,
    source: Path,
    *,
    worksheet: Path | None = None,
    zone: tzinfo | None = None,
    submissions: Sequence[Path] = (),
    submitted: Mapping[str, datetime] | None = None,
    replace_others: bool = False,
    dry_run: bool = False,
) -> Report:
    """Take the submissions of the assignment `name` out of a zip or a folder; nothing is guessed, and with `dry_run`
    nothing written.

    `worksheet`: Moodle's, which says who a participant is and when the submission was made, in the time `zone` of
    whoever downloaded it; without the zone no time counts. `submissions`: lists of Canvas, with times. `submitted`:
    times (UTC) by learner, before all others. A submission that something else put there (nbgrader's exchange, a
    teacher's hand) stays, unless both times are known and that in the archive is later, or
    `replace_others` says so. CourseError where nothing can be taken at all.
    """
    folder, name = Path(folder).resolve(), checked_name(name)
    config = read_config(folder)
    released(folder, name)
    rows = gradebook.scores(folder, [name])[name]
    lines = moodle_worksheet.participants(worksheet, rows) if worksheet is not None else None
    listed_times = submission_list.read(submissions, [score.person for score in rows], zone)
    known = {**listed_times.by_learner, **_of_learners(submitted or {}, rows)}
    times = SubmissionTime.in_course(folder, name, config)
    with archives.opened(source) as contents:
        report = Report(refused=contents.refused, notes=listed_times.notes)
        roster = Roster([score.person for score in rows], lines)
        matched = by_owner(contents.members, roster, name, source.resolve().name)
        owned = matched.files
        report.refused += matched.refused
        work = _Collecting(folder, name, times, replace_others, dry_run)
        for learner, theirs in sorted(owned.items()):
            when = known.get(learner) or _time_of(theirs[0], lines, zone, report)
            outcome = work.take(learner, theirs, when)
            report.outcomes.append(outcome)
    if not dry_run:
        _note_refused(folder, name, report)
        history.record(folder, "collect", name, **_told(source, report))
    if not rows and not owned:
        report.notes.append("the gradebook has no learners yet; `nbgrader db student import roster.csv` enters them")
    report.missing = [score.person.id for score in rows if score.person.id not in owned]
    if zone is None and lines and any(line.submitted.strip(" -") for line in lines.values()):
        report.notes.append("the worksheet's times count for nobody: with --time-zone they do")
    late = {who for who, theirs in owned.items() if any(upload.late for upload in theirs)}
    if timeless := sorted(late - known.keys()):
        report.notes.append(
            f"late by Canvas, whose zip does not say since when: {', '.join(timeless)}; its list of "
            "--submissions, or --submitted LEARNER=TIME, does"
        )
    if without := sorted(set(submitted or ()) - owned.keys()):
        report.notes.append(f"nothing in the archive, so their times count for nothing: {', '.join(without)}")
    return report


def _of_learners(submitted: Mapping[str, datetime], rows: Sequence[AssignmentScore]) -> dict[str, datetime]:
    """The times as they are, with their zone; CourseError where one is of nobody."""
    people = {score.person.id for score in rows}
    if strangers := sorted(submitted.keys() - people if people else ()):
        raise CourseError(f"a time of submission is given for {', '.join(strangers)}, who is not in the gradebook")
    return {who: when.replace(tzinfo=UTC) for who, when in submitted.items()}


def _told(source: Path, report: Report) -> dict[str, object]:
    """What a history says of a collection."""
    kinds = Counter(outcome.kind for outcome in report.outcomes)
    return {"archive": source.resolve().name, **dict(sorted(kinds.items()))}


def _note_refused(folder: Path, name: str, report: Report) -> None:
    """Keep whose files were refused, and why, until something of theirs is taken."""
    before = refused_uploads.load(folder, name)
    now = {one.learner: f"{one.file}: {'; '.join(one.notes)}" for one in report.outcomes if one.kind == "refused"}
    taken_now = {one.learner for one in report.outcomes if one.kind != "refused"}
    after = {who: why for who, why in (before | now).items() if who not in taken_now}
    if after != before:
        refused_uploads.save(folder, name, after)


def _time_of(one: Upload, lines: dict[str, Participant] | None, zone: tzinfo | None, report: Report) -> datetime | None:
    """When a submission was made, as far as anybody says."""
    owner = one.owner
    if owner.platform != "moodle" or not lines or zone is None or owner.number not in lines:
        return None
    try:
        return moodle_times.read(lines[owner.number].submitted, zone)
    except ValueError as error:
        report.notes.append(f"{owner.who}: {error}")
        return None


class _Collecting:
    """The work on one assignment, a learner at a time."""

    def __init__(self, folder: Path, name: str, times: SubmissionTime, replace_others: bool, dry_run: bool):
        self.folder, self.name, self.times = folder, name, times
        self.replace_others, self.dry_run = replace_others, dry_run
        self.before = collected_files.load(folder, name)
        self.questions = {
            path.parent.name: notebook_choice.asked(path) for path in sorted((folder / "release").glob("*/*.ipynb"))
        }

    def take(self, learner: str, uploads: list[Upload], when: datetime | None) -> Outcome:
        """Put the learner's notebook into its place, or say why not."""
        try:
            choice = notebook_choice.choose(self.name, uploads, self.questions)
            kind, why = self._kind(learner, choice, when)
            outcome = Outcome(learner, kind, choice.upload.member.name, notes=[*why, *choice.notes])
            if kind != "kept":
                made = self._collected(learner, choice, when)
                outcome.submitted = made.submitted
                if not self.dry_run and (kind != "unchanged" or made != self.before.get(learner)):
                    self._write(learner, choice, made)
            return outcome
        except (Refused, SubmissionError) as error:
            return Outcome(learner, "refused", listed(uploads), notes=[str(error)])

    def _home(self, learner: str) -> Path:
        return self.folder / "submitted" / learner / self.name

    def _kind(self, learner: str, choice: Chosen, when: datetime | None) -> tuple[str, list[str]]:
        """What is to be done with the chosen notebook, beside the one that may be there, and why."""
        home = self._home(learner)
        path, known = home / f"{self.name}.ipynb", self.before.get(learner)
        for own in (home.parent, home, path):
            if own.is_symlink() or (own.exists() and own.is_dir() != (own is not path)):
                raise Refused(f"{own}: a {'file or a ' * (own is not path)}link; nothing is written through it")
        if not path.exists():
            return "new", []
        there = _digest(path.read_bytes())
        ours = known is not None and there in (known.digest, known.over)
        if there == _digest(choice.text.encode()):
            return ("unchanged", []) if ours else ("kept", ["it is there already"])
        at = self.times.of(learner)
        if when is not None and at is not None:
            return ("updated", []) if when.replace(tzinfo=None) >= at else ("kept", [f"that of {at} UTC is later"])
        if known is not None and ours:
            member = choice.upload.member.when
            if member is None or known.archived_at is None or member >= known.archived_at:
                return "updated", []
            return "kept", [f"that of a later archive, of {known.archived_at}, is there"]
        if self.replace_others:
            return "updated", []
        return "kept", ["another is there, which did not come by `gpubook collect`; --replace would take this one"]

    def _collected(self, learner: str, choice: Chosen, when: datetime | None) -> Collected:
        member, digest, known = choice.upload.member, _digest(choice.text.encode()), self.before.get(learner)
        archived = member.when.isoformat() if member.when else ""
        made = Collected(digest, f"{when.astimezone(UTC):{STAMP} %Z}" if when else "", archived, member.name)
        if known is None or known.digest != digest:
            return made
        # the same again: a time may have been told by a worksheet that was given before
        return replace(made, submitted=made.submitted or known.submitted, over=known.over)

    def _write(self, learner: str, choice: Chosen, made: Collected) -> None:
        """The record comes first, with what is replaced: what a kill leaves is known as ours, and done again."""
        home = self._home(learner)
        path, stamp = home / f"{self.name}.ipynb", home / FILE
        if path.exists() and (there := _digest(path.read_bytes())) != made.digest:
            made = replace(made, over=there)
        self.before[learner] = made
        collected_files.save(self.folder, self.name, self.before)
        home.mkdir(parents=True, exist_ok=True)
        if made.submitted:
            write_whole(stamp, made.submitted)
        elif stamp.is_symlink() or stamp.is_file():
            stamp.unlink()  # that of the submission that was there
        write_whole(path, choice.text)


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def taken(report: Report) -> bool:
    """Whether anybody's work is in its place after this."""
    return any(one.kind != "refused" for one in report.outcomes)
