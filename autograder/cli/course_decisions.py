"""`gpubook course points`, `drop`, `full-marks` and `history`: what is decided about an assignment, until it is taken
back, and what was done."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from .parameters import FOLDER, assignment_name
from .terminal import echo


def read_points(texts: Iterable[str], hint: str) -> dict[str, float]:
    """ID=N by id; an error names the option or argument by `hint`."""
    points = {}
    for text in texts:
        key, _, number = text.rpartition("=")
        try:
            points[key] = float(number)
        except ValueError:
            key = ""
        if not key:
            raise click.BadParameter(f"{text!r}: expected ID=N, e.g. rooflines-ridge=2", param_hint=hint)
    return points


def tell_of_stale(folder: Path, name: str, by_hand: Mapping[str, int] | None = None) -> None:
    """Say what of those who are graded is not up to date, for how many, and what brings it so; nothing for nobody."""
    from ..course.assigning.stale_grades import stale

    for exercise, count in (by_hand or {}).items():
        grades = "grade by hand stays as it was" if count == 1 else "grades by hand stay as they were"
        echo(f"Note: {count} {grades} given for {exercise}, which has other points now.", err=True)
    line = stale(folder, name).sentence
    if line:
        echo(f"Note: {line}: gpubook grade {folder} {name} --resume", err=True)


@click.command("points")
@click.argument("folder", type=FOLDER)
@click.argument("name", callback=assignment_name)
@click.argument("points", metavar="[ID=N]...", nargs=-1)
@click.option("--undo", metavar="ID", multiple=True, help="The points that ID declares count again (repeatable).")
def course_points(folder: Path, name: str, points: tuple[str, ...], undo: tuple[str, ...]) -> None:
    """Give exercises of the assignment NAME other points than they declare.

    The gradebook, late penalties and exports follow at once; no cell runs. Without points, list those that are not as
    declared.
    """
    from ..course.assigning import assign_and_drop
    from ..course.layout import released
    from ..course.terms import assignment_state

    wanted: dict[str, float | None] = dict(read_points(points, "ID=N"))
    if twice := sorted(wanted.keys() & set(undo)):
        raise click.UsageError(f"{twice[0]}: other points, and none; one of the two was expected")
    wanted |= dict.fromkeys(undo)
    if wanted:
        done = assign_and_drop.set_points(folder, name, wanted)
        tell_of_stale(folder, name, done.by_hand)
    else:
        released(folder, name)
    now = assignment_state.read(folder.resolve(), name).points
    for exercise, value in now.items():
        echo(f"{exercise}: {value:g} points")
    if not now:
        echo(f"Every exercise of {name} has the points that it declares.")


@click.command("drop")
@click.argument("folder", type=FOLDER)
@click.argument("name", callback=assignment_name)
@click.argument("exercise")
@click.option("--undo", is_flag=True, help="It counts again.")
def course_drop(folder: Path, name: str, exercise: str, undo: bool) -> None:
    """Exclude EXERCISE of the assignment NAME from every score."""
    from .. import course as courses
    from ..course.terms import assignment_state

    in_full = exercise in assignment_state.read(folder.resolve(), name).full
    courses.drop(folder, name, exercise, undo)
    echo(f"{exercise} counts again." if undo else f"{exercise} now counts 0 of 0 points.")
    if in_full and not undo:
        echo(f"Note: everybody had full marks for {exercise}; with --undo it is judged again.", err=True)
    tell_of_stale(folder, name)


@click.command("full-marks")
@click.argument("folder", type=FOLDER)
@click.argument("name", callback=assignment_name)
@click.argument("exercise")
@click.option("--undo", is_flag=True, help="What was answered counts again.")
def course_full_marks(folder: Path, name: str, exercise: str, undo: bool) -> None:
    """Give all points of EXERCISE to everybody who submits."""
    from .. import course as courses

    courses.full_marks(folder, name, exercise, undo)
    now = "gives what it is judged to again" if undo else "now gives everybody full marks"
    echo(f"{exercise} {now}.")
    tell_of_stale(folder, name)


@click.command("history")
@click.argument("folder", type=FOLDER)
@click.argument("name", required=False)
@click.option("--of", "subject", metavar="LEARNER[/EXERCISE]", help="The trail of a learner's grades in NAME instead.")
@click.option("--json", "plain", is_flag=True, help="As JSON.")
def course_history(folder: Path, name: str | None, subject: str | None, plain: bool) -> None:
    """List what was done in the course, when (UTC) and by whom.

    Assigned, points, drops, full marks, extensions, groups, late rule, runs: all of it, or that of the assignment NAME.
    Nothing is ever removed from it.
    """
    from ..course.banks import checked_name
    from ..course.class_results.results_table import inert
    from ..course.layout import read_config
    from ..course.report import trail
    from ..course.terms import history, history_text

    read_config(folder)
    if subject is not None and name is None:
        raise click.UsageError("--of LEARNER[/EXERCISE] needs the NAME of an assignment")
    if subject is not None and name is not None:
        steps = trail.of(folder, checked_name(name), subject)
        rows, lines = [step.as_plain() for step in steps], [str(step) for step in steps]
    else:
        events = history.events(folder.resolve(), checked_name(name) if name else "")
        rows, lines = (
            [event.as_plain() for event in events],
            [history_text.line(event, name is None) for event in events],
        )
    if plain:
        echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    for line in lines:
        echo(inert(line))
    if not lines:
        echo(f"Nothing is on record for {name or folder}.")
