"""A learner in the files of a course's `.gpubook`, and in those of what is agreed with them: JSON, lines of it,
SQLite.

By form, and not by name: a file that another part of the package keeps there is read as well as those of today.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.own_file import BrokenFile, bytes_of, loaded
from ...values.own_folder import opened, own, refuse_links, remove
from ..by_hand import shares
from ..terms import accommodations, agreed_terms
from .mentions import GONE, REMOVED, STAFF, Mention, bounded, is_of, mentions, without

BESIDE_OWN = (agreed_terms.FILE, accommodations.FILE)
SQLITE = b"SQLite format 3\0"
BESIDE = ("-wal", "-shm", "-journal")  # SQLite's own
JOURNAL, GRADED, SHARED, LOCK = ".journal", ".graded", ".shared.json", ".lock"
LINES = (JOURNAL, ".jsonl")  # a value each line
AUTHOR = ("by", "grader", "who")  # columns of who did something to others' rows


def files(folder: Path) -> list[Path]:
    """The files that the package keeps for a course; LinkInTheWay where one of them leads elsewhere."""
    refuse_links(folder)
    every = [path for path in sorted(own(folder).rglob("*")) if path.is_file()]
    agreed = [path for name in BESIDE_OWN if (path := folder / name).is_file()]
    return [path for path in every if not path.name.endswith((LOCK, *BESIDE))] + agreed


def homes(folder: Path, learner: str) -> list[Path]:
    """The folders in it that are a learner's, such as that of the copies kept in an exam."""
    return [path for path in sorted(own(folder).rglob("*")) if path.is_dir() and path.name == learner]


def about(folder: Path, learner: str) -> dict[str, list[Any]]:
    """What each file has of a learner, by its path from the course; of a graded notebook's copy the name alone."""
    parts: dict[str, list[Any]] = {}
    spared = spared_keys(folder, learner)
    for path in files(folder):
        if _is_copy(path):
            continue
        values = [_shown(mention) for mention in _mentions(path, learner, spared)]
        if values:
            parts[path.relative_to(folder).as_posix()] = values
    for home in homes(folder, learner):
        parts[home.relative_to(folder).as_posix()] = sorted(path.name for path in home.iterdir())
    return parts


def spared_keys(folder: Path, learner: str) -> tuple[str, ...]:
    """The keys below which an id is a grader's: where one of the staff is called as the learner is."""
    return STAFF if learner in shares.every_grader(folder) else ()


def _shown(mention: Mention) -> Any:
    return {"in": mention.at, "is": mention.value} if mention.at else mention.value


def _mentions(path: Path, learner: str, spared: Collection[str]) -> Iterator[Mention]:
    if _is_database(path):
        yield from _rows(path, learner)
    else:
        for plain in _parts(path):
            yield from mentions(plain, learner, spared=spared)


def forget(folder: Path, learner: str) -> list[str]:
    """Remove a learner from each file; returns the files that are not as they were, by their paths from the course."""
    with _nobody_writes(folder):
        copies = _copies(folder, learner)
        copies += homes(folder, learner)
        spared = spared_keys(folder, learner)
        changed = [path for path in files(folder) if not _is_copy(path) and _forget_in(path, learner, spared)]
        for path in copies:
            with suppress(FileNotFoundError):
                remove(path)
    return [path.relative_to(folder).as_posix() for path in changed + copies]


def _forget_in(path: Path, learner: str, spared: Collection[str]) -> bool:
    if _is_database(path):
        return _forget_rows(path, learner, spared)
    if path.suffix in LINES:
        return _forget_lines(path, learner, spared)
    for plain in _parts(path):
        left = without(_without_group(path, plain, learner), learner, spared)
        if left == plain:
            return False
        if left is GONE or not left:
            remove(path)
        else:
            write_whole(path, json.dumps(left, indent=1, ensure_ascii=False) + "\n")
    return True


def _without_group(path: Path, plain: Any, learner: str) -> Any:
    """Without the shares in a submission of this learner: what they gave is their owners' own now."""
    if not path.name.endswith(SHARED) or not isinstance(plain, dict):
        return plain
    return {who: share for who, share in plain.items() if not isinstance(share, dict) or share.get("by") != learner}


def _forget_lines(path: Path, learner: str, spared: Collection[str]) -> bool:
    """In a journal, others' lines stay to the letter: their answers may have the word."""
    before = list(_parts(path))
    if path.suffix == JOURNAL:
        after = [line for line in before if not is_of(line, learner)]
    else:
        lines = [without(line, learner, spared) for line in before]
        after = [line for line in lines if line is not GONE]
    if after == before:
        return False
    write_whole(path, "".join(json.dumps(line, ensure_ascii=True) + "\n" for line in after))
    return True


