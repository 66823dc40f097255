"""A learner's progress file: what was answered, predicted, hinted at and shown, see `record` for what it holds.

The file is replaced as a whole, under a lock, so that two notebooks can write to it and a crash leaves the
old one. A file that cannot be read is set aside under another name, never overwritten; one of a newer version is left
as it is. A study folder has one for all of its chapters.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..declaration.answer import JudgedBy
from ..values.atomic_write import naming, write_whole
from ..values.own_folder import OWN, LinkInTheWay, first_link, is_link, opened, own
from . import record
from .record import Data

FILE = "progress.json"
EDITIONS = f"{OWN}/editions"  # the chapters as the book wrote them, in a study folder
STUDY = "study"  # the file in `.gpubook` that marks a study folder
MARKED = "One file, progress.json, records what was done in all chapters of this folder.\n"


@dataclass(frozen=True)
class Recorded:
    """A prediction as it was first made: the answer (a message of `encoding.encode`) and when, in UTC, ISO
    8601."""

    answer: Any
    time: str
    first: bool = False


@dataclass(frozen=True)
class Progress:
    """The progress file at `path`; it need not exist yet."""

    path: Path

    @classmethod
    def here(cls) -> Progress:
        """$GPUBOOK_PROGRESS, or the file of the study folder that the notebook is in, or `.gpubook/progress.json`
        beside the notebook."""
        named = os.environ.get("GPUBOOK_PROGRESS")
        return cls(Path(named)) if named else cls.below(Path.cwd())

    @classmethod
    def below(cls, folder: Path) -> Progress:
        """The file of the study folder that `folder` is, or is in; else its own. What the chapters of a study folder
        had in files of their own is merged into it, once."""
        for above in (folder, *folder.parents):
            if (above / OWN / STUDY).is_file() or (above / OWN / "lab").is_dir():
                progress = cls(own(above, FILE))
                for older in sorted(above.glob(f"*/{OWN}/{FILE}")):
                    if first_link(above, str(older.relative_to(above))):  # it may be of another study folder
                        continue
                    with contextlib.suppress(OSError, record.BadRecord):
                        progress._take_over(older)
                return progress
        return cls(own(folder, FILE))

    def entry(self, exercise_id: str) -> Data:
        """What is recorded of an exercise; empty for nothing."""
        return self._read()["exercises"].get(exercise_id, {})

    def data(self) -> Data:
        """The whole record."""
        return self._read()

    def prediction(self, exercise_id: str) -> Recorded | None:
        """The recorded prediction, or None."""
        entry = self.entry(exercise_id).get("prediction")
        return Recorded(entry["answer"], entry["time"]) if entry else None

    def predict(self, exercise_id: str, answer: Any, source: str = "") -> Recorded:
        """Record `answer` where none is recorded yet, and return what is: the first answer is kept.

        Raises OSError where the folder cannot be written to.
        """
        with self._entry(exercise_id) as entry:
            first = "prediction" not in entry
            if first:
                entry["prediction"] = {"answer": answer, "source": _kept(source), "time": record.now()}
            prediction = entry["prediction"]
        return Recorded(prediction["answer"], prediction["time"], first)

    def attempt(self, exercise_id: str, source: str, verdict: Mapping[str, Any]) -> None:
        """Record an answer and its verdict. One that is no answer yet leaves the answer before it."""
        if verdict["kind"] == "empty":
            return
        with self._entry(exercise_id) as entry:
            attempts = entry.setdefault("attempts", {})
            time = record.free(attempts, record.now())
            entry["answer"] = {"source": _kept(source), "time": time, "verdict": dict(verdict)}
            attempts[time] = {name: verdict[name] for name in ("kind", "reason", "mistakes", "score")}
            if verdict["score"] > entry.get("best", {}).get("score", 0):
                entry["best"] = {"score": verdict["score"], "time": time}

    def hints_shown(self, exercise_id: str) -> int:
        """How many hints were shown."""
        return self.entry(exercise_id).get("hints", 0)

    def next_hint(self, exercise_id: str, count: int) -> int:
        """How many of `count` hints to show now: one more than the last time."""
        with self._entry(exercise_id) as entry:
            shown = min(count, entry.get("hints", 0) + 1)
            entry["hints"] = max(shown, entry.get("hints", 0))
            return shown

    def solution_seen(self, exercise_id: str) -> str | None:
        """When its solution was first shown, in UTC, ISO 8601; None if it never was."""
        return self.entry(exercise_id).get("solution")

    def record_solution(self, exercise_id: str) -> None:
        """Record that its solution is shown now, unless it was before."""
        with self._entry(exercise_id) as entry:
            entry.setdefault("solution", record.now())

    def merge(self, other: Data) -> None:
        """Add what another record has. BadRecord where both together are more than is read again."""
        with self._changing() as data:
            made = record.merged(data, other)
            record.read(record.written(made), f"{self.path} with what is added to it")
            data.clear()
            data.update(made)

    def set_aside(self) -> list[Path]:
        """Files that could not be read and were kept under another name."""
        return sorted(self.path.parent.glob(self.path.name + ".unreadable-*"))

    def _take_over(self, older: Path) -> None:
        """Merge the file of a chapter, and keep it under another name."""
        other = Progress(older)
        with _lock(older.with_name(older.name + ".lock")):
            if not older.is_file():  # another notebook was faster
                return
            data = other._read()
            self.merge(data)
            if older.exists():
                os.replace(older, older.with_name(f"{older.name}.merged"))

    def _read(self) -> Data:
        try:
            if self.path.stat().st_size > record.MAX_SIZE:
                raise record.BadRecord("too large")
            return record.read(self.path.read_bytes(), str(self.path))
        except FileNotFoundError:
            return record.empty()
        except record.NewerFormat:
            raise
        except (OSError, ValueError, RecursionError):
            return self._unreadable()

    def _unreadable(self) -> Data:
        for number in range(1, 1000):
            aside = self.path.with_name(f"{self.path.name}.unreadable-{number}")
            if not aside.exists():
                break
        try:
            os.replace(self.path, aside)
        except OSError:
            if self.path.exists():
                raise
        return record.empty()

    @contextmanager
    def _entry(self, exercise_id: str) -> Iterator[Data]:
        with self._changing() as data:
            yield data["exercises"].setdefault(exercise_id, {})

    @contextmanager
    def _changing(self) -> Iterator[Data]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _lock(self.path.with_name(self.path.name + ".lock")):
            data = self._read()
            before = record.written(data)
            yield data
            data = record.merged(data, data)  # no more attempts than are kept
            if record.written(data) != before or not self.path.exists():
                self._write(data)

    def _write(self, data: Data) -> None:
        with naming(self.path):
            self._write_whole(record.written(data))

    def _write_whole(self, text: str) -> None:
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.name + ".")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def mark(folder: Path) -> None:
    """Make `folder` a study folder: one progress file for all of its chapters."""
    path = own(folder, STUDY)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file():
        write_whole(path, MARKED, mode=0o644)


def judged(exercise: Mapping[str, Any]) -> bool:
    """Whether an exercise, by its public record, is judged without a teacher, and so has points."""
    from ..answers import answer_from

    return answer_from(exercise).judged_by is not JudgedBy.TEACHER


def done(entry: Mapping[str, Any], exercise: Mapping[str, Any]) -> bool:
    """Whether an exercise, by its public record, is done: all points, a prediction, or a text that nobody judges."""
    if "prediction" in entry or entry.get("best", {}).get("score", 0) >= 1:
        return True
    return not judged(exercise) and ("answer" in entry or "solution" in entry)


def points(entry: Mapping[str, Any], exercise: Mapping[str, Any]) -> float:
    """The points that are reached."""
    if not judged(exercise):
        return 0.0
    score = 1.0 if "prediction" in entry else min(entry.get("best", {}).get("score", 0), 1)
    return score * exercise["points"]


def totals(data: Data, exercises: Sequence[Mapping[str, Any]]) -> tuple[int, float, float]:
    """Of some exercises, by their public records: how many are done, the points, and the points that there are."""
    entries = [(data["exercises"].get(one["id"], {}), one) for one in exercises]
    return (
        sum(done(*pair) for pair in entries),
        sum(points(*pair) for pair in entries),
        sum(one["points"] for one in exercises if judged(one)),
    )


def _kept(source: str) -> str:
    return source if len(source) <= record.LONGEST else ""


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    flock: Callable[[Any, int], None] | None
    if is_link(path):  # also where the record is not below a folder of ours
        raise LinkInTheWay(path)
    try:
        from fcntl import LOCK_EX, flock
    except ImportError:  # Windows: the replacement of the file is atomic all the same
        flock = None
    with os.fdopen(opened(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), "a", encoding="utf-8") as file:
        if flock is not None:
            flock(file, LOCK_EX)
        yield
