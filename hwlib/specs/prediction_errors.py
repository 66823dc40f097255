"""How far predictions were from measured training steps and servers: the table prediction_errors.csv.

`python -m benchmarks.score.error_rows` writes it, from the rows of benchmarks/data/rows as the planners predict them.
It is what `hwlib.expected_error` reads to say how far an answer may be off.
"""

from enum import IntEnum
from functools import cache
from math import exp
from typing import NamedTuple

from hwlib.specs.measured import Measurements

FILE = "prediction_errors.csv"
TRAINING, SERVING = "training", "serving"


class Basis(IntEnum):
    """What a constant of a row's prediction was fitted to: the row among others, others alone, or no row of its
    software on its chip.
    """

    FITTED = 0
    UNSEEN = 1
    TYPICAL = 2


class PredictionError(NamedTuple):
    """One measured row: `key` is its id, `work` TRAINING or SERVING, `stack` the constants that predicted it.

    `features` are words of `hwlib.expected_error`, joined by spaces. `ranks` are the GPUs of a run or of a server,
    `tokens` those of a sequence or of a whole request, `parameters` the model's, `load` tokens of a step and GPU, or
    requests at once on a server. `error` is the natural logarithm of measured over predicted: above zero, the
    prediction was too quick. `source` is the document's repository, or whoever wrote it.
    """

    key: str
    work: str
    stack: str
    chip: str
    features: str
    ranks: int
    tokens: int
    parameters: int
    load: int
    basis: int
    error: float
    source: str

    @property
    def words(self) -> frozenset[str]:
        """The features, word by word."""
        return _words(self.features)

    @property
    def off(self) -> float:
        """Measured over predicted, less 1."""
        return exp(self.error) - 1

    @property
    def amounts(self) -> tuple[float, ...]:
        """What has a size rather than a name."""
        return (self.ranks, self.tokens, self.parameters, self.load)


@cache
def _words(features: str) -> frozenset[str]:
    return frozenset(features.split())


ERRORS = Measurements("prediction", FILE, PredictionError)


@cache
def prediction_errors(work: str) -> tuple[PredictionError, ...]:
    """The rows of TRAINING or SERVING, in the order of the table."""
    return tuple(row for row in ERRORS.rows if row.work == work)
