"""The attempts that learners have had, in `.gpubook/checks.db`: each on the disk before its answer is judged.

A process that is killed in between gives no attempt back, and loses none: the same answer again is the same attempt,
judged then. An attempt whose answer could not be judged, or is not one, is given back.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values.own_file import broken
from ...values.own_folder import opened, own

FILE = "checks.db"
REMEDY = "make room, or restore it from a backup; moved away, it gives every learner all attempts again"
TABLES = """
CREATE TABLE IF NOT EXISTS attempts (
    learner TEXT NOT NULL,
    exercise TEXT NOT NULL,
    answer TEXT NOT NULL,      -- its digest
    assignment TEXT NOT NULL,
    time TEXT NOT NULL,        -- UTC
    key TEXT NOT NULL,         -- the digest of the key that the verdict is by
    verdict TEXT,              -- JSON; NULL until there is one
    PRIMARY KEY (learner, exercise, answer)
) WITHOUT ROWID
"""


@dataclass(frozen=True)
class Attempt:
    """An attempt that is counted: how many the learner has used with it, and its verdict, where it has one by the key
    of now."""

    used: int
    verdict: dict[str, Any] | None


@dataclass(frozen=True)
class Used:
    """What a learner has had of an exercise: how many attempts, the last one's time and verdict, whether one was
    right."""

    learner: str
    exercise: str
    assignment: str
    count: int
    time: str
    kind: str
    right: bool


class Ledger:
    """The attempts of a course; any thread may use it. A context manager."""

    def __init__(self, folder: Path):
        path = own(folder, FILE)
        for ending in ("-wal", "-shm"):  # SQLite's, beside it
            own(folder, FILE + ending)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.close(opened(path, os.O_RDWR | os.O_CREAT))
        except IsADirectoryError:
            raise broken(path, "a folder, where a file was expected", REMEDY, CourseError) from None
        self._lock, self.path = threading.Lock(), path
        with self._naming():
            self._db = sqlite3.connect(path, timeout=30.0, isolation_level=None, check_same_thread=False)
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = FULL")  # a commit is on the disk
                self._db.execute(TABLES)
            except BaseException:
                self._db.close()
                raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._naming():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                with suppress(sqlite3.OperationalError):  # a full disk has rolled it back
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """An error of the database names its file."""
        try:
            yield
        except sqlite3.Error as error:
            raise broken(self.path, str(error), REMEDY, CourseError) from error

    def take(
        self, learner: str, exercise: str, answer: str, *, allowed: int, key: str, assignment: str
    ) -> Attempt | None:
        """Count an attempt with an answer, given by its digest, unless this learner has made it before; None where all
        that are `allowed` are used. It is on the disk when this returns."""
        mine = (learner, exercise)
        with self._writing() as db:
            (used,) = db.execute("SELECT COUNT(*) FROM attempts WHERE learner = ? AND exercise = ?", mine).fetchone()
            row = db.execute(
                "SELECT key, verdict FROM attempts WHERE learner = ? AND exercise = ? AND answer = ?", (*mine, answer)
            ).fetchone()
            if row is not None:
                current = row[1] is not None and row[0] == key
                return Attempt(used, json.loads(row[1]) if current else None)
            if used >= allowed:
                return None
            db.execute("INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, NULL)", (*mine, answer, assignment, _now(), key))
        return Attempt(used + 1, None)

    def keep(self, learner: str, exercise: str, answer: str, *, key: str, verdict: Mapping[str, Any]) -> None:
        """Write the verdict on an attempt down."""
        with self._writing() as db:
            db.execute(
                "UPDATE attempts SET key = ?, verdict = ? WHERE learner = ? AND exercise = ? AND answer = ?",
                (key, json.dumps(verdict), learner, exercise, answer),
            )

    def give_back(self, learner: str, exercise: str, answer: str) -> int:
        """An attempt is not counted any more, if it has no verdict; 1 if it was, else 0."""
        with self._writing() as db:
            return db.execute(
                "DELETE FROM attempts WHERE learner = ? AND exercise = ? AND answer = ? AND verdict IS NULL",
                (learner, exercise, answer),
            ).rowcount

    def forget(self, learner: str, exercise: str) -> int:
        """Give a learner all attempts at an exercise again; how many were used."""
        with self._writing() as db:
            return db.execute("DELETE FROM attempts WHERE learner = ? AND exercise = ?", (learner, exercise)).rowcount

    def used(self) -> list[Used]:
        """What everybody has had, by learner and exercise."""
        with self._lock, self._naming():
            rows = self._db.execute(
                "SELECT learner, exercise, assignment, time, verdict FROM attempts ORDER BY learner, exercise, time"
            ).fetchall()
        groups: dict[tuple[str, str], list[Any]] = {}
        for learner, exercise, *rest in rows:
            groups.setdefault((learner, exercise), []).append(rest)
        try:
            return [_summary(*key, attempts) for key, attempts in groups.items()]
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            problem = f"a verdict in it cannot be read ({type(error).__name__}: {error})"
            raise broken(self.path, problem, REMEDY, CourseError) from None


def used(folder: Path) -> list[Used]:
    """What everybody of a course has had; nothing where no service has run."""
    if not own(folder, FILE).exists():
        return []
    with Ledger(folder) as ledger:
        return ledger.used()


def _summary(learner: str, exercise: str, attempts: Sequence[Any]) -> Used:
    assignment, time, verdict = attempts[-1]
    verdicts = [json.loads(one[-1]) for one in attempts if one[-1] is not None]
    kind = json.loads(verdict)["kind"] if verdict is not None else ""
    right = any(one["score"] == 1 for one in verdicts)
    return Used(learner, exercise, assignment, len(attempts), time, kind, right)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
