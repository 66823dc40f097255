"""What is written into an instructor's notebook of an exercise that counts for nobody, or for everybody in full."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...book.source.notebook import used_exercises
from ...grading.restore import FULL_MARKS
from ...values.own_file import json_of

DROPPED = "**This exercise was dropped: it counts for nobody.**"
FULL = "**Everybody gets full marks for this exercise.**"
PUBLIC = "exercises.json"
ANEW = "assign it again, which writes it anew"


def mark(path: Path, exercise: str, full: bool | None, worth: float) -> None:
    """Have an exercise of the instructor's notebook at `path`, which is worth so many points, give everybody all of
    them (`full`), nobody any, of none (False), or what it is judged to (None)."""
    import nbformat

    nb = read_instructors(path)
    parts = _parts(nb, exercise)
    if "grade" not in parts:
        known = ", ".join(used_exercises(nb)) or "none"
        raise CourseError(f"{path} does not ask exercise {exercise!r}; it asks {known}")
    grade = parts["grade"].metadata
    grade["gpubook"].pop(FULL_MARKS, None)
    if full:
        grade["gpubook"][FULL_MARKS] = True
    grade["nbgrader"]["points"] = 0 if full is False else worth
    if "prompt" in parts:
        text = parts["prompt"].source
        for sentence in (DROPPED, FULL):
            text = text.replace(f"\n\n{sentence}", "")
        says = "" if full is None else f"\n\n{FULL if full else DROPPED}"
        parts["prompt"].source = f"{text}{says}"
    nbformat.validate(nb)
    nbformat.write(nb, path)


def marked(path: Path) -> dict[str, bool]:
    """By exercise of the notebook at `path` that was marked, whether everybody gets all points; nothing where there is
    no notebook."""
    if not path.is_file():
        return {}
    nb, every = read_instructors(path), {}
    for exercise in used_exercises(nb):
        grade = _parts(nb, exercise).get("grade")
        if grade is not None and grade.metadata["gpubook"].get(FULL_MARKS) is True:
            every[exercise] = True
        elif grade is not None and not grade.metadata["nbgrader"].get("points"):
            every[exercise] = False
    return every


def read_instructors(path: Path) -> Any:
    """The instructor's notebook at `path`; CourseError where there is none."""
    import nbformat

    if not path.is_file():
        raise CourseError(f"{path} is missing; the instructor's notebook was expected there")
    return nbformat.read(path, as_version=4)


def _parts(nb: Any, exercise: str) -> dict[str, Any]:
    """The cells of an exercise by part; "grade" is that with its points, which of a written answer is the answer."""
    return {
        "grade" if c.metadata.get("nbgrader", {}).get("grade") else c.metadata["gpubook"].get("part", ""): c
        for c in nb.cells
        if c.metadata.get("gpubook", {}).get("exercise") == exercise
    }


def worths(folder: Path) -> dict[str, float]:
    """What each exercise of the assignment in `folder` (source/NAME or release/NAME) is worth while it counts; nothing
    where it was never made."""
    path = folder / PUBLIC
    if not path.is_file():
        return {}
    return json_of(path, ANEW, lambda plain: {e: r["points"] for e, r in plain["exercises"].items()}, CourseError)


def set_worth(folder: Path, exercise: str, points: float) -> None:
    """Write what an exercise is worth into the records beside the instructor's notebook."""
    path = folder / PUBLIC
    plain: dict[str, Any] = json_of(path, ANEW, error=CourseError)
    plain["exercises"][exercise]["points"] = points
    path.write_text(json.dumps(plain, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
