"""`gpubook report` and `gpubook explain`: what a class believes, and why a verdict is what it is."""

from __future__ import annotations

from pathlib import Path

import click

from .terminal import echo

FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("name", required=False)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write a page, in one file.")
@click.option(
    "--csv",
    type=click.Path(path_type=Path),
    help="Write tables: a folder of them, or of the exercises in a file NAME.csv.",
)
@click.option("--short", is_flag=True, help="Leave out the table of the learners.")
def report(folder: Path, name: str | None, html: Path | None, csv: Path | None, short: bool) -> None:
    """Report what a class believes.

    On the assignment NAME of the course in FOLDER, or on all that are graded: how many are right in each exercise,
    which mistakes they make, which wrong answers no mistake explains, and whose work is alike. Nothing is graded.
    """
    from rich.console import Console

    from . import lazy_jsonschema

    lazy_jsonschema.notebooks()
    from ..course.banks import checked_name
    from ..course.report import of_class, page, tables, terminal_report

    content = of_class.of_term(folder) if name is None else of_class.of_assignment(folder, checked_name(name))
    if html:
        page.write(page.of(content), html)
        echo(f"Wrote {html}")
    for path in tables.write(tables.of(content), csv) if csv else ():
        echo(f"Wrote {path}")
    if not (html or csv):
        terminal_report.show(content, Console(highlight=False), table=not short)


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("name")
@click.argument("what", metavar="LEARNER/EXERCISE")
def explain(folder: Path, name: str, what: str) -> None:
    """Explain a verdict.

    What LEARNER answered to EXERCISE of the assignment NAME, how it was read, with which numbers, what was expected and
    how exactly, which mistake matched and why, and what the key as it is now would say; how the grade came about; and
    the learner's requests for another look at it.
    """
    from rich.console import Console

    from . import lazy_jsonschema

    lazy_jsonschema.notebooks()
    from ..course.banks import checked_name
    from ..course.class_results.results_table import inert
    from ..course.report import explanation, trail
    from .course_requests import request_lines

    made = explanation.of(folder, checked_name(name), what)
    explanation.show(made, Console(highlight=False))
    echo("\nHow the grade came about:")
    for step in trail.of(folder, checked_name(name), f"{made.learner}/{made.exercise.id}"):
        echo(f"  {inert(str(step))}")
    for line in request_lines(folder.resolve(), name, made.learner, made.exercise.id):
        echo(line)
