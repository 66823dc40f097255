"""What was measured beside what is predicted, by chip, kind, software and release: `python -m benchmarks.score.cells`.

A cell is what the rows of benchmarks/data/rows have in common that one asks for: what was timed, on which chip, of
which kind of model or precision, with which release of which software. `--write` puts the tables of cells and of the
rows that are furthest off into docs/cells.md, and every row into docs/_static/cells-data.js, which that page draws.
"""

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import click

from benchmarks.paths import DATA as BENCHMARK_DATA
from benchmarks.paths import DOCS
from benchmarks.rows.allreduce_rows import NodesAllReduce
from benchmarks.rows.collective_rows import WireBound
from benchmarks.rows.kernel_rows import TimedKernel
from benchmarks.rows.memory_rows import Peak
from benchmarks.rows.published import ROWS, Case, Collective, Product, ReachedShare, case_of, read_rows
from benchmarks.rows.published_row import HELD_OUT, PublishedRow
from benchmarks.rows.serving_rows import Serving
from benchmarks.rows.training_memory import MemoryUse
from benchmarks.rows.training_step import TrainingStep
from benchmarks.score.error_rows import OWN, one_gpu_errors
from benchmarks.score.predictions import Prediction, predict
from hwlib.specs import accelerators, stacks
from hwlib.specs.prediction_errors import Basis
from hwlib.specs.serving_stack import serving_stacks

PAGE, SCRIPT = DOCS / "cells.md", DOCS / "_static" / "cells-data.js"
BEGIN, END = "<!-- generated: python -m benchmarks.score.cells -->", "<!-- end of the cells -->"
REASONS = BENCHMARK_DATA / "reasons.toml"
WORST, WORST_BEGIN, WORST_END = 10, "<!-- generated: the rows that are furthest off -->", "<!-- end of these rows -->"
SHARE = 0.8
"""Of a cell's rows, the part that lies in the interval that is printed, from `FEW` rows on."""
FEW = 5
DENSE, EXPERTS, ADAPTERS, ANY, UNKNOWN = "dense", "experts", "adapters", "any", "not printed"
MIXED = "states or sparse attention"
TRAINING, MEMORY, SERVING = "training step", "memory of training", "serving"
PLANNED = (TRAINING, MEMORY, SERVING)
"""What the planners answer; all else are parts of it."""
BASES = {
    Basis.FITTED: "constants were fitted to it among others",
    Basis.UNSEEN: "no constant was fitted to it",
    Basis.TYPICAL: "no constant was fitted to its software on this chip",
}


class RowCell(NamedTuple):
    """What rows have in common."""

    work: str
    chip: str
    kind: str
    software: str
    release: str

    @property
    def key(self) -> str:
        """The end of an address that leads to its rows."""
        return "-".join(re.findall(r"[^\W_]+", "-".join(self).lower()))


class CellRow(NamedTuple):
    """One row of a cell: measured and predicted in seconds or bytes, or shares of what is possible."""

    name: str
    measured: float
    predicted: float
    basis: Basis
    source: str

    @property
    def off(self) -> float:
        """(predicted - measured) / measured."""
        return self.predicted / self.measured - 1


def cells(path: Path = ROWS) -> dict[RowCell, list[CellRow]]:
    """All cells of a folder of tables, sorted, with their rows. Raises DataError."""
    groups: dict[RowCell, list[CellRow]] = {}
    for cell, row in (*table_rows(path), *own_steps()):
        groups.setdefault(cell, []).append(row)
    return dict(sorted(groups.items()))


def table_rows(path: Path) -> Iterator[tuple[RowCell, CellRow]]:
    """Each row that has a prediction, and its cell."""
    for row in read_rows(path)[0]:
        case = case_of(row, path)
        predicted = predict(case)
        if isinstance(predicted, Prediction):
            seen = Basis.UNSEEN if row.cells["use"] == HELD_OUT else Basis.FITTED
            basis = Basis.TYPICAL if predicted.typical else seen
            yield cell_of(row, case), CellRow(row.cells["id"], predicted.measured, predicted.time, basis, row.source)


