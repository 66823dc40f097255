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
@click.option("--changed", is_flag=True, help="Show what a changed rubric makes of the grades of an earlier one.")
@click.option("--follow", is_flag=True, help="Have these grades follow; what nobody has decided waits for a look.")
@click.option(
    "--same", multiple=True, metavar="NEW=OLD", help="Criterion NEW is the earlier criterion OLD in other words."
)
def rubric(
    folder: Path,
    name: str,
    exercise: str | None,
    output: Path | None,
    filled: Path | None,
    by: str,
    changed: bool,
    follow: bool,
    same: tuple[str, ...],
) -> None:
    """Print rubric and model answer of the written exercises of NAME.

    Of all of them, or of EXERCISE. With --write and --read its answers are graded in a spreadsheet; in a browser they
    are graded at /gpubook/by_hand of the course's JupyterLab.
    """
    from ..course import spreadsheet
    from ..course.by_hand import questions, table
    from ..course.class_results.results_table import inert

    _check_use(exercise, [bool(output), bool(filled), changed, follow], bool(same))
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
    if changed or follow:
        _rubric_change(folder.resolve(), written[0], _pairs(same), follow)
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


def _check_use(exercise: str | None, actions: list[bool], same: bool) -> None:
    if any(actions) and exercise is None:
        raise click.UsageError("--write, --read, --changed and --follow need an EXERCISE: they are about one question")
    if sum(actions) > 1:
        raise click.UsageError("one of --write, --read, --changed and --follow was expected")
    if same and not any(actions[2:]):
        raise click.UsageError("--same belongs to --changed or --follow")


def _pairs(same: tuple[str, ...]) -> dict[int, int]:
    pairs = {}
    for text in same:
        new, _, old = text.partition("=")
        if not (new.isdecimal() and old.isdecimal()):
            raise click.BadParameter(f"{text!r}: expected NEW=OLD, e.g. 2=1", param_hint="--same")
        pairs[int(new)] = int(old)
    return pairs


def _rubric_change(folder: Path, question: Any, same: dict[int, int], follow: bool) -> None:
    """Say what becomes of the grades of an earlier rubric, and with `follow` enter it."""
    from ..course.by_hand import rubric_change
    from ..course.class_results.results_table import inert

    same = rubric_change.checked_same(same, question, folder)
    act = rubric_change.follow if follow else rubric_change.preview
    grades = act(folder, question, same)
    if not grades:
        echo(f"No grade of {question.exercise} is by an earlier rubric.")
        return
    for grade in grades:
        before = "–" if grade.before is None else f"{grade.before:g}"
        after = f"{grade.after:g} points" if grade.after is not None else f"waits for another look: {grade.why}"
        echo(f"{inert(grade.learner)}: {before} -> {after}")
    decided = sum(grade.after is not None for grade in grades)
    done = "follow" if follow else "would follow with --follow"
    echo(f"{decided} of {len(grades)} {done}; {len(grades) - decided} wait for another look.")
