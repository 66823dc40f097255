"""`gpubook course extend` and `groups`: what is agreed with learners about an assignment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .parameters import FILE, FOLDER, TIME, assignment_name
from .terminal import echo

if TYPE_CHECKING:
    from ..course.agreements.extensions import Extended
    from ..course.terms.deadline_time import Moment


@click.command("extend")
@click.argument("folder", type=FOLDER)
@click.argument("name", callback=assignment_name)
@click.argument("learners", nargs=-1)
@click.option("--days", type=float, help="So many days beyond the deadline; half a day is 0.5.")
@click.option("--until", type=TIME, help="Until that time, written as for `assign --due`.")
@click.option("--list", "shows", is_flag=True, help="List the extensions.")
@click.option("--remove", is_flag=True, help="Take the extensions of LEARNERS back.")
def course_extend(
    folder: Path,
    name: str,
    learners: tuple[str, ...],
    days: float | None,
    until: Moment | None,
    shows: bool,
    remove: bool,
) -> None:
    """Give LEARNERS more time for the assignment NAME.

    Before a submission or after it; the gradebook and late penalties follow at once. Another extension of the same
    learner replaces the first.
    """
    from ..course.agreements import extensions
    from ..course.terms.agreed_terms import Extension

    if sum([days is not None, until is not None, shows, remove]) != 1:
        raise click.UsageError("one of --days, --until, --list and --remove was expected")
    if bool(learners) == shows:
        raise click.UsageError("learners were expected" if not shows else "--list lists everybody; no learner expected")
    if shows:
        rows = extensions.listed(folder, name)
        for row in rows:
            echo(_line(folder, name, row))
        if not rows:
            echo(f"Nobody has an extension for {name}.")
    elif remove:
        extensions.remove(folder, name, learners)
        echo(f"The deadline of {name} holds for {named_learners(learners)} again.")
    else:
        granted = Extension(until=until.utc) if until is not None else Extension(days=days or 0.0)
        for row in extensions.extend(folder, name, learners, granted):
            echo(_line(folder, name, row))


def _line(folder: Path, name: str, one: Extended) -> str:
    from ..course.class_results.results_table import inert
    from ..course.terms.deadline_time import shown

    granted = one.granted or "by nbgrader"
    there = (folder / "submitted" / one.learner / name).is_dir()
    without_time = "submitted, at a time that no grade has yet" if there else "nothing submitted yet"
    when = without_time if one.submitted is None else f"submitted {shown(one.submitted)}"
    return f"{inert(one.learner)}: until {shown(one.until)} ({granted}); {when}"


def named_learners(learners: tuple[str, ...]) -> str:
    """Their ids in a line of the terminal."""
    from ..course.class_results.results_table import inert

    return ", ".join(map(inert, learners))


@click.command("groups")
@click.argument("folder", type=FOLDER)
@click.argument("name", callback=assignment_name)
@click.argument("file", type=FILE, required=False)
@click.option("--remove", is_flag=True, help="Everybody submits alone again.")
def course_groups(folder: Path, name: str, file: Path | None, remove: bool) -> None:
    """Have groups submit the assignment NAME together.

    FILE is CSV with the columns `group,learner`. One of a group submits, and all get the points, the feedback and the
    penalties; without FILE, list the groups.
    """
    from ..course.agreements import learner_groups
    from ..course.layout import read_config
    from ..course.terms import agreed_terms

    read_config(folder)
    if file is not None and remove:
        raise click.UsageError("a file of groups or --remove was expected, not both")
    if remove:
        learner_groups.form(folder, name, {})
        echo(f"Everybody submits {name} alone.")
        return
    if file is not None and not learner_groups.form(folder, name, learner_groups.read_csv(file)):
        echo("Note: the gradebook has no roster, so nothing could tell whether these are its learners.", err=True)
    agreed = agreed_terms.read(folder.resolve(), name).groups
    for group, members in agreed.items():
        echo(f"{named_learners((group,))}: {named_learners(tuple(members))}")
    if not agreed:
        echo(f"Everybody submits {name} alone.")
