"""The submissions of a class: by whom, where, and a clear message for each that cannot be read."""

import errno
import os
import stat
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from ...grading.restore import SubmissionError, read_notebook
from ..class_results.class_result import ClassResult, Learner

MAX_FILES, MAX_SIZE, MAX_DEPTH = 2000, 512 << 20, 20  # a submission is copied, and kept for years
KINDS = {
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}


def collect(folder: Path, name: str, students: Sequence[str] | None, result: ClassResult) -> dict[str, Path]:
    """The folders of the assignment by learner; `result` gets every learner of these and of `students`, and the problem
    of who has none. Who has submitted other assignments alone is none of these: nothing was submitted, as by those
    without a folder."""
    submitted = folder / "submitted"
    known = {p.name for p in (folder / "release").glob("*") if p.is_dir()}
    homes = {_shown(p.name): p for p in submitted.glob("*") if p.is_dir() and not p.name.startswith(".")}
    everyone = sorted(homes)
    folders: dict[str, Path] = {}
    wanted = [who for who in everyone if not _only_others(homes[who], name, known)] if students is None else students
    for student in dict.fromkeys(wanted):
        learner = Learner(student)
        result.learners.append(learner)
        if student not in everyone:
            known_here = ", ".join(everyone) or "nobody"
            learner.problem = f"{submitted / student} is missing; submissions are there from: {known_here}"
            continue
        if homes[student].name != student:
            learner.problem = f"{submitted / student}: the folder's name is not UTF-8; rename it"
            continue
        strange = sorted(p for p in (submitted / student).glob("*") if p.is_dir() and p.name not in known)
        unknown = [
            f"{printable(str(p))}: unknown assignment {p.name!r}; released are: {', '.join(sorted(known))}"
            for p in strange
        ]
        result.problems += unknown
        if unknown and not (submitted / student / name).exists():
            learner.problem = unknown[0]
        else:
            folders[student] = submitted / student / name
    return folders


def _only_others(home: Path, name: str, known: Collection[str]) -> bool:
    """Whether a learner has submitted `known` assignments, not this one, and nothing under another name."""
    there = {path.name for path in home.iterdir() if path.name == name or path.is_dir()}
    return name not in there and bool(there) and there <= set(known)


def _shown(name: str) -> str:
    """The name of a folder; of one that no text file can hold, as zip files make them, with its bytes spelled out."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def read(submission: Path) -> Any:
    """The notebook in a submitted folder, which has the folder's name; SubmissionError if it is missing."""
    path = submission / f"{submission.name}.ipynb"
    check_folder(submission)
    if not path.exists():
        others = sorted(printable(p.name) for p in submission.glob("*.ipynb"))
        also_there = f", found {', '.join(others[:10])}" if others else ""
        raise SubmissionError(f"{path}: missing{also_there}; the submitted notebook was expected there")
    return read_notebook(path)


def check_folder(submission: Path) -> None:
    """Raise SubmissionError where a submitted folder holds more than files and folders, or too much.

    Nothing in it is opened: what lies there may be a pipe that never ends.
    """
    if submission.is_symlink() or submission.parent.is_symlink():
        raise SubmissionError(f"{submission}: a link; a folder with {submission.name}.ipynb was expected")
    waiting, files, size = [(str(submission), 0)] if submission.is_dir() else [], 0, 0
    while waiting:
        folder, depth = waiting.pop()
        try:
            with os.scandir(folder) as inside:
                for entry in inside:
                    about, name = entry.stat(follow_symlinks=False), printable(entry.path)
                    kind = KINDS.get(stat.S_IFMT(about.st_mode))
                    if kind is not None:
                        raise SubmissionError(f"{name}: a {kind}; files were expected")
                    files, size = files + 1, size + about.st_size
                    if files > MAX_FILES or size > MAX_SIZE or depth > MAX_DEPTH:
                        raise SubmissionError(
                            f"{name}: beyond the limits of a submission, {MAX_FILES} files and folders, of "
                            f"{MAX_SIZE >> 20} MiB together, {MAX_DEPTH} folders deep"
                        )
                    if entry.is_dir():
                        waiting.append((entry.path, depth + 1))
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                raise
            raise SubmissionError(f"{printable(folder)}: {error.strerror}; a folder was expected") from None


def printable(text: str) -> str:
    """A name chosen by a learner, safe to show and write anywhere."""
    return "".join(c if c.isprintable() else "?" for c in text[-300:])
