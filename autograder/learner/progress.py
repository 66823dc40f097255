"""A learner's progress file: the first answer to each prediction, with its time, how many hints were shown, and when
a solution was first.

The file is replaced as a whole, under a lock, so that two notebooks can write to it and a crash leaves the
old one. A file that cannot be read is set aside under another name, never overwritten.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FORMAT = 1
MAX_SIZE = 4 << 20


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
        """$GPUBOOK_PROGRESS, or `.gpubook/progress.json` beside the notebook."""
        named = os.environ.get("GPUBOOK_PROGRESS")
        return cls(Path(named) if named else Path.cwd() / ".gpubook" / "progress.json")

    def prediction(self, exercise_id: str) -> Recorded | None:
        """The recorded prediction, or None."""
        entry = self._read().get("predictions", {}).get(exercise_id)
        return Recorded(entry["answer"], entry["time"]) if entry else None

    def predict(self, exercise_id: str, answer: Any) -> Recorded:
        """Record `answer` where none is recorded yet, and return what is: the first answer is kept.

        Raises OSError where the folder cannot be written to.
        """
        with self._changing() as data:
            entries = data.setdefault("predictions", {})
            first = exercise_id not in entries
            if first:
                entries[exercise_id] = {
                    "answer": answer,
                    "time": _now(),
                }
            entry = entries[exercise_id]
        return Recorded(entry["answer"], entry["time"], first)

    def hints_shown(self, exercise_id: str) -> int:
        """How many hints were shown."""
        shown = self._read().get("hints", {}).get(exercise_id, 0)
        return shown if type(shown) is int else 0

    def next_hint(self, exercise_id: str, count: int) -> int:
        """How many of `count` hints to show now: one more than the last time."""
        with self._changing() as data:
            shown = data.setdefault("hints", {})
            before = shown.get(exercise_id, 0)
            shown[exercise_id] = min(count, (before if type(before) is int else 0) + 1)
            return shown[exercise_id]

    def solution_seen(self, exercise_id: str) -> str | None:
        """When its solution was first shown, in UTC, ISO 8601; None if it never was."""
        time = self._read().get("solutions", {}).get(exercise_id)
        return time if type(time) is str else None

    def record_solution(self, exercise_id: str) -> None:
        """Record that its solution is shown now, unless it was before."""
        with self._changing() as data:
            data.setdefault("solutions", {}).setdefault(exercise_id, _now())

    def set_aside(self) -> list[Path]:
        """Files that could not be read and were kept under another name."""
        return sorted(self.path.parent.glob(self.path.name + ".unreadable-*"))

    def _read(self) -> dict[str, Any]:
        try:
            if self.path.stat().st_size > MAX_SIZE:
                raise ValueError("too large")
            data = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {"format": FORMAT}
        except (OSError, ValueError, RecursionError):
            return self._unreadable()
        return data if _valid(data) else self._unreadable()

    def _unreadable(self) -> dict[str, Any]:
        for number in range(1, 1000):
            aside = self.path.with_name(f"{self.path.name}.unreadable-{number}")
            if not aside.exists():
                break
        try:
            os.replace(self.path, aside)
        except OSError:
            if self.path.exists():
                raise
        return {"format": FORMAT}

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Any]]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _lock(self.path.with_name(self.path.name + ".lock")):
            data = self._read()
            before = json.dumps(data, sort_keys=True)
            yield data
            if json.dumps(data, sort_keys=True) != before or not self.path.exists():
                self._write(data)

    def _write(self, data: dict[str, Any]) -> None:
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.name + ".")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(data, file, indent=1, ensure_ascii=False, sort_keys=True)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _valid(data: Any) -> bool:
    if type(data) is not dict or data.get("format") != FORMAT:
        return False
    predictions, others = data.get("predictions", {}), [data.get(part, {}) for part in ("hints", "solutions")]
    return (
        type(predictions) is dict
        and all(type(part) is dict for part in others)
        and all(
            type(entry) is dict and "answer" in entry and type(entry.get("time")) is str
            for entry in predictions.values()
        )
    )


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    flock: Callable[[Any, int], None] | None
    try:
        from fcntl import LOCK_EX, flock
    except ImportError:  # Windows: the replacement of the file is atomic all the same
        flock = None
    with open(path, "a", encoding="utf-8") as file:
        if flock is not None:
            flock(file, LOCK_EX)
        yield
