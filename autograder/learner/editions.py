"""A learner's copy of the book and its editions: what is copied, brought up to date, kept and backed up.

`.gpubook/editions` of the folder holds the edition that each chapter came from, so that a later one knows what the
learner changed; `.gpubook/backup`, under the time, every file of the learner's that was replaced. Each file is
written whole or not at all, and the edition is noted last: after a crash the same is done again. A folder may come from
somebody else: a link in `.gpubook` is refused before anything is changed.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from ..values.own_file import json_of
from ..values.own_folder import OWN, first_link, refuse_links, remove
from .moved import Moved, moved, with_moved
from .notebook_file import Notebook, UnreadableNotebook, bytes_of, notebook_of, write, written
from .notebook_merge import Changes, merge
from .progress import EDITIONS

BACKUP = f"{OWN}/backup"
ANEW = "remove it, and `gpubook start` writes it anew; your own notebooks are not in that folder"


@dataclass
class UpdateReport:
    """What was done to a folder: the files that are new and those that were updated, a line for each chapter with
    something to say, and where what was replaced lies; and what each of these files held before."""

    new: list[Path] = field(default_factory=list)
    updated: list[Path] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    backup: Path | None = None
    before: dict[Path, bytes | None] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """What is to be told."""
        return self.said + ([f"What was replaced is in {self.backup}"] if self.backup else [])


class Extra(Protocol):
    """What a notebook of the copy has beyond its edition: it is taken out before the two are compared, and put in
    again."""

    def is_in(self, notebook: bytes, /) -> bool:
        """Whether a notebook's file has all of it already."""

    def put(self, notebook: Notebook, edition: Notebook, /) -> Notebook:
        """The notebook, which came from this edition, with it."""

    def taken_out(self, notebook: Notebook, /) -> Notebook:
        """The notebook without it; itself where it has none."""


