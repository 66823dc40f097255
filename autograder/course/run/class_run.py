"""A class at once: every submission of an assignment graded, in parallel by workers, entered by one writer.

What finishes is in the journal before it is in the gradebook, so that a run that is killed, or that meets a full disk
or a locked database, goes on where it stopped.
"""

import errno
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from nbformat import from_dict

from ...book.course_error import CourseError
from ...grading.fingerprints import Fingerprint, of_run
from ...grading.judge import Judge
from ...grading.reissue import reissued
from ...grading.rejudging import Earlier, Reuse, reuse
from ...grading.restore import SubmissionError, grade_cell
from ...grading.submission import RunSettings
from ...grading.worker import Grader, GradingJob, JobOutcome, cores
from ..banks import CourseBank
from ..class_results.class_result import Change, ClassResult, EntryChange, Learner
from ..submissions import submission_folders
from ..terms.group_shares import GroupShare
from ..terms.lateness import Lateness
from ..terms.page_basis import PageBasis
from .journal import Journal, JournalEntry
from .trail_file import ENTERED, JUDGED, RAN, REISSUED, TrailFile

THEIRS = (errno.ENAMETOOLONG, errno.EACCES, errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOENT)
AHEAD = 2  # submissions on their way for each worker: read in time, and not all at once

Submit = Callable[[GradingJob], "Future[JobOutcome]"]


class Writer(Protocol):
    """Enters graded notebooks into the gradebook: a `gradebook_writer.GradebookWriter`."""

    def record(self, learner: str, text: str, by: str = "") -> Lateness:
        """Enter it, and return how late it counts; `by` is who submitted it, where another did."""

    def lateness(self, learner: str, by: str = "") -> Lateness:
        """How late what is entered would count if it were entered now."""

    def basis(self, learner: str, by: str = "", entered: bool = False) -> PageBasis:
        """What the learner's files would show beside verdicts and lateness, or show, just `entered`."""

    def has(self) -> set[str]:
        """The learners whose results are all entered."""

    def page_of(self, learner: str) -> Path:
        """A learner's feedback page."""


@dataclass
class ReleasedAssignment:
    """The subject of a run: an assignment as it was released at `path`, the exercises it draws from, and the run's
    settings."""

    path: Path
    release: Any
    bank: CourseBank
    settings: RunSettings
    fingerprint: Callable[[str], Fingerprint] = field(init=False)  # of a submission, by its notebook's JSON

    def __post_init__(self):
        self.fingerprint = of_run(self.release, asdict(self.settings), self.bank.paths, self.bank, self.exercises)

    def reuse(self, earlier: Earlier, notebook: str) -> Reuse | None:
        """What still counts of an earlier run over a submission whose notebook's JSON is this now."""
        return reuse(earlier, self.fingerprint(notebook), self.exercises, self.bank, self.settings.variants)

    @property
    def exercises(self) -> dict[str, float]:
        """The points of each exercise that is asked."""
        roles = [role for role in map(grade_cell, self.release.cells) if role is not None]
        return {role.exercise: role.points for role in roles if role.part in ("grade", "written")}


@contextmanager
def local_executor(assignment: ReleasedAssignment, workers: int | None = None) -> Iterator[tuple[Submit, int]]:
    """How to submit a job to this machine, and how many are graded at once: each in a child of one zygote."""
    count = workers or cores()
    judges = partial(Judge, assignment.bank.paths)
    with (
        Grader(assignment.release, assignment.bank, judges, assignment.settings) as grader,
        ThreadPoolExecutor(count) as pool,
    ):
        try:
            yield lambda job: pool.submit(grader.grade, job), count
        except BaseException:
            grader.stop()
            pool.shutdown(cancel_futures=True)
            raise


