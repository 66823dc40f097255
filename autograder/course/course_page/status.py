"""Where each assignment of a course stands, and the next step, from folders and the gradebook as they are now.

Nothing is graded and no declaration is run.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

from ...book.course_error import CourseError
from .. import gradebook
from ..class_results.class_result import load
from ..class_results.stored_results import results_path
from ..gradebook import AssignmentScore
from ..gradebook.course_database import is_missing
from ..layout import read_config


@dataclass(frozen=True)
class NextStep:
    """What to do, in words; the command for it, or the page of this server, by its path below the server's own."""

    say: str
    command: str = ""
    page: str = ""


@dataclass(frozen=True)
class AssignmentStatus:
    """One assignment: its deadline (UTC), how many have submitted, are graded and wait for a grade by hand, the mean of
    those who are graded, and why submissions could not be graded, by learner."""

    name: str
    due: datetime | None
    submitted: int
    graded: int
    ungraded: int
    waiting: int
    mean: float | None
    most: float
    problems: dict[str, str]
    steps: list[NextStep]


@dataclass(frozen=True)
class CourseStatus:
    """A course: its name, how many are in the roster, its assignments by deadline, and what is to be done for the whole
    of it."""

    name: str
    learners: int
    assignments: list[AssignmentStatus]
    steps: list[NextStep] = field(default_factory=list)
    problem: str = ""  # why the gradebook cannot be read


def of(folder: Path, now: datetime | None = None) -> CourseStatus:
    """The status of the course in `folder`; CourseError where it is not one."""
    folder, now = folder.resolve(), now or datetime.now(UTC).replace(tzinfo=None)
    read_config(folder)
    names = sorted(path.parent.name for path in (folder / "release").glob("*/*.ipynb") if path.stem == path.parent.name)
    scores, problem = _scores(folder)
    learners = {score.person.id for rows in scores.values() for score in rows}
    listed = [_assignment(folder, name, scores.get(name, []), now) for name in names]
    listed.sort(key=lambda row: (row.due or datetime.max, row.name))
    return CourseStatus(folder.name, len(learners), listed, _steps(folder, names, len(learners)), problem)


def _scores(folder: Path) -> tuple[dict[str, list[AssignmentScore]], str]:
    """What the gradebook has, and why that is nothing."""
    if is_missing(gradebook.url_of(folder)):
        return {}, ""
    try:
        return gradebook.scores(folder), ""
    except CourseError as error:
        return {}, str(error)


def _assignment(folder: Path, name: str, scores: Sequence[AssignmentScore], now: datetime) -> AssignmentStatus:
    due = gradebook.due_date(gradebook.url_of(folder), name)
    there = {path.parent.name for path in (folder / "submitted").glob(f"*/{name}") if path.is_dir()}
    graded = [score for score in scores if score.graded]
    done = {score.person.id for score in graded}
    problems = _problems(folder, name)
    counts = {
        "submitted": len(there | done),
        "graded": len(done),
        "ungraded": len(there - done - problems.keys()),
        "waiting": sum(score.waiting for score in graded),
    }
    mean = fmean(score.score for score in graded) if graded else None
    most = max((score.max_score for score in scores), default=0.0)
    steps = _next(folder, name, due, now, counts, len(problems))
    return AssignmentStatus(name, due, **counts, mean=mean, most=most, problems=problems, steps=steps)


def _problems(folder: Path, name: str) -> dict[str, str]:
    """Why the last run could not grade a submission, by learner."""
    path = results_path(folder, name)
    return {row.name: row.problem for row in load(path).learners if row.problem} if path.exists() else {}


def _next(
    folder: Path, name: str, due: datetime | None, now: datetime, counts: dict[str, int], problems: int
) -> list[NextStep]:
    """What is to be done about an assignment, the most urgent first."""
    where, steps = shlex.quote(str(folder)), []
    if counts["ungraded"]:
        steps.append(NextStep(f"Grade {_submissions(counts['ungraded'])}.", f"gpubook grade {where} {name} --resume"))
    if counts["waiting"]:
        answers = f"{counts['waiting']} answer{'' if counts['waiting'] == 1 else 's'}"
        steps.append(NextStep(f"Grade {answers} in words.", page="gpubook/by_hand"))
    if problems:
        steps.append(NextStep(f"See why {_submissions(problems)} could not be graded, below; then grade again."))
    if steps:
        return steps
    if due is not None and now < due:
        return [NextStep("It is open: collect when it is due, or before.", f"gpubook collect {where} {name} ARCHIVE")]
    if not counts["submitted"]:
        return [NextStep("Nothing was submitted yet: collect.", f"gpubook collect {where} {name} ARCHIVE")]
    return [
        NextStep("See what the class believes.", f"gpubook report {where} {name}"),
        NextStep("Bring feedback up to date.", f"gpubook course feedback {where} {name}"),
        NextStep("Export the grades.", f"gpubook export {where} {name} --format csv"),
    ]


def _submissions(number: int) -> str:
    return f"{number} submission" + ("" if number == 1 else "s")


def _steps(folder: Path, names: Sequence[str], learners: int) -> list[NextStep]:
    where, steps = shlex.quote(str(folder)), []
    if not names:
        command = f"gpubook course assign {where} week1 --chapter 03-rooflines --due 2027-02-01T22:00"
        steps.append(NextStep("Assign a chapter, or exercises of your own.", command))
    if not learners:
        steps.append(
            NextStep("Import a roster, for names and e-mail addresses.", "nbgrader db student import roster.csv")
        )
    return steps
