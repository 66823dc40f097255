"""`gpubook course rubric`: the rubric and the model answer of a written exercise, and its answers as a table."""

from pathlib import Path
from typing import Any

import click

from .terminal import echo

FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("name")
@click.argument("exercise", required=False)
@click.option(
    "--write", "output", type=click.Path(path_type=Path), help="Write the answers, with a column for each criterion."
)
@click.option(
    "--read",
    "filled",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="Enter such a table's points.",
)
@click.option("--by", default="", help="Who graded, for others who grade the same question.")
def rubric(folder: Path, name: str, exercise: str | None, output: Path | None, filled: Path | None, by: str) -> None:
    """Print rubric and model answer of the written exercises of NAME.

    Of all of them, or of EXERCISE. With --write and --read its answers are graded in a spreadsheet; in a browser they
    are graded at /gpubook/by_hand of the course's JupyterLab.
    """
    from ..course import spreadsheet
    from ..course.by_hand import questions, table
    from ..course.class_results.results_table import inert

    if (output or filled) and exercise is None:
        raise click.UsageError("--write and --read need an EXERCISE: a table has the answers to one question")
    if output and filled:
        raise click.UsageError("either --write or --read was expected")
    written = [questions.question(folder, name, exercise)] if exercise else questions.questions(folder, name)
    if output:
        made = table.table(folder.resolve(), written[0])
        spreadsheet.write(made, output)
        echo(f"Wrote {output}: {len(made.rows) - 1} answers")
        return
    if filled:
        entered = table.read(folder.resolve(), written[0], filled, by)
        echo(f"Entered {len(entered.learners)}, unchanged {entered.unchanged}, refused {len(entered.refused)}")
        for line in entered.refused:
            echo(f"Refused: {inert(line)}", err=True)
        if entered.refused:
            raise SystemExit(1)
        return
    if not written:
        echo(f"{name} asks for no answer in words")
    for question in written:
        echo(_shown(question))


def _shown(one: Any) -> str:
    """A question's rubric and model answer, as a terminal shows them."""
    hidden = ", which learners do not see" if one.hidden else ""
    lines = [f"{one.exercise}: {one.title}, {one.max_score:g} points", "", f"Criteria{hidden}:"]
    lines += [f"  {at}. {text} ({most:g})" for at, (text, most) in enumerate(one.rubric, start=1)]
    numbers = ", with the book's numbers" if one.has_own_numbers else ""
    return "\n".join([*lines, "", f"Model answer{numbers}:", "", one.model_answer(), ""])