def own_steps() -> Iterator[tuple[RowCell, CellRow]]:
    """The steps of one GPU that were measured for this project. Their table keeps only ratios: 1 is measured."""
    for source, row in one_gpu_errors():
        if row.basis != Basis.TYPICAL:
            kind = EXPERTS if "experts" in row.words else DENSE
            cell = RowCell("training step", accelerators[row.chip].name, kind, stacks[row.stack].software, OWN)
            yield cell, CellRow(row.key, 1.0, math.exp(-row.error), Basis(row.basis), source)


def _kind(model: object, adapters: object = None) -> str:
    if adapters:
        return ADAPTERS
    if getattr(model, "mixed", False):
        return MIXED
    return EXPERTS if getattr(model, "moe", None) else DENSE


def _step(case: TrainingStep) -> tuple[str, str, str, str]:
    stack = case.typical or stacks[case.stack]
    return TRAINING, case.chip, _kind(case.model, case.plan.get("frozen")), stack.software


def _peak(case: Peak) -> tuple[str, str, str, str]:
    return MEMORY, ANY, _kind(case.model, case.trainable), case.framework.name


def _serving(case: Serving) -> tuple[str, str, str, str]:
    return SERVING, case.server.chip.key, _kind(case.server.model), serving_stacks[case.stack].name


CELLS: dict[type, Callable[..., tuple[str, str, str, str]]] = {
    TrainingStep: _step,
    Peak: _peak,
    Serving: _serving,
    MemoryUse: lambda _: (MEMORY, ANY, DENSE, "formulas alone"),
    Product: lambda case: ("products", case.chip, case.dtype, "cuBLAS"),
    ReachedShare: lambda case: ("share of the data sheet", case.chip, case.op, ""),
    Collective: lambda case: (f"collectives: {case.op.replace('_', '-')}", case.chip, ANY, case.software),
    NodesAllReduce: lambda case: ("all-reduce over nodes", case.chip, ANY, f"NCCL, {case.network}"),
    WireBound: lambda _: ("collectives, by their wires alone", ANY, ANY, ""),
    TimedKernel: lambda case: (case.kind.replace("-", " "), case.chip, case.dtype, case.software),
}
"""Of each kind of case what was timed, the chip, the kind, and the software."""


def cell_of(row: PublishedRow, case: Case) -> RowCell:
    """The cell of a row, with the software and the release that the row names."""
    work, chip, kind, software = CELLS[type(case)](case)
    named, _, version = str(row.config.get("software") or software).partition("/")
    release = next((str(row.config[name]) for name in ("version", "release", "nccl") if row.config.get(name)), version)
    chip = accelerators[chip].name if chip in accelerators else chip
    return RowCell(work, chip, kind.replace("_", " "), named, release or UNKNOWN)


def interval(rows: Sequence[CellRow]) -> tuple[float, float] | None:
    """Between which relative errors `SHARE` of the rows lie; None of fewer than `FEW`."""
    if len(rows) < FEW:
        return None
    ordered = sorted(row.off for row in rows)
    cut = round((1 - SHARE) / 2 * (len(ordered) - 1))
    return ordered[cut], ordered[-1 - cut]


def table(groups: dict[RowCell, list[CellRow]]) -> list[str]:
    """The cells as tables in Markdown, one for each thing that was timed."""
    lines: list[str] = []
    for work in dict.fromkeys(cell.work for cell in groups):
        members = {cell: rows for cell, rows in groups.items() if cell.work == work}
        total = sum(map(len, members.values()))
        lines += ["", f"## {work[0].upper()}{work[1:]}", "", f"{total} rows.", ""]
        lines += ["| chip | kind | software | release | rows | error | bias | 80 % lie in | fitted |"]
        lines += ["|:--|:--|:--|:--|--:|--:|--:|--:|:--|"]
        lines += [cell_line(cell, rows) for cell, rows in members.items()]
    return lines