@dataclass
class ClassRun:
    """One run: `submissions` (the learners' folders), the journal, and the one writer; fills in `result`.

    With `resume`, what the journal has and what has not changed since is not graded again. `executor` makes the
    context manager of (submit, workers), as `local_executor`; it is not entered where there is nothing to grade.
    """

    assignment: ReleasedAssignment
    submissions: Mapping[str, Path]
    result: ClassResult
    journal: Journal
    writer: Writer
    executor: Callable[[], AbstractContextManager[tuple[Submit, int]]]
    resume: bool = False
    progress: Callable[[str], None] = lambda _: None
    shares: Mapping[str, Sequence[str]] = field(default_factory=dict)  # whose submission counts for whom besides
    shared: dict[str, GroupShare] = field(
        default_factory=dict
    )  # as entered by earlier runs, and from now on by this one
    note_share: Callable[[], None] = lambda: None  # keeps `group_shares`
    trail: TrailFile | None = None  # what is entered stands there too, for good

    def __post_init__(self):
        self.learners = {learner.name: learner for learner in self.result.learners}
        self.problems: dict[str, Sequence[str]] = {}
        self.how: dict[str, str] = {}  # what an entry of now comes from, see `trail_file`
        self.had = self.writer.has() if self.resume else set[str]()
        self.before: dict[str, JournalEntry] = dict(self.journal.entries)
        self.late_before = self.journal.recorded | {who: share.lateness for who, share in self.shared.items()}
        shown = {who: share.basis for who, share in self.shared.items()}
        self.bases_before: dict[str, PageBasis | None] = {**self.journal.bases, **shown}
        self.former: dict[str, JournalEntry] = self.before if self.resume else {}
        self.entered = self.had & self.journal.recorded.keys() - self.shared.keys()

    def run(self) -> None:
        """Grade and enter them all."""
        jobs, waiting = self._jobs(), dict[Future[JobOutcome], tuple[str, Fingerprint]]()
        submit, workers = None, 1
        with ExitStack() as stack:
            while True:
                while len(waiting) < AHEAD * workers and (job := next(jobs, None)) is not None:
                    if submit is None:
                        submit, workers = stack.enter_context(self.executor())
                    waiting[submit(job)] = (job.learner, self.assignment.fingerprint(job.notebook))
                if not waiting:
                    break
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    self._finish(*waiting.pop(future), future.result())
        problems = [f"{self.assignment.path}: {p}" for name in self.submissions for p in self.problems.get(name, ())]
        self.result.problems += [p for p in dict.fromkeys(problems) if p not in self.result.problems]

    def _jobs(self) -> Iterator[GradingJob]:
        """What is to be graded; enters on the way what need not be."""
        for name, folder in self.submissions.items():
            try:
                text = json.dumps(submission_folders.read(folder), ensure_ascii=False)
            except SubmissionError as error:
                self._fail(name, str(error))
                continue
            former = self.former.get(name)
            counts = None if former is None else self.assignment.reuse(former, text)
            if former is not None and counts is not None and (now := self._reissued(former, text)) is not former:
                former, counts = now, self.assignment.reuse(now, text)
            if former is None or counts is None:
                self.how[name] = RAN
                yield GradingJob(name, text)
            elif counts.all:
                self._enter(former)
            else:
                self.how[name] = JUDGED if counts.saved else RAN
                yield self._again(name, text, former, counts)

    def _reissued(self, former: JournalEntry, text: str) -> JournalEntry:
        """The entry under the prompts and points of the release as it is now."""
        wording = self.assignment.fingerprint(text).wording
        if former.fingerprint.wording == wording:
            return former
        executed = from_dict(json.loads(self.journal.notebook(former)))
        results = reissued(executed, self.assignment.release, former.results)
        notebook, answers = json.dumps(executed, ensure_ascii=False), dict(former.answers)
        outcome = JobOutcome(notebook, results, list(former.problems), answers=answers, cells=former.cells)
        self.entered.discard(former.learner)
        self.how[former.learner] = REISSUED
        return self.journal.keep(former.learner, replace(former.fingerprint, wording=wording), outcome)

    def _again(self, name: str, text: str, former: JournalEntry, counts: Reuse) -> GradingJob:
        """A submission of which some keys have changed: no cell runs where all answers to these are saved."""
        results = tuple(asdict(result) for result in counts.kept)
        if not counts.saved:
            return GradingJob(name, text, results, former.answers)
        notes = {result.exercise: result.note for result in former.results}
        return GradingJob(name, text, results, former.answers, self.journal.notebook(former), notes)

    def _finish(self, name: str, fingerprint: Fingerprint, outcome: JobOutcome) -> None:
        if outcome.problem:
            self._fail(name, outcome.problem)
            return
        self.entered.discard(name)
        self._enter(self.journal.keep(name, fingerprint, outcome), outcome.notebook)

    def _enter(self, entry: JournalEntry, text: str | None = None) -> None:
        """What is in the journal: into the gradebook with it, where it is not there yet."""
        learner = self.learners[entry.learner]
        self.result.changes += changes(self.before.get(entry.learner), entry)
        learner.results, self.problems[entry.learner] = list(entry.results), entry.problems
        learner.cells = entry.cells
        if not self._stands(entry.learner):
            late = _record(self.writer, learner, self.journal.notebook(entry) if text is None else text)
            if late is not None:
                self.journal.record(entry.learner, late, self._basis(entry.learner))
                self._leave_trail(entry.learner, entry, late)
            if self.shared.pop(entry.learner, None) is not None:
                self.note_share()
        if not learner.problem:
            learner.feedback = str(self.writer.page_of(entry.learner))
        for mate in self.shares.get(entry.learner, ()):
            self._enter_for(mate, entry, text)
        self.progress(entry.learner)

    def _stands(self, learner: str) -> bool:
        """Whether the gradebook has the learner's entry, it counts as late as it did, and the page shows what is so."""
        if learner not in self.entered or self.journal.recorded.get(learner) != self.writer.lateness(learner):
            return False
        return self.journal.bases.get(learner) == self.writer.basis(learner)

    def _basis(self, learner: str, by: str = "") -> PageBasis:
        """What the files of a learner show who was just entered; tells where that is not what it was."""
        before, now = self.bases_before.get(learner), self.writer.basis(learner, by, entered=True)
        if before is not None:
            other = now.differences(before)
            self.result.entry_changes += [EntryChange(learner, *row) for row in other]
            if self.trail is not None:
                self.trail.noticed(learner, [f"{subject} {what}" for subject, what in other])
        self.bases_before[learner] = now
        return now

    def _leave_trail(self, learner: str, entry: JournalEntry, late: Lateness, known: bool = True) -> None:
        """Note what was entered, where it is something else than before; `known`: whether it is of the same submitter
        as then."""
        if self.trail is None:
            return
        before = self.before.get(entry.learner) if known else None
        how = self.how.get(entry.learner, ENTERED)
        self.trail.entered(learner, how, entry, before, late, self.late_before.get(learner))

    def note_shown(self, learner: str) -> None:
        """A learner's page was written anew since, from the gradebook as it is now."""
        share = self.shared.get(learner)
        if share is not None and share.lateness is not None:
            self.shared[learner] = replace(share, basis=self._basis(learner, share.by))
            self.note_share()
        elif (late := self.journal.recorded.get(learner)) is not None:
            self.journal.record(learner, late, self._basis(learner))

    @property
    def late_reasons(self) -> dict[str, str]:
        """Why another late penalty than before may follow, of everybody who was late before and is now."""
        now = self.journal.recorded | {who: share.lateness for who, share in self.shared.items()}
        both = {who: (late, self.late_before.get(who)) for who, late in now.items()}
        return {who: late.reasons(was) for who, (late, was) in both.items() if late is not None and was is not None}

    def _enter_for(self, mate: str, entry: JournalEntry, text: str | None) -> None:
        """The same for another learner of the group, who did not submit."""
        learner, before = self.learners[mate], self.shared.get(mate)
        learner.results, learner.cells = list(entry.results), entry.cells
        if not (self.resume and mate in self.had and self._share_stands(before, mate, entry)):
            if self.before and (before is None or before.by != entry.learner):
                self.result.entry_changes.append(
                    EntryChange(mate, "group", f"now has the submission of {entry.learner}")
                )
            self.shared[mate] = GroupShare(entry.learner, given=before.given if before is not None else {})
            self.note_share()
            late = _record(self.writer, learner, self.journal.notebook(entry) if text is None else text, entry.learner)
            if late is not None:
                basis = self._basis(mate, entry.learner)
                self.shared[mate] = replace(self.shared[mate], notebook=entry.notebook, lateness=late, basis=basis)
                self.note_share()
                self._leave_trail(mate, entry, late, known=before is not None and before.by == entry.learner)
        if not learner.problem:
            learner.feedback = str(self.writer.page_of(mate))

    def _share_stands(self, share: GroupShare | None, mate: str, entry: JournalEntry) -> bool:
        """Whether the gradebook has this entry for the learner too, and it counts as late as it did."""
        if share is None or (share.by, share.notebook) != (entry.learner, entry.notebook):
            return False
        if share.lateness != self.writer.lateness(mate, entry.learner):
            return False
        return share.basis == self.writer.basis(mate, entry.learner)

    def _fail(self, name: str, problem: str) -> None:
        """A submission that cannot be graded, which may be a group's."""
        self.learners[name].problem = problem
        for mate in self.shares.get(name, ()):
            self.learners[mate].problem = f"the submission of {name}, for the group, could not be graded"
        self.progress(name)


def changes(before: JournalEntry | None, after: JournalEntry) -> list[Change]:
    """The results of a learner whose points or kind of verdict are others than in the run before."""
    if before is None:
        return []
    was = {result.exercise: result for result in before.results}
    other = before.fingerprint.submission != after.fingerprint.submission
    return [
        Change(
            after.learner, was[now.exercise], now, other, after.fingerprint.reasons(before.fingerprint, now.exercise)
        )
        for now in after.results
        if now.exercise in was
        and (now.points, now.max_points, now.kind)
        != (was[now.exercise].points, was[now.exercise].max_points, was[now.exercise].kind)
    ]


def _record(writer: Writer, learner: Learner, text: str, by: str = "") -> Lateness | None:
    """Have it entered; None where it could not be. A full disk or a database that cannot be used is every learner's
    loss, and raised; all else is the problem of this one, and so is a file of theirs that cannot be copied."""
    try:
        return writer.record(learner.name, text, **({"by": by} if by else {}))
    except CourseError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno not in THEIRS:
            raise
        learner.problem = f"graded, but it could not be entered into the gradebook: {type(error).__name__}: {error}"
        return None
