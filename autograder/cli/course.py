"""`gpubook course`: create and maintain a course in nbgrader's layout."""

from datetime import datetime
from pathlib import Path

import click

from .parameters import FILE, FOLDER, assignment_name
from .rubric import rubric


@click.group()
def course() -> None:
    """Create and maintain a course in nbgrader's layout."""


course.add_command(rubric)


@course.command("init")
@click.argument("folder", type=FOLDER)
@click.option(
    "--db-url", help="The gradebook, e.g. postgresql://USER@HOST/DATABASE.  [default: gradebook.db in FOLDER]"
)
def course_init(folder: Path, db_url: str | None) -> None:
    """Create a course in FOLDER, with nbgrader's configuration."""
    from ..course import layout

    layout.init(folder, db_url)
    click.echo(f"Created a course in {folder}. Next: gpubook course assign {folder} NAME --chapter 03-rooflines")


@course.command("assign")
@click.argument("folder", type=FOLDER)
@click.argument("name", callback=assignment_name)
@click.option("--chapter", help="The chapter to assign, e.g. 03-rooflines.")
@click.option("--exercises", help="Comma-separated ids, the chapter's and your own.  [default: the chapter's]")
@click.option("--text", type=FILE, help="Your own text, a MyST file that asks exercises.")
@click.option("--due", type=click.DateTime(), help="The due date, in UTC.")
def course_assign(
    folder: Path, name: str, chapter: str | None, exercises: str | None, text: Path | None, due: datetime | None
) -> None:
    """Create the assignment NAME from a chapter, exercises or a text."""
    from .. import course as courses

    chosen = [one.strip() for one in exercises.split(",")] if exercises else None
    courses.assign(folder, name, chapter=chapter, exercises=chosen, text=text, due=due)
    click.echo(f"Released {folder / 'release' / name}")


@course.command("check")
@click.argument("folder", type=FOLDER)
def course_check(folder: Path) -> None:
    """Run the self-tests of your own exercises, in FOLDER/exercises."""
    from ..answers.library_overlap import library_overlap
    from ..answers.selftest import selftest
    from ..course.assignment import own_bank

    bank, faults = own_bank(folder), 0
    if not bank:
        raise click.ClickException(f"no exercises are declared in {folder / 'exercises'}/*.py")
    for name, exercise in bank.items():
        problems = selftest(exercise) + library_overlap(exercise)
        faults += len(problems)
        for line in [f"{bank.where(name)}: {problem}" for problem in problems] or [f"{name}: ok"]:
            click.echo(line)
    if faults:
        raise click.ClickException(f"{faults} problems in {len(bank)} exercises")


@course.command("drop")
@click.argument("folder", type=FOLDER)
@click.argument("name", callback=assignment_name)
@click.argument("exercise")
def course_drop(folder: Path, name: str, exercise: str) -> None:
    """Exclude EXERCISE of the assignment NAME from every score."""
    from .. import course as courses

    courses.drop(folder, name, exercise)
    click.echo(f"{exercise} now counts 0 of 0 points. To update the feedback: gpubook grade {folder} {name}")


@course.command("late")
@click.argument("folder", type=FOLDER)
@click.argument("name", callback=assignment_name)
def course_late(folder: Path, name: str) -> None:
    """Recompute late penalties, after manual grading or an extension."""
    from ..course import gradebook
    from ..course.results_table import inert

    for learner, penalty in gradebook.update_late_penalties(folder, name):
        click.echo(f"{inert(learner)}: {penalty:g} points off")


@course.command("feedback")
@click.argument("folder", type=FOLDER)
@click.argument("name", callback=assignment_name)
def course_feedback(folder: Path, name: str) -> None:
    """Rewrite the feedback of an assignment; nothing is graded.

    For use after manual grading, or once solutions may be shown.
    """
    from .. import course as courses

    pages = courses.show_feedback(folder, name)
    click.echo(f"{len(pages)} pages in {folder / 'feedback'}/LEARNER/{name}")