@dataclass
class LearnerCopy:
    """A learner's copy of the book in `folder`; `book` is the folder that has a folder for each chapter, whose notebook
    has the `extra` of its name."""

    folder: Path
    book: Path
    extra: Callable[[str], Extra] | None = None
    report: UpdateReport = field(default_factory=UpdateReport)

    def update(self) -> UpdateReport:
        """Bring every chapter to the edition in `book`; nothing that the learner wrote is lost."""
        refuse_links(self.folder)
        self._move_renumbered()
        where = _exercises(self.book)
        moved = self._moved(where)
        for name in sorted(self.chapters(), key=lambda name: name not in moved):  # a crash between two loses no answer
            self._update(name, where, moved.get(name, ()))
        for gone in sorted(path.name for path in (self.folder / EDITIONS).glob("*") if path.is_dir()):
            if gone not in self.chapters():
                self.report.said.append(f"{gone}: not in this edition of the book; yours is left as it is")
                remove(self.folder / EDITIONS / gone)
        return self.report

    def reset(self, name: str) -> UpdateReport:
        """Bring a fresh copy of a chapter. Other files in its folder stay, and so does the learner's id."""
        refuse_links(self.folder)
        learner = None
        for file in self._files(name):
            mine, new = self.folder / name / file, (self.book / name / file).read_bytes()
            if mine.suffix == ".ipynb" and mine.is_file():
                learner = _learner(mine)
            if learner is not None and mine.suffix == ".ipynb":
                notebook = json.loads(new)
                notebook["metadata"]["gpubook"]["learner"] = learner
                new = written(notebook)
            if (extra := self._extra(name, file)) is not None:
                new = _with(extra, new, new)
            self._replace(Path(name, file), new, theirs=True)
        self._note(name)
        self.report.said.append(f"{name}: a fresh copy")
        return self.report

    def chapters(self) -> list[str]:
        """The chapters of the book."""
        return sorted(path.name for path in self.book.iterdir() if path.is_dir() and not path.name.startswith("."))

    def _files(self, name: str) -> list[Path]:
        """The files of a chapter below its folder."""
        return _below(self.book / name)

    def _moved(self, where: Mapping[str, str]) -> dict[str, list[Moved]]:
        """By the chapter that asks them now, the exercises that the learner answered in another."""
        by_chapter: dict[str, list[Moved]] = defaultdict(list)
        before = {path.parent.name: _asked(path) for path in sorted((self.folder / EDITIONS).glob("*/exercises.json"))}
        for chapter, exercises in before.items():
            file = Path(chapter, f"{chapter}.ipynb")
            gone = [move for move in exercises if where.get(move, chapter) != chapter]
            gone = [move for move in gone if move not in before.get(where[move], ())]
            base, mine = (_origin(bytes_of(home / file)) for home in (self.folder / EDITIONS, self.folder))
            if base is not None and mine is not None:
                for move in filter(None, (moved(exercise, chapter, base, mine) for exercise in gone)):
                    by_chapter[where[move.exercise]].append(move)
        return by_chapter

    def _update(self, name: str, where: Mapping[str, str], moved: Sequence[Moved]) -> None:
        changes: list[str] = []
        files = self._files(name)
        elsewhere = {exercise: chapter for exercise, chapter in where.items() if chapter != name}
        made: dict[Path, tuple[bytes, bool]] = {}
        for file in files:
            path, new = Path(name, file), (self.book / name / file).read_bytes()
            came, extra = moved if file.name == f"{name}.ipynb" else (), self._extra(name, file)
            base, old = (bytes_of(home / path) for home in (self.folder / EDITIONS, self.folder))
            if file.suffix == ".ipynb":
                try:
                    made[path] = self._made(path, new, extra, elsewhere, came, changes)
                except UnreadableNotebook as error:
                    self.report.said.append(f"{name}: {file} {error}; this chapter is left as it is")
                    return
            elif old is None or old in (base, new):
                made[path] = new, False
            elif base != new:
                made[path] = new, True
                changes.append(f"your {file} is replaced, and in the backup")
        for path, (data, theirs) in made.items():
            self._replace(path, data, theirs=theirs)
        self._remove(name, files)
        self._note(name)
        if changes:
            self.report.said.append(f"{name}: {'; '.join(changes)}")

    def renew(self, path: Path, new: bytes, extra: Extra) -> None:
        """Bring a notebook beside the chapters to the edition `new` of it."""
        refuse_links(self.folder)
        changes: list[str] = []
        try:
            data, theirs = self._made(path, new, extra, {}, (), changes)
        except UnreadableNotebook as error:
            self.report.said.append(f"{path} {error}; it is left as it is")
            return
        self._replace(path, data, theirs=theirs)
        if bytes_of(self.folder / EDITIONS / path) != new:
            write(self.folder / EDITIONS / path, new)
        if changes:
            self.report.said.append(f"{path}: {'; '.join(changes)}")

    def _extra(self, name: str, file: Path) -> Extra | None:
        return self.extra(name) if self.extra is not None and file.name == f"{name}.ipynb" else None

    def _made(
        self,
        path: Path,
        new: bytes,
        extra: Extra | None,
        elsewhere: Mapping[str, str],
        moved: Sequence[Moved],
        said: list[str],
    ) -> tuple[bytes, bool]:
        """A notebook in its new edition, with its extra; and whether something of the learner's is replaced by it."""
        base, old = (bytes_of(home / path) for home in (self.folder / EDITIONS, self.folder))
        if old is not None and extra is not None:
            if base == new and not moved and extra.is_in(old):
                return old, False
            old = _without(extra, old)
        if (old is None or old in (base, new)) and not moved:
            made = new
        else:
            made = self._merged(path, base, old, new, elsewhere, moved, said)
        return made if extra is None else _with(extra, made, new), old not in (base, made)

    def _merged(
        self,
        path: Path,
        base: bytes | None,
        old: bytes | None,
        new: bytes,
        elsewhere: Mapping[str, str],
        moved: Sequence[Moved],
        clauses: list[str],
    ) -> bytes:
        """The learner's notebook in the new edition, with the answers that `moved` here; its own bytes where nothing
        changes."""
        base, old = (new, new) if old is None else (base, old)
        notebook = notebook_of(old)
        if base == new and not moved:
            return old
        origin = _origin(base)
        if notebook == origin and not moved:
            return new
        edition = notebook_of(new)
        came = with_moved(notebook, (cell for one in moved for cell in one.mine))
        origin = origin and with_moved(origin, (cell for one in moved for cell in one.was))
        merged = merge(origin, came, edition, elsewhere)
        clauses += _told(merged.changes, path)
        clauses += [f"the exercise {one.exercise} is now here, with your answer in {one.chapter}" for one in moved]
        if merged.notebook == edition:
            return new
        return old if merged.notebook == notebook else written(merged.notebook)

    def _replace(self, path: Path, data: bytes, *, theirs: bool) -> None:
        """Write a file of the copy; what was there goes to the backup if it is `theirs`."""
        target = self.folder / path
        before = bytes_of(target)
        if before == data:
            return
        (self.report.new if before is None else self.report.updated).append(target)
        self.report.before[target] = before
        if before is not None and theirs:
            write(self._backup() / path, before, safely=True)
        write(target, data, safely=before is not None)

    def _remove(self, name: str, files: Iterable[Path]) -> None:
        """Remove the files that the edition has not any more, where the learner left them as they were; a file behind
        a link is not the book's."""
        for file in _below(self.folder / EDITIONS / name):
            mine, base = self.folder / name / file, self.folder / EDITIONS / name / file
            if file in files or first_link(self.folder, name, str(file)):
                continue
            if mine.is_file() and mine.read_bytes() == bytes_of(base):
                mine.unlink()

    def _note(self, name: str) -> None:
        """Note that the chapter is in this edition."""
        edition = self.folder / EDITIONS / name
        for file in self._files(name):
            data = (self.book / name / file).read_bytes()
            if bytes_of(edition / file) != data:
                write(edition / file, data)
        for file in set(_below(edition)) - set(self._files(name)):
            remove(edition / file)

    def _move_renumbered(self) -> None:
        """A chapter that has another number now: its folder and notebook take the new name."""
        for new in self.chapters():
            topic = new.partition("-")[2]
            old = [p.name for p in (self.folder / EDITIONS).glob(f"*-{topic}") if p.name.partition("-")[2] == topic]
            if len(old) != 1 or old[0] in self.chapters() or (self.folder / new).exists() or not topic:
                continue
            for home in (self.folder, self.folder / EDITIONS):
                if (home / old[0]).is_dir():
                    os.rename(home / old[0], home / new)
                    notebook, renamed = home / new / f"{old[0]}.ipynb", home / new / f"{new}.ipynb"
                    if notebook.is_file() and not renamed.exists() and not first_link(home, new, notebook.name):
                        os.rename(notebook, renamed)
            self.report.said.append(f"{new}: this was {old[0]}")

    def _backup(self) -> Path:
        """The folder for what is replaced now, made when it is first needed."""
        if self.report.backup is None:
            stamp = f"{datetime.now():%Y-%m-%d-%H%M%S}"
            names = (self.folder / BACKUP / (stamp + (f"-{number}" if number else "")) for number in range(1000))
            self.report.backup = next(path for path in names if not path.exists())
        return self.report.backup


