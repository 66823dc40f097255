"""One line of a table of published measurements, as text and number."""

from dataclasses import dataclass
from typing import Any

HELD_OUT = "test"
"""The `use` of rows that no constant is fitted to."""
COLUMNS = ("id", "kind", "system", "gpus", "config", "measured_value", "unit", "source", "confidence", "use")


class DataError(ValueError):
    """A file that is no such table; the message names the file, the line, and what was expected."""


@dataclass(frozen=True, eq=False)
class PublishedRow:
    """One line of the table, whose text is in `cells`.

    `reader` names who reads it: one of `benchmarks.rows.published.READERS`. `set` is the id without the numbers at its
    end, or the table that a training run is in. `fault` is why a line is no row: it is listed, and a fit stops at it.
    `file` is the table that it is in, where rows of a folder of tables were read.
    """

    line: int
    set: str
    kind: str
    system: str
    gpus: int
    config: dict[str, Any]
    value: float
    unit: str
    source: str
    cells: dict[str, str]
    fault: str = ""
    reader: str = ""
    file: str = ""
