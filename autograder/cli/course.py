"""`gpubook course`: create and maintain a course in nbgrader's layout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .check_service import attempts, serve, tokens
from .course_check import course_check
from .course_decisions import course_drop, course_full_marks, course_history, course_points, read_points, tell_of_stale
from .course_exam import course_exam, course_learners
from .course_graders import course_graders
from .course_kinds import course_kinds
from .course_list import course_list
from .course_people import course_data, course_forget
from .course_requests import course_requests
from .course_terms import course_extend, course_groups
from .lti import lti
from .parameters import FILE, FOLDER, TIME, assignment_name
from .rubric import rubric
from .terminal import echo

if TYPE_CHECKING:
    from ..course.terms.deadline_time import Moment

WRITTEN_SOONER = 2  # a formula of the library with fewer operations gives no answer away


@click.group()
def course() -> None:
    """Create and maintain a course in nbgrader's layout."""


COMMANDS = (
    course_check,
    course_data,
    course_drop,
    course_exam,
    course_extend,
    course_forget,
    course_full_marks,
    course_graders,
    course_groups,
    course_history,
    course_kinds,
    course_learners,
    course_list,
    course_points,
    course_requests,
    lti,
    rubric,
    serve,
    tokens,
    attempts,
)
for command in COMMANDS:
    course.add_command(command)


@course.command("init")
@click.argument("folder", type=FOLDER)
@click.option(
    "--db-url", help="The gradebook, e.g. postgresql://USER@HOST/DATABASE.  [default: gradebook.db in FOLDER]"
)
def course_init(folder: Path, db_url: str | None) -> None:
    """Create a course in FOLDER, with nbgrader's configuration."""
    from ..course import layout

    layout.init(folder, db_url)
    echo(f"Created a course in {folder}. Next: gpubook course assign {folder} NAME --chapter 03-rooflines")


@course.command("assign")
@click.argument("folder", type=FOLDER)
@click.argument("name", callback=assignment_name)
@click.option("--chapter", help="The chapter to assign, e.g. 03-rooflines.")
@click.option("--exercises", help="Comma-separated ids, the chapter's and your own.  [default: the chapter's]")
@click.option("--text", type=FILE, help="Your own text, a MyST file that asks exercises.")
@click.option("--without", help="Comma-separated ids of the chapter to leave out, from now on.")
@click.option("--with", "with_again", help="Comma-separated ids that were left out and come back.")
@click.option("--points", metavar="ID=N", multiple=True, help="Other points for an exercise, from now on (repeatable).")
@click.option("--due", type=TIME, help="The deadline: 2027-02-01T22:00 is UTC; +01:00 or ' Europe/Berlin' may follow.")
@click.option("--no-due", is_flag=True, help="Take a deadline away.  [default: it stays]")
def course_assign(
    folder: Path,
    name: str,
    chapter: str | None,
    exercises: str | None,
    text: Path | None,
    without: str | None,
    with_again: str | None,
    points: tuple[str, ...],
    due: Moment | None,
    no_due: bool,
) -> None:
    """Create the assignment NAME from a chapter, exercises or a text.

    Assigned again, it keeps its deadline, omissions, points, drops and full marks until they are taken back; without
    --chapter, --exercises and --text it is made of what it was made of before.
    """
    from .. import course as courses
    from ..course.terms import assignment_state

    courses.assign(
        folder,
        name,
        chapter=chapter,
        exercises=_ids(exercises) if exercises else None,
        text=text,
        due=due.utc if due is not None else None,
        no_due=no_due,
        without=_ids(without or ""),
        with_again=_ids(with_again or ""),
        points=read_points(points, "--points"),
    )
    echo(f"Released {folder / 'release' / name}")
    if due is not None:
        echo(f"Due {due}" + (" (without a zone, a time is UTC)" if due.local is None else ""))
        if due.is_over:
            echo("Note: this deadline is over: whatever comes in now is late.", err=True)
    elif no_due:
        echo(f"{name} has no deadline.")
    if decided := assignment_state.read(folder.resolve(), name).sentence:
        echo(f"It has, until taken back: {decided}")
    tell_of_stale(folder, name)


def _ids(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]


@course.command("late")
@click.argument("folder", type=FOLDER)
@click.argument("name", callback=assignment_name)
@click.option("--trust-timestamps", is_flag=True, help="Count a timestamp.txt that nbgrader's exchange did not write.")
def course_late(folder: Path, name: str, trust_timestamps: bool) -> None:
    """Recompute late penalties, from times of submission, extensions, grades and the course's rule as they are now."""
    from ..course import gradebook
    from ..course.agreements import late_work
    from ..course.class_results.results_table import inert

    for note in late_work.bring_up_to_date(folder, name, trust_timestamps):
        echo(f"Note: {inert(note)}", err=True)
    for score in gradebook.scores(folder, [name])[name]:
        if score.late_penalty:
            echo(f"{inert(score.person.id)}: {score.late_penalty:g} points off")


@course.command("feedback")
@click.argument("folder", type=FOLDER)
@click.argument("name", callback=assignment_name)
def course_feedback(folder: Path, name: str) -> None:
    """Rewrite the feedback of an assignment; nothing is graded.

    For use after manual grading, or once solutions may be shown.
    """
    from .. import course as courses

    pages = courses.show_feedback(folder, name)
    echo(f"{len(pages)} pages in {folder / 'feedback'}/LEARNER/{name}")
