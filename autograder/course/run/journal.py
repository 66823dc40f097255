"""The journal of a run over a class: what is finished is kept, whatever happens to the run later.

`.gpubook/NAME.journal` is one JSON line for each finished submission, appended and on the disk before anything else is
done with it; the executed notebook lies beside it, in `NAME.graded/`, written first and atomically. A line that a kill
truncated is ignored. The last line of a learner counts.
"""

import errno
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

from ...book.course_error import CourseError
from ...grading.fingerprints import Fingerprint
from ...grading.found_cells import ALL_THERE, FoundCells
from ...grading.results import Result
from ...grading.worker import JobOutcome
from ...values.atomic_write import write_whole
from ...values.digest import digest
from ...values.own_file import broken, parsed, text_of
from ...values.own_folder import OWN, opened, own, remove
from ..terms.lateness import Lateness
from ..terms.page_basis import PageBasis

AGAIN = "move it away, and `gpubook grade` grades everybody of this assignment anew"
OF_NOTEBOOK = re.compile(r"\w[\w.-]*\.ipynb")  # the name of a file, and never a way to another folder
Taken = TypeVar("Taken")


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
    bases: dict[str, PageBasis] = field(default_factory=dict)  # and what their pages show; not of earlier versions
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
        try:
            journal._file = opened(journal.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        except IsADirectoryError:
            raise broken(journal.path, "a folder, where a file was expected", AGAIN, CourseError) from None
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
        self.restart, self.entries, self.recorded, self.bases = False, {}, {}, {}
        remove(self.notebooks)
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
            with suppress(FileNotFoundError):
                remove(self.notebooks / before.notebook)
        return entry

    def record(self, learner: str, lateness: Lateness, basis: PageBasis | None = None) -> None:
        """Note that the learner's entry is in the gradebook too, how late it counts there, and what the page shows."""
        self._add({"recorded": learner, "lateness": asdict(lateness), "basis": basis and asdict(basis)})
        self.recorded[learner] = lateness
        if basis is not None:
            self.bases[learner] = basis

    def end(self) -> None:
        """The run finished."""
        self._add({"finished": True})
        self.finished = True

    def notebook(self, entry: JournalEntry) -> str:
        """An executed notebook; CourseError, which names it, where it cannot be read."""
        path = self.notebooks / entry.notebook
        text = text_of(path, AGAIN, CourseError)
        parsed(path, text, AGAIN, lambda plain: plain["cells"], CourseError)
        return text

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
        lines = _read_lines(self.path, whole)
        for entry in _entries(self.path, lines):
            if (self.notebooks / entry.notebook).is_file():
                self.entries[entry.learner] = entry
        recorded = _taken(self.path, lambda: _recorded(lines))
        self.recorded = {who: late for who, late in recorded.items() if who in self.entries}
        self.bases = _taken(self.path, lambda: _bases(lines))
        runs = [line for line in lines if "begun" in line or "finished" in line]  # over the class, not over some of it
        self.finished = not runs or "finished" in runs[-1]


def finished_entries(folder: Path, name: str) -> dict[str, JournalEntry]:
    """What the journal of the assignment `name` has, by learner, for one who only reads: also while a run writes it."""
    return {entry.learner: entry for entry in _entries(_journal(folder, name), _lines(folder, name))}


def recorded_lateness(folder: Path, name: str) -> dict[str, Lateness | None]:
    """How late each learner's submission counts in the gradebook, by the run that entered it; None of an earlier
    version's."""
    lines = _lines(folder, name)
    return _taken(_journal(folder, name), lambda: _recorded(lines))


def _journal(folder: Path, name: str) -> Path:
    return own(folder, f"{name}.journal")


def _lines(folder: Path, name: str) -> list[dict[str, Any]]:
    path = _journal(folder, name)
    if not path.exists():
        return []
    return _read_lines(path, _whole_lines(text_of(path, AGAIN, CourseError).encode()))


def _read_lines(path: Path, whole: bytes) -> list[dict[str, Any]]:
    """The lines of a journal; CourseError, which names it, where they are not such lines."""
    try:
        texts = whole.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise broken(path, f"not text in UTF-8, from byte {error.start:,} on", AGAIN, CourseError) from None
    return [parsed(path, text, AGAIN, _line, CourseError) for text in texts]


def _line(plain: Any) -> dict[str, Any]:
    if not isinstance(plain, dict):
        raise TypeError(f"a line is {type(plain).__name__}, where an object was expected")
    if {type(plain.get(name, "")) for name in ("learner", "recorded")} != {str}:
        raise TypeError("a line is of something else than a learner")
    return plain


def _entries(path: Path, lines: Iterable[dict[str, Any]]) -> list[JournalEntry]:
    return _taken(path, lambda: [_entry(line) for line in lines if "learner" in line])


def _taken(path: Path, take: Callable[[], Taken]) -> Taken:
    """What is taken from the lines of a journal; CourseError, which names it, where they are not as expected."""
    try:
        return take()
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise broken(path, f"not what gpubook wrote ({type(error).__name__}: {error})", AGAIN, CourseError) from None


def _recorded(lines: Iterable[dict[str, Any]]) -> dict[str, Lateness | None]:
    """The learners whose last entry is in the gradebook."""
    recorded: dict[str, Lateness | None] = {}
    for line in lines:
        if "learner" in line:
            recorded.pop(line["learner"], None)
        elif "recorded" in line:
            recorded[line["recorded"]] = Lateness.of(line.get("lateness"))
    return recorded


def _bases(lines: Iterable[dict[str, Any]]) -> dict[str, PageBasis]:
    """What the pages of learners show, as their last entry left them."""
    bases = {line["recorded"]: PageBasis.of(line.get("basis")) for line in lines if "recorded" in line}
    return {who: basis for who, basis in bases.items() if basis is not None}


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
    if not OF_NOTEBOOK.fullmatch(said["notebook"]) or type(said["learner"]) is not str:
        raise ValueError(f"{said['notebook']!r} of {said['learner']!r} is not the name of a graded notebook")
    fingerprint = Fingerprint(**said["fingerprint" if "fingerprint" in said else "stamp"])  # as it was once called
    results = tuple(Result(**one) for one in said["results"])
    answers = said.get("answers", {})  # an earlier version kept none
    cells = FoundCells.of_plain(said.get("cells"))
    return JournalEntry(
        said["learner"], fingerprint, results, tuple(said["problems"]), said["notebook"], answers, cells
    )
