"""How far predictions are from published measurements of models whose layers keep a state or read some keys only.

No constant is fitted to any of them: a line a model and figure, with its chips, documents and errors. Prints the table
of docs/fidelity.md; `--write` puts it there.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

import click

from benchmarks.paths import DOCS
from benchmarks.rows.published import ROWS, case_of, read_rows
from benchmarks.rows.serving_rows import Serving
from benchmarks.rows.training_models import model_named
from benchmarks.rows.training_step import TrainingStep
from hwlib.specs import accelerators, models

BEGIN, END = "<!-- generated: python -m benchmarks.score.mixed_scores -->", "<!-- end of hybrid and sparse models -->"
PAGE = DOCS / "fidelity.md"
FIRST, TOKEN, RATE = "first token", "time a token", "tokens a second"
BITS = {"fp4": "4 bits in part", "fp8": "8 bits"}


class MixedError(NamedTuple):
    """A measured row: its model, figure, chip and document, and predicted over measured time."""

    model: str
    figure: str
    chip: str
    source: str
    ratio: float


def mixed_errors(path: Path) -> Iterator[MixedError]:
    """The servers and the training steps of such models among a folder's rows. Raises DataError."""
    for row in read_rows(path)[0]:
        case = case_of(row, path) if not row.fault and _is_mixed(str(row.config.get("model", ""))) else None
        if isinstance(case, Serving):
            ratio = case.time() / case.seconds
            yield MixedError(case.server.model.key, figure_of(row.unit), case.server.chip.key, row.source, ratio)
        if isinstance(case, TrainingStep):
            figure = f"training step, {BITS.get(case.plan['dtype'], '16 bits')}"
            yield MixedError(case.model.key, figure, case.chip, row.source, case.time() / case.seconds)


def _is_mixed(name: str) -> bool:
    try:
        return model_named(name).mixed
    except ValueError:
        return False


def figure_of(unit: str) -> str:
    """What a unit of serving is of."""
    if unit.startswith("ms first"):
        return FIRST
    return TOKEN if unit.startswith("ms per") else RATE


def table(errors: Sequence[MixedError]) -> str:
    """The errors as Markdown, with the marks that the page has around them."""
    groups: dict[tuple[str, str], list[MixedError]] = {}
    for error in errors:
        groups.setdefault((error.figure, error.model), []).append(error)
    lines = ["| figure | model | rows | documents | chips | mean error | predicted / measured, median |"]
    lines.append("|:--|:--|--:|--:|:--|--:|--:|")
    for (figure, model), some in sorted(groups.items()):
        lines.append(f"| {figure} | {models[model].name} | {_cells(some)} |")
    for figure in sorted({error.figure for error in errors}):
        cells = _cells([error for error in errors if error.figure == figure])
        lines.append(f"| {figure} | **all** | {cells} |")
    return "\n".join([BEGIN, "", *lines, "", END])


def _cells(some: Sequence[MixedError]) -> str:
    chips = ", ".join(sorted({accelerators[error.chip].name.partition(",")[0] for error in some}))
    off = fmean(abs(error.ratio - 1) for error in some)
    middle = median(error.ratio for error in some)
    return f"{len(some)} | {len({error.source for error in some})} | {chips} | {off:.1%} | {middle:.2f}"


def written(page: str, block: str) -> str:
    """The page with its block anew."""
    head, rest = page.split(BEGIN, 1)
    return head + block + rest.split(END, 1)[1]


@click.command(help=__doc__)
@click.option("--write", is_flag=True, help="put the table into docs/fidelity.md")
def main(write: bool) -> None:
    """Print the table, or write it."""
    block = table(list(mixed_errors(ROWS)))
    if write:
        PAGE.write_text(written(PAGE.read_text("utf-8"), block), "utf-8")
    else:
        click.echo(block)


if __name__ == "__main__":
    main()
