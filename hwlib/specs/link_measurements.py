"""What links reach: the small table measured_links.csv, of copies that others timed and of what NCCL reckons with."""

from functools import cache
from typing import NamedTuple

from hwlib.specs.table import csv_rows
from hwlib.units import GB


class MeasuredLink(NamedTuple):
    """What one path got, in B/s, beside its line rate of the same direction or directions (None where nobody says).

    `source` begins with a key of docs/references.bib.
    """

    key: str
    what: str
    line: float | None
    reached: float
    source: str

    @property
    def share(self) -> float | None:
        """What was reached of the line rate."""
        return self.reached / self.line if self.line else None


@cache
def _table() -> dict[str, MeasuredLink]:
    rows = {}
    for r in csv_rows("measured_links.csv"):
        line = float(r["line"]) * GB if r["line"] else None
        rows[r["key"]] = MeasuredLink(r["key"], r["what"], line, float(r["reached"]) * GB, r["source"])
    return rows


def measured_link(key: str) -> MeasuredLink:
    """A row of the table. Raises KeyError, naming the rows there are."""
    if key not in _table():
        raise KeyError(f"unknown measured link {key!r}; known: {', '.join(_table())}")
    return _table()[key]


def measured_links() -> tuple[MeasuredLink, ...]:
    """Every row of the table."""
    return tuple(_table().values())
