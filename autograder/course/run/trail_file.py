"""The trail of grades: what runs entered for each learner, when, from which submission and by which key.

`.gpubook/NAME.trail.jsonl` gets a line for each learner of whom a run has entered something else than the run before;
nothing is ever taken out of it, also where the class is graded from nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...grading.results import Result
from ...values.own_file import parsed
from ...values.own_folder import own
from ..terms import history
from ..terms.course_lock import alone
from ..terms.lateness import Lateness
from .journal import JournalEntry

REMEDY = "move it away; the trail begins anew with the next run, and the grades are in the gradebook"
RAN, JUDGED, REISSUED, ENTERED = "cells ran", "judged again", "points or texts", "entered anew"
Graded = tuple[float, float, str, str]  # points, of how many, the kind of verdict, the digest of the key


@dataclass(frozen=True)
class TrailLine:
    """What one run entered for a learner: how it came about, of which submission (its digest, its time, who submitted
    it), the results that are other than before, the late penalty; and `noticed`, what others had changed by then."""

    at: str
    by: str
    learner: str
    how: str
    submission: str = ""
    submitted: str = ""
    submitter: str = ""
    results: Mapping[str, Graded] = field(default_factory=dict)
    late: float = 0.0
    noticed: Sequence[str] = ()


class TrailFile:
    """The trail of the assignment `name`, to which runs append."""

    def __init__(self, folder: Path, name: str):
        self.folder, self.file = folder, f"{name}.trail.jsonl"

    def entered(
        self,
        learner: str,
        how: str,
        entry: JournalEntry,
        before: JournalEntry | None,
        late: Lateness,
        was: Lateness | None,
    ) -> None:
        """A run has entered `entry` for a learner, in place of `before`; nothing is written where both say the same."""
        other = before is None or before.fingerprint.submission != entry.fingerprint.submission
        rows = graded(entry)
        same = {} if before is None or other else graded(before)
        results = {exercise: row for exercise, row in rows.items() if same.get(exercise) != row}
        if results or was is None or (was.penalty, was.submitted) != (late.penalty, late.submitted):
            submitter = "" if learner == entry.learner else entry.learner
            about = (entry.fingerprint.submission, late.submitted, submitter, results, late.penalty)
            self._add(TrailLine(history.now(), history.who(), learner, how, *about))

    def noticed(self, learner: str, what: Sequence[str]) -> None:
        """A run has found what others had changed of a learner's grades: by hand, or files."""
        if what:
            self._add(TrailLine(history.now(), history.who(), learner, "noticed", noticed=tuple(what)))

    def lines(self, learner: str) -> list[TrailLine]:
        """What was entered for a learner, the earliest first; CourseError, which names the file, where it is not
        ours."""
        path = own(self.folder, self.file)
        every = [parsed(path, line, REMEDY, _line, CourseError) for line in history.lines(path)]
        return [line for line in every if line.learner == learner]

    def _add(self, line: TrailLine) -> None:
        with alone(self.folder, self.file) as handle:
            history.append(handle, asdict(line))


def graded(entry: JournalEntry) -> dict[str, Graded]:
    """The results of an entry by exercise, each with the digest of the key that it was judged by."""
    keys = entry.fingerprint.keys
    return {result.exercise: (*_points(result), keys.get(result.exercise, "")) for result in entry.results}


def _points(result: Result) -> tuple[float, float, str]:
    return result.points, result.max_points, result.kind


def _line(plain: Any) -> TrailLine:
    line = TrailLine(**plain)
    texts = (line.at, line.by, line.learner, line.how, line.submission, line.submitted, line.submitter, *line.noticed)
    if {type(text) for text in texts} != {str} or type(line.late) not in (int, float):
        raise TypeError("a line is not of a run")
    results = {exercise: _graded(*row) for exercise, row in line.results.items()}
    return TrailLine(**{**plain, "results": results, "noticed": tuple(line.noticed)})


def _graded(points: float, most: float, kind: str, key: str) -> Graded:
    return float(points), float(most), str(kind), str(key)
