"""What a class has handed in: who, which notebooks can be read, and a clear word on each that cannot."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .restore import SubmissionError, read_notebook
from .results import ClassResult, Learner


def collect(folder: Path, name: str, students: Sequence[str] | None, result: ClassResult) -> dict[str, Any]:
    """The readable notebooks of the assignment by learner; `result` gets every learner, and each problem."""
    submitted = folder / "submitted"
    known = {p.name for p in (folder / "release").glob("*") if p.is_dir()}
    everyone = sorted(p.name for p in submitted.glob("*") if p.is_dir() and not p.name.startswith("."))
    notebooks: dict[str, Any] = {}
    for student in everyone if students is None else students:
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
        try:
            notebooks[student] = _read(submitted / student / name, name)
        except SubmissionError as error:
            learner.problem = (
                unknown[0] if unknown and not (submitted / student / name).exists() else str(error)
            )
    return notebooks


def _read(handed_in: Path, name: str) -> Any:
    path = handed_in / f"{name}.ipynb"
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
