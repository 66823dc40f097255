"""How well the library's models predict published measurements: `python -m benchmarks.fidelity [--data FILE]`.

One line a set of rows (an id without the numbers at its end, or a table of training runs), with errors
|predicted - measured|/measured of the time or the memory: of the model, and beside them the mean of a simple one
(the data sheet's roofline, or one alpha-beta line), and of Calculon where it predicts the rows ("~": its mean over
all rows of the table). The constants are those that hwlib keeps; nothing is fitted to the file, unless `--fit` or
`--fit-stacks` asks for new ones. Without `--data`, the few rows of benchmarks/data are scored.
"""

import json
import math
import sys
from pathlib import Path

import click

from benchmarks.fidelity_page import page
from benchmarks.fit_constants import HEAD as FIT_HEAD
from benchmarks.fit_constants import fit_all, toml
from benchmarks.fit_stacks import fit_stacks as stack_fits
from benchmarks.fit_stacks import toml as stack_toml
from benchmarks.gemm_rows import read_gemms, table_lines
from benchmarks.kept_rows import kept_table
from benchmarks.published import DataError, read_rows
from benchmarks.scores import Report, Score, report

DATA = Path(__file__).parent / "data" / "published.csv"
HEAD = f"{'set':34}{'rows':>6}{'mean':>8}{'median':>8}{'max':>8}{'constants':>11}{'simple model':>14}"


def line(s: Score) -> str:
    """One line of the table."""
    return (
        f"{s.set:34}{s.rows:6}{s.mean_abs_error:8.1%}{s.median_abs_error:8.1%}{s.max_abs_error:8.1%}"
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
    if result.unmodelled:
        out += ["", "No model here (rows):"]
        out += [f"  {name} ({count})" for name, count in sorted(result.unmodelled.items())]
    if result.context:
        out += ["", f"Context only, never scored: {result.context} rows"]
    return out


def as_json(result: Report) -> str:
    """The scored sets as a list of objects."""
    keys = ("set", "rows", "mean_abs_error", "median_abs_error", "max_abs_error")
    return json.dumps([{key: getattr(s, key) for key in keys} for s in result.scores + result.training], indent=1)


@click.command(help=__doc__)
@click.option("--data", type=click.Path(path_type=Path), default=DATA, help="a CSV of measurements")
@click.option("--json", "json_", is_flag=True, help="print a list of objects")
@click.option("--fit", is_flag=True, help="fit the constants to the file and print their tables")
@click.option("--fit-stacks", is_flag=True, help="fit the stacks' constants to the file and print their table")
@click.option("--stack", multiple=True, help="with --fit-stacks: only this one")
@click.option("--markdown", is_flag=True, help="print the tables of docs/fidelity.md")
@click.option("--keep", is_flag=True, help="print the rows that benchmarks/data keeps of a file")
@click.option("--choose", is_flag=True, help="print the matrix products that the book keeps of a file")
def main(
    data: Path,
    json_: bool,
    fit: bool,
    fit_stacks: bool,
    stack: tuple[str, ...],
    markdown: bool,
    keep: bool,
    choose: bool,
) -> None:
    """Print the table of fidelity."""
    try:
        if choose:
            print("\n".join(table_lines(read_gemms(data))))
        elif keep:
            print(kept_table(data), end="")
        elif markdown:
            print("\n".join(page(report(data))))
        elif fit_stacks:
            for found in stack_fits(data, stack):
                print(stack_toml(found), end="\n\n", flush=True)
        elif fit:
            print(FIT_HEAD)
            print("\n\n".join(toml(entry) for entry in fit_all(read_rows(data)[0], data)))
        else:
            result = report(data)
            print(as_json(result) if json_ else "\n".join(lines(result)))
    except DataError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
