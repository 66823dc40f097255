"""How well the library's models predict published measurements: `python -m benchmarks.fidelity [--data FILE]`.

One line a set of rows (an id without the numbers at its end, or a table of training runs), with how many rows its
errors are of, what share of the set has a prediction at all, and errors |predicted - measured|/measured of the time or
the memory: of the model, and beside them the mean of a simple one
(the data sheet's roofline, or one alpha-beta line), and of Calculon where it predicts the rows ("~": its mean over
all rows of the table). The constants are those that hwlib keeps; nothing is fitted to the file, unless `--fit` or
`--fit-stacks` asks for new ones. Without `--data`, the rows of benchmarks/data/rows are scored: those that constants
are fitted to, and the others ("not fitted") apart. The rows of a FILE that have no prediction are named on standard
error with the reason, and end the command with status 1, unless `--partial` says that this is fine, as `--json` does.
"""

import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from benchmarks.fit.constants import HEAD as FIT_HEAD
from benchmarks.fit.constants import fit_all, toml
from benchmarks.fit.memory import fit_memory
from benchmarks.fit.memory import toml as memory_toml
from benchmarks.fit.serving import fit_servings
from benchmarks.fit.serving import toml as serving_toml
from benchmarks.fit.stacks import fit_stacks as stack_fits
from benchmarks.fit.stacks import toml as stack_toml
from benchmarks.rows.gemm_rows import read_gemms, table_lines
from benchmarks.rows.kept_rows import kept_table
from benchmarks.rows.published import ROWS, DataError, rows_to_fit
from benchmarks.rows.sources import source_lines
from benchmarks.score.fidelity_page import limits as limits_page
from benchmarks.score.fidelity_page import page
from benchmarks.score.fold_scores import fold_lines
from benchmarks.score.kept_scores import held_out as stacks_held_out
from benchmarks.score.kept_scores import held_out_table, repeats, repeats_table, scores_table
from benchmarks.score.scores import ReadRows, Report, Score, report
from hwlib.units import plural

Stacks = tuple[str, ...]
"""The stacks that are fitted; all, if empty."""
HEAD = f"{'set':34}{'rows':>6}{'read':>8}{'mean':>8}{'median':>8}{'max':>8}{'constants':>11}{'simple model':>14}"


def line(s: Score) -> str:
    """One line of the table."""
    return (
        f"{s.set:34}{s.rows:6}{s.read:8.1%}{s.mean_abs_error:8.1%}{s.median_abs_error:8.1%}{s.max_abs_error:8.1%}"
        f"{s.constants:11}{s.plain_mean:14.1%}"
    )


def peer(s: Score) -> str:
    """Calculon's mean error, if it is known; "~" before one over all rows of the table."""
    return "" if math.isnan(s.peer_mean) else f"{'~' * s.peer_all}{s.peer_mean:.1%}"


def lines(result: Report) -> list[str]:
    """The whole report, for people."""
    out = [HEAD, *map(line, result.scores)] if result.scores else []
    if result.trees:
        out += ["", *map(line, result.trees)]
    if result.training:
        head = HEAD.replace("set".ljust(22), "training and its memory") + f"{'Calculon':>10}"
        out += [""] * bool(out) + [head, *((line(s) + f"{peer(s):>10}").rstrip() for s in result.training)]
    if result.together:
        out += ["", *((line(s) + f"{peer(s):>10}").rstrip() for s in result.together)]
    if result.typical:
        out += ["", "Typical constants, fitted to no step of this software on this chip (set: constants of):"]
        for s in result.typical:
            error = f"off by {s.mean_abs_error:.1%}, at most {s.max_abs_error:.1%}"
            out.append(f"  {s.set} ({s.rows}): {error}; {s.read:.1%} of the set are read")
    if result.unmodelled:
        out += ["", "No model here (rows):"]
        out += [f"  {name} ({count})" for name, count in sorted(result.unmodelled.items())]
    if result.read:
        whole = sum(result.read.values(), ReadRows(0, 0))
        out += ["", f"Rows that have a prediction: {whole.read:,} of {whole.rows:,} ({whole.share:.1%})"]
        out += [f"  {kind}: {n.read:,} of {n.rows:,} ({n.share:.1%})" for kind, n in sorted(result.read.items())]
    if result.context:
        out += ["", f"Context only, never scored: {result.context} rows"]
    return out


