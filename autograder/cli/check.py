"""`gpubook check`: a learner's notebook judged outside JupyterLab, for a terminal, an editor or a CI job."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

import click

from .group import error_text
from .plan import CannotBe
from .terminal import echo

SCHEMA = 1
INSTEAD = "in the notebook, `check` and `grade` give the same verdicts"
SCHEMA_DOC = """\b
--json prints one object (schema 1); later versions of schema 1 only add fields:
  schema      1
  passed      whether all exercises judged by machine have their points
  totals      exercises, answered, unanswered, judged, full (counts), and
              points and score of the judged ones
  notebooks   for each notebook: notebook (its path), chapter, passed,
              totals, exercises, and answer_cells
  answer_cells  how many are asked, and of which exercises they are missing
              (without metadata, or deleted), found (of these, again),
              repeated; own: how many other cells there are
  exercises   for each exercise: id, title, kind (of answer), points, score
              (of these points), judged (by machine, and counted here),
              answered (null: unknown without a key), and verdict: kind,
              reason, sentence (Markdown)
Kinds of verdicts: right, predicted, partial, empty (no answer yet),
unreadable, unit, mistake, slip, variant, wrong; not judged: waiting (for a
teacher), recorded (no key is at hand), failed (the exercise is at fault);
lost (the notebook has no cell for the answer).
"""


@click.command(epilog=SCHEMA_DOC)
@click.argument("notebooks", nargs=-1, required=True, metavar="NOTEBOOK...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, see below.")
@click.option("--record", is_flag=True, help="Also write attempts and predictions into your record of progress.")
@click.option(
    "--cell-limit", type=click.FloatRange(0, min_open=True), help="Time limit per cell, in seconds.  [default: 30]"
)
def check(notebooks: tuple[str, ...], as_json: bool, record: bool, cell_limit: float | None) -> None:
    """Run your notebooks and judge their exercises.

    NOTEBOOK is a file, a folder with one in it, or the name of a chapter, such as 03-rooflines, of which your copy is
    here or in ./study. The verdicts are those of `check` in the notebook, by the key that it finds; the saved outputs
    do not count. A cell that fails, or runs too long, costs only its own exercise.

    The exit status is 0 if every exercise that is judged by machine has all of its points (a prediction: if it is
    made), 1 if one has not, and 2 if a notebook cannot be checked.
    """
    if sys.platform != "linux":
        raise CannotBe(f"gpubook check runs on Linux, also in a container or WSL, not on {sys.platform}; {INSTEAD}")
    from rich.console import Console
    from rich.text import Text

    from ..sandbox import zygote_ahead
    from . import lazy_jsonschema
    from . import notebook_check as checks

    terminal = Console(stderr=True)
    try:
        paths = [checks.notebook_path(name) for name in notebooks]
        with zygote_ahead():
            lazy_jsonschema.notebooks()
            read = [checks.LearnerNotebook.read(path) for path in paths]
            with checks.Checker(cell_limit) as checker:
                done = []
                for notebook in read:
                    with terminal.status(Text(f"Running {_inert(str(notebook.path))}"), spinner="line"):
                        done.append(checker.check(notebook))
    except (ValueError, LookupError, OSError) as error:
        raise CannotBe(error_text(error)) from error
    if as_json:
        echo(json.dumps(as_record(done), indent=2, ensure_ascii=False))
    else:
        for checked in done:
            _show(checked)
        if len(done) > 1:
            every = checks.Totals.of([exercise for checked in done for exercise in checked.exercises])
            echo(f"All {len(done)} notebooks: {_summary(every)}")
    for checked in done:
        for problem in checked.problems:
            echo(f"{checked.notebook.path}: {problem}", err=True)
        if record:
            _record(checked)
    if not all(checked.passed for checked in done):
        raise SystemExit(1)


def _record(one: Any) -> None:
    from .notebook_check import record

    try:
        count = record(one)
    except (OSError, ValueError) as error:  # the folder, or a record of a newer version
        raise CannotBe(f"nothing was recorded: {error_text(error)}") from error
    echo(f"Recorded {count} exercises in {one.notebook.progress.path}", err=True)


def as_record(done: list[Any]) -> dict[str, Any]:
    """Some `NotebookCheck`s as the JSON object that `--help` explains."""
    from .notebook_check import Totals

    return {
        "schema": SCHEMA,
        "passed": all(one.passed for one in done),
        "totals": asdict(Totals.of([exercise for one in done for exercise in one.exercises])),
        "notebooks": [
            {
                "notebook": str(one.notebook.path),
                "chapter": one.notebook.chapter,
                "passed": one.passed,
                "totals": asdict(one.totals),
                "exercises": [_exercise_record(exercise) for exercise in one.exercises],
                "answer_cells": one.cells.as_plain(),
            }
            for one in done
        ],
    }


def _exercise_record(one: Any) -> dict[str, Any]:
    names = ("id", "title", "kind", "points", "score", "judged", "answered")
    verdict = {"kind": one.verdict.kind, "reason": one.verdict.reason, "sentence": one.verdict.say}
    return {name: getattr(one, name) for name in names} | {"verdict": verdict}


def _show(done: Any) -> None:
    """The table of a notebook, and its summary."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("", "exercise", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("verdict")
    for exercise in done.exercises:
        score = f"{exercise.score:g}/{exercise.points:g}" if exercise.judged else f"-/{exercise.points:g}"
        style = "green" if exercise.full else "dim" if not exercise.judged or exercise.answered is False else "red"
        say = _inert(" ".join(exercise.verdict.say.split()))
        failed = exercise.answered and exercise.verdict.kind == "empty"  # a cell that raised an error, or did not end
        table.add_row(
            Text("✗" if failed else exercise.verdict.sign, style=style),
            Text(_inert(exercise.id)),
            Text(score, style=style),
            Text(say),
        )
    Console(highlight=False).print(table)
    echo(f"{_inert(str(done.notebook.path))}: {_summary(done.totals)}")
    if done.cells.sentence:
        echo(f"{_inert(str(done.notebook.path))} {_inert(done.cells.sentence)}")


def _summary(totals: Any) -> str:
    """ "7 of 12 points; 3 of 5 exercises complete, 1 without an answer, 1 not judged by machine"."""
    parts = [f"{totals.full} of {totals.judged} exercises complete"]
    if totals.unanswered:
        parts.append(f"{totals.unanswered} without an answer")
    if apart := totals.exercises - totals.judged:
        parts.append(f"{apart} not judged by machine")
    return f"{totals.score:g} of {totals.points:g} points; {', '.join(parts)}"


def _inert(text: str) -> str:
    """Without what a terminal would obey."""
    from ..course.class_results.results_table import inert

    return inert(text)
