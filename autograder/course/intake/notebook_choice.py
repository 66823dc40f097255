"""Which of a learner's files in a download is the notebook of an assignment.

A platform, a browser or a learner may have renamed it, so the questions in it count, then its name. What is not clear
is refused: a teacher can ask for the right file, but would not see that a wrong one was graded.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...grading.found_cells import normalised
from ...grading.restore import MAX_BYTES, MAX_VALUES, SubmissionError, grade_cell, grade_id, notebook_in
from ...values.json_size import least_values
from .archives import Refused
from .download_names import NOTEBOOK, Upload, is_notebook, without_suffix

MAX_NOTEBOOKS = 20  # of one learner that are looked into
MAX_TOGETHER = MAX_BYTES  # bytes of these before the last; values, as many as one notebook may have
NUMBERED = r"(?:[-_ ]\d+| ?\(\d+\))?"  # what a platform or a browser puts behind a name that is taken


@dataclass
class Chosen:
    """The chosen file and what is in it, as text, and what a teacher should know of the learner's other files."""

    upload: Upload
    text: str
    notes: list[str] = field(default_factory=list)


def choose(name: str, uploads: Sequence[Upload], questions: Mapping[str, Set[str]]) -> Chosen:
    """The notebook of the assignment `name` among one learner's files; Refused where there is none, or no one.

    `questions`: by assignment, what is `asked` in it.
    """
    notebooks = [upload for upload in uploads if is_notebook(upload.title)]
    left = [upload.title for upload in uploads if not is_notebook(upload.title)]
    if not notebooks:
        raise Refused(f"{_listed(left)}: no notebook; {name}{NOTEBOOK} was expected")
    if len(notebooks) > MAX_NOTEBOOKS:
        raise Refused(f"{len(notebooks)} notebooks; {name}{NOTEBOOK} was expected")
    read: dict[bytes, Upload] = {}
    notes: list[str] = []
    assignment_of = {}
    first = sorted(notebooks, key=lambda upload: upload.title != f"{name}{NOTEBOOK}")
    for upload, content, nb in _readable(first, notes):
        read.setdefault(content, upload)
        assignment_of[content] = _assignment_of(name, nb, questions)
    content = _one_of(name, read, assignment_of, notes)
    chosen = read[content]
    other = [upload.title for upload in read.values() if upload is not chosen] + left
    if other:
        notes.append(f"left out: {_listed(other)}")
    if assignment_of[content] is None:
        notes.append(f"{chosen.title} has none of the questions of {name}, and is taken by its name or as the only one")
    return Chosen(chosen, content.decode("utf-8-sig"), notes)


def _readable(uploads: Sequence[Upload], notes: list[str]) -> Iterator[tuple[Upload, bytes, Any]]:
    """Those of a learner's notebooks that can be read, and a note for each other. Refused where all together are more
    than two large ones, so that nobody's keep the class waiting."""
    size = values = 0
    for upload in uploads:
        if size > MAX_TOGETHER or values > MAX_VALUES:
            raise Refused(
                f"{len(uploads)} notebooks, more than {MAX_TOGETHER:,} bytes or {MAX_VALUES:,} values together; "
                "that of the assignment alone was expected"
            )
        try:
            content = upload.member.read()
            size, values = size + len(content), values + least_values(content.decode("utf-8", "replace"))
            nb = notebook_in(content, upload.title)
        except (Refused, SubmissionError) as error:
            notes.append(str(error))
        else:
            yield upload, content, nb


def _one_of(name: str, read: dict[bytes, Upload], told: dict[bytes, str | None], notes: list[str]) -> bytes:
    if not read:
        raise Refused("; ".join(notes))
    named = re.compile(re.escape(name) + NUMBERED, re.IGNORECASE)
    mine = [one for one in read if told[one] == name]
    if not mine:
        unknown = [one for one in read if told[one] is None]
        mine = [one for one in unknown if named.fullmatch(without_suffix(read[one].title))] or (
            unknown if len(read) == 1 else []
        )
    if not mine:
        listing = ", ".join(f"{read[one].title} (of {told[one] or 'no assignment'})" for one in read)
        raise Refused("; ".join([f"{listing}: a notebook of {name} was expected", *notes]))
    best = [one for one in mine if named.fullmatch(without_suffix(read[one].title))]
    if len(mine) > 1 and len(best) != 1:
        listing = _listed([read[one].title for one in mine])
        raise Refused(f"{listing}: each may be the notebook of {name}; one was expected")
    return best[0] if len(best) == 1 else mine[0]


def asked(release: Path) -> set[str]:
    """What tells a released notebook's cells: the names that nbgrader knows, and where a cell may have lost its name,
    the text of its prompts and grade cells."""
    cells = notebook_in(release.read_bytes(), release).cells
    prompts_and_tests = [
        cell for cell in cells if (role := grade_cell(cell)) is not None and role.part in ("prompt", "grade")
    ]
    return {name for cell in cells if (name := grade_id(cell))} | {
        normalised(cell.source) for cell in prompts_and_tests
    }


def _assignment_of(name: str, nb: Any, questions: Mapping[str, Set[str]]) -> str | None:
    """The assignment that most of the notebook's cells belong to, this one before others; None without any."""
    cells = {grade_id(cell) or normalised(cell.source) for cell in nb.cells}
    shared = {assignment: len(cells & theirs) for assignment, theirs in questions.items()}
    best = max(shared, key=lambda one: (shared[one], one == name), default=name)
    return best if shared.get(best) else None


def _listed(titles: Sequence[str]) -> str:
    return ", ".join(titles[:5]) + (f" and {len(titles) - 5} more" if len(titles) > 5 else "")