def as_json(result: Report) -> str:
    """The scored sets as a list of objects; of sets that are predicted with typical constants too, marked."""
    keys = (
        "set",
        "kind",
        "rows",
        "read",
        "mean_abs_error",
        "median_abs_error",
        "max_abs_error",
        "constants",
        "typical",
    )
    every = result.scores + result.training + result.typical
    return json.dumps([{key: getattr(s, key) for key in keys} for s in every], indent=1)


REPORTS: dict[str, Callable[[Report], str]] = {"": lambda result: "\n".join(lines(result)), "json": as_json}
"""The two tasks that say how far the predictions are from each set of a file's rows."""


def _fit(data: Path, _: Stacks) -> Iterable[str]:
    yield FIT_HEAD
    yield "\n\n".join(toml(entry) for entry in fit_all(rows_to_fit(data), data))


TASKS: dict[str, Callable[[Path, Stacks], Iterable[str]]] = {
    "choose": lambda data, _: table_lines(read_gemms(data)),
    "keep": lambda data, _: [kept_table(data).rstrip("\n")],
    "scores": lambda data, _: [scores_table(report(data)).rstrip("\n")],
    "held-out": lambda data, _: [held_out_table(stacks_held_out(data)).rstrip("\n")],
    "repeats": lambda data, _: [repeats_table(repeats(data)).rstrip("\n")],
    "markdown": lambda data, _: page(report(data)),
    "limits": lambda _data, _: limits_page(),
    "fit": _fit,
    "fit-stacks": lambda data, stack: (f"{stack_toml(fitted)}\n" for fitted in stack_fits(data, stack)),
    "fit-memory": lambda data, _: ["\n\n".join(memory_toml(fitted) for fitted in fit_memory(data))],
    "fit-serving": lambda data, stack: (f"{serving_toml(fitted)}\n" for fitted in fit_servings(data, stack)),
    "folds": lambda data, _: fold_lines(data),
    "sources": lambda data, _: source_lines(data),
}
"""What else can be printed of a file of measurements, piece by piece. Each raises DataError."""


def name_unpredicted(rows: Sequence[str], data: Path) -> None:
    """Name the rows of a table that have no prediction, with the reasons, as an error is written."""
    click.echo(f"\n{data}: no prediction for {plural(len(rows), 'row')}:", err=True)
    for row in rows:
        click.echo(f"  {row}", err=True)


def task(name: str, text: str) -> Any:
    """An option that prints something else than the table."""
    return click.option(f"--{name}", "task", flag_value=name, help=text)


@click.command(help=__doc__)
@click.option("--data", type=click.Path(path_type=Path), help="a CSV of measurements, or a folder")
@click.option(
    "--partial/--whole",
    default=None,
    help="end well, or with status 1, where rows have no prediction "
    "[default: --whole with --data; --partial with --json, and for the project's own rows]",
)
@task("json", "print a list of objects")
@task("fit", "fit the constants to the file and print their tables")
@task("fit-stacks", "fit the stacks' constants to the file and print their table")
@task("fit-memory", "fit the constants of frameworks' memory to the file and print them")
@task("fit-serving", "fit the serving stacks' constants to the file and print their table")
@click.option("--stack", multiple=True, help="with --fit-stacks or --fit-serving: only this one")
@task("markdown", "print the tables of docs/fidelity.md")
@task("limits", "print the table of docs/limits.md")
@task("keep", "print the rows that benchmarks/data keeps of a file")
@task("scores", "print the scores that benchmarks/data keeps of a file")
@task("held-out", "print what fits to half of the rows say of the other half")
@task("folds", "print, a kind a line, the errors of each half of the rows under a fit to the other")
@task("repeats", "print how far measurements of the same plan lie apart")
@task("sources", "print the sources of the rows: whole tables or samples, and how many rows are of each")
@task("choose", "print the matrix products that the book keeps of a file")
def main(data: Path | None, partial: bool | None, task: str | None, stack: tuple[str, ...]) -> None:
    """Print the table of fidelity, and which rows of a file have no place in it."""
    try:
        if write := REPORTS.get(task or ""):
            result = report(data or ROWS)
            print(write(result), flush=True)
            whole = bool(data and not task) if partial is None else not partial
            if (data or whole) and result.unpredicted:
                name_unpredicted(result.unpredicted, data or ROWS)
                sys.exit(1 if whole else 0)
        else:
            for text in TASKS[task or ""](data or ROWS, stack):
                print(text, flush=True)
    except DataError as error:
        sys.exit(str(error))
