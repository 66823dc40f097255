"""The journal of a run over a class: what is finished is kept, whatever happens to the run later.

`.gpubook/NAME.journal` is one JSON line for each finished submission, appended and on the disk before anything else is
done with it; the executed notebook lies beside it, in `NAME.graded/`, written first and atomically. A line that a kill
truncated is ignored. The last line of a learner counts.
"""

import errno
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from ...book.course_error import CourseError
from ...grading.fingerprints import Fingerprint
from ...grading.found_cells import ALL_THERE, FoundCells
from ...grading.results import Result
from ...grading.worker import JobOutcome
from ...values.atomic_write import write_whole
from ...values.digest import digest
from ...values.own_folder import OWN, own
from ..terms.lateness import Lateness


@dataclass(frozen=True)
class JournalEntry:
    """A finished submission: its fingerprint, its results, the name of its executed notebook, the answers in it that
    can be judged again without running it (see `grading.rejudging.Earlier`), and which of its answer cells were found
    how."""

    learner: str
    fingerprint: Fingerprint
    results: tuple[Result, ...]
    problems: tuple[str, ...]
    notebook: str
    answers: Mapping[str, Any] = field(default_factory=dict)
    cells: FoundCells = ALL_THERE


@dataclass
class Journal:
    """The journal of one assignment, open for one run at a time. A context manager."""

    folder: Path
    name: str
    entries: dict[str, JournalEntry] = field(default_factory=dict)
    recorded: dict[str, Lateness | None] = field(default_factory=dict)  # as which entries are in the gradebook
    finished: bool = True  # whether the last run came to its end
    restart: bool = False  # whether to discard the entries of earlier runs
    _file: int = -1

    @classmethod
    def open(cls, folder: Path, name: str) -> Self:
        """The journal of the assignment `name`; CourseError where another run has it open."""
        import fcntl  # there is none on Windows, where nobody's work is graded

        journal = cls(own(folder), name)
        for path in (journal.path, journal.notebooks):
            own(folder, path.name)
        journal.notebooks.mkdir(parents=True, exist_ok=True)
        journal._file = os.open(journal.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(journal._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(journal._file)
            raise CourseError(f"{name} is being graded by another run; wait until it ends") from None
        journal._read()
        return journal

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    @property
    def path(self) -> Path:
        return self.folder / f"{self.name}.journal"

    @property
    def notebooks(self) -> Path:
        return self.folder / f"{self.name}.graded"

    def remark(self, resume: bool) -> str:
        """A remark on a run that did not finish; empty if it did."""
        if self.finished or not self.entries:
            return ""
        graded = f"The last run over {self.name} ended early, with {len(self.entries)} graded"
        return f"{graded}." if resume else f"{graded}, which are graded again now; --resume keeps them."

    def begin(self, restart: bool) -> None:
        """A run over the class begins; with `restart` the entries of earlier runs are discarded as soon as it
        finishes its first submission."""
        self.restart = restart
        self._add({"begun": True})

    def _forget(self) -> None:
        os.ftruncate(self._file, 0)
        self.restart, self.entries, self.recorded = False, {}, {}
        shutil.rmtree(self.notebooks, ignore_errors=True)
        self.notebooks.mkdir()
        self._add({"begun": True})

    def keep(self, learner: str, fingerprint: Fingerprint, outcome: JobOutcome) -> JournalEntry:
        """A submission is finished: its notebook, then its line, on the disk when this returns."""
        if self.restart:
            self._forget()
        results, problems = tuple(outcome.results), tuple(outcome.problems)
        name = f"{digest(learner, outcome.notebook)}.ipynb"
        entry = JournalEntry(learner, fingerprint, results, problems, name, outcome.answers, outcome.cells)
        write_whole(self.notebooks / entry.notebook, outcome.notebook)
        self._add(asdict(entry))
        before = self.entries.get(learner)
        self.entries[learner] = entry
        self.recorded.pop(learner, None)
        if before is not None and before.notebook != entry.notebook:
            (self.notebooks / before.notebook).unlink(missing_ok=True)
        return entry

    def record(self, learner: str, lateness: Lateness) -> None:
        """Note that the learner's entry is in the gradebook too, and how late it counts there."""
        self._add({"recorded": learner, "lateness": asdict(lateness)})
        self.recorded[learner] = lateness

    def end(self) -> None:
        """The run finished."""
        self._add({"finished": True})
        self.finished = True

    def notebook(self, entry: JournalEntry) -> str:
        return (self.notebooks / entry.notebook).read_text(encoding="utf-8")

    def _add(self, line: dict[str, Any]) -> None:
        whole = os.fstat(self._file).st_size
        data = json.dumps(line, ensure_ascii=True).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, whole)
            raise

    def _read(self) -> None:
        text = self.path.read_bytes()
        whole = _whole_lines(text)
        if len(whole) < len(text):
            os.ftruncate(self._file, len(whole))
        lines = [json.loads(line) for line in whole.splitlines()]
        for entry in (_entry(line) for line in lines if "learner" in line):
            if (self.notebooks / entry.notebook).is_file():
                self.entries[entry.learner] = entry
        self.recorded = {who: late for who, late in _recorded(lines).items() if who in self.entries}
        self.finished = not lines or "finished" in lines[-1]


def finished_entries(folder: Path, name: str) -> dict[str, JournalEntry]:
    """What the journal of the assignment `name` has, by learner, for one who only reads: also while a run writes it."""
    return {entry.learner: entry for entry in (_entry(line) for line in _lines(folder, name) if "learner" in line)}


def recorded_lateness(folder: Path, name: str) -> dict[str, Lateness | None]:
    """How late each learner's submission counts in the gradebook, by the run that entered it; None of an earlier
    version's."""
    return _recorded(_lines(folder, name))


def _lines(folder: Path, name: str) -> list[dict[str, Any]]:
    path = own(folder, f"{name}.journal")
    return [json.loads(line) for line in _whole_lines(path.read_bytes()).splitlines()] if path.is_file() else []


def _recorded(lines: Iterable[dict[str, Any]]) -> dict[str, Lateness | None]:
    """The learners whose last entry is in the gradebook."""
    recorded: dict[str, Lateness | None] = {}
    for line in lines:
        if "learner" in line:
            recorded.pop(line["learner"], None)
        elif "recorded" in line:
            recorded[line["recorded"]] = Lateness.of(line.get("lateness"))
    return recorded


def _whole_lines(text: bytes) -> bytes:
    """Without a last line that a kill, or a run that is writing it, has left incomplete."""
    return text[: text.rfind(b"\n") + 1]


@contextmanager
def reporting_full_machine(folder: Path, name: str) -> Iterator[None]:
    """Wraps a run over the assignment `name` of the course in `folder`: a full disk, or too many open files, is
    reported with what to do and how to resume."""
    try:
        yield
    except OSError as error:
        advice = f"finished grades are kept: {{}}, then `gpubook grade {folder} {name} --resume`"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            where = error.filename or folder / OWN / f"{name}.journal"
            problem = f"{where}: {error.strerror}; {advice.format('free some space')}"
        elif error.errno in (errno.EMFILE, errno.ENFILE):
            problem = f"{error.strerror} in the grader, no submission's fault; {advice.format('`ulimit -n 4096`')}"
        else:
            raise
        raise CourseError(problem) from error


def _entry(said: dict[str, Any]) -> JournalEntry:
    fingerprint = Fingerprint(**said["fingerprint" if "fingerprint" in said else "stamp"])  # as it was once called
    results = tuple(Result(**one) for one in said["results"])
    answers = said.get("answers", {})  # an earlier version kept none
    cells = FoundCells.of_plain(said.get("cells"))
    return JournalEntry(
        said["learner"], fingerprint, results, tuple(said["problems"]), said["notebook"], answers, cells
    )
