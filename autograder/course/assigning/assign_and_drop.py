"""Assign exercises of a course, give them other points, drop them or give all their points to everybody.

What is decided holds until it is taken back, see `terms.assignment_state`; the gradebook follows at once.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...book.course_error import CourseError
from ...book.source.release import release
from ...grading.restore import read_notebook
from .. import gradebook
from ..agreements import exams, extensions
from ..banks import bank_of, checked_name
from ..feedback.feedback_steps import WorkedSolutions
from ..layout import read_config, released
from ..run.nbgrader_steps import GradeInSandbox
from ..service.settings import CheckService
from ..terms import agreed_terms, assignment_state, history
from ..terms.assignment_state import AssignmentState, MadeOf
from ..terms.deadline_time import shown
from . import dropped_exercises, exam_notebook, exercise_points, instructor_notebook, marked_exercises
from .dropped_exercises import Settled, Standing


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
    with_again: Sequence[str] = (),
    points: Mapping[str, float] = MappingProxyType({}),
) -> Path:
    """Release the assignment `name` and return the learner's notebook; see `instructor_notebook.stage` for what it is
    made of: where nothing is said of that, of what it was made of before.

    A second call replaces the notebook and keeps a teacher's other files in source/NAME/, the deadline unless it has
    `no_due` or another one, and what was decided: omissions (unless `with_again` takes them back), points, drops, full
    marks.
    """
    folder, name = Path(folder).resolve(), checked_name(name)
    config, points = read_config(folder), {exercise: float(value) for exercise, value in points.items()}
    if due is not None and no_due:
        raise CourseError(f"{name}: a deadline, and none; one of the two was expected")
    was_due = gradebook.due_date(gradebook.url_of(folder), name)
    if due is None and not no_due:
        due = was_due
    with _changing(folder, name) as state:
        made_of = _made_of(folder, state, chapter, exercises, text)
        _omit(name, state, made_of, without, with_again)
        before = _standing(folder, name, state)
        with _all_or_nothing(folder, name):
            source = instructor_notebook.stage(
                folder,
                name,
                chapter=made_of.chapter or None,
                exercises=made_of.exercises,
                text=folder / made_of.text if made_of.text else None,
                variants=GradeInSandbox(config=config).variants,
                due=due,
                shows_solutions=WorkedSolutions(config=config).after_due,
                without=without if made_of.exercises is not None or not made_of.chapter else state.without,
                points=points,
                earlier=state.points,
                service=CheckService.of(config),
            )
            state.made_of = made_of
            state.points |= points
            now = _standing(folder, name, state)
            for exercise, full in now.decided.items():
                marked_exercises.mark(source, exercise, full, now.worths[exercise])
            if rule := agreed_terms.read(folder, name).exam:
                exam_notebook.put(folder, name, rule, CheckService.of(config).url)
            path = _publish(folder, name)
    gradebook.set_due(gradebook.url_of(folder), name, due)
    with agreed_terms.changing(folder, name) as terms:
        terms.released = terms.released or exams.now_utc().replace(microsecond=0)
    done = _settled(folder, name, path, before, now)
    extensions.enter(folder, name)
    gradebook.update_late_penalties(folder, name)
    history.record(folder, "assign", name, **_told(state, now, before, was_due, due), graded=done.graded)
    return path


def make_exam(folder: Path | str, name: str, minutes: float, opens: datetime | None = None) -> Path:
    """Make a released assignment with a deadline an exam of so many minutes, which count from each learner's first
    opening; returns the learner's notebook, whose first cell opens it."""
    folder, name = Path(folder).resolve(), checked_name(name)
    exams.set_rule(folder, name, minutes, opens)
    path = _with_exam_cell(folder, name)
    history.record(folder, "exam", name, minutes=minutes, opens=shown(opens) if opens else "")
    return path


def end_exam(folder: Path | str, name: str) -> Path:
    """Make an exam an assignment like the others again, whose deadline holds for everybody."""
    folder, name = Path(folder).resolve(), checked_name(name)
    exams.take_back(folder, name)
    path = _with_exam_cell(folder, name)
    history.record(folder, "exam removed", name)
    return path


def _with_exam_cell(folder: Path, name: str) -> Path:
    url = CheckService.of(read_config(folder)).url
    with _all_or_nothing(folder, name):
        exam_notebook.put(folder, name, agreed_terms.read(folder, name).exam, url)
        return _publish(folder, name)


def drop(folder: Path | str, name: str, exercise: str, undo: bool = False) -> Path:
    """Exclude an exercise of a released assignment from every score: 0 of 0 points, in the gradebook at once; with
    `undo` it counts again.

    The learners' notebooks need not change; the prompt says so in feedback made from now on.
    """
    return _decide_for_all(folder, name, exercise, full=False, undo=undo)


def full_marks(folder: Path | str, name: str, exercise: str, undo: bool = False) -> Path:
    """Give everybody who submits all points of an exercise, in the gradebook at once, whatever they answered; with
    `undo`, what they answered counts again."""
    return _decide_for_all(folder, name, exercise, full=True, undo=undo)


