"""All that a course holds about one learner: found, packed into an archive, and removed."""

from __future__ import annotations

import csv
import difflib
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values.own_folder import OWN, is_link
from ..class_results import removed_statistics
from ..layout import CONFIG_FILE, read_config
from ..terms.agreed_terms import checked_learner
from . import gradebook_rows, own_files
from .mentions import REMOVED, bounded

HOMES = ("submitted", "autograded", "feedback")
WITHHELD = ("autograded",)  # with what is hidden from learners in the cells that grade
HIDDEN = ("rubric",)  # criteria that learners do not see
LOG = ".nbgrader.log"  # nbgrader's own
TABLES = ("tokens.csv", "grades-*.csv")  # what commands of ours write into the course's folder
LONGEST = 64 << 20  # bytes of a file that is searched for an id
ABOUT = """\
What the course {course} holds about {learner}.

submitted/    the notebooks and files as they came in
feedback/     the pages that were written about them
gradebook.json   roster, times of submission, extensions, points, comments, penalties
course.json   what else is kept in the course's own files, by file: results and answers as they were read, times and
              names of uploads, groups and extensions, points by criterion of grades by hand, attempts at the check
              service with their verdicts, and that there is a token (the course keeps its digest alone)

Not in this archive: the copies of the notebooks that were run, and hidden criteria, in which there are keys.
"""


@dataclass(frozen=True)
class LearnerRecord:
    """What a course holds about one learner: files by their paths from the course, rows of the gradebook, and parts of
    the course's own files."""

    course: Path
    learner: str
    homes: list[Path] = field(default_factory=list)
    gradebook: dict[str, Any] = field(default_factory=dict)
    own: dict[str, list[Any]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.homes or self.gradebook or self.own)

    @property
    def summary(self) -> str:
        """In words, for a question."""
        files = sum(1 for home in self.homes for path in home.rglob("*") if path.is_file())
        rows = self.gradebook.get("submissions", [])
        grades = sum(len(row["grades"]) for row in rows)
        where = ", ".join(home.parent.name for home in self.homes) or "no folder"
        return (
            f"{_counted(files, 'file')} in {where}, {_counted(grades, 'grade')} of {_counted(len(rows), 'submission')} "
            f"in the gradebook, and parts of {_counted(len(self.own), 'file')} in {OWN}"
        )


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def of(folder: Path, learner: str) -> LearnerRecord:
    """What is held about a learner; CourseError where it is nothing, with ids that are near."""
    folder = folder.resolve()
    read_config(folder)
    checked_learner(learner)
    homes = [home for name in HOMES if (home := folder / name / learner).is_dir() and not is_link(home)]
    record = LearnerRecord(
        folder, learner, homes, gradebook_rows.about(folder, learner), own_files.about(folder, learner)
    )
    if not record:
        near = difflib.get_close_matches(learner, gradebook_rows.learners(folder), 3, 0.5)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise CourseError(f"{folder} holds nothing about {learner!r}{hint}")
    return record


def pack(record: LearnerRecord, out: Path) -> list[str]:
    """Write an archive of it, whole or not at all; returns the names in it."""
    made = out.with_name(f".{out.name}.new")
    top = f"{record.learner}/"
    try:
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            about = ABOUT.format(course=record.course.name, learner=record.learner)
            archive.writestr(top + "about.txt", about)
            archive.writestr(top + "gradebook.json", _json(record.gradebook))
            archive.writestr(top + "course.json", _json(_open_parts(record.own)))
            for path in _files(record):
                inside = path.relative_to(record.course)
                archive.write(path, f"{top}{inside.parts[0]}/{Path(*inside.parts[2:]).as_posix()}")
            names = archive.namelist()
        made.chmod(0o600)
        made.replace(out)
    finally:
        made.unlink(missing_ok=True)
    return names


def _files(record: LearnerRecord) -> Iterator[Path]:
    """The files of a learner's folders, and nothing through a link."""
    for home in record.homes:
        if home.parent.name in WITHHELD:
            continue
        for inside, _, names in os.walk(home):
            paths = [Path(inside, name) for name in sorted(names)]
            yield from (path for path in paths if path.is_file() and not is_link(path))


def _open_parts(plain: Any) -> Any:
    """Without what learners may not see."""
    if isinstance(plain, dict):
        return {key: _open_parts(value) for key, value in plain.items() if key not in HIDDEN}
    return list(map(_open_parts, plain)) if isinstance(plain, list) else plain


def _json(plain: Any) -> str:
    return json.dumps(plain, indent=1, ensure_ascii=False, default=str) + "\n"


def forget(record: LearnerRecord, statistics: bool = True) -> list[Path]:
    """Remove everything of it, and with `statistics` add its points to the counts of those who were removed; returns
    the files in which the id still stands, which are others' work or a teacher's own.

    A kill leaves a learner who is removed in part; the same again removes the rest. The roster's row goes last.
    """
    folder, learner = record.course, record.learner
    _check_names(folder, learner)
    if statistics:
        removed_statistics.add(folder, learner)
    own_files.forget(folder, learner)
    for home in record.homes:
        shutil.rmtree(home)
    _forget_in_pages(folder, learner)
    _forget_lines(folder / LOG, bounded(learner).search)
    for table in (path for pattern in TABLES for path in sorted(folder.glob(pattern))):
        _forget_lines(table, lambda line: any(learner in row for row in csv.reader([line])))
    gradebook_rows.forget(folder, learner)
    return sorted(_still(folder, learner))


def _check_names(folder: Path, learner: str) -> None:
    """An id that is an assignment's name as well cannot be told from it in the course's files."""
    if (folder / "release" / learner).exists() or (folder / "source" / learner).exists():
        raise CourseError(f"{learner!r} is also the name of an assignment: rename that first; nothing is removed")


def _forget_in_pages(folder: Path, learner: str) -> None:
    """Who submitted for a group stands on the others' pages."""
    for page in (folder / "feedback").glob("*/*/*.html"):
        if not is_link(page) and page.is_file():
            text = page.read_text("utf-8", errors="surrogateescape")
            line = f"<p>Submitted by {learner}, for your group.</p>"
            if line in text:
                changed = text.replace(line, f"<p>Submitted by {REMOVED}, for your group.</p>")
                page.write_text(changed, "utf-8", errors="surrogateescape")


def _forget_lines(path: Path, is_theirs: Callable[[str], Any]) -> None:
    """Take out the lines that are a learner's."""
    if path.is_file() and not is_link(path):
        lines = path.read_bytes().decode("utf-8", "surrogateescape").splitlines(keepends=True)
        left = [line for line in lines if not is_theirs(line)]
        if len(left) < len(lines):
            path.write_bytes("".join(left).encode("utf-8", "surrogateescape"))


def _still(folder: Path, learner: str) -> Iterator[Path]:
    """The files whose name or content has the id, as UTF-8 or as JSON escapes it."""
    forms = {learner, json.dumps(learner)[1:-1]}
    patterns = [bounded(form) for form in forms]
    for home, _, names in os.walk(folder):
        for name in names:
            path = Path(home, name)
            inside = path.relative_to(folder)
            if is_link(path) or not path.is_file() or inside == Path(CONFIG_FILE):
                continue
            if any(pattern.search(str(inside)) for pattern in patterns) or _has(path, patterns):
                yield inside


def _has(path: Path, patterns: list[Any]) -> bool:
    """Whether an id stands in a file; of a zip, in the names of its files too, which are not compressed."""
    with path.open("rb") as file:
        text = file.read(LONGEST).decode("utf-8", "surrogateescape")
    return any(pattern.search(text) for pattern in patterns)
