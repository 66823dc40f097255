"""A measurement on a GPU beside what a model says of it."""

from typing import NamedTuple


class Row(NamedTuple):
    """One measurement, in seconds, or in what `unit` says."""

    kind: str
    shape: str
    low: float
    middle: float
    high: float
    predicted: float
    unit: str = "s"

    @property
    def error(self) -> float:
        """Of the prediction, as a share of what was measured."""
        return self.predicted / self.middle - 1