def _parts(path: Path) -> Iterator[Any]:
    """The values of a file of JSON, or of its lines; nothing where it is neither."""
    try:
        text = bytes_of(path).decode("utf-8")
        if path.suffix in LINES:
            whole = text[: text.rfind("\n") + 1]  # a kill may have cut the last
            yield from map(loaded, whole.splitlines())
        else:
            yield loaded(text)
    except (OSError, ValueError, BrokenFile) as error:
        if path.suffix in (".json", *LINES):
            raise CourseError(
                f"{path} cannot be read ({error}), so nobody knows whom it speaks of; mend it or move it away"
            ) from None


def _is_copy(path: Path) -> bool:
    """Whether it is the executed notebook of a submission, which a journal's line names."""
    return path.parent.suffix == GRADED


def _copies(folder: Path, learner: str) -> list[Path]:
    """The executed notebooks of a learner's submissions."""
    copies = []
    for path in files(folder):
        if path.suffix == JOURNAL:
            beside = path.with_suffix(GRADED)
            lines = [line for line in _parts(path) if line.get("learner") == learner and "notebook" in line]
            copies += [beside / Path(line["notebook"]).name for line in lines]
    return [path for path in dict.fromkeys(copies) if path.is_file()]


# SQLite


def _is_database(path: Path) -> bool:
    with os.fdopen(opened(path, os.O_RDONLY), "rb") as file:
        return file.read(len(SQLITE)) == SQLITE


@contextmanager
def _database(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(sqlite3.connect(path, timeout=30.0, isolation_level=None)) as db:
            db.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
            yield db
    except sqlite3.Error as error:
        raise CourseError(f"{path}: {error}; stop `gpubook course serve` for the moment, and try again") from error


def _columns(db: sqlite3.Connection) -> Iterator[tuple[str, list[str]]]:
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"):
        yield table, [row[1] for row in db.execute(f"PRAGMA table_info({_quoted(table)})")]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _rows(path: Path, learner: str) -> Iterator[Mention]:
    with _database(path) as db:
        for table, columns in list(_columns(db)):
            named = [name for name in columns if name not in AUTHOR]
            query = f"SELECT * FROM {_quoted(table)} WHERE ? IN ({', '.join(map(_quoted, named))})"
            for row in db.execute(query, (learner,)):
                yield Mention(table, dict(zip(columns, row, strict=True)))


def _forget_rows(path: Path, learner: str, spared: Collection[str]) -> bool:
    changed = 0
    with _database(path) as db:
        db.execute("BEGIN IMMEDIATE")
        for table, columns in list(_columns(db)):
            named = [name for name in columns if name not in AUTHOR]
            where = f"WHERE ? IN ({', '.join(map(_quoted, named))})"
            changed += db.execute(f"DELETE FROM {_quoted(table)} {where}", (learner,)).rowcount
            for name in sorted(set(columns) - set(spared)):
                changed += _replaced(db, table, name, learner)
        db.execute("COMMIT")
        if changed:
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return changed > 0


def _replaced(db: sqlite3.Connection, table: str, column: str, learner: str) -> int:
    """Replace the id within the texts of what is left of a table."""
    where, name = _quoted(table), _quoted(column)
    query = f"SELECT DISTINCT {name} FROM {where} WHERE typeof({name}) = 'text' AND instr({name}, ?)"
    pattern, count = bounded(learner), 0
    for (text,) in db.execute(query, (learner,)).fetchall():
        if (left := pattern.sub(REMOVED, text)) != text:
            count += db.execute(f"UPDATE {where} SET {name} = ? WHERE {name} = ?", (left, text)).rowcount
    return count


@contextmanager
def _nobody_writes(folder: Path) -> Iterator[None]:
    """No run and no grader of ours writes until the block ends; CourseError where one does now."""
    handles = []
    try:
        for path in sorted(own(folder).rglob("*")):
            if path.is_file() and path.name.endswith((LOCK, *LINES)):
                handles.append(opened(path, os.O_RDWR))
                _locked(handles[-1], path)
        yield
    finally:
        for handle in handles:
            os.close(handle)


def _locked(handle: int, path: Path) -> None:
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:  # Windows, where nobody's work is graded
        return
    try:
        flock(handle, LOCK_EX | LOCK_NB)
    except OSError:
        raise CourseError(f"{path.stem} is in use by a run or a grader; try again when it has ended") from None
