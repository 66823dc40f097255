"""What a class has handed in: who, where, and a clear word on each submission that cannot be read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .restore import SubmissionError, read_notebook
from .results import ClassResult, Learner


def collect(folder: Path, name: str, students: Sequence[str] | None, result: ClassResult) -> dict[str, Path]:
    """The folders of the assignment by learner; `result` gets every learner, and the problem of who has none."""
    submitted = folder / "submitted"
    known = {p.name for p in (folder / "release").glob("*") if p.is_dir()}
    everyone = sorted(p.name for p in submitted.glob("*") if p.is_dir() and not p.name.startswith("."))
    folders: dict[str, Path] = {}
    for student in everyone if students is None else dict.fromkeys(students):
        learner = Learner(student)
        result.learners.append(learner)
        if student not in everyone:
            known_here = ", ".join(everyone) or "nobody"
            learner.problem = f"{submitted / student} is missing; submissions are there from: {known_here}"
            continue
        strange = sorted(p for p in (submitted / student).glob("*") if p.is_dir() and p.name not in known)
        unknown = [
            f"{p}: there is no assignment {p.name!r}; this course released {', '.join(sorted(known))}"
            for p in strange
        ]
        result.problems += unknown
        if unknown and not (submitted / student / name).exists():
            learner.problem = unknown[0]
        else:
            folders[student] = submitted / student / name
    return folders


def read(handed_in: Path) -> Any:
    """The notebook in a folder that was handed in, which has the folder's name; SubmissionError where there is
    none."""
    path = handed_in / f"{handed_in.name}.ipynb"
    if handed_in.is_symlink() or handed_in.parent.is_symlink():
        raise SubmissionError(f"{handed_in}: a link; a folder with {path.name} was expected")
    links = [p for p in handed_in.rglob("*") if p.is_symlink()]
    if links:
        raise SubmissionError(f"{links[0]}: a link; files were expected")
    if not path.exists():
        others = sorted(p.name for p in handed_in.glob("*.ipynb"))
        found = f", found {', '.join(others)}" if others else ""
        raise SubmissionError(f"{path}: missing{found}; the submitted notebook was expected there")
    return read_notebook(path)
