"""Which declarations an assignment is judged by: its chapter's, and the teacher's own."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..book.course_error import CourseError
from ..declaration.bank import Bank, declared_in, load_bank
from ..declaration.renewal import current
from ..values.book_root import book_root


def checked_name(name: str) -> str:
    """The name of an assignment, which is a folder's name in a course: never a path."""
    if not re.fullmatch(r"[^\W_][\w. -]*", name) or name.endswith((" ", ".")):
        raise CourseError(f"{name!r} is not an assignment name: letters and digits, with _ - . between, were expected")
    return name


class CourseBank(Bank):
    """The exercises an assignment draws from: its chapter's and the teacher's own; `paths` are where
    they are declared, a file or a folder each."""

    def __init__(self, banks: Sequence[Bank]):
        super().__init__([exercise for bank in banks for exercise in bank.values()], banks[0].path if banks else None)
        self.paths = [bank.path for bank in banks if bank.path is not None]
        self._banks = banks

    def where(self, exercise_id: str) -> str:
        """`file:line` where an exercise is declared, in whichever bank that is."""
        return next((bank.where(exercise_id) for bank in self._banks if exercise_id in bank), str(self.path))


def bank_of(folder: Path, release_nb: Any, path: Path) -> CourseBank:
    """The exercises for a released notebook; CourseError if none are declared."""
    named = os.environ.get("GPUBOOK_SOLUTIONS")
    solutions = [Path(p) for p in named.split(os.pathsep)] if named else [book_root() / "solutions"]
    chapter = release_nb.metadata.get("gpubook", {}).get("chapter") or path.stem
    declared = [found for one in solutions if (found := declared_in(one / chapter)) is not None]
    declared += sorted((folder / "exercises").glob("*.py"))
    if not declared:
        raise CourseError(
            f"{path}: made from the chapter {chapter!r}, but there is no {chapter}/exercises.py (or exercises/) in "
            f"{', '.join(map(str, solutions))} and no declaration in {folder / 'exercises'}"
        )
    own = folder / "exercises"
    return CourseBank([current(one) if one.parent == own else load_bank(one) for one in declared])