def _with(extra: Extra, data: bytes, edition: bytes) -> bytes:
    """A notebook's file with what is extra."""
    notebook = notebook_of(data)
    made = extra.put(notebook, notebook_of(edition))
    return data if made == notebook else written(made)


def _without(extra: Extra, data: bytes) -> bytes:
    """A notebook's file without what is extra; as it is where nothing is, or where it cannot be read."""
    try:
        notebook = notebook_of(data)
    except UnreadableNotebook:
        return data
    bare = extra.taken_out(notebook)
    return data if bare is notebook else written(bare)


def _told(changes: Changes, mine: Path) -> list[str]:
    """What changed in a notebook, in clauses."""
    counts = ((changes.new, "new"), (changes.changed, "changed"), (changes.gone, "gone"))
    cells = ", ".join(f"{count} {what}" for count, what in counts if count)
    clauses = [f"cells: {cells}"] if cells else []
    clauses += [f"the exercise {a} is now {b}; an answer to it is kept below that" for a, b in changes.renamed.items()]
    if changes.left_out:
        clauses.append(f"exercises that are gone from this chapter, your answers kept: {', '.join(changes.left_out)}")
    if changes.asked_anew:
        clauses.append(f"exercises that have changed, your answers as they were: {', '.join(changes.asked_anew)}")
    if changes.kept:
        clauses.append(
            f"{_cells(changes.kept)} of the book that you had changed and that is gone: yours is kept, marked"
        )
    if changes.retaken:
        clauses.append(f"what you wrote into a locked cell is in the backup only: {', '.join(changes.retaken)}")
    if changes.unsure:
        clauses.append(
            f"{_cells(changes.unsure)} that may be yours kept, since the edition that {mine.name} came from is not "
            "known; --reset brings a fresh copy"
        )
    return clauses


def _cells(count: int) -> str:
    return f"{count} cell{'' if count == 1 else 's'}"


def _below(folder: Path) -> list[Path]:
    """The files below a folder, without an editor's own."""
    return [
        path.relative_to(folder)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".ipynb_checkpoints" not in path.parts
    ]


def _exercises(book: Path) -> dict[str, str]:
    """The chapter of each exercise of the book."""
    chapter_of: dict[str, str] = {}
    for path in sorted(book.glob("*/exercises.json")):
        chapter_of |= dict.fromkeys(_asked(path), path.parent.name)
    return chapter_of


def _asked(path: Path) -> list[str]:
    """The exercises of a chapter, by its exercises.json."""
    return json_of(path, ANEW, lambda plain: list(plain["exercises"].keys()))


def _origin(base: bytes | None) -> dict[str, Any] | None:
    """The edition that a notebook came from; None where none is noted that can be read."""
    with contextlib.suppress(UnreadableNotebook):
        return None if base is None else notebook_of(base)
    return None


def _learner(path: Path) -> str | None:
    """The id that `gpubook whoami` wrote into a notebook."""
    try:
        learner = json.loads(path.read_bytes())["metadata"]["gpubook"]["learner"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return learner if isinstance(learner, str) else None