def set_points(folder: Path | str, name: str, points: Mapping[str, float | None]) -> Settled:
    """Give exercises of a released assignment other points, or with None those that they declare; what was judged is
    worth its share of these, in the gradebook at once."""
    folder, name = Path(folder).resolve(), checked_name(name)
    gradebook.url_of(folder)
    path = released(folder, name)
    with _changing(folder, name) as state:
        if not_set := [e for e, value in points.items() if value is None and e not in state.points]:
            have = ", ".join(state.points) or "none"
            raise CourseError(
                f"{', '.join(not_set)}: no other points than declared in {name}; there are some for {have}"
            )
        before = _standing(folder, name, state)
        with _all_or_nothing(folder, name):
            bank = bank_of(folder, read_notebook(path), path)
            for exercise, value in points.items():
                if value is not None or exercise in before.worths:
                    number = None if value is None else float(value)  # as the file has it
                    exercise_points.change_points(folder / "source" / name, bank, exercise, number)
            decided = {**state.points, **points}
            state.points = {exercise: value for exercise, value in decided.items() if value is not None}
            now = _standing(folder, name, state)
            for exercise, full in now.decided.items():
                source = folder / "source" / name / f"{name}.ipynb"
                marked_exercises.mark(source, exercise, full, now.worths[exercise])
            path = _publish(folder, name)
    done = _settled(folder, name, path, before, now)
    for exercise in points:
        worth = {"before": before.worths.get(exercise), "after": now.worths.get(exercise)}
        history.record(folder, "points", name, exercise=exercise, **worth, graded=done.graded)
    return done


def _decide_for_all(folder: Path | str, name: str, exercise: str, full: bool, undo: bool) -> Path:
    folder, name = Path(folder).resolve(), checked_name(name)
    gradebook.url_of(folder)
    released(folder, name)
    with _changing(folder, name) as state:
        before = _standing(folder, name, state)
        _decide(name, state, exercise, full, undo)
        with _all_or_nothing(folder, name):
            if not undo or exercise in before.worths:  # else it is not asked any more
                source = folder / "source" / name / f"{name}.ipynb"
                marked_exercises.mark(source, exercise, None if undo else full, before.worths.get(exercise, 0))
            path = _publish(folder, name)
    done = _settled(folder, name, path, before, _standing(folder, name, state))
    what = ("full marks" if full else "drop") + (" undone" if undo else "")
    history.record(folder, what, name, exercise=exercise, graded=done.graded)
    return path


def _decide(name: str, state: AssignmentState, exercise: str, full: bool, undo: bool) -> None:
    these, command = (state.full, "full-marks") if full else (state.dropped, "drop")
    if undo and exercise not in these:
        have = ", ".join(these) or "nothing"
        raise CourseError(f"{exercise} of {name} has no `{command}` that could be taken back; {have} has")
    if full and not undo and exercise in state.dropped:
        raise CourseError(
            f"{exercise} was dropped and has no points; take that back first: `gpubook course drop … {exercise} --undo`"
        )
    if undo:
        state.undecide(exercise)
    else:
        state.decide(exercise, full)


@contextmanager
def _changing(folder: Path, name: str) -> Iterator[AssignmentState]:
    """What holds for an assignment, which is kept at the end of the block; of one that was made before it was kept,
    drops and full marks are those in its notebook."""
    with assignment_state.changing(folder, name) as state:
        if not state.known:
            for exercise, full in marked_exercises.marked(folder / "source" / name / f"{name}.ipynb").items():
                state.decide(exercise, full)
        yield state


def _made_of(
    folder: Path,
    state: AssignmentState,
    chapter: str | None,
    exercises: Sequence[str] | None,
    text: Path | str | None,
) -> MadeOf:
    """What an assignment is to be made of: what is said, or else what it was made of before."""
    if not chapter and exercises is None and text is None:
        return state.made_of or MadeOf()
    return MadeOf(chapter or "", None if exercises is None else tuple(exercises), _inside(folder, text))


def _inside(folder: Path, text: Path | str | None) -> str:
    """A teacher's text, from the course where it is in it."""
    if text is None:
        return ""
    path = Path(text).resolve()
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _omit(
    name: str, state: AssignmentState, made_of: MadeOf, without: Sequence[str], with_again: Sequence[str]
) -> None:
    """Note what is left out of a chapter from now on: what was before, unless it is taken back, asked for by name, or
    of another chapter."""
    if unknown := [exercise for exercise in with_again if exercise not in state.without]:
        have = ", ".join(state.without) or "nothing"
        raise CourseError(
            f"{', '.join(unknown)}: not left out of {name}, so it cannot be taken in again; left out: {have}"
        )
    if state.made_of is not None and state.made_of.chapter != made_of.chapter:
        state.without = []
    every = dict.fromkeys([*state.without, *without])
    state.without = [e for e in every if e not in with_again and e not in (made_of.exercises or ())]


def _standing(folder: Path, name: str, state: AssignmentState) -> Standing:
    worths = marked_exercises.worths(folder / "source" / name)
    return Standing(worths, state.decided(worths))


def _settled(folder: Path, name: str, path: Path, before: Standing, now: Standing) -> Settled:
    done = dropped_exercises.settle(folder, name, read_notebook(path), before, now)
    gradebook.update_late_penalties(folder, name)
    return done


def _told(
    state: AssignmentState, now: Standing, before: Standing, was_due: datetime | None, due: datetime | None
) -> dict[str, Any]:
    """What a history says of an assignment that was made."""
    made = {"made_of": str(state.made_of), "without": list(state.without), "exercises": len(now.worths)}
    counts = [worth for exercise, worth in now.worths.items() if now.decided.get(exercise) is not False]
    made |= {"points": sum(counts), "due": shown(due) if due is not None else "none"}
    if due != was_due and before.worths:
        made["due_before"] = shown(was_due) if was_due is not None else "none"
    if before.worths:
        made["changed"] = sorted(now.changed(before))
    return {key: part for key, part in made.items() if part != []}


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