def cell_line(cell: RowCell, rows: Sequence[CellRow]) -> str:
    """One cell: mean absolute error, mean error (above zero: predicted too slow, or too large), and the interval."""
    error, bias = fmean(abs(row.off) for row in rows), fmean(row.off for row in rows)
    between = interval(rows)
    spread = f"{between[0]:+.0%} to {between[1]:+.0%}" if between else ""
    count = f'<a class="cell-rows" id="{cell.key}" href="#{cell.key}">{len(rows)}</a>'
    texts = (cell.chip, cell.kind, cell.software, cell.release, count, f"{error:.1%}", f"{bias:+.1%}", spread)
    return "| " + " | ".join((*texts, _fitted(rows))) + " |"


def _fitted(rows: Sequence[CellRow]) -> str:
    counts = Counter(row.basis for row in rows)
    if counts[Basis.TYPICAL] == len(rows):
        return "nothing"
    return "no" if not counts[Basis.FITTED] else f"{counts[Basis.FITTED]} of {len(rows)}"


def furthest(groups: dict[RowCell, list[CellRow]], planned: bool) -> list[tuple[RowCell, CellRow]]:
    """Of what the planners answer, or of the parts of it: the rows with the largest ratio of predicted and measured,
    either way, one of a cell.
    """
    worst = [(cell, max(rows, key=_ratio)) for cell, rows in groups.items() if (cell.work in PLANNED) is planned]
    return sorted(worst, key=lambda pair: -_ratio(pair[1]))[:WORST]


def reason_of(name: str, path: Path = REASONS) -> str:
    """Why a row is far off, as far as anybody knows: the first reason of the file whose pattern is at its beginning."""
    for reason in tomllib.loads(path.read_text("utf-8"))["reason"]:
        if re.match(reason["rows"], name):
            return str(reason["why"])
    return "Not known."


def furthest_list(groups: dict[RowCell, list[CellRow]], planned: bool) -> list[str]:
    """The rows that are furthest off, as a list in Markdown, with the reasons."""
    lines = []
    for cell, row in furthest(groups, planned):
        of = ", ".join(word for word in cell if word not in (ANY, UNKNOWN, ""))
        link = f'<a class="cell-rows" href="#{cell.key}">{of}</a>'
        lines.append(f"- `{row.name}` ({link}): {row.off:+.0%}. {reason_of(row.name)}")
    return lines


def _ratio(row: CellRow) -> float:
    return abs(math.log(row.predicted / row.measured))


def data(groups: dict[RowCell, list[CellRow]]) -> str:
    """All rows as a script: of a cell its names, and of a row id, measured, predicted and basis."""
    lines = []
    for cell, rows in groups.items():
        points = list(map(_point, rows))
        sources = sorted({row.source for row in rows})
        lines.append(json.dumps([cell.key, *cell, sources, points], separators=(",", ":"), ensure_ascii=False))
    return "// Written by benchmarks/score/cells.py.\nglobalThis.gpubookCells = [\n" + ",\n".join(lines) + "\n];\n"


def _point(row: CellRow) -> list[str | float]:
    return [row.name, _digits(row.measured), _digits(row.predicted), int(row.basis)]


def _digits(value: float) -> float:
    return float(f"{value:.4g}")


@click.command(help=__doc__)
@click.option("--write", is_flag=True, help="write the page and its data instead of printing the tables")
def main(write: bool) -> None:
    """Print the cells, or write them."""
    groups = cells()
    worst = ["What the planners answer:", "", *furthest_list(groups, planned=True), ""]
    worst += ["Kernels and collectives, of which these answers are made:", "", *furthest_list(groups, planned=False)]
    if not write:
        print("\n".join([*table(groups), "", *worst]))
        return
    text = between(PAGE.read_text("utf-8"), BEGIN, END, table(groups))
    PAGE.write_text(between(text, WORST_BEGIN, WORST_END, ["", *worst]), "utf-8")
    SCRIPT.write_text(data(groups), "utf-8")


def between(text: str, begin: str, end: str, lines: Sequence[str]) -> str:
    """The text of a page with these lines between two of its marks."""
    head, _, rest = text.partition(begin)
    return f"{head}{begin}\n" + "\n".join(lines) + f"\n\n{end}{rest.partition(end)[2]}"


if __name__ == "__main__":
    main()
