"""Which declarations an assignment is judged by: its chapter's, and the teacher's own."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from ..book.course_error import CourseError
from ..declaration.bank import Bank, declared_in, load_bank
from ..declaration.renewal import current
from ..declaration.verdict import DeclarationError
from ..values.book_root import book_root


def checked_name(name: str) -> str:
    """The name of an assignment, which is a folder's name in a course: never a path."""
    if not re.fullmatch(r"[^\W_][\w. -]*", name) or name.endswith((" ", ".")):
        raise CourseError(f"{name!r} is not an assignment name: letters and digits, with _ - . between, were expected")
    return name


class CourseBank(Bank):
    """The exercises an assignment draws from: its chapter's and the teacher's own; `paths` are where
    they are declared, a file or a folder each."""

    def __init__(self, banks: Sequence[Bank], left_out: Sequence[str] = ()):
        super().__init__([exercise for bank in banks for exercise in bank.values()], banks[0].path if banks else None)
        self.paths = [bank.path for bank in banks if bank.path is not None]
        self._banks = banks
        self.left_out = left_out  # the teacher's files that cannot be loaded, and why

    def where(self, exercise_id: str) -> str:
        """`file:line` where an exercise is declared, in whichever bank that is."""
        return next((bank.where(exercise_id) for bank in self._banks if exercise_id in bank), str(self.path))


def bank_of(folder: Path, release_nb: Any, path: Path) -> CourseBank:
    """The exercises for a released notebook; CourseError if none are declared.

    A file of the teacher's that cannot be loaded is left out if the notebook asks for nothing of it.
    """
    named = os.environ.get("GPUBOOK_SOLUTIONS")
    solutions = [Path(p) for p in named.split(os.pathsep)] if named else [book_root() / "solutions"]
    chapter = release_nb.metadata.get("gpubook", {}).get("chapter") or path.stem
    declared = [declared_file for one in solutions if (declared_file := declared_in(one / chapter)) is not None]
    declared += sorted((folder / "exercises").glob("*.py"))
    if not declared:
        raise CourseError(
            f"{path}: made from the chapter {chapter!r}, but there is no {chapter}/exercises.py (or exercises/) in "
            f"{', '.join(map(str, solutions))} and no declaration in {folder / 'exercises'}"
        )
    own = folder / "exercises"
    book = [load_bank(one) for one in declared if one.parent != own]
    ids = {cell.metadata.get("gpubook", {}).get("exercise") for cell in release_nb.cells} - {None}
    mine, left_out = load_own([one for one in declared if one.parent == own], current, ids)
    bank = CourseBank([*book, *mine], left_out)
    if left_out and (missing := sorted(ids - bank.keys())):
        raise CourseError(f"{left_out[0]}; it may declare {', '.join(missing)}, for which {path.name} asks")
    return bank


def load_own(
    files: Sequence[Path], load: Callable[[Path], Bank], asked: Collection[str] | None
) -> tuple[list[Bank], list[str]]:
    """The banks of a teacher's files, and of each that cannot be loaded a line that says why.

    DeclarationError if the id of an exercise that is `asked` for stands in it. None: each is wanted.
    """
    banks: list[Bank] = []
    broken: list[tuple[Path, DeclarationError]] = []
    for file in files:
        try:
            banks.append(load(file))
        except DeclarationError as error:
            broken.append((file, error))
    for file, error in broken:
        text = file.read_text(encoding="utf-8", errors="replace")
        if asked is None or any(_stands_in(name, text) for name in asked):
            raise error
    return banks, [str(error) for _, error in broken]


def _stands_in(name: str, text: str) -> bool:
    return re.search(rf"""["']{re.escape(name)}["']""", text) is not None
