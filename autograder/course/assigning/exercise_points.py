"""Other points for an exercise than it declares, in one assignment."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...book.course_error import CourseError
from ...book.source import notebook
from ...declaration.bank import Bank
from ...declaration.verdict import DeclarationError
from .marked_exercises import read_instructors, set_worth, worths

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ...declaration.exercise import Exercise


def with_points(bank: Bank, asked: Sequence[str], key: str, points: float) -> Exercise:
    """An exercise with other points; CourseError if it is not asked, or its points are those of its parts."""
    if key not in asked:
        raise CourseError(f"points for {key!r}, which is not asked; asked are {', '.join(asked)}")
    if not 0 < points < math.inf:
        raise CourseError(f"{key}: {points:g} points; more than 0 were expected (`gpubook course drop` makes it 0)")
    try:
        changed = replace(bank[key], points=points)
    except DeclarationError:
        changed = bank[key]
    if changed.points != points:
        raise CourseError(
            f"{key}: its {bank[key].points:g} points are those of its parts (a rubric's criteria, a design's pars), so "
            "they cannot be set; declare it anew in exercises/ with other parts"
        )
    return changed


def change_points(folder: Path, bank: Bank, exercise: str, points: float | None) -> None:
    """Give an exercise of the instructor's notebook in `folder` other points, or with None those that its declaration
    has."""
    import nbformat

    path = folder / f"{folder.name}.ipynb"
    nb, before = read_instructors(path), worths(folder)
    questions = notebook.used_exercises(nb)
    if points is None and exercise in bank:
        points = bank[exercise].points
    changed = with_points(bank, questions, exercise, points or 0)
    was = {exercise: replace(bank[exercise], points=before[exercise])}
    for cell in nb.cells:
        set_points(cell, was, {exercise: changed})
    nbformat.validate(nb)
    nbformat.write(nb, path)
    set_worth(folder, exercise, changed.points)


def set_points(cell: NotebookNode, bank: Mapping[str, Exercise], worth: Mapping[str, Exercise]) -> None:
    """Write other points into the cells of an exercise: the head of its prompt, and what nbgrader reads."""
    own = cell.metadata.get("gpubook", {})
    if (key := own.get("exercise")) not in worth:
        return
    if cell.metadata.get("nbgrader", {}).get("grade"):
        cell.metadata["nbgrader"]["points"] = worth[key].points
    elif own.get("part") == "prompt":
        head, *rest = cell.source.split("\n")
        before = f" · {notebook.points(bank[key])}"
        if not head.endswith(before):
            raise CourseError(f"{key}: its prompt begins {head!r}; its points were expected at the end of the line")
        cell.source = "\n".join([f"{head.removesuffix(before)} · {notebook.points(worth[key])}", *rest])
