"""The generated part of docs/grading.md, the cost of grading, from the figures of `benchmarks.grading`:

`python -m benchmarks.grading --json figures.json`, then `python -m benchmarks.grading.page figures.json`; for
parts that were measured separately, name several files: a later one overrides an earlier one."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import click

from benchmarks.paths import DOCS

PAGE = DOCS / "grading.md"
BEGIN, END = "<!-- generated: python -m benchmarks.grading.page FIGURES -->", "<!-- end of the generated part -->"
SIDES = {
    "no-lab": "(a) no lab",
    "lab": "(b) a lab of two ranks, which nbgrader starts with `torch.distributed.run`",
    "run-ranks": "(c) the same lab by `run_ranks` on both sides",
}
KINDS = {"Quantity": "a quantity", "Count": "a count", "Choice": "a choice", "Expression": "an expression"}
Record = dict[str, Any]


def page(record: Record) -> Iterator[str]:
    """Tables in Markdown, and what they were measured on; a part that was not measured is left out."""
    about = record["machine"]
    loads = [load for part in SIDES for load in record.get(part, {}).get("loads", ())] or [about["load"]]
    yield (
        f"Measured on {about['date'][:10]} by `python -m benchmarks.grading` on {about['cores']} cores of "
        f"{about['processor'] or 'an unknown processor'}, at a load average of {median(loads):.1f} before each run "
        "(median). Figures are minimum / median / maximum."
    )
    for part in (_sides, _faults, _memory, _check, _otter, _scale, _kills):
        if lines := list(part(record)):
            yield ""
            yield from lines


def _table(*rows: tuple[object, ...]) -> Iterator[str]:
    head, *body = rows
    yield "| " + " | ".join(map(str, head)) + " |"
    yield "|:--" + "|--:" * (len(head) - 1) + "|"
    for row in body:
        yield "| " + " | ".join(map(str, row)) + " |"


def _spread(values: list[float], unit: float = 1.0, digits: int = 3) -> str:
    shown = [f"{value / unit:.{digits}g}" for value in (min(values), median(values), max(values))]
    return " / ".join(shown) if len(values) > 1 else shown[0]


def _sides(record: Record) -> Iterator[str]:
    rows: list[tuple[object, ...]] = [("per submission", "`gpubook grade`, s", "stock nbgrader, s", "speedup")]
    for part, title in SIDES.items():
        if (found := record.get(part)) is None:
            continue
        for name, key, ratio in (("", "seconds", "throughput"), (", processor time", "cpu", "processor time")):
            ours, stock = found[key]["ours"], found[key]["stock"]
            if not math.isnan(ours[0]):
                each = (_spread(ours, found["size"]), _spread(stock, found["size"]))
                rows.append((f"{title}{name}", *each, _spread(found["ratios"][ratio])))
    if len(rows) > 1:
        yield from _table(*rows)


def _faults(record: Record) -> Iterator[str]:
    columns = ("s beyond the limit", "points kept", "processes left")
    head = ("fault", *(f"{side}: {column}" for column in columns for side in ("ours", "stock")))
    rows: list[tuple[object, ...]] = [head]
    for name, found in record.get("faults", {}).items():
        ours, stock = found["ours"], found["stock"]
        kept = [f"{side['points']:g} of {side['of']:g}" for side in (ours, stock)]
        rows.append((name, _spread(ours["over"]), _spread(stock["over"]), *kept, ours["left"], stock["left"]))
    if len(rows) > 1:
        yield from _table(*rows)
        yield ""
        yield "*Points kept* are those of the other answers; *processes left* still run when the grader has ended."


def _memory(record: Record) -> Iterator[str]:
    found = record.get("memory", {})
    rows: list[tuple[object, ...]] = [("peak memory of all processes, MB", "`gpubook grade`", "stock nbgrader")]
    for case in dict.fromkeys(key.rpartition(" ")[0] for key in found):
        title, _, size = case.rpartition(" ")
        peaks = [f"{found[f'{case} {side}']['peak'] / 1e6:,.0f}" for side in ("ours", "stock")]
        rows.append((f"{title}, {size} submission{'' if size == '1' else 's'}", *peaks))
    if len(rows) > 1:
        yield from _table(*rows)


def _check(record: Record) -> Iterator[str]:
    found = record.get("check", {})
    rows: list[tuple[object, ...]] = [("`check` in a notebook, ms", "first call", "later calls")]
    for kind, title in KINDS.items():
        if kind in found:
            rows.append((title, *(_spread(found[kind][when], 1e-3) for when in ("first", "later"))))
    if len(rows) > 1:
        yield from _table(*rows)


def _otter(record: Record) -> Iterator[str]:
    for title, found in record.get("otter", {}).items():
        if isinstance(found, dict):
            yield f"`otter run`, {title}: {_spread(found['seconds'])} s per submission, {found['peak'] / 1e6:,.0f} MB."


def _scale(record: Record) -> Iterator[str]:
    rows: list[tuple[object, ...]] = [
        ("submissions, no lab", "s", "s per submission", "processor time, s per submission")
    ]
    for size, found in record.get("scale", {}).items():
        each = (f"{found[key] / int(size):.3f}" for key in ("seconds", "cpu"))
        rows.append((f"{int(size):,}", f"{found['seconds']:.1f}", *each))
    if len(rows) > 1:
        yield from _table(*rows)


def _kills(record: Record) -> Iterator[str]:
    if (found := record.get("kills")) is not None:
        yield (
            f"Killed (`kill -9`) at {len(found['finished'])} random moments, with "
            f"{', '.join(f'{count:,}' for count in found['finished'])} of {found['size']:,} submissions finished, and "
            f"resumed, a run gave the same {found['rows']:,} rows of the gradebook, {found['files']:,} files and all "
            f"messages as an uninterrupted run, in {found['seconds']:.0f} s instead of {found['at_once']:.0f} s; "
            f"processes left a second after a kill: {found['left']}."
        )


@click.command(help=__doc__)
@click.argument("figures", nargs=-1, required=True, type=click.Path(dir_okay=False, exists=True, path_type=Path))
def main(figures: tuple[Path, ...]) -> None:
    """Rewrite the page's generated part."""
    record: Record = {}
    for path in figures:
        record.update(json.loads(path.read_text(encoding="utf-8")))
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not after:
        raise click.ClickException(f"{PAGE}: {BEGIN} and {END} were expected")
    PAGE.write_text("\n".join([before + BEGIN, "", *page(record), "", END + after]), encoding="utf-8")


if __name__ == "__main__":
    main()
