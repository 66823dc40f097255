"""`gpubook course exam` and `learners`: minutes from the first opening, and factors on the time of single learners."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .course_terms import named_learners
from .parameters import FOLDER, TIME, assignment_name
from .terminal import echo

if TYPE_CHECKING:
    from ..course.terms.deadline_time import Moment


@click.command("exam")
@click.argument("folder", type=FOLDER)
@click.argument("name", callback=assignment_name)
@click.argument("learners", nargs=-1)
@click.option("--minutes", type=float, help="Make NAME an exam of so many minutes.")
@click.option("--opens", type=TIME, help="Until then nobody can open it; written as for `assign --due`.")
@click.option("--remove", is_flag=True, help="NAME is no exam any more.")
@click.option("--list", "shows", is_flag=True, help="List who opened it, when, and when their time is over.")
@click.option("--start", type=TIME, help="LEARNERS began then, whatever is known of it.")
@click.option("--collect", is_flag=True, help="Submit the last copy kept of each who submitted nothing.")
def course_exam(
    folder: Path,
    name: str,
    learners: tuple[str, ...],
    minutes: float | None,
    opens: Moment | None,
    remove: bool,
    shows: bool,
    start: Moment | None,
    collect: bool,
) -> None:
    """Make the assignment NAME an exam, and see to it.

    Its minutes count from a learner's first opening, which the check service notes; its window ends with the deadline
    of the assignment. Learners with a factor on time (`gpubook course learners`) have more minutes.
    """
    from ..course.agreements import exams
    from ..course.assigning import assign_and_drop

    if sum([minutes is not None, remove, shows, start is not None, collect]) != 1:
        raise click.UsageError("one of --minutes, --remove, --list, --start and --collect was expected")
    if opens is not None and minutes is None:
        raise click.UsageError("--opens goes with --minutes")
    if bool(learners) and not (start or collect):
        raise click.UsageError("LEARNERS go with --start and --collect")
    if minutes is not None:
        assign_and_drop.make_exam(folder, name, minutes, opens.utc if opens else None)
        when = f" It opens {opens}." if opens else ""
        echo(f"{name} is an exam of {minutes:g} minutes from a learner's first opening.{when}")
        _tell_of_no_service(folder)
    elif remove:
        assign_and_drop.end_exam(folder, name)
        echo(f"{name} is not an exam any more: its deadline holds for everybody.")
    elif start is not None:
        if not learners:
            raise click.UsageError("--start: learners were expected")
        exams.enter_starts(folder, name, dict.fromkeys(learners, start.utc))
        _list(folder, name, learners)
    elif collect:
        _collect(folder, name, learners)
    else:
        _list(folder, name)


def _tell_of_no_service(folder: Path) -> None:
    from ..course.layout import read_config
    from ..course.service.settings import CheckService

    if not CheckService.of(read_config(folder)).url:
        need = "c.CheckService.url in nbgrader_config.py is empty, so nothing notes when learners open it"
        echo(f"Note: {need}; set it, then give this command again", err=True)


def _list(folder: Path, name: str, learners: tuple[str, ...] = ()) -> None:
    from ..course.agreements import exams
    from ..course.class_results.results_table import inert
    from ..course.terms.deadline_time import shown

    sittings = exams.sittings(folder, name)
    for learner, sitting in sorted(sittings.items()):
        if not learners or learner in learners:
            times = f"opened {shown(sitting.start)}, until {shown(sitting.end)}"
            echo(f"{inert(learner)}: {times} ({sitting.minutes:g} minutes)")
    if not sittings:
        echo(f"Nobody has opened {name}.")


def _collect(folder: Path, name: str, learners: tuple[str, ...]) -> None:
    from ..course.agreements import exams
    from ..course.class_results.results_table import inert
    from ..course.terms.deadline_time import shown

    taken = exams.collect(folder, name, learners)
    for learner, when in sorted(taken.items()):
        echo(f"{inert(learner)}: submitted as it was kept {shown(when)}")
    if not taken:
        echo("Nothing to submit: everybody of whom a copy was kept has submitted.")


@click.command("learners")
@click.argument("folder", type=FOLDER)
@click.argument("learners", nargs=-1)
@click.option("--time", "factor", type=float, help="So many times the time: minutes of exams, and days to deadlines.")
@click.option("--remove", is_flag=True, help="LEARNERS have the time of the others again.")
def course_learners(folder: Path, learners: tuple[str, ...], factor: float | None, remove: bool) -> None:
    """Give LEARNERS more time, all term; without learners, list who has it and what days to spend are left.

    A factor of 1.5 gives half as many minutes more in an exam, and moves a deadline by half of the time between the day
    when the assignment was released and the deadline.
    """
    from ..course.agreements import time_factors

    if bool(learners) != (factor is not None or remove) or (factor is not None and remove):
        raise click.UsageError("LEARNERS with one of --time and --remove were expected, or neither, for a list")
    if factor is not None:
        time_factors.grant(folder, learners, factor)
        echo(f"{named_learners(learners)}: {factor:g} times the time.")
    elif remove:
        time_factors.remove(folder, learners)
        echo(f"{named_learners(learners)}: the time of the others again.")
    else:
        _list_learners(folder)


def _list_learners(folder: Path) -> None:
    from ..course import gradebook
    from ..course.class_results.results_table import inert
    from ..course.layout import read_config
    from ..course.terms import accommodations

    folder = folder.resolve()
    factors, rule = accommodations.read(folder), gradebook.days_to_spend(read_config(folder))
    for learner, factor in sorted(factors.items()):
        echo(f"{inert(learner)}: {factor:g} times the time")
    if not factors:
        echo("Everybody has the same time.")
    if rule is not None:
        url = gradebook.url_of(folder)
        for learner in gradebook.learners(folder):
            spent = {name: days for name, days in rule.spent(url, learner).items() if days}
            where = ", ".join(f"{name} {days:g}" for name, days in spent.items())
            if spent:
                left = rule.days - sum(spent.values())
                echo(f"{inert(learner)}: {left:g} of {rule.days:g} days left ({where})")
