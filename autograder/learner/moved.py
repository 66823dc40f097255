"""An exercise that a new edition asks in another chapter: the learner's answer goes along.

Its cells, as the edition before had them and as the learner has them, are put into the two notebooks of the chapter
that asks it now; the merge then does with this answer what it does with any other. The old chapter keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .edition_cells import Cell, identified, mark_of, text
from .notebook_file import Notebook


@dataclass(frozen=True)
class Moved:
    """An exercise's cells in the chapter that asked it: as that edition had them, and as the learner has them."""

    exercise: str
    chapter: str
    was: Sequence[Cell]
    mine: Sequence[Cell]


def moved(exercise: str, chapter: str, base: Notebook, mine: Notebook) -> Moved | None:
    """The exercise in the learner's notebook of a `chapter` that came from `base`; None where it is not answered."""
    before = identified(base["cells"], ())
    was, own = (_cells_of(exercise, cells) for cells in (before, identified(mine["cells"], before)))
    answers = [next((text(cell) for cell in cells if cell["id"] == exercise), None) for cells in (was, own)]
    return None if None in answers or answers[0] == answers[1] else Moved(exercise, chapter, was, own)


def with_moved(notebook: Notebook, cells: Iterable[Cell]) -> Notebook:
    """The notebook with the cells of exercises at its end, in place of those that it has of them."""
    cells = list(cells)
    exercises = {mark_of(cell).get("exercise") for cell in cells}
    rest = [cell for cell in notebook["cells"] if mark_of(cell).get("exercise") not in exercises]
    return {**notebook, "cells": rest + cells}


def _cells_of(exercise: str, cells: Iterable[Cell]) -> list[Cell]:
    """The book's cells of an exercise, each once."""
    ours = (exercise, *(f"{exercise}-{part}" for part in ("prompt", "numbers", "grade")))
    return [cell for cell in cells if mark_of(cell).get("exercise") == exercise and cell["id"] in ours]
