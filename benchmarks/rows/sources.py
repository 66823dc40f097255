"""What the measured rows of the project are of their sources: whole tables, or samples (benchmarks/data/sources.csv).

A source is the beginning of what rows name in `source`; of several that fit a row the longest is meant. A table is
`complete` where every row of it that has a figure is here, and a `sample` otherwise: what a sample shows of a table
holds for its rows only.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks.paths import DATA
from benchmarks.rows.published import read_rows
from benchmarks.rows.published_row import HELD_OUT, DataError

TABLE = DATA / "sources.csv"
EXTENTS = ("complete", "sample")


class RowSource(NamedTuple):
    """A published table or text; `date` is the day on which the last of its rows came in."""

    source: str
    extent: str
    date: str
    note: str


@cache
def sources(path: Path = TABLE) -> tuple[RowSource, ...]:
    """The table. Raises ValueError for an extent that is none of EXTENTS, and for a source that stands twice."""
    with path.open(encoding="utf-8", newline="") as file:
        found = tuple(RowSource(**row) for row in csv.DictReader(file))
    for source in found:
        if source.extent not in EXTENTS:
            raise ValueError(f"{path}: the extent of {source.source!r} is {source.extent!r}, none of {EXTENTS}")
    if len({source.source for source in found}) < len(found):
        raise ValueError(f"{path}: a source stands in it twice")
    return found


def source_of(text: str, known: Sequence[RowSource] | None = None) -> RowSource:
    """The source that a row names. Raises DataError where none fits."""
    fits = [source for source in (sources() if known is None else known) if text.startswith(source.source)]
    if not fits:
        raise DataError(f"no source in {TABLE.name} begins {text!r}")
    return max(fits, key=lambda source: len(source.source))


def source_lines(path: Path) -> Iterator[str]:
    """Each source, its extent, and how many of a table's rows are of it, and how many of those are held out of fits.

    Raises DataError, as `read_rows` does, and for a row whose source is not known.
    """
    rows, _ = read_rows(path)
    counted = Counter((source_of(row.source), row.cells["use"] == HELD_OUT) for row in rows if not row.fault)
    yield f"{'rows':>6}{'held out':>10}  {'extent':10}source"
    for source in sorted({source for source, _ in counted}):
        seen, held = counted[source, False], counted[source, True]
        yield f"{seen + held:6}{held:10}  {source.extent:10}{source.source}"
