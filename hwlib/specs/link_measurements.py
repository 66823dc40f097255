"""What links reach: the small table measured_links.csv, of copies that others timed and of what NCCL reckons with."""

from typing import NamedTuple

from hwlib.specs.measured import Measurements, of
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


LINKS = Measurements("link", "measured_links.csv", MeasuredLink, line=of("line", GB), reached=of("reached", GB))


def measured_link(key: str) -> MeasuredLink:
    """A row of the table. Raises KeyError, naming the rows there are."""
    return LINKS[key]


def measured_links() -> tuple[MeasuredLink, ...]:
    """Every row of the table."""
    return LINKS.rows
