"""Assign exercises of a course, drop them or give all their points to everybody."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from ...book.course_error import CourseError
from ...book.source.release import release
from ...grading.restore import read_notebook
from .. import gradebook
from ..agreements import exams, extensions
from ..banks import checked_name
from ..feedback.feedback_steps import WorkedSolutions
from ..layout import read_config, released
from ..run.nbgrader_steps import GradeInSandbox
from ..service.settings import CheckService
from ..terms import agreed_terms
from . import dropped_exercises, exam_notebook, instructor_notebook


def assign(
    folder: Path | str,
    name: str,
    *,
    chapter: str | None = None,
    exercises: Sequence[str] | None = None,
    text: Path | str | None = None,
    due: datetime | None = None,
    no_due: bool = False,
    without: Sequence[str] = (),
    points: Mapping[str, float] = MappingProxyType({}),
) -> Path:
    """Release the assignment `name` and return the learner's notebook; see `instructor_notebook.stage` for what it is
    made of.

    A second call replaces the notebook and keeps a teacher's other files in source/NAME/, and the deadline unless it
    has `no_due` or another one. What was dropped, or given to everybody, counts again.
    """
    folder, name = Path(folder).resolve(), checked_name(name)
    config = read_config(folder)
    if due is not None and no_due:
        raise CourseError(f"{name}: a deadline, and none; one of the two was expected")
    if due is None and not no_due:
        due = gradebook.due_date(gradebook.url_of(folder), name)
    with _all_or_nothing(folder, name):
        instructor_notebook.stage(
            folder,
            name,
            chapter=chapter,
            exercises=exercises,
            text=None if text is None else Path(text),
            variants=GradeInSandbox(config=config).variants,
            due=due,
            shows_solutions=WorkedSolutions(config=config).after_due,
            without=without,
            points=points,
            service=CheckService.of(config),
        )
        if rule := agreed_terms.read(folder, name).exam:
            exam_notebook.put(folder, name, rule, CheckService.of(config).url)
        path = _publish(folder, name)
    gradebook.set_due(gradebook.url_of(folder), name, due)
    with agreed_terms.changing(folder, name) as terms:
        terms.released = terms.released or exams.now_utc().replace(microsecond=0)
    dropped_exercises.bring_back(folder, name, read_notebook(path))
    extensions.enter(folder, name)
    gradebook.update_late_penalties(folder, name)
    return path


def make_exam(folder: Path | str, name: str, minutes: float, opens: datetime | None = None) -> Path:
    """Make a released assignment with a deadline an exam of so many minutes, which count from each learner's first
    opening; returns the learner's notebook, whose first cell opens it."""
    folder, name = Path(folder).resolve(), checked_name(name)
    exams.set_rule(folder, name, minutes, opens)
    return _with_exam_cell(folder, name)


def end_exam(folder: Path | str, name: str) -> Path:
    """Make an exam an assignment like the others again, whose deadline holds for everybody."""
    folder, name = Path(folder).resolve(), checked_name(name)
    exams.take_back(folder, name)
    return _with_exam_cell(folder, name)


def _with_exam_cell(folder: Path, name: str) -> Path:
    url = CheckService.of(read_config(folder)).url
    with _all_or_nothing(folder, name):
        exam_notebook.put(folder, name, agreed_terms.read(folder, name).exam, url)
        return _publish(folder, name)


def drop(folder: Path | str, name: str, exercise: str) -> Path:
    """Exclude an exercise of a released assignment from every score: 0 of 0 points, in the gradebook at once.

    The learners' notebooks need not change; the prompt says so in feedback made from now on. Assigning again
    undoes it.
    """
    return _decide_for_all(folder, name, exercise, full=False)


def full_marks(folder: Path | str, name: str, exercise: str) -> Path:
    """Give everybody who submits all points of an exercise, in the gradebook at once, whatever they answered; the
    same holds as for `drop`."""
    return _decide_for_all(folder, name, exercise, full=True)


def _decide_for_all(folder: Path | str, name: str, exercise: str, full: bool) -> Path:
    folder, name = Path(folder).resolve(), checked_name(name)
    gradebook.url_of(folder)
    released(folder, name)
    with _all_or_nothing(folder, name):
        cell = dropped_exercises.mark(folder / "source" / name / f"{name}.ipynb", exercise, full)
        path = _publish(folder, name)
    dropped_exercises.set_aside(folder, name, cell, full)
    gradebook.update_late_penalties(folder, name)
    return path


@contextmanager
def _all_or_nothing(folder: Path, name: str) -> Iterator[None]:
    """Put source/NAME and release/NAME back as they were where what is done to them fails: nbgrader refuses
    other cells once there are submissions, and has deleted the release by then."""
    folders = [folder / part / name for part in ("source", "release")]
    with tempfile.TemporaryDirectory() as scratch:
        copies = {original: Path(scratch) / original.parent.name for original in folders if original.is_dir()}
        for original, copy in copies.items():
            shutil.copytree(original, copy)
        try:
            yield
        except BaseException:
            for original in folders:
                shutil.rmtree(original, ignore_errors=True)
                if original in copies:
                    shutil.copytree(copies[original], original)
            raise


def _publish(folder: Path, name: str) -> Path:
    return release(folder / "source", folder / "release", name, gradebook.url_of(folder))
