"""What the rows of the measured tables are of their sources: whole tables, or samples of them (extents.csv).

What a sample shows of a table holds for its rows only.
"""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from hwlib.specs.table import SpecError, csv_rows

FILE = "extents.csv"
COMPLETE, SAMPLE = "complete", "sample"


class Extent(NamedTuple):
    """What the rows of one source in a measured table are of it, `complete` or a `sample`, and which part is meant."""

    table: str
    source: str
    extent: str
    note: str

    @property
    def complete(self) -> bool:
        """Whether no row is missing."""
        return self.extent == COMPLETE


@cache
def extents(file: str = "") -> tuple[Extent, ...]:
    """Every line of extents.csv, or those of one measured table. Raises SpecError for a line that is wrong."""
    return tuple(extent for extent in checked(csv_rows(FILE)) if file in ("", extent.table))


def checked(rows: Iterable[dict[str, str]]) -> tuple[Extent, ...]:
    """The lines as records. Raises SpecError for an extent of another name, and for a source that a table has twice."""
    lines = tuple(Extent(**row) for row in rows)
    for number, line in enumerate(lines, 1):
        if line.extent not in (COMPLETE, SAMPLE):
            raise SpecError(f"{FILE}, row {number}: {COMPLETE} or {SAMPLE} was expected, got {line.extent!r}")
        if any(line[:2] == other[:2] for other in lines[: number - 1]):
            raise SpecError(f"{FILE}, row {number}: {line.source!r} of {line.table} stands there twice")
    return lines


def extent_of(file: str, source: str) -> Extent:
    """What the rows of a table with this source are: of the lines that it begins with, the longest. Raises SpecError
    where there is none.
    """
    fitting = [extent for extent in extents(file) if source.startswith(extent.source)]
    if not fitting:
        raise SpecError(f"{FILE}: no line of {file} begins the source {source!r}; one was expected")
    return max(fitting, key=lambda extent: len(extent.source))


def is_whole(file: str) -> bool:
    """Whether all sources of a measured table are complete in it."""
    return all(extent.complete for extent in extents(file))
